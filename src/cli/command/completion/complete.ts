import { CLI_COMMANDS } from '../../commands.ts'
import type { CliCommandSpec } from '../spec.ts'
import { COMMAND_SPECS } from '../specs.ts'
import { type CompletionKind, type CliOptions, RUN_OPTIONS } from '../../args/options.ts'
import { type CompletionCandidate, findCandidates } from './candidates.ts'

/**
 * `dragoman __complete`: what could stand next on a command line, one candidate a line; `@files` or `@folders` where the
 * shell knows better. The scripts of `dragoman completion` ask this.
 */
export async function runCompleteCommand([shell = '', separator, ...args]: string[]): Promise<void> {
  if (separator !== '--') return
  const words = shell === 'bash' ? splitShellLine(args[0] ?? '') : args
  const found = await completeLastWord(words.slice(1))
  const current = words.at(-1) ?? ''
  // Bash replaces only what stands after the last of its word breaks.
  const done = shell === 'bash' ? current.search(/[^=:@]*$/) : 0
  const lines = found.map(({ value, about }) =>
    value.startsWith('@') ? value : shell === 'bash' || !about ? value.slice(done) : `${value}\t${about}`,
  )
  process.stdout.write(lines.map((line) => `${line}\n`).join(''))
}

/** What could stand for the last of these words. */
async function completeLastWord(words: readonly string[]): Promise<CompletionCandidate[]> {
  const before = words.slice(0, -1)
  const current = words.at(-1) ?? ''
  const [name = '', ...rest] = before
  const page = Object.hasOwn(COMMAND_SPECS, name) ? COMMAND_SPECS[name] : undefined
  const options = page ? findAvailableOptions(page, rest) : RUN_OPTIONS
  const folder = before[before.lastIndexOf('--cwd') + 1]
  const workingFolder = before.includes('--cwd') && folder !== undefined ? folder : '.'
  const findMatching = async (
    from: readonly string[] | CompletionKind | undefined,
    word: string,
  ): Promise<CompletionCandidate[]> =>
    (await findCandidates(from, word, workingFolder)).filter(
      ({ value }) => value.startsWith('@') || value.startsWith(word),
    )

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
  if (page) return findMatching(findPositionalSource(page, rest), current)
  if (before.length > 1 || (before.length === 1 && name !== 'help')) return []
  const commands = Object.entries(CLI_COMMANDS).flatMap(([value, { about, hidden }]) =>
    hidden ? [] : [{ value, about }],
  )
  return commands.filter(({ value: one }) => one.startsWith(current))
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

function findAvailableOptions(page: CliCommandSpec, rest: readonly string[]): CliOptions {
  const subcommandOptions = findSubcommand(page, rest)?.options
  const chosen = Object.entries(page.options).filter(
    ([name]) => !subcommandOptions || subcommandOptions.includes(name) || name === 'help',
  )
  return { ...(page.takesRunOptions && RUN_OPTIONS), ...Object.fromEntries(chosen) }
}

/** What a plain word can be: a subcommand first, and then what that takes. */
function findPositionalSource(
  page: CliCommandSpec,
  rest: readonly string[],
): readonly string[] | CompletionKind | undefined {
  const subcommand = findSubcommand(page, rest)
  return subcommand ? subcommand.positional : page.subcommands ? Object.keys(page.subcommands) : page.positional
}

function findSubcommand({ subcommands }: CliCommandSpec, rest: readonly string[]) {
  const name = rest.find((word) => subcommands && Object.hasOwn(subcommands, word))
  return name === undefined ? undefined : subcommands?.[name]
}

/** The words of a line as a shell would split it, as far as that matters here; the last may be empty. */
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
