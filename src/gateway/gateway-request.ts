import type { IncomingHttpHeaders } from 'node:http'
import type { Fault } from '../model/fault.ts'
import type { JsonObject } from '../model/json.ts'
import type { StreamFraming } from '../wire/framing/write-frames.ts'
import type { Wire } from '../wire/wire.ts'

/** A request of a client for a response of a model. */
export interface GatewayRequest {
  /** The API of the client. */
  readonly wire: Wire
  /** What the client asks for. */
  readonly model: string
  readonly stream: boolean
  readonly framing: StreamFraming
  /** Its short name, such as `claude`. */
  readonly client: string
  readonly headers: IncomingHttpHeaders
  readonly query: string
  readonly text: string
  readonly body: JsonObject
  /** The client's own key, if it sent one besides the token. */
  readonly clientKey?: string
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

/** How an attempt with one model ended. With a fault, nothing of a response has been sent yet. */
export type AttemptResult = { readonly isAnswered: true } | { readonly fault: Fault }

export const ANSWERED: AttemptResult = { isAnswered: true }
