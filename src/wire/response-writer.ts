import { defined } from '../model/defined.ts'
import type { TurnEvent } from '../model/event.ts'
import { type Json, type JsonObject, objectOrEmpty, tryParseJson } from '../model/json.ts'
import type { AssistantPart, AssistantTurn, CallPart, Finish, FinishReason, NativeData, WireId } from '../model/turn.ts'
import { NO_USAGE, type Usage } from '../model/usage.ts'

export interface ResponseMetadata {
  /** Without the vendor's prefix. */
  readonly id: string
  readonly model: string
  /** Seconds since 1970. */
  readonly created: number
  /** The body of the request: vendors repeat parts of it, and some fields are sent only on request. */
  readonly request: JsonObject
}

export interface WrittenResponseFrame {
  /** The name of the event, on wires that name them. */
  readonly event?: string
  readonly data: Json
  /** The text of the event, if it is not the JSON of `data`. */
  readonly raw?: string
  /** It follows the event that ends the response. */
  readonly isTrailer?: true
}

/** An error as a server reports it; `code` is the vendor's own, if it is not the usual one for the status. */
export interface VendorErrorReport {
  readonly status: number
  readonly message: string
  readonly code?: string
}

export interface ResponseWriter {
  startStream(head: ResponseMetadata): ResponseStream
  /** Writes a response that is not streamed. */
  writeWhole(turn: AssistantTurn, head: ResponseMetadata): JsonObject
  /** The body of an HTTP error. */
  writeError(error: VendorErrorReport): JsonObject
  /** An error inside a stream. */
  writeErrorFrame(error: VendorErrorReport): WrittenResponseFrame
}

interface ResponseStream {
  write(event: TurnEvent): WrittenResponseFrame[]
}

/** `native` is what is known of it before the part is complete. */
export type PartStart = { readonly native?: NativeData } & (
  | { readonly kind: 'text'; readonly refusal?: true }
  | { readonly kind: 'reasoning' }
  | { readonly kind: 'media' }
  | { readonly kind: 'call'; readonly id: string; readonly name: string }
)

/** How a wire writes each step of a stream. Parts do not overlap and are numbered from 0. */
interface ResponseFrameWriter {
  begin(usage: Usage): WrittenResponseFrame[]
  openPart(at: number, part: PartStart): WrittenResponseFrame[]
  addDelta(at: number, part: PartStart, text: string): WrittenResponseFrame[]
  closePart(at: number, part: AssistantPart): WrittenResponseFrame[]
  end(end: {
    readonly finish: Finish
    readonly parts: readonly AssistantPart[]
    readonly usage: Usage
  }): WrittenResponseFrame[]
}

/**
 * Writes the events of a turn. Several parts of a turn may be open at once, but clients expect them one after the other:
 * the events of a part are held back until the previous part has closed. A call is written once its id and name are known.
 */
export function createResponseStream(writer: ResponseFrameWriter): ResponseStream {
  const parts: AssistantPart[] = []
  const bufferedEvents = new Map<number, PartEvent[]>()
  let usage = NO_USAGE
  let isStarted = false
  let current: number | undefined
  let head: PartStart | undefined

  function begin(): WrittenResponseFrame[] {
    if (isStarted) return []
    isStarted = true
    return writer.begin(usage)
  }

  function writePart(event: PartEvent): WrittenResponseFrame[] {
    if (current !== undefined && event.index !== current) {
      const events = bufferedEvents.get(event.index)
      if (events) events.push(event)
      else bufferedEvents.set(event.index, [event])
      return []
    }
    current = event.index
    const at = parts.length
    if (event.type === 'part-open') {
      head = toPartStart(event)
      return head ? writer.openPart(at, head) : []
    }
    if (event.type === 'part-delta') return head ? writer.addDelta(at, head, event.text) : []
    // The id with which a call was announced counts.
    const part = head?.kind === 'call' ? setVendorCallId(event.part, head.id) : event.part
    const frames: WrittenResponseFrame[] = []
    if (!head) {
      const start: PartStart = {
        ...(part.kind === 'call'
          ? { kind: part.kind, id: getVendorCallId(part), name: part.name }
          : part.kind === 'text'
            ? { kind: part.kind, ...defined({ refusal: part.refusal }) }
            : { kind: part.kind }),
        ...defined({ native: part.native }),
      }
      const text = part.kind === 'call' ? part.raw : part.kind === 'media' ? '' : part.text
      frames.push(...writer.openPart(at, start), ...(text === '' ? [] : writer.addDelta(at, start, text)))
    }
    frames.push(...writer.closePart(at, part))
    parts.push(part)
    current = undefined
    head = undefined
    return [...frames, ...writeWaiting()]
  }

  function writeWaiting(): WrittenResponseFrame[] {
    const [next] = bufferedEvents
    if (!next) return []
    bufferedEvents.delete(next[0])
    return next[1].flatMap(writePart)
  }

  return {
    write(event) {
      switch (event.type) {
        case 'open':
          return begin()
        case 'part-open':
        case 'part-delta':
        case 'part-close':
          return [...begin(), ...writePart(event)]
        case 'usage':
          usage = event.usage
          return []
        case 'finish':
          return [...begin(), ...writer.end({ finish: event, parts, usage })]
        case 'wait':
        case 'warn':
          return []
        default:
          return event satisfies never
      }
    },
  }
}

type PartEvent = Extract<TurnEvent, { index: number }>

function toPartStart(event: Extract<TurnEvent, { type: 'part-open' }>): PartStart | undefined {
  const native = defined({ native: event.native })
  if (event.kind === 'text') return { kind: event.kind, ...defined({ refusal: event.refusal }), ...native }
  if (event.kind !== 'call') return { kind: event.kind, ...native }
  return event.id === undefined || event.name === undefined
    ? undefined
    : { kind: 'call', id: event.native?.id ?? event.id, name: event.name, ...native }
}

export function getVendorCallId({ id, native }: Extract<AssistantPart, { kind: 'call' }>): string {
  return native?.id ?? id
}

function setVendorCallId(part: AssistantPart, id: string): AssistantPart {
  if (part.kind !== 'call' || getVendorCallId(part) === id) return part
  return part.native ? { ...part, native: { ...part.native, id } } : { ...part, id }
}

/** The text of a call that takes free text; on other wires it is an argument. */
export function getFreeformText({ freeform, raw, input }: CallPart): string {
  const text = freeform ? undefined : (input ?? objectOrEmpty(tryParseJson(raw)))['input']
  return typeof text === 'string' ? text : raw
}

/** An empty id stays empty. */
export function addIdPrefix(prefix: string, id: string): string {
  return id === '' || id.startsWith(prefix) ? id : prefix + id
}

export function getNativeData({ native }: { readonly native?: NativeData }, wire: WireId): JsonObject {
  return (native?.wire === wire ? objectOrEmpty(native.data) : {}) as JsonObject
}

/** The fields of a response that was received on the same wire, by the object that they stood in. */
export function getResponseFields({ native }: Finish, wire: WireId): Readonly<Partial<Record<string, JsonObject>>> {
  return native?.wire === wire ? (objectOrEmpty(native.data) as Record<string, JsonObject>) : {}
}

/** An aborted or failed response has no label of its own: it ends as if it were cut off. */
export function createFinishLabeler(labels: Readonly<Record<FinishReason, string>>): (finish: Finish) => string {
  return ({ reason, raw }) => raw ?? labels[reason]
}
