import type { RunEvent } from '../../agent/loop/run-event.ts'

/** A front end: it is shown every event of a run, and prints what it wants. */
export interface RunOutput {
  onEvent(event: RunEvent): void
  /** Nothing ran: whoever reads this output is told why in the form in which they read. */
  onError(error: RunError): void
}

/** Why nothing ran. */
export interface RunError {
  readonly type: string
  readonly message: string
}

/** Where an output prints to. */
export interface OutputStreams {
  out(text: string): void
  err(text: string): void
}
