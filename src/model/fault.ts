/** What went wrong between us and a model: nine kinds, because nine different things can be done about it. */
export type FaultKind =
  | 'auth' // sign in again
  | 'rate' // wait
  | 'quota' // pay, or use another model
  | 'overflow' // compress the history
  | 'invalid' // the request is wrong; the same request will fail again
  | 'policy' // refused by the vendor's rules
  | 'server' // try again
  | 'transport' // the connection broke; try again
  | 'decode' // the answer could not be read; try again

export interface Fault {
  readonly kind: FaultKind
  readonly message: string
  /** The vendor gave no message of its own: `message` only repeats the status. */
  readonly isUnexplained?: true
  /** Milliseconds that the vendor asked us to wait. */
  readonly retryAfter?: number
  /** Milliseconds without progress before it happened. */
  readonly waited?: number
  /** The HTTP status, or the status that an error inside a 200 names. */
  readonly status?: number
  /** The vendor's own code or type. */
  readonly code?: string
  /** The request parameter that the vendor points at. */
  readonly param?: string
  /** What the model wrote, where a server rejected it as a malformed call (T73). */
  readonly written?: string
}
