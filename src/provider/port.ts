import type { TurnEvent } from '../model/event.ts'
import type { Request } from '../model/request.ts'
import type { Origin } from '../model/turn.ts'

/** How one request is to be carried out. */
export interface Sending {
  /** Unique for ever; the ids of the calls in the answer are made from it. */
  readonly key: string
  readonly signal?: AbortSignal
}

/**
 * A model that can be asked. Asking never throws: whatever goes wrong is in the events, which always end in exactly one
 * `finish`. Decorators (retry, fallback, budget, record, trace) have the same shape.
 */
export interface ModelPort {
  readonly origin: Origin
  /** How many tokens the model can take in, where that is known. */
  readonly window?: number
  ask(request: Request, sending: Sending): AsyncIterable<TurnEvent>
}
