import type { Kind, Options } from '../line/options.ts'

/** What there is to know of a command: its help, its completion and its part of the man page are made from it. */
export interface Page {
  /** The ways to call it: what stands after its name. */
  readonly usage: readonly string[]
  /** Paragraphs. */
  readonly about: readonly string[]
  readonly options: Options
  /** Its subcommands. */
  readonly verbs?: Readonly<Record<string, Verb>>
  /** What a word that is no option names. */
  readonly words?: readonly string[] | Kind
  /** It takes the options of a run as well. */
  readonly runs?: true
  readonly examples: readonly string[]
}

/** A subcommand. */
export interface Verb {
  /** What stands after its name, options left out. */
  readonly takes?: string
  readonly about: string
  /** Those of the command's options that are for it; all of them, if not said. */
  readonly options?: readonly string[]
  readonly words?: readonly string[] | Kind
  readonly examples: readonly string[]
}
