import { constants } from 'node:os'

/** The signal that ended a command, by the exit code that its shell made of it; undefined for other codes. */
export function findExitSignal(exitCode: number | null): string | undefined {
  if (exitCode === null || exitCode <= SIGNAL_BASE) return undefined
  const number = exitCode - SIGNAL_BASE
  return FATAL_SIGNALS.find((name) => constants.signals[name] === number)
}

/** A shell adds this to the number of the signal. */
const SIGNAL_BASE = 128

/** Programs use other codes of this range for reasons of their own. */
const FATAL_SIGNALS = [
  ...([
    'SIGHUP',
    'SIGINT',
    'SIGQUIT',
    'SIGILL',
    'SIGABRT',
    'SIGBUS',
    'SIGFPE',
    'SIGKILL',
    'SIGSEGV',
    'SIGPIPE',
  ] as const),
  ...(['SIGALRM', 'SIGTERM', 'SIGXCPU', 'SIGXFSZ', 'SIGSYS'] as const),
]
