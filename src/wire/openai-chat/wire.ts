import { BASE_PROFILE } from '../base-profile.ts'
import { type ChatDecoderState, startChatDecoding, decodeChatFrame, finishChatDecoding } from './decode-response.ts'
import { encodeChatRequest } from './encode-request.ts'
import { readChatRequest } from './read-request.ts'
import { chatResponseWriter } from './write-response.ts'
import type { Wire } from '../wire.ts'

/** OpenAI's chat completions API, and compatible endpoints. */
export const openaiChat: Wire<ChatDecoderState> = {
  id: 'openai-chat',
  profile: {
    ...BASE_PROFILE,
    signer: 'openai-chat',
    dialect: 'openai',
    emptyContent: 'null',
    maxTokensField: 'max_completion_tokens',
    cache: 'key',
    thinking: 'level',
    freeTextTools: true,
  },
  encodeRequest: encodeChatRequest,
  startDecoding: startChatDecoding,
  decodeFrame: decodeChatFrame,
  finishDecoding: finishChatDecoding,
  readRequest: readChatRequest,
  responseWriter: chatResponseWriter,
}
