import { parseArgs } from 'node:util'
import { nearMisses } from '../../schema/near.ts'
import { Complaint } from '../exit.ts'
import type { Option, Options } from './options.ts'

/** What was given for each option of a table. */
export type Values<T extends Options> = { -readonly [Name in keyof T]?: Value<T[Name]> }

type Value<T extends Option> = T extends { takes: string }
  ? T extends { many: true }
    ? string[]
    : T extends { from: readonly (infer Word extends string)[] }
      ? Word
      : string
  : boolean

/** Reads the words of a command line by a table of options. Throws one sentence about what it does not understand. */
export function parseLine<T extends Options>(
  command: string,
  table: T,
  argv: readonly string[],
): { values: Values<T>; positionals: string[] } {
  const { values, positionals, tokens } = parseArgs({
    args: withDefaults(table, argv),
    // What is wrong is said in our own words, below.
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(table).map(([name, { short, takes, many }]) => [
        name,
        {
          type: takes === undefined ? ('boolean' as const) : ('string' as const),
          ...(short !== undefined && { short }),
          ...(many && { multiple: true }),
        },
      ]),
    ),
  })
  for (const token of tokens) if (token.kind === 'option') check(command, table, token)
  return { values: values as Values<T>, positionals }
}

interface Given {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

function check(command: string, table: Options, { name, rawName, value, inlineValue }: Given): void {
  const option = Object.hasOwn(table, name) ? table[name] : undefined
  if (!option)
    throw new Complaint(
      `there is no option ${rawName}${command === 'dragoman' ? '' : ` for ${command}`}; ${instead(command, name, table)}`,
    )
  if (option.takes === undefined) {
    if (value !== undefined) throw new Complaint(`${rawName} takes nothing, not “${value}”`)
    return
  }
  if (value === undefined) throw new Complaint(`${rawName} takes ${option.takes}, and nothing was given`)
  // A word that looks like an option is one, and what was meant for this one was forgotten.
  if (!inlineValue && /^--?[a-z][\w-]*$/i.test(value))
    throw new Complaint(`${rawName} takes ${option.takes}, not ${value}; if you mean it: --${name}=${value}`)
  const { from } = option
  if (typeof from === 'object' && !from.includes(value))
    throw new Complaint(`--${name} is one of ${from.join(', ')}, not “${value}”`)
}

/** What must have been meant: the one option that begins so, or the nearest. */
function instead(command: string, name: string, table: Options): string {
  const names = Object.keys(table)
  const known = names.find((one) => table[one]?.elsewhere?.includes(name))
  if (known !== undefined) return `the nearest here is --${known}`
  const begin = names.filter((one) => one.startsWith(name))
  const meant = begin.length === 1 && name.length > 1 ? begin[0] : nearMisses([name], names).get(name)
  return meant === undefined ? `${command} --help lists them` : `did you mean --${meant}?`
}

/** Some options may stand alone: then they mean what their table says. */
function withDefaults(table: Options, argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  return argv.flatMap((arg, at) => {
    if (end >= 0 && at >= end) return [arg]
    const alone = Object.entries(table).find(
      ([name, { short = '' }]) => arg === `--${name}` || (short !== '' && arg === `-${short}`),
    )?.[1].alone
    const next = argv[at + 1]
    return alone !== undefined && (next === undefined || next.startsWith('-')) ? [arg, alone] : [arg]
  })
}
