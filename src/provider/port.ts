import type { TurnEvent } from '../model/event.ts'
import type { Request, ServerTool } from '../model/request.ts'
import type { Origin } from '../model/turn.ts'
import type { Marks } from '../wire/marks.ts'

/** How one request is to be carried out. */
export interface Sending {
  /** Unique for ever; the ids of the calls in the answer are made from it. */
  readonly key: string
  readonly signal?: AbortSignal
  /** Milliseconds that may pass without progress, where others have passed before: less than the usual limits allow. */
  readonly silence?: number
  /** Hears of every request as it goes out: of each attempt, and whom it goes to. */
  readonly sent?: (sent: Sent) => void
}

/** A request that goes out. */
export interface Sent {
  readonly origin: Origin
  readonly bytes: number
  readonly marks?: Marks
}

/**
 * A model that can be asked. Asking never throws: whatever goes wrong is in the events, which always end in exactly one
 * `finish`. Decorators (retry, fallback, budget, record, trace) have the same shape.
 */
export interface ModelPort {
  readonly origin: Origin
  /** How many tokens the model can take in, where that is known. */
  readonly window?: number
  /** What the vendor can look up by itself; a request may ask for it. */
  readonly serverTools?: readonly ServerTool[]
  ask(request: Request, sending: Sending): AsyncIterable<TurnEvent>
}
