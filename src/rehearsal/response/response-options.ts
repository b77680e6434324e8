import type { JsonObject } from '../../model/json.ts'
import type { Wire } from '../../wire/wire.ts'
import type { StreamFraming } from './encode-stream.ts'

export interface ScriptedResponseOptions {
  readonly wire: Wire
  /** Empty if it was not parsed. */
  readonly requestBody: JsonObject
  readonly stream: boolean
  readonly framing: StreamFraming
  /** Google sends errors inside an array to clients that asked for a stream of JSON. */
  readonly wrapsErrorsInArray: boolean
  readonly delayMs: number
  readonly paceMs: number
}
