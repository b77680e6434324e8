import type { ShellWord } from './shell-word.ts'

/** A command that bash might run, anywhere in the text. */
export interface ShellCommand {
  readonly words: readonly ShellWord[]
  /** Files opened by redirection. */
  readonly writes: readonly ShellWord[]
  readonly reads: readonly ShellWord[]
  /** Its working folder, if known. */
  readonly folder: string | undefined
}

export interface ShellCommandAnalysis {
  readonly commands: readonly ShellCommand[]
  readonly understood: boolean
  /** False if a limit was reached. */
  readonly complete: boolean
  readonly isForkBomb: boolean
}

export function getProgramName(command: ShellCommand): string {
  return getPathBaseName(command.words[0]?.guess ?? '')
}

export function getPathBaseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
