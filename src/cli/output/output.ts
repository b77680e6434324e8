import type { RunEvent } from '../../agent/run-event.ts'

/** A front end: it is shown every event of a run, and prints what it wants. */
export interface Output {
  show(event: RunEvent): void
  /** Nothing ran: whoever reads this output is told why in the form in which they read. */
  refuse(error: Refused): void
}

/** Why nothing ran. */
export interface Refused {
  readonly type: string
  readonly message: string
}

/** Where an output prints to. */
export interface Sink {
  out(text: string): void
  err(text: string): void
}
