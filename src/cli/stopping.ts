import { EXIT } from './exit.ts'

/** Why we should stop: somebody asks for it, or nobody reads what we print any more. */
export type StopCause = 'signal' | 'output-lost'

/** What is to be stopped when the output is lost. */
const listeners = new Set<() => void>()
let hasListened = false

/**
 * Calls back when the person or the system wants us to stop. Who asks a second time does not want to wait any longer: then
 * the program ends at once. Gives the way to listen no more.
 */
export function onStop(stop: (cause: StopCause) => void): () => void {
  let asked = false
  const signalled = (): void => {
    if (asked) process.exit(EXIT.interrupted)
    asked = true
    stop('signal')
  }
  const lost = (): void => stop('output-lost')
  hasListened = true
  listeners.add(lost)
  for (const signal of SIGNALS) process.on(signal, signalled)
  return () => {
    listeners.delete(lost)
    for (const signal of SIGNALS) process.off(signal, signalled)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The output or the terminal is gone: stops what runs. Tells whether it sees to its own end, because it could be stopped. */
export function loseOutput(): boolean {
  for (const lost of listeners) lost()
  return hasListened
}

/** Does this error say that nobody is at the other end any more? */
export function isLostOutput({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'EIO' || code === 'ERR_STREAM_DESTROYED'
}
