/** One request, ready to go. */
export interface HttpRequest {
  readonly url: URL
  /** POST, if nothing is said. */
  readonly method?: 'GET' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  /** In pieces, to be sent one after the other. */
  readonly body: readonly string[]
  /** Of the body in bytes, where somebody has counted it already. */
  readonly bodyBytes?: number
  /** Told once, when all of it has gone out: until then nothing should hold it up. */
  readonly onSent?: () => void
}

/** The answer to it. Reading the body throws where the connection breaks. */
export interface HttpResponse {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
}

/** Sends a request and waits for the head of its answer; throws if there is none. Aborting the signal ends it at any point. */
export type HttpClient = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>
