import type { TurnEvent } from '../model/event.ts'
import type { ModelRequest, ServerTool } from '../model/request.ts'
import type { ModelOrigin } from '../model/turn.ts'
import type { PrefixHashes } from '../wire/history/prefix-hashes.ts'

/** The options of one request to a model. */
export interface RequestOptions {
  /** Unique; the ids of the calls in the response are derived from it. */
  readonly turnKey: string
  readonly signal?: AbortSignal
  /** Milliseconds that may pass without progress, if earlier attempts have used up some of them. */
  readonly maxSilenceMs?: number
  /** The longest wait before another attempt that a server may ask for, if the caller can try it again later by itself. */
  readonly maxRetryWaitMs?: number
  /** Called for every attempt as it is sent. */
  readonly onSent?: (sent: SentRequest) => void
}

export interface SentRequest {
  readonly origin: ModelOrigin
  readonly bytes: number
  readonly prefixHashes?: PrefixHashes
}

/** `stream` never throws: every failure is in the events, which end with exactly one `finish`. */
export interface Model {
  readonly origin: ModelOrigin
  /** The context window in tokens, if it is known. */
  readonly window?: number
  /** What the vendor can look up by itself, if a request asks for it. */
  readonly serverTools?: readonly ServerTool[]
  stream(request: ModelRequest, options: RequestOptions): AsyncIterable<TurnEvent>
}
