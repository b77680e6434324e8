import { posix } from 'node:path'
import { SECRETS } from '../../model/secret-files.ts'
import { NO_DISK } from '../disk.ts'
import { hiddenIn, isDisguised } from '../hidden.ts'
import { isLike } from '../path/pattern.ts'
import { isWithin, judgePlace, type Places } from '../path/place.ts'
import type { Verdict } from '../policy.ts'
import type { Book, Ruling } from '../rule/book.ts'
import { coversWords, isAbout, type Rule, SHELL } from '../rule/rule.ts'
import { quoted } from '../rule/words.ts'
import { type Command, nameOf, programOf } from './command.ts'
import { dangersIn } from './danger.ts'
import { doubtAbout, pathDoubt } from './harmless.ts'
import { mayNameSecret, wordsOfPattern } from './pattern-words.ts'
import { type PlainCommand, provePlain } from './plain.ts'
import { inFolder, withoutOptions, withoutPrinting } from './program/git.ts'
import { needsNetwork } from './program/network.ts'
import { subcommandOf, wordRisk } from './program/subcommand.ts'
import { survey } from './survey.ts'
import { type Parse, shellParser } from './syntax.ts'
import { UNKNOWN } from './word.ts'

/** What a command is judged by. */
export interface ShellContext {
  readonly places: Places
  readonly book: Book
  /** The shell's own opinion: what it says against a text, or nothing. */
  readonly rejected?: (text: string) => Promise<string | undefined>
}

/** The judgement of a command. */
export interface ShellJudgement {
  readonly verdict: Verdict
  readonly rule: string
  readonly why: string
  /** The programs that it would run, as far as they can be told. */
  readonly programs: readonly string[]
  /** Is one of them known to need the network? */
  readonly needsNetwork?: true
  /** Does this hold in every mode? */
  readonly firm: boolean
  /** Was the text understood as a whole? */
  readonly understood: boolean
  /** It is allowed only if git starts none of the programs that settings name. */
  readonly gitHelpers?: 'off'
  /** The rules that would allow exactly this from now on; absent if only a person can, each time. */
  readonly always?: readonly string[]
  /** The words of subcommands that all of what is asked about begins with: rules for these would allow more than this. */
  readonly subcommands?: readonly string[]
}

/**
 * Judges shell text: danger is looked for everywhere, harmlessness must be proved. The shell's own opinion takes a process,
 * so it is asked only where it can change something: not about what is forbidden anyway, nor about what was proved to the
 * last word and holds no sign that the parser and bash have ever read differently.
 */
export async function judgeShell(text: string, folder: string, context: ShellContext): Promise<ShellJudgement> {
  const hidden = hiddenIn(text, { lines: true })
  if (hidden !== undefined) return firm('deny', 'hidden characters', `It contains ${hidden}, which nobody can see.`)
  if (Buffer.byteLength(text) > MAX_LENGTH)
    return firm('deny', 'length', 'It is too long to be judged; put it into a file.')
  const { isPlain, ...judgement } = judgeParsed(text, folder, context, await shellParser())
  const problem = judgement.verdict === 'deny' || isPlain ? undefined : await context.rejected?.(text)
  if (problem === undefined) return judgement
  return { ...firm('deny', 'bash', `Bash rejects it: ${problem}`), programs: judgement.programs }
}

/** Our own judgement of a text, and whether every word of it was certain. */
function judgeParsed(
  text: string,
  folder: string,
  context: ShellContext,
  parse: Parse,
): ShellJudgement & { readonly isPlain: boolean } {
  const { places, book, rejected } = context
  const home = places.home === undefined ? {} : { HOME: places.home }
  const tree = parse(text)
  const found = survey(text, (part) => (part === text ? tree : parse(part)), { ...home, PWD: folder })
  const { understood, complete } = found
  const programs = programsOf(found.commands)
  const proof = tree ? provePlain(tree, text) : { doubt: 'it is too long or too deep to be judged' }
  const isOnline = found.commands.some((one) =>
    needsNetwork([programOf(one), ...one.words.slice(1).map(({ guess }) => guess)]),
  )
  const isPlain = 'commands' in proof && !ODD.test(text)
  const known = { programs, understood, isPlain, ...(isOnline && { needsNetwork: true as const }) }

  const disguised = found.commands.map(programOf).find(isDisguised)
  if (disguised !== undefined) {
    const why = `“${disguised}” is written so that it looks like another name.`
    return { ...firm('deny', 'hidden characters', why), ...known }
  }
  if (!understood && !rejected) return { ...firm('deny', 'parser', 'It cannot be parsed.'), ...known }
  const dangers = [...dangersIn(found, places), ...found.commands.flatMap((command) => ruledOut(command, book))]
  const worst = dangers.find(({ verdict }) => verdict === 'deny') ?? dangers[0]
  if (worst) return { ...worst, firm: true, ...known }
  if (!complete)
    return { ...firm('deny', 'limits', 'It is too complicated to be judged; put it into a file.'), ...known }

  if ('doubt' in proof) return { ...ask(`It is not proved harmless: ${proof.doubt}.`), ...known }
  if (text.length > MAX_ALLOWED) return { ...ask('It is not proved harmless: it is too long to be judged.'), ...known }
  return { ...judgeProved(proof.commands, folder, context), ...known }
}

/** Brackets, escapes and comments, and signs that touch. */
const ODD = /[{}\\#]|;[;&]/

/** Nobody writes longer commands by hand; a longer one is never allowed unasked, a much longer one never at all. */
const MAX_ALLOWED = 20_000
const MAX_LENGTH = 100_000
const MAX_COMMANDS = 64

type Core = Pick<ShellJudgement, 'verdict' | 'rule' | 'why' | 'firm' | 'gitHelpers' | 'always' | 'subcommands'>

function judgeProved(commands: readonly PlainCommand[], start: string, context: ShellContext): Core {
  if (commands.length > MAX_COMMANDS) return ask(`It runs ${commands.length} commands, which is too many to be sure.`)
  let folder = start
  const used: Allowed[] = []
  const missing: PlainCommand[] = []
  let why = ''
  for (const [at, command] of commands.entries()) {
    const next = command.words[0] === 'cd' ? entered(command, commands.slice(at + 1), folder, context) : undefined
    if (next !== undefined) {
      folder = next
      continue
    }
    const judged = judgeOne(...placed(command, folder, context), context)
    if ('rule' in judged) used.push(judged)
    else {
      missing.push(command)
      why ||= judged.doubt
    }
  }
  if (missing.length === 0) {
    const rule = unique(used.map((one) => one.rule)).join(', ')
    // A rule of the person's own about `git commit` means the hooks too; and a command has one environment.
    const git = used.filter(({ program }) => program === 'git')
    const gitHelpers = git.length > 0 && git.every(({ proved }) => proved) && { gitHelpers: 'off' as const }
    return { verdict: 'allow', rule, why: 'It is proved harmless.', firm: false, ...gitHelpers }
  }
  const rules = missing.map(({ words }) => quoted(words)).filter((words) => words !== undefined)
  const whole =
    rules.length === missing.length && commands.every(({ reads, patterns }) => reads.length + patterns.length === 0)
  const subcommands = whole ? broadly(missing, folder, context.places) : undefined
  return {
    ...ask(why),
    ...(whole && { always: unique(rules).map((words) => `${SHELL}(=${words})`) }),
    ...(subcommands && { subcommands }),
  }
}

/** The subcommands of some commands, if each has one and is allowed by a rule about it. */
function broadly(missing: readonly PlainCommand[], folder: string, places: Places): string[] | undefined {
  const found = missing.map(({ words }) => {
    const subcommand = subcommandOf(words)
    return subcommand && riskIn(words, subcommand.length, folder, places) === undefined ? quoted(subcommand) : undefined
  })
  const known = found.filter((words) => words !== undefined)
  return known.length === found.length ? unique(known) : undefined
}

/** Says what in the words behind a subcommand makes it something else; nothing for programs that are not known. */
function riskIn(words: readonly string[], ruled: number, folder: string, places: Places): string | undefined {
  const subcommand = subcommandOf(words)
  if (!subcommand || ruled < subcommand.length) return undefined
  const isOutside = (path: string) => judgePlace(path, 'write', places, folder).kind !== 'in'
  const word = wordRisk(subcommand, words.slice(ruled), isOutside)
  return word === undefined ? undefined : `“${word}” may make something else of it`
}

/** A command that a rule allows; `proved` if the rule holds only for what is known to be harmless. */
interface Allowed {
  readonly rule: string
  readonly program: string
  readonly proved: boolean
}

function judgeOne(command: PlainCommand, folder: string, { book, places }: ShellContext): Allowed | { doubt: string } {
  const { words, reads } = command
  const ruling = rulingFor(withoutPrinting(words), book)
  const shown = words.join(' ')
  if (ruling?.rule.verdict !== 'allow') return { doubt: `No rule allows “${shown}”.` }
  const { more, words: ruled = [], text } = ruling.rule
  const doubt =
    reads.map((file) => pathDoubt(file, folder, places)).find((one) => one !== undefined) ??
    (more === 'harmless' ? harmDoubt(command, ruled.length, folder, places) : patternDoubt(command)) ??
    (more === 'any' ? riskIn(words, ruled.length, folder, places) : undefined)
  return doubt === undefined
    ? { rule: text, program: words[0] ?? '', proved: more === 'harmless' }
    : { doubt: `“${shown}” is not proved harmless: ${doubt}.` }
}

/** Says why a command is not harmless with the words that bash makes of its patterns. */
function harmDoubt(command: PlainCommand, ruled: number, folder: string, places: Places): string | undefined {
  const [first = ruled] = command.patterns
  if (first < ruled) return patternDoubt(command)
  const words: string[] = []
  for (const [at, word] of command.words.entries()) {
    const found = command.patterns.includes(at) ? wordsOfPattern(word, folder, places.disk ?? NO_DISK) : [word]
    if (!found) return `“${word}” stands for too many files`
    // A file may be named like an option.
    const odd = found.find((one) => one !== word && one.startsWith('-'))
    if (odd !== undefined) return `“${word}” stands for the file “${odd}”, which looks like an option`
    const isEmpty = command.patterns.includes(at) && found.length === 1 && found[0] === word
    if (isEmpty && mayNameSecret(word, [...(places.secretFiles ?? []), ...SECRETS]))
      return `“${word}” may stand for a file with secrets`
    words.push(...found)
  }
  // A file in the place of the pipe may be one that has nothing to read, such as /dev/null.
  return doubtAbout({ words, folder, isPiped: command.after === '|' && command.reads.length === 0 }, ruled, places)
}

function patternDoubt({ words, patterns: [first] }: PlainCommand): string | undefined {
  return first === undefined ? undefined : `what “${words[first]}” stands for is known only when it runs`
}

/** Where `cd` leads, if that is sure: into the workspace, and nothing runs if it fails. */
function entered(
  { words, reads }: PlainCommand,
  rest: readonly PlainCommand[],
  folder: string,
  { places }: ShellContext,
): string | undefined {
  const [, target = '', ...more] = words
  if (more.length > 0 || reads.length > 0) return undefined
  return rest.every(({ after }) => after === '&&' || after === '|') ? folderInside(target, folder, places) : undefined
}

/** A command with the folder that it runs in: `git -C` names one of its own. */
function placed(command: PlainCommand, folder: string, { places }: ShellContext): [PlainCommand, string] {
  const { words, folder: named } = inFolder(command.words)
  const at = named === undefined || command.patterns.length > 0 ? undefined : folderInside(named, folder, places)
  return at === undefined ? [command, folder] : [{ ...command, words }, at]
}

/** The folder of the workspace that a word means, if that is sure. */
function folderInside(target: string, folder: string, { folders, disk = NO_DISK }: Places): string | undefined {
  if (/^-|(?:^|\/)\.\.(?:\/|$)|^$|\*/.test(target)) return undefined
  const real = disk.real(posix.resolve(folder, target))
  if (real === undefined || disk.kind(real) !== 'folder') return undefined
  return folders.some((one) => isWithin(real, disk.real(one) ?? one)) ? real : undefined
}

/** Rules that ask about or forbid a command, seen through its path and its quotes. */
function ruledOut(command: Command, book: Book): { verdict: 'ask' | 'deny'; rule: string; why: string }[] {
  const [first, ...args] = command.words
  if (!first || first.guess === '') return []
  const name = nameOf(first.guess).toLowerCase()
  const words = [name, ...args.map(({ guess }) => guess)]
  const pattern = first.glob && /\w/.test(name) ? name.replace(/\[(.)[^\]]*\]/g, '$1') : undefined
  const bare = withoutOptions(words)
  const ruling = book.find(
    (rule) =>
      isAbout(rule, SHELL) &&
      (!rule.words || isCovered(rule, rule.verdict === 'allow' ? withoutPrinting(words) : bare, pattern)),
  )
  const narrow =
    ruling?.rule.verdict === 'allow' && !ruling.rule.words
      ? book.find((rule) => rule.verdict !== 'allow' && rule.words !== undefined && isCovered(rule, bare, pattern))
      : ruling
  const { verdict, text = '' } = narrow?.rule ?? { verdict: 'allow' }
  if (verdict === 'allow') return []
  const how = verdict === 'deny' ? 'forbids' : 'asks about'
  return [
    {
      verdict,
      rule: text,
      why: `The rule “${text}” ${how} ${words.join(' ').replaceAll(UNKNOWN, '…').slice(0, 200)}.`,
    },
  ]
}

function isCovered(rule: Rule, words: readonly string[], pattern: string | undefined): boolean {
  if (coversWords(rule, words)) return true
  const [first = '', ...rest] = rule.words ?? []
  return pattern !== undefined && rest.length === 0 && rule.verdict === 'deny' && isLike(first, pattern)
}

function rulingFor(words: readonly string[], book: Book): Ruling | undefined {
  return book.find((rule) => isAbout(rule, SHELL) && (!rule.words || coversWords(rule, words)))
}

/** Words that only lead on to the program proper. */
const THROUGH: ReadonlySet<string> = new Set(['', 'command', 'builtin', 'time', 'coproc', '{', '}', '!'])

function programsOf(commands: readonly Command[]): string[] {
  return unique(commands.map(programOf).filter((name) => !THROUGH.has(name) && !name.includes(UNKNOWN)))
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}

function ask(why: string): Core {
  return { verdict: 'ask', rule: 'not proved harmless', why, firm: false }
}

function firm(verdict: Verdict, rule: string, why: string): ShellJudgement {
  return { verdict, rule, why, programs: [], firm: true, understood: false }
}
