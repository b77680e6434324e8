import type { Json, JsonObject } from '../../model/json.ts'
import type { Answer } from '../answer.ts'
import type { Trouble } from '../misbehaviour.ts'

/** What an event of a stream is about, so that things can go wrong in the right place. */
export type Spot = 'open' | 'thinking' | 'text' | 'call' | 'arguments' | 'call-end' | 'end' | 'done'

/** One event of a stream before it is bytes. */
export interface Frame {
  readonly event?: string
  readonly data: Json
  /** The text of the event, where it is not the JSON of `data`. */
  readonly raw?: string
  readonly spot: Spot
  /** Which call of the answer it is about. */
  readonly call?: number
}

/** What a request asks for that changes the form of the answer. */
export interface Wants {
  /** Token counts at the end of a stream (chat). */
  readonly usage: boolean
  /** Sealed reasoning (Responses). */
  readonly sealed: boolean
  /** What the request said, for vendors that repeat it in the answer; empty where nobody read it. */
  readonly body: JsonObject
}

/** Writes answers on one wire, in the vendor's own shape. */
export interface Speaker {
  frames(answer: Answer, wants: Wants): Frame[]
  whole(answer: Answer, wants: Wants): JsonObject
  /** The body of an error; `code` is the vendor's own word, where it is to be another than the usual one. */
  fault(status: number, message: string, code?: string): JsonObject
  /** An error that comes inside a stream. */
  trouble(trouble: Trouble): Frame
}

/** An id with the vendor's prefix; what is absent or empty stays so. */
export function prefixed(prefix: string, id: string | undefined): string | undefined {
  return id === undefined || id === '' ? id : prefix + id
}

/** The arguments as JSON, or as the text that they are where they are not JSON. */
export function parsed(raw: string): Json {
  try {
    return JSON.parse(raw) as Json
  } catch {
    return raw
  }
}

/** What an endpoint says of its troubles. */
export const TROUBLES: Readonly<Record<Trouble, { readonly status: number; readonly message: string }>> = {
  overloaded: { status: 529, message: 'Overloaded' },
  rate: { status: 429, message: 'Rate limit reached. Please try again in 1.5s.' },
  server: { status: 500, message: 'The server had an error while processing your request.' },
  invalid: { status: 400, message: 'The request is invalid, and will be so again.' },
}
