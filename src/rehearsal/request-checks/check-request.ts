import type { JsonObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import { checkAnthropicRequest } from './anthropic.ts'
import { checkGeminiRequest } from './gemini.ts'
import { checkChatRequest } from './openai-chat.ts'
import { checkResponsesRequest } from './openai-responses.ts'

/**
 * What a vendor would refuse about a request, in the vendor's own words as far as they are known; undefined where it
 * would accept it. These checks know nothing of our own wires, so that a fault there shows here.
 */
export function findRequestError(wire: WireId, body: JsonObject): string | undefined {
  return REQUEST_CHECKS[wire](body)
}

const REQUEST_CHECKS: Readonly<Record<WireId, (body: JsonObject) => string | undefined>> = {
  'openai-chat': checkChatRequest,
  'openai-responses': checkResponsesRequest,
  anthropic: checkAnthropicRequest,
  gemini: checkGeminiRequest,
  'code-assist': (body) => {
    const { request } = body
    if (typeof request !== 'object' || request === null || Array.isArray(request)) return 'request is required.'
    return typeof body['model'] === 'string' ? checkGeminiRequest(request) : 'model is required.'
  },
}
