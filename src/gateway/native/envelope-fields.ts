import { filterObjects, isObject, type Json, type JsonObject, objectOrEmpty } from '../../model/json.ts'
import type { AssistantPart, WireId } from '../../model/turn.ts'
import { isEnvelope } from './signature-envelope.ts'

/** The field of a client's API in which an envelope travels, per kind of part; undefined if there is none. */
interface EnvelopeFields {
  /** On reasoning: every wire has such a field. Without a text it is only a carrier. */
  readonly reasoning: (envelope: string, hasText: boolean, position: number) => JsonObject
  /** On a call, a text or media itself; otherwise a carrier stands beside it. */
  readonly call?: (envelope: string) => JsonObject
  readonly text?: (envelope: string) => JsonObject
  readonly media?: (envelope: string) => JsonObject
}

const GEMINI_FIELDS: EnvelopeFields = {
  reasoning: (thoughtSignature) => ({ thoughtSignature }),
  call: (thoughtSignature) => ({ thoughtSignature }),
  text: (thoughtSignature) => ({ thoughtSignature }),
  media: (thoughtSignature) => ({ thoughtSignature }),
}

/** The native data, as the response writer of each wire takes it. */
export const ENVELOPE_FIELDS: Readonly<Record<WireId, EnvelopeFields>> = {
  anthropic: {
    reasoning: (envelope, hasText) =>
      hasText ? { signature: envelope } : { type: 'redacted_thinking', data: envelope },
  },
  'openai-responses': {
    reasoning: (encrypted_content, hasText) => ({ encrypted_content, ...(!hasText && { summary: [] }) }),
  },
  interactions: { reasoning: (signature) => ({ signature }) },
  gemini: GEMINI_FIELDS,
  'code-assist': GEMINI_FIELDS,
  'openai-chat': {
    reasoning: (data, _hasText, index) => ({
      details: [{ type: 'reasoning.encrypted', data, format: 'dragoman-v1', id: `dragoman_${index}`, index }],
    }),
    call: (thought_signature) => ({ extra_content: { google: { thought_signature } } }),
  },
}

/** Do clients of this wire send reasoning back only with luck, so that calls carry it too? */
export const REPEATS_ON_CALLS: Readonly<Record<WireId, boolean>> = {
  anthropic: false,
  'openai-responses': false,
  interactions: false,
  gemini: true,
  'code-assist': true,
  'openai-chat': true,
}

/** The envelopes in the native data of a part that was read from a request. */
export function findEnvelopes({ native }: AssistantPart): string[] {
  const data = objectOrEmpty(native?.data)
  const { google } = objectOrEmpty(data['extra_content'])
  const values: unknown[] = [
    data['signature'],
    data['type'] === 'redacted_thinking' ? data['data'] : undefined,
    data['encrypted_content'],
    data['thoughtSignature'],
    objectOrEmpty(data['step'])['signature'],
    objectOrEmpty(google)['thought_signature'],
    ...filterObjects(data['details']).map((detail) => detail['data']),
  ]
  return values.filter((value): value is string => typeof value === 'string' && isEnvelope(value))
}

/** The native data without its envelopes; undefined if nothing is left that the vendor could want. */
export function dropEnvelopes(data: Json | undefined): JsonObject | undefined {
  if (!isObject(data)) return undefined
  const { extra_content, details, thoughtSignature, ...others } = data
  const isCarrier = ['signature', 'data', 'encrypted_content'].some((name) => isEnvelopeValue(others[name]))
  if (isCarrier || isEnvelopeValue(objectOrEmpty(others['step'])['signature'])) return undefined
  const left: JsonObject = { ...others }
  if (thoughtSignature !== undefined && !isEnvelopeValue(thoughtSignature)) left['thoughtSignature'] = thoughtSignature
  const google = objectOrEmpty(objectOrEmpty(extra_content)['google'])
  if (extra_content !== undefined && !isEnvelopeValue(google['thought_signature']))
    left['extra_content'] = extra_content
  const otherDetails = filterObjects(details).filter((detail) => !isEnvelopeValue(detail['data'])) as JsonObject[]
  if (otherDetails.length > 0) left['details'] = otherDetails
  return Object.keys(left).length > 0 ? left : undefined
}

export function isEnvelopeValue(value: unknown): boolean {
  return typeof value === 'string' && isEnvelope(value)
}
