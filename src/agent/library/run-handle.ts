import type { Fault } from '../../model/fault.ts'
import { NO_USAGE, type Usage } from '../../model/usage.ts'
import type { ApprovalRequest } from '../calls/call-state.ts'
import { createAsyncQueue } from '../calls/async-queue.ts'
import type { CloseReason, RunEvent } from '../loop/run-event.ts'

/**
 * A run. It starts at once. Iterate over it for the events, await it for the result, or do both. It never throws because a
 * model or a tool failed: look at `finish` of the result. Leaving the loop over its events early stops it.
 */
export interface Run<Output = undefined> extends AsyncIterable<RunEvent>, PromiseLike<RunResult<Output>> {
  /** The id of the session. */
  readonly session: string
  /** Stops the run; every open call gets a result. */
  cancel(): void
  /** The result of a run that is done. Rejects with a `RunError` if it ended in any other way. */
  orThrow(): Promise<RunResult<Output> & { readonly finish: 'done' }>
}

/** How a run ended. Check `finish`: only `done` has a structured answer. */
export type RunResult<Output = undefined> = RunTotals &
  (
    | { readonly finish: 'done'; readonly output: Output }
    | { readonly finish: Exclude<CloseReason, 'done'>; readonly output?: undefined }
  )

/** A run was not done, and its caller asked for an error then. */
export class RunError extends Error {
  override readonly name = 'RunError'
  readonly result: RunResult<unknown>

  constructor(result: RunResult<unknown>) {
    super(result.fault?.message ?? `The run was not finished: ${result.finish}.`)
    this.result = result
  }
}

/** What every run ends with. */
export interface RunTotals {
  /** The text of the last response. */
  readonly text: string
  /** Why the model could not be asked, if `finish` is `fault`. */
  readonly fault?: Fault
  /** The number of requests to the model. */
  readonly turns: number
  readonly usage: Usage
  /** In US dollars, if the prices are known. */
  readonly cost?: number
  readonly session: string
  /** The calls that wait for approval, if `finish` is `awaiting-approval`. */
  readonly pending: readonly ApprovalRequest[]
}

/** Starts a run, and keeps its events until they are iterated. */
export function startRun<Output>(
  session: string,
  signal: AbortSignal | undefined,
  start: (signal: AbortSignal) => AsyncIterable<RunEvent>,
): Run<Output> {
  const stop = new AbortController()
  const events = createEventBuffer(() => stop.abort())
  const source = start(signal ? AbortSignal.any([signal, stop.signal]) : stop.signal)
  const result = consume(session, source, events) as Promise<RunResult<Output>>
  // Whoever only iterates gets the error there.
  result.catch(() => undefined)
  return {
    session,
    cancel: () => stop.abort(),
    [Symbol.asyncIterator]: () => events.iterate(),
    // oxlint-disable-next-line unicorn/no-thenable
    then: (fulfilled, rejected) => result.then(fulfilled, rejected),
    async orThrow() {
      const end = await result
      if (end.finish === 'done') return end
      throw new RunError(end)
    },
  }
}

async function consume(
  session: string,
  source: AsyncIterable<RunEvent>,
  events: EventBuffer,
): Promise<RunResult<unknown>> {
  let result: RunTotals & { readonly finish: CloseReason; readonly output?: unknown } = {
    session,
    text: '',
    finish: 'cancelled',
    turns: 0,
    usage: NO_USAGE,
    pending: [],
  }
  const asks = new Map<string, ApprovalRequest>()
  try {
    for await (const event of source) {
      if (event.type === 'ask') asks.set(event.ask.id, event.ask)
      if (event.type === 'reply') asks.delete(event.reply.ask)
      if (event.type === 'budget') {
        const { type: _, ...totals } = event
        result = { ...result, ...totals }
      }
      if (event.type === 'run-close') {
        const { type: _, reason: finish, plan: __, ...end } = event
        result = { ...result, ...end, finish, pending: finish === 'awaiting-approval' ? [...asks.values()] : [] }
      }
      events.push(event)
    }
    events.end()
    return result as RunResult<unknown>
  } catch (error) {
    events.fail(error)
    throw error
  }
}

interface EventBuffer {
  push(event: RunEvent): void
  end(): void
  fail(error: unknown): void
  iterate(): AsyncIterableIterator<RunEvent>
}

/**
 * Keeps the events of a run for one iterator, which may start late. Until then, the deltas of a part are dropped when it
 * closes, because the closed part contains them: a run that nobody iterates needs no more memory than its history.
 */
function createEventBuffer(onLeave: () => void): EventBuffer {
  const queue = createAsyncQueue<RunEvent>()
  let waiting: RunEvent[] | undefined = []
  let failure: { readonly error: unknown } | undefined
  return {
    push(event) {
      if (!waiting) return queue.push(event)
      if (event.type === 'turn' && event.event.type === 'part-close') {
        const { index } = event.event
        waiting = waiting.filter((one) => !isDeltaOf(one, index))
      }
      waiting.push(event)
    },
    end: () => queue.end(),
    fail(error) {
      failure = { error }
      queue.end()
    },
    async *iterate() {
      if (!waiting) throw new Error('a run can be iterated only once; await it for its result')
      for (const event of waiting) queue.push(event)
      waiting = undefined
      try {
        yield* queue
        if (failure) throw failure.error
      } finally {
        onLeave()
      }
    },
  }
}

function isDeltaOf(event: RunEvent, index: number): boolean {
  return event.type === 'turn' && event.event.type === 'part-delta' && event.event.index === index
}
