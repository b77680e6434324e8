import { WIRE_COMMAND } from './spec.ts'
import { findSubcommand, parseCommandLine, rejectExtraArgs, type OptionValues } from '../../args/parse-command-line.ts'
import { printHelp } from '../../args/print-help.ts'

export type WireCommandOptions = OptionValues<typeof WIRE_COMMAND.options>

export async function runWireCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseCommandLine('dragoman wire', WIRE_COMMAND.options, args)
  rejectExtraArgs('dragoman wire', positionals, 1)
  const [subcommand] = positionals
  if (subcommand === undefined) return void (await printHelp('wire'))
  return findSubcommand('dragoman wire', WIRE_SUBCOMMANDS, subcommand)(values)
}

const WIRE_SUBCOMMANDS: Readonly<
  Record<keyof typeof WIRE_COMMAND.subcommands, (values: WireCommandOptions) => Promise<void>>
> = {
  decode: async (values) => (await import('./decode.ts')).runWireDecode(values),
  encode: async (values) => (await import('./encode.ts')).runWireEncode(values),
  read: async (values) => (await import('./encode.ts')).runWireRead(values),
}
