import type { CompletionKind, CliOptions } from '../args/options.ts'

/** A command: its help, its completion and its part of the man page are made from this. */
export interface CliCommandSpec {
  readonly summary: string
  /** The ways to call it, without its name. */
  readonly usage: readonly string[]
  /** Paragraphs. */
  readonly about: readonly string[]
  readonly options: CliOptions
  readonly subcommands?: Readonly<Record<string, CliSubcommandSpec>>
  /** What an argument that is not an option names. */
  readonly positional?: readonly string[] | CompletionKind
  readonly takesRunOptions?: true
  /** If absent, the first example of each subcommand. */
  readonly examples?: readonly string[]
}

export interface CliSubcommandSpec {
  /** Its arguments, without options. */
  readonly takes?: string
  readonly about: string
  /** Which of the command's options it takes; all if absent. */
  readonly options?: readonly string[]
  readonly positional?: readonly string[] | CompletionKind
  readonly examples: readonly string[]
}

export function listExamples({ examples, subcommands = {} }: CliCommandSpec): readonly string[] {
  return examples ?? Object.values(subcommands).flatMap((subcommand) => subcommand.examples.slice(0, 1))
}
