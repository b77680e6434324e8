import { BASE_PROFILE } from '../base-profile.ts'
import type { AnthropicDecoderState } from './decode-response.ts'
import { decodeAnthropicFrame, finishAnthropicDecoding, startAnthropicDecoding } from './decode-response.ts'
import { hasServerTools } from './encode-messages.ts'
import { encodeAnthropicRequest } from './encode-request.ts'
import { readAnthropicRequest } from './read-request.ts'
import { anthropicResponseWriter } from './write-response.ts'
import type { Wire } from '../wire.ts'

/** Anthropic's Messages API, and compatible endpoints. */
export const anthropic: Wire<AnthropicDecoderState> = {
  id: 'anthropic',
  profile: {
    ...BASE_PROFILE,
    signer: 'anthropic',
    dialect: 'anthropic',
    alternate: true,
    cache: 'auto',
    signatures: 'required',
    nestedMedia: true,
    thinking: 'budget',
    eagerArguments: true,
    outputWithTools: true,
  },
  encodeRequest: encodeAnthropicRequest,
  dependsOnNeighbours: hasServerTools,
  startDecoding: startAnthropicDecoding,
  decodeFrame: decodeAnthropicFrame,
  finishDecoding: finishAnthropicDecoding,
  readRequest: readAnthropicRequest,
  responseWriter: anthropicResponseWriter,
}
