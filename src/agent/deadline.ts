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

/** Who stopped a run: the person, or its limit of time. */
export function stoppedBy(signal: AbortSignal): 'cancelled' | 'time-limit' {
  return signal.reason === TIME_IS_UP ? 'time-limit' : 'cancelled'
}

const TIME_IS_UP = new Error('the time of the run is up')
