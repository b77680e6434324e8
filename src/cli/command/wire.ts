import { parseArgs } from 'node:util'
import { Complaint } from '../exit.ts'
import { WIRE_HELP } from './wire-help.ts'

/** `dragoman wire decode|encode|read`: shows what a provider's bytes mean, and what we would send. */
export async function wireCommand(args: string[]): Promise<void> {
  const { verb, options } = parse(args)
  if (options.help || verb === undefined) {
    process.stdout.write(WIRE_HELP)
    return
  }
  if (verb === 'decode') return (await import('./wire-decode.ts')).decodeCommand(options)
  if (verb === 'encode') return (await import('./wire-encode.ts')).encodeCommand(options)
  if (verb === 'read') return (await import('./wire-encode.ts')).readCommand(options)
  throw new Complaint(`dragoman wire knows decode, encode and read, not “${verb}”`)
}

/** The options of all three verbs. */
export type WireOptions = ReturnType<typeof parse>['options']

function parse(args: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        wire: { type: 'string' },
        file: { type: 'string' },
        tools: { type: 'string' },
        batch: { type: 'string' },
        model: { type: 'string' },
        status: { type: 'string' },
        'content-type': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    if (positionals.length > 1) throw new Error(`unexpected argument “${positionals[1]}”`)
    return { verb: positionals[0], options: values }
  } catch (error) {
    throw new Complaint(error instanceof Error ? error.message : String(error))
  }
}
