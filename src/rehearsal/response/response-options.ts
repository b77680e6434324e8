import type { JsonObject } from '../../model/json.ts'
import type { Wire } from '../../wire/wire.ts'
import type { StreamFraming } from './encode-stream.ts'

/** How an answer is to be given. */
export interface ResponseOptions {
  readonly wire: Wire
  /** The body of the request; empty where nobody read it. */
  readonly requestBody: JsonObject
  readonly stream: boolean
  readonly framing: StreamFraming
  /** Errors come inside an array, as Google sends them to those who asked for a stream of JSON. */
  readonly wrapsErrorsInArray: boolean
  readonly delayMs: number
  readonly paceMs: number
}
