import type { Fault } from '../../model/fault.ts'
import type { Usage } from '../../model/usage.ts'
import type { CloseReason, RunEvent } from './run-event.ts'
import { defined } from '../../model/defined.ts'

/** A run. Iterate over it for the events, or await it for the result. */
export interface RunHandle extends AsyncIterable<RunEvent>, PromiseLike<RunResult> {
  /** Stops the run; every open call gets a result. */
  cancel(): void
}

export interface RunResult {
  readonly text: string
  readonly reason: CloseReason
  readonly fault?: Fault
  readonly usage?: Usage
  readonly turns: number
  readonly session: string
}

/** The run starts when it is first iterated or awaited, and can be iterated only once. */
export function createRunHandle(start: (signal: AbortSignal) => AsyncIterable<RunEvent>): RunHandle {
  const stop = new AbortController()
  let result: Promise<RunResult> | undefined
  let isIterated = false

  async function* iterateEvents(): AsyncGenerator<RunEvent> {
    if (isIterated) throw new Error('a run can be iterated only once')
    isIterated = true
    yield* start(stop.signal)
  }

  async function collectResult(): Promise<RunResult> {
    let closeEvent: Extract<RunEvent, { type: 'run-close' }> | undefined
    let usage: Usage | undefined
    let turns = 0
    let session = ''
    for await (const event of iterateEvents()) {
      if (event.type === 'run-open') session = event.session
      if (event.type === 'budget') ({ usage, turns } = event)
      if (event.type === 'run-close') closeEvent = event
    }
    return {
      text: closeEvent?.text ?? '',
      reason: closeEvent?.reason ?? 'fault',
      ...defined({ fault: closeEvent?.fault, usage }),
      turns,
      session,
    }
  }

  return {
    cancel: () => stop.abort(),
    [Symbol.asyncIterator]: iterateEvents,
    // oxlint-disable-next-line unicorn/no-thenable
    then: (fulfilled, rejected) => (result ??= collectResult()).then(fulfilled, rejected),
  }
}
