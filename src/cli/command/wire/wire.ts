import { UserError } from '../../user-error.ts'
import { WIRE_COMMAND } from './spec.ts'
import { parseCommandLine, type OptionValues } from '../../args/parse.ts'
import { printHelp } from '../../args/print-help.ts'

/** `dragoman wire decode|encode|read`: shows what a provider's bytes mean, and what we would send. */
export async function runWireCommand(args: string[]): Promise<void> {
  const { values: options, positionals } = parseCommandLine('dragoman wire', WIRE_COMMAND.options, args)
  const [subcommand, extraArgument] = positionals
  if (extraArgument !== undefined) throw new UserError(`unexpected argument “${extraArgument}”`)
  if (subcommand === undefined) return void (await printHelp('wire'))
  if (subcommand === 'decode') return (await import('./decode.ts')).runWireDecode(options)
  if (subcommand === 'encode') return (await import('./encode.ts')).runWireEncode(options)
  if (subcommand === 'read') return (await import('./encode.ts')).runWireRead(options)
  throw new UserError(`dragoman wire knows decode, encode and read, not “${subcommand}”`)
}

/** The options of all three verbs. */
export type WireCommandOptions = OptionValues<typeof WIRE_COMMAND.options>
