import type { Json, JsonObject } from '../../src/model/json.ts'
import { isObject } from '../../src/model/json.ts'
import type { Wire } from '../../src/wire/wire.ts'
import type { Plan } from './mutate-plan.ts'
import type { Random } from './mutate-random.ts'

/** What an event is for, in words that all wires share. `damage` is what must stop every call that has not ended yet. */
export type Role =
  | 'start'
  | 'open'
  | 'args'
  | 'close'
  | 'text'
  | 'finish'
  | 'end'
  | 'usage'
  | 'done'
  | 'noise'
  | 'damage'

/** One event of a stream, before it becomes bytes. */
export interface WireEvent {
  role: Role
  /** JSON; or text that stands in its place as it is. */
  data: JsonObject | string
  /** The name of the server-sent event, on wires that name them. */
  name?: string
  /** The planned calls that it is about, in the order in which it lists them. */
  calls: number[]
  /** It says that the answer is over. */
  end?: boolean
  /** What comes next belongs to it: a break between the two could not be noticed by anyone. */
  joint?: boolean
  /** Events of one group keep their order among themselves; one without a group stays where it is. */
  group?: string
}

/** A stream, clean or mutated. */
export interface Stream {
  readonly plan: Plan
  events: WireEvent[]
  /** Ways to tell calls apart that the mutations took away. */
  readonly gone: Set<Gone>
  /** What stands in the argument text of a call where nothing came. */
  placeholder: string
  /** Nothing was done to it yet. */
  fresh: boolean
  /** Nothing more may be done to it, because only what is left shows what was done. */
  sealed: boolean
  /** The share of the bytes that arrive. */
  cut?: number
  framing: 'sse' | 'array'
}

/** `name`: a call is named late; `opener`: not at all; `repeat`: calls were sent again; `rotated`, `renamed`: in every delta anew. */
export type Gone = 'id' | 'index' | 'name' | 'opener' | 'repeat' | 'rotated' | 'renamed' | 'closer'

export type Kind = 'drop' | 'null' | 'repeat' | 'rotate' | 'split' | 'reorder' | 'truncate' | 'insert' | 'corrupt'

/**
 * What must become of the clean calls: they all run, if nothing else was done to the stream; they are all seen, be it
 * rejected; at least their names are seen; or nothing is asked.
 */
export type Keeps = 'runs' | 'all' | 'names' | 'nothing'

/** One way to spoil a stream. */
export interface Mutation {
  readonly kind: Kind
  readonly name: string
  readonly keeps: Keeps
  /** Changes the stream; false if there is nothing in it that could be changed so. */
  apply(stream: Stream, random: Random): boolean
}

/** Everything that the fuzz must know about a wire. */
export interface Kit {
  readonly wire: Wire
  make(plan: Plan, random: Random): Stream
  readonly mutations: readonly Mutation[]
  /** Puts the data of an event into the envelope that this wire has around each. */
  readonly wrap?: (data: JsonObject) => JsonObject
}

/** The shapes of a wire that the mutations of all wires use. */
export interface Shapes {
  /** A piece of text where none was. */
  text(stream: Stream, random: Random): WireEvent
  /** Something that means nothing. */
  noise(stream: Stream, random: Random): WireEvent
  /** An error inside the stream. */
  error(random: Random): WireEvent
  /** The events that end an answer, sent by somebody who did not see that it is not whole. */
  lie(stream: Stream): WireEvent[]
  /** The kinds of events that this wire has, besides those that are about text and arguments. */
  readonly roles: readonly Role[]
  /** The order of events means something, so that disorder may cost the calls. */
  readonly ordered?: boolean
  /** Nothing but the opener tells that a call begins, so that a lost one is noticed only as long as indexes count the calls. */
  readonly loose?: boolean
}

/** How a wire carries a piece of argument text. */
export interface PieceShapes {
  /** The text for one call that an event carries. */
  argsOf(one: WireEvent, call: number): string
  setArgs(one: WireEvent, call: number, text: string): void
}

/** An event that is about nothing but itself. */
export function event(role: Role, data: JsonObject | string, more: Partial<WireEvent> = {}): WireEvent {
  return { role, data, calls: [], ...more }
}

/** A stream before anything was done to it. */
export function cleanStream(plan: Plan, events: WireEvent[], framing: Stream['framing'] = 'sse'): Stream {
  return { plan, events, gone: new Set(), placeholder: '', fresh: true, sealed: false, framing }
}

/** A copy that shares nothing. */
export function copyEvent(given: WireEvent): WireEvent {
  return { ...given, data: copy(given.data) as JsonObject | string, calls: [...given.calls] }
}

/** A copy of a stream that shares nothing that mutations change. */
export function copyStream(stream: Stream): Stream {
  return { ...stream, events: stream.events.map(copyEvent), gone: new Set(stream.gone) }
}

/** Where the end signal is; -1 if there is none. */
export function endAt(stream: Stream): number {
  return stream.events.findIndex((one) => one.end)
}

/** Is a call sent whole before the next one begins? If not, only ids and indexes can tell the fragments apart. */
export function isSequential(stream: Stream): boolean {
  const seen: number[] = []
  let last: readonly number[] = []
  for (const { calls } of stream.events) {
    if (calls.length === 0) continue
    const goesOn = calls.length === 1 && last.length === 1 && calls[0] === last[0]
    if (!goesOn && calls.some((call) => seen.includes(call))) return false
    seen.push(...calls)
    last = calls
  }
  return true
}

/** Is nothing left that tells the fragments of calls apart but their order? */
export function isOrderAll({ gone }: Stream): boolean {
  return gone.has('index') && (gone.has('id') || gone.has('name'))
}

/** The object under a key, or an empty one. */
export function under(value: Json | undefined, ...keys: (string | number)[]): JsonObject {
  let here = value
  for (const key of keys) {
    if (Array.isArray(here)) here = here[Number(key)]
    else if (isObject(here)) here = here[String(key)] as Json
  }
  return isObject(here) ? here : {}
}

/** The objects in a list. */
export function listed(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((one): one is JsonObject => isObject(one)) : []
}

/** Puts an event in at a place. */
export function insertAt(stream: Stream, at: number, ...events: WireEvent[]): void {
  stream.events.splice(at, 0, ...events)
}

/** The places of the events that fit. */
export function placesOf(stream: Stream, fits: (one: WireEvent) => boolean): number[] {
  return stream.events.flatMap((one, at) => (fits(one) ? [at] : []))
}

function copy(value: Json): Json {
  if (Array.isArray(value)) return value.map(copy)
  if (!isObject(value)) return value
  // Keys come from the generator and include `__proto__`, which must stay a property.
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, copy(inner)]))
}
