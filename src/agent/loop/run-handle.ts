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

/** The run starts when it is first iterated or awaited. It can be iterated only once, and awaited before or after that. */
export function createRunHandle(start: (signal: AbortSignal) => AsyncIterable<RunEvent>): RunHandle {
  const stop = new AbortController()
  let result: RunResult = { text: '', reason: 'cancelled', turns: 0, session: '' }
  let isIterated = false
  let settle: { readonly resolve: (result: RunResult) => void; readonly reject: (error: unknown) => void }
  const ended = new Promise<RunResult>((resolve, reject) => {
    settle = { resolve, reject }
  })
  // Whoever only iterates gets the error there.
  ended.catch(() => undefined)

  function updateResult(event: RunEvent): void {
    if (event.type === 'run-open') result = { ...result, session: event.session }
    if (event.type === 'budget') result = { ...result, usage: event.usage, turns: event.turns }
    if (event.type === 'run-close') {
      const { text, reason, fault } = event
      result = { ...result, text, reason, ...defined({ fault }) }
    }
  }

  async function* iterateEvents(): AsyncGenerator<RunEvent> {
    if (isIterated) throw new Error('a run can be iterated only once; await it for its result')
    isIterated = true
    try {
      for await (const event of start(stop.signal)) {
        updateResult(event)
        yield event
      }
    } catch (error) {
      settle.reject(error)
      throw error
    } finally {
      settle.resolve(result)
    }
  }

  async function drainEvents(): Promise<void> {
    for await (const _event of iterateEvents());
  }

  return {
    cancel: () => stop.abort(),
    [Symbol.asyncIterator]: iterateEvents,
    // oxlint-disable-next-line unicorn/no-thenable
    then: (fulfilled, rejected) => {
      if (!isIterated) void drainEvents().catch(() => undefined)
      return ended.then(fulfilled, rejected)
    },
  }
}
