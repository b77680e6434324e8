import type { Usage } from '../model/usage.ts'
import type { RunEvent } from './run-event.ts'

/** A run: an iterable of its events, and a promise of how it ended. Whoever awaits it need not iterate. */
export interface Run extends AsyncIterable<RunEvent>, PromiseLike<RunEnd> {
  /** Stops it; every open call is closed with a result. */
  cancel(): void
}

/** How a run ended. */
export interface RunEnd {
  readonly text: string
  readonly reason: Extract<RunEvent, { type: 'run-close' }>['reason']
  readonly fault?: Extract<RunEvent, { type: 'run-close' }>['fault']
  readonly usage?: Usage
  readonly turns: number
  readonly session: string
}

/** Makes a run out of its events. It starts when it is first iterated or awaited, and can be watched only once. */
export function asRun(start: (signal: AbortSignal) => AsyncIterable<RunEvent>): Run {
  const stop = new AbortController()
  let end: Promise<RunEnd> | undefined
  let taken = false

  async function* watch(): AsyncGenerator<RunEvent> {
    if (taken) throw new Error('a run can be watched only once')
    taken = true
    yield* start(stop.signal)
  }

  async function finish(): Promise<RunEnd> {
    let closed: Extract<RunEvent, { type: 'run-close' }> | undefined
    let usage: Usage | undefined
    let turns = 0
    let session = ''
    for await (const event of watch()) {
      if (event.type === 'run-open') session = event.session
      if (event.type === 'budget') ({ usage, turns } = event)
      if (event.type === 'run-close') closed = event
    }
    return {
      text: closed?.text ?? '',
      reason: closed?.reason ?? 'fault',
      ...(closed?.fault && { fault: closed.fault }),
      ...(usage && { usage }),
      turns,
      session,
    }
  }

  return {
    cancel: () => stop.abort(),
    [Symbol.asyncIterator]: watch,
    // oxlint-disable-next-line unicorn/no-thenable
    then: (fulfilled, rejected) => (end ??= finish()).then(fulfilled, rejected),
  }
}
