import { EXIT_CODE } from './user-error.ts'

/** Why to stop: a signal, or nobody reads the output any more. */
type StopCause = 'signal' | 'output-lost'

const outputLostListeners = new Set<() => void>()
let hasHadListener = false

/** Calls back when the run should stop; a second signal ends the program at once. Returns a function that stops listening. */
export function onStopRequest(stop: (cause: StopCause) => void): () => void {
  let wasRequested = false
  const onSignal = (): void => {
    if (wasRequested) process.exit(EXIT_CODE.interrupted)
    wasRequested = true
    stop('signal')
  }
  const onOutputLost = (): void => stop('output-lost')
  hasHadListener = true
  outputLostListeners.add(onOutputLost)
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal)
  return () => {
    outputLostListeners.delete(onOutputLost)
    for (const signal of STOP_SIGNALS) process.off(signal, onSignal)
  }
}

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Stops what runs because the output or the terminal is gone. Returns whether something listens, and so ends by itself. */
export function stopForLostOutput(): boolean {
  for (const onOutputLost of outputLostListeners) onOutputLost()
  return hasHadListener
}

export function isOutputLostError({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'EIO' || code === 'ERR_STREAM_DESTROYED'
}
