import { findSubcommand, type OptionValues, parseCommandLine } from '../../args/parse-command-line.ts'
import { printHelp } from '../../args/print-help.ts'
import { IMPORT_COMMAND } from './spec.ts'

export type ImportOptions = OptionValues<typeof IMPORT_COMMAND.options>

/** `dragoman import`: takes over what users have from other agents. */
export async function runImportCommand(args: string[]): Promise<number | void> {
  const { values, positionals } = parseCommandLine('dragoman import', IMPORT_COMMAND.options, args)
  const [subcommand, ...rest] = positionals
  if (subcommand === undefined) return printHelp('import')
  return findSubcommand('dragoman import', IMPORT_SUBCOMMANDS, subcommand)(rest, values)
}

type ImportSubcommand = (positionals: readonly string[], values: ImportOptions) => Promise<number | void>

const IMPORT_SUBCOMMANDS: Readonly<Record<keyof typeof IMPORT_COMMAND.subcommands, ImportSubcommand>> = {
  session: async (positionals, values) => (await import('./session.ts')).runImportSession(positionals, values),
}
