import type { JsonObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import { checkAnthropic } from './anthropic.ts'
import { checkGemini } from './gemini.ts'
import { checkChat } from './openai-chat.ts'
import { checkResponses } from './openai-responses.ts'

/**
 * What a vendor would refuse about a request, in the vendor's own words as far as they are known; undefined where it
 * would accept it. These checks know nothing of our own wires, so that a fault there shows here.
 */
export function refusal(wire: WireId, body: JsonObject): string | undefined {
  return CHECKS[wire](body)
}

const CHECKS: Readonly<Record<WireId, (body: JsonObject) => string | undefined>> = {
  'openai-chat': checkChat,
  'openai-responses': checkResponses,
  anthropic: checkAnthropic,
  gemini: checkGemini,
  'code-assist': (body) => {
    const { request } = body
    if (typeof request !== 'object' || request === null || Array.isArray(request)) return 'request is required.'
    return typeof body['model'] === 'string' ? checkGemini(request) : 'model is required.'
  },
}
