import type { Profile } from '../../model/profile.ts'
import { type ChatDecoderState, startChatDecoding, decodeChatFrame, finishChatDecoding } from './decode-response.ts'
import { encodeChatRequest } from './encode-request.ts'
import { readChatRequest } from './read-request.ts'
import { chatResponseWriter } from './write-response.ts'
import type { Wire } from '../wire.ts'

const openaiChatProfile: Profile = {
  signer: 'openai-chat',
  tools: 'native',
  dialect: 'openai',
  ids: 'any',
  media: true,
  refuses: [],
  replay: 'own',
  emptyContent: 'null',
  maxTokensField: 'max_completion_tokens',
  systemRole: 'system',
  alternate: false,
  bridge: false,
  resultName: false,
  streamUsage: true,
  cache: 'key',
  entities: false,
  think: false,
  signatures: 'optional',
  nestedMedia: false,
  thinking: 'level',
  constrain: false,
  eagerArguments: false,
  encryptedReasoning: false,
}

/** OpenAI's chat completions, and every endpoint that calls itself compatible. */
export const openaiChat: Wire<ChatDecoderState> = {
  id: 'openai-chat',
  profile: openaiChatProfile,
  encodeRequest: encodeChatRequest,
  startDecoding: startChatDecoding,
  decodeFrame: decodeChatFrame,
  finishDecoding: finishChatDecoding,
  readRequest: readChatRequest,
  responseWriter: chatResponseWriter,
}
