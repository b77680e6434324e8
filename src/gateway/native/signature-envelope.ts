import { createHmac, timingSafeEqual } from 'node:crypto'
import { filterObjects, isObject, type Json, type JsonObject, tryParseJson } from '../../model/json.ts'
import type { NativeData, WireId } from '../../model/turn.ts'
import { isWireId } from '../../wire/wires.ts'
import { defined } from '../../model/defined.ts'

const CARRIED_KINDS = ['text', 'reasoning', 'call', 'media'] as const

/** The native data of a part of a response, which travels through a client that speaks another API. */
export interface CarriedPart {
  readonly kind: (typeof CARRIED_KINDS)[number]
  /** Its position in the response. */
  readonly index: number
  /** Of a call: the id that the client knows; absent if the envelope stands on the call itself. */
  readonly callId?: string
  /** Of a call: the names of its arguments, to which some clients add their defaults. */
  readonly argumentNames?: readonly string[]
  /** Of reasoning: its text, if the envelope does not stand beside it. */
  readonly text?: string
  readonly native: NativeData
}

/**
 * Packs native data into one string for a field that clients send back unchanged. It is authenticated, so that nobody else
 * can make us send data to a vendor; it needs no memory, so it survives a restart.
 */
export function sealEnvelope(parts: readonly CarriedPart[], key: Uint8Array): string {
  const text = JSON.stringify(parts.map(toFields))
  const length = Buffer.byteLength(text)
  // Without a remainder there is no padding, which some clients would change.
  const payload = Buffer.from(text.padEnd(text.length + ((3 - (length % 3)) % 3)))
  return Buffer.concat([MAGIC, authenticate(payload, key), payload]).toString('base64url')
}

/** Undefined if the text is no envelope; a problem if it was changed, or sealed with another key. */
export function openEnvelope(text: string, key: Uint8Array): readonly CarriedPart[] | { problem: string } | undefined {
  if (!isEnvelope(text)) return undefined
  const bytes = Buffer.from(text, 'base64url')
  const code = bytes.subarray(MAGIC.length, MAGIC.length + CODE_BYTES)
  const payload = bytes.subarray(MAGIC.length + CODE_BYTES)
  if (code.length !== CODE_BYTES || !timingSafeEqual(code, authenticate(payload, key)))
    return { problem: 'A signature envelope was changed, or comes from another gateway; it was ignored.' }
  const parts = filterObjects(tryParseJson(payload.toString('utf8'))).map(fromFields)
  if (parts.some((part) => part === undefined)) return { problem: 'A signature envelope has an unknown format.' }
  return parts.filter((part) => part !== undefined)
}

export function isEnvelope(text: string): boolean {
  return text.startsWith(ENVELOPE_PREFIX)
}

/** The version is part of it. */
const MAGIC = Buffer.from('dgmnv1')

/** How every envelope begins, and nothing else does. */
export const ENVELOPE_PREFIX = MAGIC.toString('base64url')

const CODE_BYTES = 24

function authenticate(payload: Uint8Array, key: Uint8Array): Buffer {
  return createHmac('sha256', key).update(MAGIC).update(payload).digest().subarray(0, CODE_BYTES)
}

function toFields({ kind, index, callId, argumentNames, text, native }: CarriedPart): JsonObject {
  const { wire, signer, id, data } = native
  return {
    kind,
    index,
    wire,
    signer,
    ...defined({ callId, text, id, data, names: argumentNames && [...argumentNames] }),
  }
}

function fromFields(fields: Record<string, unknown>): CarriedPart | undefined {
  const { index, wire, signer, callId, names, text, id, data } = fields
  const kind = CARRIED_KINDS.find((one) => one === fields['kind'])
  if (kind === undefined) return undefined
  if (typeof index !== 'number' || typeof wire !== 'string' || !isWireId(wire) || typeof signer !== 'string')
    return undefined
  const native: NativeData = {
    wire: wire satisfies WireId,
    signer,
    ...(typeof id === 'string' && { id }),
    ...(isObject(data) && { data: data as Json }),
  }
  return {
    kind,
    index,
    native,
    ...(typeof callId === 'string' && { callId }),
    ...(Array.isArray(names) && { argumentNames: names.filter((name) => typeof name === 'string') }),
    ...(typeof text === 'string' && { text }),
  }
}
