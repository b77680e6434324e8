import type { TurnEvent, Warning } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import { isObject, toCanonicalJson, tryParseJson } from '../model/json.ts'
import type { ModelRequest } from '../model/request.ts'
import type { AssistantPart, CallPart, WireId } from '../model/turn.ts'
import { createNativeCarrier } from './native/carry-native-data.ts'

interface ClientEventOptions {
  /** The wire of the client. */
  readonly wire: WireId
  /** The wire of the model that responds. */
  readonly upstreamWire: WireId
  /** The request that is answered; ids of its calls are not used again. */
  readonly request: ModelRequest
  readonly key: Uint8Array
}

type FinishEvent = Extract<TurnEvent, { type: 'finish' }>

/** How the response ends for the client. */
export type ClientEnd = { readonly finish: FinishEvent } | { readonly fault: Fault } | { readonly isAborted: true }

export type ClientEvents = ReturnType<typeof createClientEvents>

/**
 * The events of a response as the client gets them: text and reasoning as they come, a call only when it is complete, because
 * its fragments may be repeated, repaired or never end. So no client ever sees half a call.
 */
export function createClientEvents({ wire, upstreamWire, request, key }: ClientEventOptions) {
  const carrier = createNativeCarrier(wire, key)
  const usedIds = collectCallIds(request)
  const indexes = new Map<number, number>()
  const rejected: CallPart[] = []
  const warnings: Warning[] = []
  let calls = 0
  let next = 0

  const getIndex = (index: number): number => {
    const known = indexes.get(index) ?? next++
    indexes.set(index, known)
    return known
  }

  function writeWhole(part: AssistantPart, index = next++): TurnEvent[] {
    const { kind, native } = part
    const text = part.kind === 'call' ? part.raw : part.kind === 'media' ? '' : part.text
    const open: TurnEvent =
      part.kind === 'call'
        ? { type: 'part-open', index, kind, id: part.id, name: part.name, ...(native && { native }) }
        : { type: 'part-open', index, kind }
    return [
      open,
      ...(text === '' ? [] : [{ type: 'part-delta' as const, index, kind, text }]),
      { type: 'part-close', index, part },
    ]
  }

  function closePart(part: AssistantPart, index: number): TurnEvent[] {
    if (part.kind !== 'call') {
      const { before, part: carried, after } = carrier.carry(part, index)
      const close: TurnEvent = { type: 'part-close', index: getIndex(index), part: carried }
      return [...before.flatMap((one) => writeWhole(one)), close, ...after.flatMap((one) => writeWhole(one))]
    }
    if (!isComplete(part)) {
      rejected.push(part)
      return []
    }
    calls++
    const id = chooseId(part, usedIds)
    const whole = { ...part, id, raw: toArgumentText(part) }
    const { before, part: carried } = carrier.carryCall(whole, index, id)
    return [...before, carried].flatMap((one) => writeWhole(one))
  }

  return {
    warnings: warnings as readonly Warning[],
    push(event: Exclude<TurnEvent, FinishEvent>): TurnEvent[] {
      switch (event.type) {
        case 'part-open':
          // Native data of the part is written when it is complete.
          return event.kind === 'call' ? [] : [{ type: 'part-open', index: getIndex(event.index), kind: event.kind }]
        case 'part-delta':
          return event.kind === 'call' ? [] : [{ ...event, index: getIndex(event.index) }]
        case 'part-close':
          return closePart(event.part, event.index)
        case 'warn':
          warnings.push(event.warning)
          return []
        case 'open':
        case 'usage':
        case 'wait':
          return [event]
        default:
          return event satisfies never
      }
    },
    end(finish: FinishEvent): ClientEnd {
      const { type, reason, fault, native, raw } = finish
      if (reason === 'aborted') return { isAborted: true }
      if (reason === 'fault') return { fault: fault ?? BROKEN_FAULT }
      const isGoogle = wire === 'gemini' || wire === 'code-assist'
      if (reason === 'malformed-call' && !(isGoogle && calls === 0))
        return { fault: { kind: 'decode', message: fault?.message ?? 'The model made a call that cannot be read.' } }
      const [first] = rejected
      if (first && reason !== 'length' && reason !== 'malformed-call') return { fault: createCallFault(first) }
      if (first)
        warnings.push({ code: 'rejected-call', message: `A call of ${first.name} was left out: it is incomplete.` })
      // The labels of another vendor say nothing to the client.
      const label = upstreamWire === wire && raw !== undefined ? { raw } : {}
      const isCallMissing = reason === 'calls' && calls === 0
      return {
        finish: { type, reason: isCallMissing ? 'stop' : reason, ...label, ...(native && { native }), ...(fault && { fault }) },
      }
    },
  }
}

const BROKEN_FAULT: Fault = { kind: 'transport', message: 'The response broke off.' }

function createCallFault({ name, flaw }: CallPart): Fault {
  const why = flaw?.message ?? 'Its arguments could not be read.'
  return { kind: 'decode', message: `The model made a call of ${name || 'a tool'} that must not run. ${why}` }
}

function isComplete({ flaw, input, name }: CallPart): boolean {
  return !flaw && input !== undefined && name !== ''
}

/** As received, if it says the same as what was read of it: numbers and the order of keys stay as they are. */
function toArgumentText({ raw, input = {}, freeform }: CallPart): string {
  if (freeform) return raw
  const parsed = tryParseJson(raw)
  return isObject(parsed) && toCanonicalJson(parsed) === toCanonicalJson(input) ? raw : JSON.stringify(input)
}

/** The id of the vendor, unless a call of this conversation has it already: clients find results by it. */
function chooseId({ id, native }: CallPart, usedIds: Set<string>): string {
  const given = native?.id ?? ''
  const chosen = given !== '' && !usedIds.has(given) ? given : id
  usedIds.add(chosen)
  return chosen
}

function collectCallIds({ turns }: ModelRequest): Set<string> {
  const parts = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))
  const ids = parts.flatMap((part) => (part.kind === 'call' ? [part.id, part.native?.id ?? ''] : []))
  return new Set(ids.flatMap((id) => [id, id.replace(/^(?:toolu|call)_/, '')]))
}
