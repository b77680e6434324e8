import { Complaint } from '../exit.ts'
import { WIRE } from '../manual/wire.ts'
import { parseLine, type Values } from '../line/parse.ts'
import { showHelp } from '../line/show-help.ts'

/** `dragoman wire decode|encode|read`: shows what a provider's bytes mean, and what we would send. */
export async function wireCommand(args: string[]): Promise<void> {
  const { values: options, positionals } = parseLine('dragoman wire', WIRE.options, args)
  const [verb, stranger] = positionals
  if (stranger !== undefined) throw new Complaint(`unexpected argument “${stranger}”`)
  if (verb === undefined) return void (await showHelp('wire'))
  if (verb === 'decode') return (await import('./wire-decode.ts')).decodeCommand(options)
  if (verb === 'encode') return (await import('./wire-encode.ts')).encodeCommand(options)
  if (verb === 'read') return (await import('./wire-encode.ts')).readCommand(options)
  throw new Complaint(`dragoman wire knows decode, encode and read, not “${verb}”`)
}

/** The options of all three verbs. */
export type WireOptions = Values<typeof WIRE.options>
