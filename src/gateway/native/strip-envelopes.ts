import { isObject, type Json } from '../../model/json.ts'
import { ENVELOPE_PREFIX, isEnvelope } from './signature-envelope.ts'

/** Does a body contain envelopes, so that it cannot be passed on as it is? */
export function hasEnvelopes(text: string): boolean {
  return text.includes(ENVELOPE_PREFIX)
}

/**
 * A body for the client's own vendor without our envelopes: what other models signed means nothing to it. The block, item or
 * step that was only signed goes with its signature; a call stays, with the documented sentinel where a signature is required.
 */
export function stripEnvelopes(body: Json): Json {
  if (Array.isArray(body)) return body.filter((one) => !isCarrier(one)).map(stripEnvelopes)
  if (!isObject(body)) return body
  const kept = Object.entries(body).flatMap(([name, value]): [string, Json][] => {
    if (name === 'extra_content' && containsEnvelope(value)) return []
    if (name === 'thoughtSignature' && isEnvelopeText(value))
      return isObject(body['functionCall']) ? [[name, SKIP_SIGNATURE]] : []
    const stripped = stripEnvelopes(value)
    return name === 'reasoning_details' && Array.isArray(stripped) && stripped.length === 0 ? [] : [[name, stripped]]
  })
  return Object.fromEntries(kept)
}

/** The documented sentinel for calls of other models (T120). */
const SKIP_SIGNATURE = 'skip_thought_signature_validator'

/** A thought, a reasoning item, a block of thinking or a detail whose signature is an envelope. */
function isCarrier(value: Json): boolean {
  if (!isObject(value)) return false
  const { type, thought } = value
  if (thought === true) return isEnvelopeText(value['thoughtSignature'])
  const isSigned = typeof type === 'string' && SIGNED_TYPES.test(type)
  return isSigned && ['signature', 'data', 'encrypted_content'].some((name) => isEnvelopeText(value[name]))
}

const SIGNED_TYPES = /^(?:thinking|redacted_thinking|reasoning|reasoning\.encrypted|thought)$/

function containsEnvelope(value: Json): boolean {
  return hasEnvelopes(JSON.stringify(value))
}

function isEnvelopeText(value: unknown): boolean {
  return typeof value === 'string' && isEnvelope(value)
}
