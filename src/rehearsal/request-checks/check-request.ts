import type { JsonObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import { checkAnthropicRequest } from './anthropic.ts'
import { checkGeminiRequest } from './gemini.ts'
import { checkInteractionsRequest } from './interactions.ts'
import { checkChatRequest } from './openai-chat.ts'
import { checkResponsesRequest } from './openai-responses.ts'

/**
 * The error with which a vendor would reject a request, in its own words if they are known. The checks use no code of
 * our wires, so that they find the bugs of those.
 */
export function findRequestError(wire: WireId, body: JsonObject): string | undefined {
  return REQUEST_CHECKS[wire](body)
}

const REQUEST_CHECKS: Readonly<Record<WireId, (body: JsonObject) => string | undefined>> = {
  'openai-chat': checkChatRequest,
  'openai-responses': checkResponsesRequest,
  anthropic: checkAnthropicRequest,
  gemini: checkGeminiRequest,
  interactions: checkInteractionsRequest,
  'code-assist': (body) => {
    const { request } = body
    if (typeof request !== 'object' || request === null || Array.isArray(request)) return 'request is required.'
    return typeof body['model'] === 'string' ? checkGeminiRequest(request) : 'model is required.'
  },
}
