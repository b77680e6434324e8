import { defined } from '../../model/defined.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import type { AssistantPart, CallPart, NativeData, ReasoningPart, TextPart, WireId } from '../../model/turn.ts'
import { pickOtherFields } from '../../wire/read-parts.ts'
import { ENVELOPE_FIELDS, REPEATS_ON_CALLS } from './envelope-fields.ts'
import { type CarriedPart, sealEnvelope } from './signature-envelope.ts'

/** A part for the client, and the parts that carry native data before and after it. */
export interface CarriedResult<P extends AssistantPart> {
  readonly before: readonly AssistantPart[]
  readonly part: P
  readonly after: readonly AssistantPart[]
}

export type NativeCarrier = ReturnType<typeof createNativeCarrier>

/** Packs the native data of one response into fields of the client's API. Data of the same wire stays as it is. */
export function createNativeCarrier(wire: WireId, key: Uint8Array) {
  const fields = ENVELOPE_FIELDS[wire]
  /** Reasoning since the last call, for clients that send back only calls. */
  let repeated: CarriedPart[] = []
  let position = 0

  const toNative = (data: JsonObject, id?: string): NativeData => ({
    wire,
    signer: wire,
    data,
    ...defined({ id }),
  })
  const createCarrier = (carried: CarriedPart): AssistantPart => ({
    kind: 'reasoning',
    text: '',
    native: toNative(fields.reasoning(sealEnvelope([carried], key), false, position++)),
  })

  function carryReasoning(part: Extract<AssistantPart, { kind: 'reasoning' }>, index: number, native: NativeData) {
    const carried: CarriedPart = { kind: 'reasoning', index, native }
    if (REPEATS_ON_CALLS[wire]) repeated.push({ ...carried, text: part.text })
    const data = fields.reasoning(sealEnvelope([carried], key), part.text !== '', position++)
    return { ...part, native: toNative(data) }
  }

  function carryContent(part: Extract<AssistantPart, { kind: 'text' | 'media' }>, index: number, native: NativeData) {
    const carried: CarriedPart = { kind: part.kind, index, native }
    const field = part.kind === 'text' && part.text === '' ? undefined : fields[part.kind]
    if (field)
      return { before: [], part: { ...part, native: toNative(field(sealEnvelope([carried], key))) }, after: [] }
    return { before: [], part: withoutNative(part), after: [createCarrier(carried)] }
  }

  /** The client's own vendor refuses thinking that is not signed; so it is marked as that of another model. */
  function markForeign<P extends TextPart | ReasoningPart>(part: P): P {
    if (part.kind !== 'reasoning' || part.text === '' || REPEATS_ON_CALLS[wire]) return part
    return { ...part, native: toNative(fields.reasoning(sealEnvelope([], key), true, position++)) }
  }

  return {
    markForeign,
    /** For a part whose text the client has already: what carries its native data. */
    carryBeside(part: TextPart | ReasoningPart, index: number): AssistantPart[] {
      const native = toReplayable(part.native)
      if (!native || native.wire === wire) return []
      const carried: CarriedPart = {
        kind: part.kind,
        index,
        native,
        ...(part.kind === 'reasoning' && { text: part.text }),
      }
      if (part.kind === 'reasoning' && REPEATS_ON_CALLS[wire]) repeated.push(carried)
      return [createCarrier(carried)]
    },
    /** `index` is the position of the part in the response. */
    carry(part: Exclude<AssistantPart, CallPart>, index: number): CarriedResult<AssistantPart> {
      const native = toReplayable(part.native)
      if (part.native?.wire === wire) return { before: [], part, after: [] }
      if (!native && part.kind !== 'media') return { before: [], part: markForeign(withoutNative(part)), after: [] }
      if (!native) return { before: [], part: withoutNative(part), after: [] }
      if (part.kind === 'reasoning') return { before: [], part: carryReasoning(part, index, native), after: [] }
      return carryContent(part, index, native)
    },
    /** `id` is the id of the call for the client. */
    carryCall(part: CallPart, index: number, id: string): CarriedResult<CallPart> {
      if (part.native?.wire === wire)
        return { before: [], part: { ...part, native: { ...part.native, id } }, after: [] }
      const native = toReplayable(part.native)
      const argumentNames = Object.keys(part.input ?? {})
      const { native: _native, ...bare } = part
      const call: CallPart = { ...bare, native: { wire, signer: wire, id } }
      if (!fields.call) {
        const before = native ? [createCarrier({ kind: 'call', index, callId: id, argumentNames, native })] : []
        return { before, part: call, after: [] }
      }
      const carried: CarriedPart[] = [
        ...repeated,
        ...(native ? [{ kind: 'call' as const, index, argumentNames, native }] : []),
      ]
      repeated = []
      if (carried.length === 0) return { before: [], part: call, after: [] }
      return { before: [], part: { ...call, native: toNative(fields.call(sealEnvelope(carried, key)), id) }, after: [] }
    },
  }
}

/** What the vendor wants back; other fields are only kept for writing the same response again. */
function toReplayable(native: NativeData | undefined): NativeData | undefined {
  if (!native) return undefined
  const data = isObject(native.data) ? pickOtherFields(native.data, 'response') : undefined
  const { wire, signer, id } = native
  return data && Object.keys(data).length > 0 ? { wire, signer, data, ...defined({ id }) } : undefined
}

function withoutNative<P extends AssistantPart>(part: P): P {
  const { native: _native, ...bare } = part
  return bare as P
}
