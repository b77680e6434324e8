import type { Profile } from '../../model/profile.ts'
import {
  type AnthropicDecoderState,
  startAnthropicDecoding,
  decodeAnthropicFrame,
  finishAnthropicDecoding,
} from './decode-response.ts'
import { encodeAnthropicRequest } from './encode-request.ts'
import { readAnthropicRequest } from './read-request.ts'
import { anthropicResponseWriter } from './write-response.ts'
import type { Wire } from '../wire.ts'

const anthropicProfile: Profile = {
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
export const anthropic: Wire<AnthropicDecoderState> = {
  id: 'anthropic',
  profile: anthropicProfile,
  encodeRequest: encodeAnthropicRequest,
  startDecoding: startAnthropicDecoding,
  decodeFrame: decodeAnthropicFrame,
  finishDecoding: finishAnthropicDecoding,
  readRequest: readAnthropicRequest,
  responseWriter: anthropicResponseWriter,
}
