import type { TurnEvent } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import { isObject, toCanonicalJson, tryParseJson } from '../model/json.ts'
import type { ModelRequest } from '../model/request.ts'
import type { AssistantPart, CallPart, ReasoningPart, TextPart, WireId } from '../model/turn.ts'
import type { ExchangeWarning } from './exchange-log.ts'
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

type TextKind = 'text' | 'reasoning'

/** What the client has of a text, in how many pieces. */
interface SentText {
  text: string
  segments: number
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
  const rejected: CallPart[] = []
  const warnings: ExchangeWarning[] = []
  let hasOpened = false
  const texts = new Map<number, SentText>()
  /** Decoders close texts at the end only; clients get them one after the other, so the next one ends the one before. */
  let current:
    | { readonly index: number; readonly clientIndex: number; readonly kind: TextKind; text: string }
    | undefined
  const refusals = new Set<number>()
  const getRefusal = (index: number) => (refusals.has(index) ? { refusal: true as const } : {})
  const openTexts = new Set<number>()
  let heldCalls: { readonly part: CallPart; readonly index: number }[] = []
  let calls = 0
  let next = 0

  function writeWhole(part: AssistantPart): TurnEvent[] {
    const index = next++
    const { kind, native } = part
    const text = part.kind === 'call' ? part.raw : part.kind === 'media' ? '' : part.text
    const open: TurnEvent =
      part.kind === 'call'
        ? { type: 'part-open', index, kind, id: part.id, name: part.name, ...(native && { native }) }
        : { type: 'part-open', index, kind, ...(part.kind === 'text' && part.refusal && { refusal: true }) }
    return [
      open,
      ...(text === '' ? [] : [{ type: 'part-delta' as const, index, kind, text }]),
      { type: 'part-close', index, part },
    ]
  }

  function endCurrent(): TurnEvent[] {
    if (!current) return []
    const { clientIndex, kind, text } = current
    const part = { kind, text, ...getRefusal(current.index) }
    current = undefined
    return [{ type: 'part-close', index: clientIndex, part: carrier.markForeign(part) }]
  }

  function writeText(index: number, kind: TextKind, text: string): TurnEvent[] {
    const events: TurnEvent[] = []
    const sent = texts.get(index) ?? { text: '', segments: 0 }
    texts.set(index, sent)
    if (current?.index !== index) {
      events.push(...endCurrent())
      current = { index, clientIndex: next++, kind, text: '' }
      sent.segments++
      events.push({ type: 'part-open', index: current.clientIndex, kind, ...getRefusal(index) })
    }
    current.text += text
    sent.text += text
    events.push({ type: 'part-delta', index: current.clientIndex, kind, text })
    return events
  }

  function carryWhole(part: Exclude<AssistantPart, CallPart>, index: number): TurnEvent[] {
    const { before, part: carried, after } = carrier.carry(part, index)
    return [...before, carried, ...after].flatMap(writeWhole)
  }

  function closeText(part: TextPart | ReasoningPart, index: number): TurnEvent[] {
    openTexts.delete(index)
    const sent = texts.get(index)
    if (!sent) {
      return carryWhole(part, index)
    }
    const events: TurnEvent[] = []
    const rest = part.text.startsWith(sent.text) ? part.text.slice(sent.text.length) : ''
    if (rest !== '') events.push(...writeText(index, part.kind, rest))
    // Native data stands on the part if all of it is there, and beside it otherwise.
    if (current?.index !== index || sent.segments > 1)
      return [
        ...events,
        ...(current?.index === index ? endCurrent() : []),
        ...carrier.carryBeside(part, index).flatMap(writeWhole),
      ]
    const { part: carried, after } = carrier.carry({ ...part, text: current.text }, index)
    events.push({ type: 'part-close', index: current.clientIndex, part: carried })
    current = undefined
    return [...events, ...after.flatMap(writeWhole)]
  }

  function closePart(part: AssistantPart, index: number): TurnEvent[] {
    switch (part.kind) {
      case 'text':
      case 'reasoning':
        return closeText(part, index)
      case 'media':
        return [...endCurrent(), ...carryWhole(part, index)]
      case 'call':
        if (!isComplete(part)) rejected.push(part)
        // Signatures of what precedes a call are known when that has closed; clients drop those that follow it.
        else if (Math.min(...openTexts) < index) heldCalls.push({ part, index })
        else return writeCall(part, index)
        return []
      default:
        return part satisfies never
    }
  }

  function writeCall(part: CallPart, index: number): TurnEvent[] {
    calls++
    const id = chooseId(part, usedIds)
    const whole = { ...toClientCall(part, wire), id }
    const { before, part: carried } = carrier.carryCall(whole, index, id)
    return [...endCurrent(), ...[...before, carried].flatMap(writeWhole)]
  }

  return {
    warnings: warnings as readonly ExchangeWarning[],
    push(event: Exclude<TurnEvent, FinishEvent>): TurnEvent[] {
      switch (event.type) {
        case 'part-open':
          if (event.kind === 'text' || event.kind === 'reasoning') openTexts.add(event.index)
          if (event.refusal) refusals.add(event.index)
          return []
        case 'part-delta':
          if (event.kind !== 'text' && event.kind !== 'reasoning') return []
          return event.text === '' ? [] : writeText(event.index, event.kind, event.text)
        case 'part-close':
          return closePart(event.part, event.index)
        case 'warn':
          // What is said before the response concerns the request.
          warnings.push({ ...event.warning, stage: hasOpened ? 'upstream-response' : 'upstream-request' })
          return []
        case 'open':
          hasOpened = true
          return [event]
        case 'usage':
        case 'wait':
          return [event]
        default:
          return event satisfies never
      }
    },
    /** The calls that waited for the end of the response; none if it did not end well. */
    takeHeldCalls(): TurnEvent[] {
      const held = heldCalls
      heldCalls = []
      return held.flatMap(({ part, index }) => writeCall(part, index))
    },
    end(finish: FinishEvent): ClientEnd {
      const { type, reason, fault, native, raw } = finish
      if (reason === 'aborted') return { isAborted: true }
      if (reason === 'fault') return { fault: fault ?? BROKEN_FAULT }
      const hasCalls = calls + heldCalls.length > 0
      const [first] = rejected
      if (reason === 'malformed-call' || (first && reason !== 'length')) {
        const broken = first ? createCallFault(first) : createUnreadFault(fault)
        // Google's API has a reason for it, at which its clients ask again.
        const isGoogle = wire === 'gemini' || wire === 'code-assist'
        if (!isGoogle || hasCalls) return { fault: broken }
        warnings.push({ code: 'rejected-call', message: broken.message, stage: 'client-response' })
        return { finish: { type, reason: 'malformed-call', fault: broken } }
      }
      if (first)
        warnings.push({
          code: 'rejected-call',
          message: `A call of ${first.name} was left out: it is incomplete.`,
          stage: 'client-response',
        })
      // The labels of another vendor say nothing to the client.
      const label = upstreamWire === wire && raw !== undefined ? { raw } : {}
      const isCallMissing = reason === 'calls' && !hasCalls
      return {
        finish: {
          type,
          reason: isCallMissing ? 'stop' : reason,
          ...label,
          ...(native && { native }),
          ...(fault && { fault }),
        },
      }
    },
  }
}

const BROKEN_FAULT: Fault = { kind: 'transport', message: 'The response broke off.' }

function createCallFault({ name, flaw }: CallPart): Fault {
  const why = flaw?.message ?? 'Its arguments could not be read.'
  return { kind: 'decode', message: `The model made a call of ${name || 'a tool'} that must not run. ${why}` }
}

function createUnreadFault(fault: Fault | undefined): Fault {
  return { kind: 'decode', message: fault?.message ?? 'The model made a call that cannot be read.' }
}

function isComplete({ flaw, input, name }: CallPart): boolean {
  return !flaw && input !== undefined && name !== ''
}

/** Only OpenAI's Responses API has free text for tools that are not declared; elsewhere it is the one argument. */
function toClientCall({ freeform, ...call }: CallPart, wire: WireId): CallPart {
  if (!freeform) return { ...call, raw: toArgumentText(call) }
  return wire === 'openai-responses' ? { ...call, freeform } : { ...call, raw: JSON.stringify({ input: call.raw }) }
}

/** As received, if it says the same as what was read of it: numbers and the order of keys stay as they are. */
function toArgumentText({ raw, input = {} }: CallPart): string {
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
