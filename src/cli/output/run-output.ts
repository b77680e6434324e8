import type { RunEvent } from '../../agent/loop/run-event.ts'

/** Prints the events of a run. */
export interface RunOutput {
  onEvent(event: RunEvent): void
  /** Nothing ran, for this reason. */
  onError(error: RunError): void
}

export interface RunError {
  readonly type: string
  readonly message: string
}

export interface OutputStreams {
  out(text: string): void
  err(text: string): void
}

export interface OutputOptions {
  /** The answer is a JSON value, which replaces the text of the model. */
  readonly isStructured?: boolean
}
