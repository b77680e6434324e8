import { EXIT_CODE } from './user-error.ts'

/** Why we should stop: somebody asks for it, or nobody reads what we print any more. */
export type StopCause = 'signal' | 'output-lost'

/** What is to be stopped when the output is lost. */
const outputLostListeners = new Set<() => void>()
let hasHadListener = false

/**
 * Calls back when the person or the system wants us to stop. Who asks a second time does not want to wait any longer: then
 * the program ends at once. Gives the way to listen no more.
 */
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

/** The output or the terminal is gone: stops what runs. Tells whether it sees to its own end, because it could be stopped. */
export function notifyOutputLost(): boolean {
  for (const onOutputLost of outputLostListeners) onOutputLost()
  return hasHadListener
}

/** Does this error say that nobody is at the other end any more? */
export function isOutputLostError({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'EIO' || code === 'ERR_STREAM_DESTROYED'
}
