import { parseArgs } from 'node:util'
import { matchSimilarNames } from '../../schema/similar-names.ts'
import { UserError } from '../user-error.ts'
import type { CliOption, CliOptions } from './options.ts'
import { defined } from '../../model/defined.ts'

/** The value of each option of a table that was given. */
export type OptionValues<T extends CliOptions> = { -readonly [Name in keyof T]?: OptionValue<T[Name]> }

type OptionValue<T extends CliOption> = T extends { takes: string }
  ? T extends { many: true }
    ? string[]
    : T extends { from: readonly (infer Word extends string)[] }
      ? Word
      : string
  : boolean

/** Parses a command line by a table of options. */
export function parseCommandLine<T extends CliOptions>(
  command: string,
  table: T,
  argv: readonly string[],
): { values: OptionValues<T>; positionals: string[] } {
  const { values, positionals, tokens } = parseArgs({
    args: withImplicitValues(table, replaceAliases(table, argv)),
    // Errors are reported below, with suggestions.
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

export class UnknownOptionError extends UserError {
  /** With its dashes. */
  readonly option: string

  constructor(option: string, command: string, advice: string) {
    super(`unknown option ${option}${command === 'dragoman' ? '' : ` for ${command}`}; ${advice}`)
    this.option = option
  }
}

type OptionToken = Extract<NonNullable<ReturnType<typeof parseArgs>['tokens']>[number], { kind: 'option' }>

function checkOption(command: string, table: CliOptions, { name, rawName, value, inlineValue }: OptionToken): void {
  const option = Object.hasOwn(table, name) ? table[name] : undefined
  if (!option) throw new UnknownOptionError(rawName, command, suggestOption(command, name, table))
  if (option.takes === undefined) {
    if (value !== undefined) throw new UserError(`${rawName} takes no value; “${value}” was given`)
    return
  }
  if (value === undefined) throw new UserError(`${rawName} needs a value: ${option.takes}`)
  // A word that looks like an option probably is one, and the value was forgotten.
  if (!inlineValue && /^--?[a-z][\w-]*$/i.test(value))
    throw new UserError(`${rawName} needs a value: ${option.takes}; to pass ${value}, write --${name}=${value}`)
  const { from, isOpen } = option
  if (typeof from === 'object' && !isOpen && !from.includes(value))
    throw new UserError(`--${name} must be one of ${from.join(', ')}, not “${value}”`)
}

function suggestOption(command: string, name: string, table: CliOptions): string {
  const names = Object.keys(table)
  const known = names.find((one) => table[one]?.elsewhere?.includes(name))
  if (known !== undefined) return `use --${known}`
  const prefixed = names.filter((one) => one.startsWith(name))
  const suggestion = prefixed.length === 1 && name.length > 1 ? prefixed[0] : matchSimilarNames([name], names).get(name)
  return suggestion === undefined ? `see ${command} --help` : `did you mean --${suggestion}?`
}

const OPTION_FORM = /^--?[a-z][\w-]*(?:=|$)/i

/** Names and values of other agents become ours. */
function replaceAliases(table: CliOptions, argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  const words: string[] = []
  let repeated: readonly [option: string, form: RegExp] | undefined
  for (const [at, arg] of argv.entries()) {
    const [, word = '', value] = /^--([\w-]+)(?:=([^]*))?$/.exec(end >= 0 && at >= end ? '' : arg) ?? []
    const name = Object.keys(table).find((one) => one === word || table[one]?.aliases?.includes(word))
    const option = name === undefined ? undefined : table[name]
    const { valueAliases = {}, furtherValues } = option ?? {}
    const previous = words.at(-1)
    if (name !== undefined) {
      words.push(value === undefined ? `--${name}` : `--${name}=${valueAliases[value] ?? value}`)
      repeated = furtherValues && name !== word ? [`--${name}`, furtherValues] : undefined
    } else if (previous?.startsWith('--') && !previous.includes('=')) {
      words.push(table[previous.slice(2)]?.valueAliases?.[arg] ?? arg)
    } else if (repeated?.[1].test(arg)) words.push(repeated[0], arg)
    else {
      words.push(arg)
      repeated = undefined
    }
  }
  return words
}

function withImplicitValues(table: CliOptions, argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  return argv.flatMap((arg, at) => {
    if (end >= 0 && at >= end) return [arg]
    const { implicitValue, switchWithoutValue } =
      Object.entries(table).find(
        ([name, { short = '' }]) => arg === `--${name}` || (short !== '' && arg === `-${short}`),
      )?.[1] ?? {}
    const next = argv[at + 1]
    if (switchWithoutValue !== undefined)
      return next === undefined || OPTION_FORM.test(next) ? [`--${switchWithoutValue}`] : [arg]
    return implicitValue !== undefined && (next === undefined || next.startsWith('-')) ? [arg, implicitValue] : [arg]
  })
}

/** The handler of a subcommand. */
export function findSubcommand<T>(command: string, handlers: Readonly<Record<string, T>>, name: string): T {
  const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined
  if (handler !== undefined) return handler
  throw new UserError(`unknown subcommand “${name}”; ${command} has ${Object.keys(handlers).join(', ')}`)
}

/** Rejects arguments that a command has no use for. */
export function rejectExtraArgs(command: string, positionals: readonly string[], max = 0): void {
  const extra = positionals[max]
  if (extra !== undefined) throw new UserError(`unexpected argument “${extra}”; see ${command} --help`)
}

export function parsePositiveNumber(option: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const number = Number(value)
  if (!(number > 0 && number < Infinity)) throw new UserError(`${option} needs a number above 0, not “${value}”`)
  return number
}

export function parseNumberBetween(
  option: string,
  value: string | undefined,
  [min, max]: readonly [number, number],
): number | undefined {
  if (value === undefined) return undefined
  const number = value.trim() === '' ? Number.NaN : Number(value)
  if (!(number >= min && number <= max))
    throw new UserError(`${option} needs a number from ${min} to ${max}, not “${value}”`)
  return number
}

export function parsePositiveInteger(option: string, value: string | undefined): number | undefined {
  const number = value === undefined ? undefined : Number(value)
  if (number === undefined || (Number.isSafeInteger(number) && number > 0)) return number
  throw new UserError(`${option} needs a whole number above 0, not “${value}”`)
}

export function splitCommaList(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}
