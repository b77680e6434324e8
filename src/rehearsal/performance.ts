import type { JsonObject } from '../model/json.ts'
import type { Wire } from '../wire/wire.ts'
import type { Framing } from './framing.ts'

/** How an answer is to be given. */
export interface Performance {
  readonly wire: Wire
  /** The body of the request; empty where nobody read it. */
  readonly request: JsonObject
  readonly stream: boolean
  readonly framing: Framing
  /** Errors come inside an array, as Google sends them to those who asked for a stream of JSON. */
  readonly arrayed: boolean
  readonly delay: number
  readonly pace: number
}
