import type { AgentContext } from '../agent-context.ts'

interface RunDeadline {
  readonly signal: AbortSignal
  cancel(): void
}

/** Returns a signal that is also aborted at the time limit of the run. */
export function startRunDeadline(
  { limits, clock }: Pick<AgentContext, 'limits' | 'clock'>,
  signal: AbortSignal,
): RunDeadline {
  if (limits?.ms === undefined) return { signal, cancel: () => undefined }
  const limit = new AbortController()
  const cancel = clock.schedule(limits.ms, () => limit.abort(TIME_LIMIT_ERROR))
  return { signal: AbortSignal.any([signal, limit.signal]), cancel }
}

export type StopReason = 'cancelled' | 'time-limit' | 'output-lost'

export function getStopReason(signal: AbortSignal): StopReason {
  if (signal.reason === TIME_LIMIT_ERROR) return 'time-limit'
  return signal.reason === OUTPUT_CLOSED_REASON ? 'output-lost' : 'cancelled'
}

/** The abort reason if the reader of the output is gone. */
export const OUTPUT_CLOSED_REASON = new Error('the output was closed')

const TIME_LIMIT_ERROR = new Error('the run reached its time limit')
