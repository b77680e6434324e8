import type { BodyPiece } from '../../wire/history/encoded-messages.ts'

export interface HttpRequest {
  readonly url: URL
  /** The default is POST. */
  readonly method?: 'GET' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  /** In pieces, to be sent one after the other. */
  readonly body: readonly BodyPiece[]
  /** The length of the body, if it is known already. */
  readonly bodyBytes?: number
  /** Called once, when the whole request has been sent. */
  readonly onSent?: () => void
}

/** Reading the body throws if the connection breaks. */
export interface HttpResponse {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
}

/** Throws if there are no response headers. Aborting the signal ends it at any time. */
export type HttpClient = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>
