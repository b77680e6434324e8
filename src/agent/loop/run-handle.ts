import type { Usage } from '../../model/usage.ts'
import type { RunEvent } from './run-event.ts'
import { defined } from '../../model/defined.ts'

/** A run: an iterable of its events, and a promise of how it ended. Whoever awaits it need not iterate. */
export interface RunHandle extends AsyncIterable<RunEvent>, PromiseLike<RunResult> {
  /** Stops it; every open call is closed with a result. */
  cancel(): void
}

/** How a run ended. */
export interface RunResult {
  readonly text: string
  readonly reason: Extract<RunEvent, { type: 'run-close' }>['reason']
  readonly fault?: Extract<RunEvent, { type: 'run-close' }>['fault']
  readonly usage?: Usage
  readonly turns: number
  readonly session: string
}

/** Makes a run out of its events. It starts when it is first iterated or awaited, and can be watched only once. */
export function createRunHandle(start: (signal: AbortSignal) => AsyncIterable<RunEvent>): RunHandle {
  const stop = new AbortController()
  let result: Promise<RunResult> | undefined
  let isIterated = false

  async function* iterateEvents(): AsyncGenerator<RunEvent> {
    if (isIterated) throw new Error('a run can be watched only once')
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
      ...(closeEvent?.fault && { fault: closeEvent.fault }),
      ...defined({ usage }),
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
