import type { Agent } from './agent.ts'

/** A signal that also stops a run when its time is over. */
export interface Deadline {
  readonly signal: AbortSignal
  callOff(): void
}

/** Starts the time of a run, if there is a limit: whatever goes on then, an answer or a tool, is stopped. */
export function startDeadline({ limits, clock }: Pick<Agent, 'limits' | 'clock'>, signal: AbortSignal): Deadline {
  if (limits?.ms === undefined) return { signal, callOff: () => undefined }
  const stop = new AbortController()
  const pass = (): void => stop.abort(signal.reason)
  const stopClock = clock.after(limits.ms, () => stop.abort(TIME_IS_UP))
  if (signal.aborted) pass()
  else signal.addEventListener('abort', pass, { once: true })
  return {
    signal: stop.signal,
    callOff() {
      stopClock()
      signal.removeEventListener('abort', pass)
    },
  }
}

/** Why a run was stopped: by the person, by its limit of time, or because nobody reads its output any more. */
export function stoppedBy(signal: AbortSignal): 'cancelled' | 'time-limit' | 'output-lost' {
  if (signal.reason === TIME_IS_UP) return 'time-limit'
  return signal.reason === OUTPUT_LOST ? 'output-lost' : 'cancelled'
}

/** The reason of a signal that stops a run whose output goes nowhere. */
export const OUTPUT_LOST = new Error('nobody reads the output any more')

const TIME_IS_UP = new Error('the time of the run is up')
