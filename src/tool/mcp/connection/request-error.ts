/** Why a request has no response: none came in time, the connection was lost, or there was none. */
type RequestFailure = 'timeout' | 'disconnected' | 'unreachable'

/** A request without a response. Errors that a server reports itself are others. */
export class McpRequestError extends Error {
  readonly reason: RequestFailure

  constructor(reason: RequestFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}
