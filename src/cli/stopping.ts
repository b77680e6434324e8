import { EXIT } from './exit.ts'

/**
 * Calls back when the person or the system wants us to stop. Who asks a second time does not want to wait any longer: then
 * the program ends at once. Gives the way to listen no more.
 */
export function onStop(stop: () => void): () => void {
  let asked = false
  const signalled = (): void => {
    if (asked) process.exit(EXIT.interrupted)
    asked = true
    stop()
  }
  for (const signal of SIGNALS) process.on(signal, signalled)
  return () => {
    for (const signal of SIGNALS) process.off(signal, signalled)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
