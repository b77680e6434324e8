import type { Profile } from '../model/profile.ts'
import { type State, startOn, step, stop } from './gemini/decode.ts'
import { encode } from './gemini/encode.ts'
import { read } from './gemini/read.ts'
import { geminiResponse } from './gemini/write.ts'
import type { Wire } from './wire.ts'

const profile: Profile = {
  signer: 'gemini',
  tools: 'native',
  dialect: 'gemini-json',
  ids: 'any',
  media: true,
  refuses: [],
  replay: 'own',
  emptyContent: 'omit',
  maxTokensField: 'max_tokens',
  systemRole: 'system',
  alternate: true,
  bridge: false,
  resultName: true,
  streamUsage: true,
  cache: 'none',
  entities: false,
  think: false,
  signatures: 'required',
  nestedMedia: true,
  thinking: 'budget',
  constrain: false,
  eagerArguments: false,
  encryptedReasoning: false,
}

/** Gemini's generateContent, as AI Studio and Vertex speak it. */
export const gemini: Wire<State> = {
  id: 'gemini',
  profile,
  encode,
  start: (reading) => startOn('gemini', reading),
  step,
  stop,
  read,
  response: geminiResponse,
}
