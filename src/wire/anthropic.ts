import type { Profile } from '../model/profile.ts'
import { type State, start, step, stop } from './anthropic/decode.ts'
import { encode } from './anthropic/encode.ts'
import { read } from './anthropic/read.ts'
import { anthropicResponse } from './anthropic/write.ts'
import type { Wire } from './wire.ts'

const profile: Profile = {
  signer: 'anthropic',
  tools: 'native',
  dialect: 'anthropic',
  ids: 'any',
  media: true,
  refuses: [],
  replay: 'own',
  emptyContent: 'omit',
  maxTokensField: 'max_tokens',
  systemRole: 'system',
  alternate: true,
  bridge: false,
  resultName: false,
  streamUsage: true,
  cache: 'auto',
  entities: false,
  think: false,
  signatures: 'required',
  nestedMedia: true,
  thinking: 'budget',
  constrain: false,
  eagerArguments: true,
  encryptedReasoning: false,
}

/** Anthropic's Messages API, and every endpoint that speaks it. */
export const anthropic: Wire<State> = {
  id: 'anthropic',
  profile,
  encode,
  start,
  step,
  stop,
  read,
  response: anthropicResponse,
}
