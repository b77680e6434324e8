import type { TurnEvent } from '../model/event.ts'
import type { ModelRequest, ServerTool } from '../model/request.ts'
import type { ModelOrigin } from '../model/turn.ts'
import type { PrefixHashes } from '../wire/history/prefix-hashes.ts'

/** How one request is to be carried out. */
export interface RequestOptions {
  /** Unique for ever; the ids of the calls in the answer are made from it. */
  readonly turnKey: string
  readonly signal?: AbortSignal
  /** Milliseconds that may pass without progress, where others have passed before: less than the usual limits allow. */
  readonly maxSilenceMs?: number
  /** Hears of every request as it goes out: of each attempt, and whom it goes to. */
  readonly onSent?: (sent: SentRequest) => void
}

/** A request that goes out. */
export interface SentRequest {
  readonly origin: ModelOrigin
  readonly bytes: number
  readonly prefixHashes?: PrefixHashes
}

/**
 * A model that can be asked. Asking never throws: whatever goes wrong is in the events, which always end in exactly one
 * `finish`. Decorators (retry, fallback, budget, record, trace) have the same shape.
 */
export interface Model {
  readonly origin: ModelOrigin
  /** How many tokens the model can take in, where that is known. */
  readonly window?: number
  /** What the vendor can look up by itself; a request may ask for it. */
  readonly serverTools?: readonly ServerTool[]
  stream(request: ModelRequest, options: RequestOptions): AsyncIterable<TurnEvent>
}
