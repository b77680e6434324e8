import type { RunEvent } from '../../agent/loop/run-event.ts'

export interface RunOutput {
  onEvent(event: RunEvent): void
  /** Nothing ran, for this reason. */
  onError(error: RunError): void
}

export type RunError = Readonly<Record<'type' | 'message', string>>

export type OutputStreams = Readonly<Record<'out' | 'err', (text: string) => void>>

export interface OutputOptions {
  /** The answer is a JSON value, which replaces the text of the model. */
  readonly isStructured?: boolean
  /** Can the session be continued later? The default is true. */
  readonly isSaved?: boolean
}
