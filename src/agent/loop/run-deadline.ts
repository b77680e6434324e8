import type { Agent } from '../agent.ts'

/** A signal that also stops a run when its time is over. */
export interface RunDeadline {
  readonly signal: AbortSignal
  cancel(): void
}

/** Starts the time of a run, if there is a limit: whatever goes on then, an answer or a tool, is stopped. */
export function startRunDeadline({ limits, clock }: Pick<Agent, 'limits' | 'clock'>, signal: AbortSignal): RunDeadline {
  if (limits?.ms === undefined) return { signal, cancel: () => undefined }
  const controller = new AbortController()
  const forwardAbort = (): void => controller.abort(signal.reason)
  const clearTimer = clock.schedule(limits.ms, () => controller.abort(TIME_LIMIT_ERROR))
  if (signal.aborted) forwardAbort()
  else signal.addEventListener('abort', forwardAbort, { once: true })
  return {
    signal: controller.signal,
    cancel() {
      clearTimer()
      signal.removeEventListener('abort', forwardAbort)
    },
  }
}

/** Why a run was stopped: by the person, by its limit of time, or because nobody reads its output any more. */
export function getStopReason(signal: AbortSignal): 'cancelled' | 'time-limit' | 'output-lost' {
  if (signal.reason === TIME_LIMIT_ERROR) return 'time-limit'
  return signal.reason === OUTPUT_LOST_ERROR ? 'output-lost' : 'cancelled'
}

/** The reason of a signal that stops a run whose output goes nowhere. */
export const OUTPUT_LOST_ERROR = new Error('nobody reads the output any more')

const TIME_LIMIT_ERROR = new Error('the time of the run is up')
