import { COMMANDS } from '../commands.ts'
import type { Page } from '../manual/page.ts'
import { PAGES } from '../manual/pages.ts'
import { type Kind, type Options, RUN_OPTIONS } from '../line/options.ts'
import { type Candidate, namesOf } from './complete-names.ts'

/**
 * `dragoman __complete`: what could stand next on a command line, one candidate a line; `@files` or `@folders` where the
 * shell knows better. The scripts of `dragoman completion` ask this.
 */
export async function completeCommand([shell = '', separator, ...given]: string[]): Promise<void> {
  if (separator !== '--') return
  const words = shell === 'bash' ? wordsIn(given[0] ?? '') : given
  const found = await candidates(words.slice(1))
  const current = words.at(-1) ?? ''
  // Bash replaces only what stands after the last of its word breaks.
  const done = shell === 'bash' ? current.search(/[^=:@]*$/) : 0
  const lines = found.map(({ value, about }) =>
    value.startsWith('@') ? value : shell === 'bash' || !about ? value.slice(done) : `${value}\t${about}`,
  )
  process.stdout.write(lines.map((line) => `${line}\n`).join(''))
}

/** What could stand for the last of these words. */
async function candidates(words: readonly string[]): Promise<Candidate[]> {
  const before = words.slice(0, -1)
  const current = words.at(-1) ?? ''
  const [name = '', ...rest] = before
  const page = Object.hasOwn(PAGES, name) ? PAGES[name] : undefined
  const options = page ? optionsOf(page, rest) : RUN_OPTIONS
  const folder = before[before.lastIndexOf('--cwd') + 1]
  const place = before.includes('--cwd') && folder !== undefined ? folder : '.'
  const fitting = async (from: readonly string[] | Kind | undefined, word: string): Promise<Candidate[]> =>
    (await namesOf(from, word, place)).filter(({ value }) => value.startsWith('@') || value.startsWith(word))

  if (before.includes('--')) return []
  const [, long, begun] = /^--([\w-]+)=(.*)$/.exec(current) ?? []
  if (long !== undefined && begun !== undefined) {
    const found = await fitting(optionNamed(options, `--${long}`)?.from, begun)
    return found.map((one) => (one.value.startsWith('@') ? one : { ...one, value: `--${long}=${one.value}` }))
  }
  const open = optionNamed(options, before.at(-1) ?? '')
  if (open?.takes !== undefined && !(open.alone !== undefined && current.startsWith('-')))
    return fitting(open.from, current)
  if (current.startsWith('-')) return optionsLike(current, options, before)
  if (page) return fitting(wordsOf(page, rest), current)
  if (before.length > 1 || (before.length === 1 && name !== 'help')) return []
  const commands = Object.entries(COMMANDS).flatMap(([value, { about, hidden }]) => (hidden ? [] : [{ value, about }]))
  return commands.filter(({ value: one }) => one.startsWith(current))
}

function optionsLike(current: string, options: Options, before: readonly string[]): Candidate[] {
  return Object.entries(options)
    .filter(([name, { many, hidden }]) => !hidden && (many || !before.includes(`--${name}`)))
    .map(([name, { about }]) => ({ value: `--${name}`, about }))
    .filter(({ value }) => value.startsWith(current))
}

function optionNamed(options: Options, word: string) {
  return Object.entries(options).find(([name, { short }]) => word === `--${name}` || word === `-${short}`)?.[1]
}

function optionsOf(page: Page, rest: readonly string[]): Options {
  const own = verbIn(page, rest)?.options
  const chosen = Object.entries(page.options).filter(([name]) => !own || own.includes(name) || name === 'help')
  return { ...(page.runs && RUN_OPTIONS), ...Object.fromEntries(chosen) }
}

/** What a plain word can be: a subcommand first, and then what that takes. */
function wordsOf(page: Page, rest: readonly string[]): readonly string[] | Kind | undefined {
  const verb = verbIn(page, rest)
  return verb ? verb.words : page.verbs ? Object.keys(page.verbs) : page.words
}

function verbIn({ verbs }: Page, rest: readonly string[]) {
  const name = rest.find((word) => verbs && Object.hasOwn(verbs, word))
  return name === undefined ? undefined : verbs?.[name]
}

/** The words of a line as a shell would split it, as far as that matters here; the last may be empty. */
function wordsIn(line: string): string[] {
  const words = ['']
  for (const [, quoted, escaped, plain] of line.matchAll(/"([^"]*)"?|\\(.)|([^"\\\s]+)|\s+/g)) {
    const piece = quoted ?? escaped ?? plain
    if (piece === undefined) words.push('')
    else words[words.length - 1] += piece
  }
  const start = words.findIndex((word) => word !== '' && !/^\w+=/.test(word))
  return words.slice(Math.max(start, 0))
}
