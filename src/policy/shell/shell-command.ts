import type { ShellWord } from './shell-word.ts'

/** A command that bash might run, wherever in the text it was found. */
export interface ShellCommand {
  readonly words: readonly ShellWord[]
  /** Files that it would open for writing, and for reading, by redirection. */
  readonly writes: readonly ShellWord[]
  readonly reads: readonly ShellWord[]
  /** Variables that are set for it, or for the shell. */
  readonly variables: readonly string[]
  /** The folder it would run in, if the text before does not leave that open. */
  readonly folder: string | undefined
}

/** All that was found in a text. */
export interface ShellCommandAnalysis {
  readonly commands: readonly ShellCommand[]
  /** Did the parser understand all of it? */
  readonly understood: boolean
  /** Was all of it looked at, within the limits? */
  readonly complete: boolean
  /** Does a function call itself twice at once? */
  readonly isForkBomb: boolean
}

/** The bare name of a program: the last step of its path. */
export function getProgramName(command: ShellCommand): string {
  return getPathBaseName(command.words[0]?.guess ?? '')
}

/** The last step of a path. */
export function getPathBaseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
