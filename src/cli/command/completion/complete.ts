import { isCommandName } from '../../commands.ts'
import type { CliCommandSpec } from '../spec.ts'
import { COMMAND_SPECS } from '../specs.ts'
import { type CliOptions, RUN_OPTIONS } from '../../args/options.ts'
import { type CompletionCandidate, type CompletionSource, findCandidates } from './candidates.ts'

/**
 * `dragoman __complete`: the candidates for the last word of a command line, one per line; `@files` or `@folders` where the
 * shell completes by itself. The scripts of `dragoman completion` call this.
 */
export async function runCompleteCommand([shell = '', separator, ...args]: string[]): Promise<void> {
  if (separator !== '--') return
  const words = shell === 'bash' ? splitShellLine(args[0] ?? '') : args
  const found = await completeLastWord(words.slice(1))
  const current = words.at(-1) ?? ''
  // Bash replaces only what follows the last word break.
  const done = shell === 'bash' ? current.search(/[^=:@]*$/) : 0
  const lines = found.map(({ value, about }) =>
    value.startsWith('@') ? value : shell === 'bash' || !about ? value.slice(done) : `${value}\t${about}`,
  )
  process.stdout.write(lines.map((line) => `${line}\n`).join(''))
}

async function completeLastWord(words: readonly string[]): Promise<CompletionCandidate[]> {
  const before = words.slice(0, -1)
  const current = words.at(-1) ?? ''
  const [name = '', ...rest] = before
  const spec = isCommandName(name) ? COMMAND_SPECS[name] : undefined
  const options = spec ? findAvailableOptions(spec, rest) : RUN_OPTIONS
  const folder = before[before.lastIndexOf('--cwd') + 1]
  const workingFolder = before.includes('--cwd') && folder !== undefined ? folder : '.'
  const findMatching = async (from: CompletionSource, word: string): Promise<CompletionCandidate[]> => {
    const candidates = await findCandidates(from, word, workingFolder)
    return candidates.filter(({ value }) => value.startsWith('@') || value.startsWith(word))
  }

  if (before.includes('--')) return []
  const [, long, prefix] = /^--([\w-]+)=(.*)$/.exec(current) ?? []
  if (long !== undefined && prefix !== undefined) {
    const found = await findMatching(findOption(options, `--${long}`)?.from, prefix)
    return found.map((one) => (one.value.startsWith('@') ? one : { ...one, value: `--${long}=${one.value}` }))
  }
  const pendingOption = findOption(options, before.at(-1) ?? '')
  if (pendingOption?.takes !== undefined && !(pendingOption.implicitValue !== undefined && current.startsWith('-')))
    return findMatching(pendingOption.from, current)
  if (current.startsWith('-')) return matchOptions(current, options, before)
  if (spec) return findMatching(findPositionalSource(spec, rest), current)
  if (before.length > 1 || (before.length === 1 && name !== 'help')) return []
  return Object.entries(COMMAND_SPECS)
    .map(([value, { summary }]) => ({ value, about: summary }))
    .filter(({ value }) => value.startsWith(current))
}

function matchOptions(current: string, options: CliOptions, before: readonly string[]): CompletionCandidate[] {
  return Object.entries(options)
    .filter(([name, { many, hidden }]) => !hidden && (many || !before.includes(`--${name}`)))
    .map(([name, { about }]) => ({ value: `--${name}`, about }))
    .filter(({ value }) => value.startsWith(current))
}

function findOption(options: CliOptions, word: string) {
  return Object.entries(options).find(([name, { short }]) => word === `--${name}` || word === `-${short}`)?.[1]
}

function findAvailableOptions(spec: CliCommandSpec, rest: readonly string[]): CliOptions {
  const subcommandOptions = findSubcommand(spec, rest)?.options
  const chosen = Object.entries(spec.options).filter(
    ([name]) => !subcommandOptions || subcommandOptions.includes(name) || name === 'help',
  )
  return { ...(spec.takesRunOptions && RUN_OPTIONS), ...Object.fromEntries(chosen) }
}

/** What an argument can be: a subcommand first, and then what that takes. */
function findPositionalSource(spec: CliCommandSpec, rest: readonly string[]): CompletionSource {
  const subcommand = findSubcommand(spec, rest)
  return subcommand ? subcommand.positional : spec.subcommands ? Object.keys(spec.subcommands) : spec.positional
}

function findSubcommand({ subcommands }: CliCommandSpec, rest: readonly string[]) {
  const name = rest.find((word) => subcommands && Object.hasOwn(subcommands, word))
  return name === undefined ? undefined : subcommands?.[name]
}

/** Splits a line roughly as a shell would; the last word may be empty. */
function splitShellLine(line: string): string[] {
  const words = ['']
  for (const [, quoted, escaped, plain] of line.matchAll(/"([^"]*)"?|\\(.)|([^"\\\s]+)|\s+/g)) {
    const piece = quoted ?? escaped ?? plain
    if (piece === undefined) words.push('')
    else words[words.length - 1] += piece
  }
  const start = words.findIndex((word) => word !== '' && !/^\w+=/.test(word))
  return words.slice(Math.max(start, 0))
}
