import { parseArgs } from 'node:util'
import { matchSimilarNames } from '../../schema/similar-names.ts'
import { UserError } from '../user-error.ts'
import type { CliOption, CliOptions } from './options.ts'
import { defined } from '../../model/defined.ts'

/** What was given for each option of a table. */
export type OptionValues<T extends CliOptions> = { -readonly [Name in keyof T]?: OptionValue<T[Name]> }

type OptionValue<T extends CliOption> = T extends { takes: string }
  ? T extends { many: true }
    ? string[]
    : T extends { from: readonly (infer Word extends string)[] }
      ? Word
      : string
  : boolean

/** Reads the words of a command line by a table of options. Throws one sentence about what it does not understand. */
export function parseCommandLine<T extends CliOptions>(
  command: string,
  table: T,
  argv: readonly string[],
): { values: OptionValues<T>; positionals: string[] } {
  const { values, positionals, tokens } = parseArgs({
    args: withImplicitValues(table, argv),
    // What is wrong is said in our own words, below.
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(table).map(([name, { short, takes, many }]) => [
        name,
        {
          type: takes === undefined ? ('boolean' as const) : ('string' as const),
          ...defined({ short }),
          ...(many && { multiple: true }),
        },
      ]),
    ),
  })
  for (const token of tokens) if (token.kind === 'option') checkOption(command, table, token)
  return { values: values as OptionValues<T>, positionals }
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

function checkOption(command: string, table: CliOptions, { name, rawName, value, inlineValue }: OptionToken): void {
  const option = Object.hasOwn(table, name) ? table[name] : undefined
  if (!option)
    throw new UserError(
      `there is no option ${rawName}${command === 'dragoman' ? '' : ` for ${command}`}; ${suggestOption(command, name, table)}`,
    )
  if (option.takes === undefined) {
    if (value !== undefined) throw new UserError(`${rawName} takes nothing, not “${value}”`)
    return
  }
  if (value === undefined) throw new UserError(`${rawName} takes ${option.takes}, and nothing was given`)
  // A word that looks like an option is one, and what was meant for this one was forgotten.
  if (!inlineValue && /^--?[a-z][\w-]*$/i.test(value))
    throw new UserError(`${rawName} takes ${option.takes}, not ${value}; if you mean it: --${name}=${value}`)
  const { from } = option
  if (typeof from === 'object' && !from.includes(value))
    throw new UserError(`--${name} is one of ${from.join(', ')}, not “${value}”`)
}

/** What must have been meant: the one option that begins so, or the nearest. */
function suggestOption(command: string, name: string, table: CliOptions): string {
  const names = Object.keys(table)
  const known = names.find((one) => table[one]?.elsewhere?.includes(name))
  if (known !== undefined) return `the nearest here is --${known}`
  const prefixed = names.filter((one) => one.startsWith(name))
  const suggestion = prefixed.length === 1 && name.length > 1 ? prefixed[0] : matchSimilarNames([name], names).get(name)
  return suggestion === undefined ? `${command} --help lists them` : `did you mean --${suggestion}?`
}

/** Some options may stand alone: then they mean what their table says. */
function withImplicitValues(table: CliOptions, argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  return argv.flatMap((arg, at) => {
    if (end >= 0 && at >= end) return [arg]
    const alone = Object.entries(table).find(
      ([name, { short = '' }]) => arg === `--${name}` || (short !== '' && arg === `-${short}`),
    )?.[1].implicitValue
    const next = argv[at + 1]
    return alone !== undefined && (next === undefined || next.startsWith('-')) ? [arg, alone] : [arg]
  })
}
