import type { Profile } from '../model/profile.ts'
import { type State, start, step, stop } from './openai-chat/decode.ts'
import { encode } from './openai-chat/encode.ts'
import { read } from './openai-chat/read.ts'
import { chatResponse } from './openai-chat/write.ts'
import type { Wire } from './wire.ts'

const profile: Profile = {
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
export const openaiChat: Wire<State> = {
  id: 'openai-chat',
  profile,
  encode,
  start,
  step,
  stop,
  read,
  response: chatResponse,
}
