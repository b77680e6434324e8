import type { RunEvent } from '../../agent/run-event.ts'

/** A front end: it is shown every event of a run, and prints what it wants. */
export interface Output {
  show(event: RunEvent): void
}

/** Where an output prints to. */
export interface Sink {
  out(text: string): void
  err(text: string): void
}
