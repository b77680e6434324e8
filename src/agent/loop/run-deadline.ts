import { StoreError } from '../../session/store/store.ts'
import type { AgentContext } from '../agent-context.ts'

interface RunDeadline {
  readonly signal: AbortSignal
  cancel(): void
}

/** Returns a signal that is also aborted at the time limit of the run, and when another process takes its session over. */
export function startRunDeadline(
  { limits, clock, session }: Pick<AgentContext, 'limits' | 'clock' | 'session'>,
  signal: AbortSignal,
): RunDeadline {
  const stop = new AbortController()
  const cancelLimit =
    limits?.ms === undefined ? undefined : clock.schedule(limits.ms, () => stop.abort(TIME_LIMIT_ERROR))
  const sources = [signal, session.lost].map((source) => {
    const onAbort = (): void => stop.abort(source.reason)
    if (source.aborted) onAbort()
    else source.addEventListener('abort', onAbort, { once: true })
    return { source, onAbort }
  })
  return {
    signal: stop.signal,
    cancel() {
      cancelLimit?.()
      // A session lasts longer than a run.
      for (const { source, onAbort } of sources) source.removeEventListener('abort', onAbort)
    },
  }
}

export type StopReason = 'cancelled' | 'time-limit' | 'output-lost' | 'taken-over'

export function getStopReason(signal: AbortSignal): StopReason {
  if (signal.reason instanceof StoreError) return 'taken-over'
  if (signal.reason === TIME_LIMIT_ERROR) return 'time-limit'
  return signal.reason === OUTPUT_CLOSED_REASON ? 'output-lost' : 'cancelled'
}

/** The abort reason if the reader of the output is gone. */
export const OUTPUT_CLOSED_REASON = new Error('the output was closed')

const TIME_LIMIT_ERROR = new Error('the run reached its time limit')
