import { onStopRequest } from '../../stop-signals.ts'

/** Resolves at the first stop signal; a second one ends the program at once. */
export function waitForStopSignal(): Promise<void> {
  return new Promise((resolve) => {
    // A closed terminal or pipe does not stop a server.
    onStopRequest((cause) => {
      if (cause === 'signal') resolve()
    })
  })
}

export function reportError(message: string): void {
  process.stderr.write(`dragoman: ${message}\n`)
}
