/** An error between us and a model: one kind for each thing that can be done about it. */
export type FaultKind =
  | 'auth' // sign in again
  | 'rate' // wait
  | 'quota' // pay, or use another model
  | 'overflow' // compress the history
  | 'invalid' // the request is wrong; the same request will fail again
  | 'policy' // refused by the vendor's rules
  | 'server' // try again
  | 'transport' // the connection broke; try again
  | 'decode' // the response could not be read; try again

/** Why a request to a model failed. */
export interface Fault {
  readonly kind: FaultKind
  readonly message: string
  /** The vendor sent no message; `message` is ours. */
  readonly isUnexplained?: true
  /** Milliseconds that the vendor asked us to wait. */
  readonly retryAfter?: number
  /** What the vendor says about trying again, if it says anything. */
  readonly shouldRetry?: boolean
  /** Milliseconds without progress before it happened. */
  readonly waited?: number
  /** The HTTP status, or the status given by an error inside a 200 response. */
  readonly status?: number
  /** The vendor's own code or type. */
  readonly code?: string
  /** The request parameter that the vendor points at. */
  readonly param?: string
  /** What the model wrote, if a server rejected it as a malformed call (T73). */
  readonly written?: string
}
