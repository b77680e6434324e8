import type { Profile } from '../model/profile.ts'
import { type State, start, step, stop } from './openai-responses/decode.ts'
import { encode } from './openai-responses/encode.ts'
import { read } from './openai-responses/read.ts'
import { responsesResponse } from './openai-responses/write.ts'
import type { Wire } from './wire.ts'

const profile: Profile = {
  signer: 'openai-responses',
  tools: 'native',
  dialect: 'openai',
  ids: 'any',
  media: true,
  refuses: [],
  replay: 'own',
  emptyContent: 'omit',
  maxTokensField: 'max_completion_tokens',
  systemRole: 'system',
  alternate: false,
  bridge: false,
  resultName: false,
  streamUsage: false,
  cache: 'key',
  entities: false,
  think: false,
  signatures: 'optional',
  nestedMedia: false,
  thinking: 'level',
  constrain: false,
  eagerArguments: false,
  encryptedReasoning: true,
}

/** OpenAI's Responses API, stateless: the whole history goes with every request, and nothing is kept on the server. */
export const openaiResponses: Wire<State> = {
  id: 'openai-responses',
  profile,
  encode,
  start,
  step,
  stop,
  read,
  response: responsesResponse,
}
