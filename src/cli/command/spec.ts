import type { CompletionKind, CliOptions } from '../args/options.ts'

/** What there is to know of a command: its help, its completion and its part of the man page are made from it. */
export interface CliCommandSpec {
  /** The ways to call it: what stands after its name. */
  readonly usage: readonly string[]
  /** Paragraphs. */
  readonly about: readonly string[]
  readonly options: CliOptions
  /** Its subcommands. */
  readonly subcommands?: Readonly<Record<string, CliSubcommandSpec>>
  /** What a word that is no option names. */
  readonly positional?: readonly string[] | CompletionKind
  /** It takes the options of a run as well. */
  readonly takesRunOptions?: true
  readonly examples: readonly string[]
}

/** A subcommand. */
export interface CliSubcommandSpec {
  /** What stands after its name, options left out. */
  readonly takes?: string
  readonly about: string
  /** Those of the command's options that are for it; all of them, if not said. */
  readonly options?: readonly string[]
  readonly positional?: readonly string[] | CompletionKind
  readonly examples: readonly string[]
}
