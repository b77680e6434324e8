import { posix } from 'node:path'
import { SECRET_FILE_PATTERNS } from '../../model/secret-files.ts'
import { NO_DISK_VIEW } from '../disk-view.ts'
import { findHiddenCharacter } from '../../model/security/hidden-characters.ts'
import { isConfusableName } from '../text/confusable-name.ts'
import { matchesGlob } from '../path/path-pattern.ts'
import { classifyPath, type PathContext } from '../path/classify-path.ts'
import { findStrictest, type Verdict } from '../policy.ts'
import type { RuleSet, RuleMatch } from '../rules/rule-set.ts'
import { coversTool, matchesCommandWords, type PolicyRule, SHELL_TOOL_NAME } from '../rules/rule.ts'
import { quoteRuleWords } from '../rules/rule-words.ts'
import { type ShellCommand, getPathBaseName, getProgramName } from './shell-command.ts'
import { findDangers } from './danger.ts'
import { findCommandRisk, findPathRisk } from './harmless-command.ts'
import { findHiddenChanges, type HiddenChanges } from './hidden-changes.ts'
import { mayMatchSecretFile, expandGlob } from './glob-expansion.ts'
import { type PlainCommand, parsePlainCommands } from './plain-commands.ts'
import { parseGitFolder, stripGitGlobalOptions, stripGitPagerOptions } from './program/git-commands.ts'
import { needsNetwork } from './program/network-commands.ts'
import { findSubcommandWords, findRiskyWord } from './program/subcommand.ts'
import { findCommands } from './collect-commands.ts'
import { type ShellParser, loadShellParser } from './syntax-tree.ts'
import { UNKNOWN_VALUE } from './shell-word.ts'
import { defined } from '../../model/defined.ts'
import { isInsideFolder } from '../../model/inside-folder.ts'

export interface ShellContext {
  readonly pathContext: PathContext
  readonly ruleSet: RuleSet
  /** Returns bash's syntax error, if any. */
  readonly rejected?: (text: string) => Promise<string | undefined>
}

export interface ShellDecision {
  readonly verdict: Verdict
  readonly rule: string
  readonly why: string
  readonly programs: readonly string[]
  readonly needsNetwork?: true
  readonly hiddenChanges?: HiddenChanges
  /** Every part of it only reads. */
  readonly isHarmless?: true
  /** Does the decision apply in every mode? */
  readonly isFinal: boolean
  /** The host must prevent git from starting programs named in its configuration. */
  readonly gitHelpers?: 'off'
  /** Rules that would allow exactly this command; absent if approval is needed each time. */
  readonly always?: readonly string[]
  /** The subcommands with which all unapproved commands begin. Rules for these would allow more than this command. */
  readonly subcommands?: readonly string[]
}

/**
 * Denies or asks if any danger is found, and allows only what is proved harmless. Asking bash itself takes a process,
 * so it is done only if it can change the decision: not for denied commands, nor for plain commands without syntax on
 * which the parser and bash may differ.
 */
export async function checkShellCommand(text: string, folder: string, context: ShellContext): Promise<ShellDecision> {
  const hidden = findHiddenCharacter(text, { allowLines: true })
  if (hidden !== undefined)
    return finalDecision('deny', 'hidden characters', `It contains ${hidden}, which is invisible.`)
  if (Buffer.byteLength(text) > MAX_COMMAND_BYTES)
    return finalDecision('deny', 'length', 'It is too long to be judged; put it into a file.')
  const { isPlain, ...decision } = checkParsedText(text, folder, context, await loadShellParser())
  const problem = decision.verdict === 'deny' || isPlain ? undefined : await context.rejected?.(text)
  if (problem === undefined) return decision
  return { ...finalDecision('deny', 'bash', `Bash rejects it: ${problem}`), programs: decision.programs }
}

/** Parses a command before it is checked, and asks bash, while the response of the model still comes. */
export async function prepareShellCheck(text: string, folder: string, context: ShellContext): Promise<void> {
  if (text.length > MAX_AUTO_ALLOWED_CHARS || findHiddenCharacter(text, { allowLines: true }) !== undefined) return
  const { proof } = readCommand(text, folder, context.pathContext.home, await loadShellParser())
  if (!isPlainText(text, proof)) await context.rejected?.(text)
}

/** What a text says, whatever is on the disk. */
function readCommand(text: string, folder: string, homeFolder: string | undefined, parse: ShellParser): CommandReading {
  const key = JSON.stringify([homeFolder, folder, text])
  const known = readings.get(key)
  if (known) return known
  const home = homeFolder === undefined ? {} : { HOME: homeFolder }
  const tree = parse(text)
  const found = findCommands(text, (part) => (part === text ? tree : parse(part)), { ...home, PWD: folder })
  const proof = tree ? parsePlainCommands(tree, text) : { doubt: 'it is too long or too deeply nested to be parsed' }
  const reading = { found, proof, programs: listPrograms(found.commands) }
  const [oldest] = readings.keys()
  if (readings.size >= MAX_READINGS && oldest !== undefined) readings.delete(oldest)
  // What took too long to parse may be parsed the next time.
  if (tree && found.complete && text.length <= MAX_AUTO_ALLOWED_CHARS) readings.set(key, reading)
  return reading
}

interface CommandReading {
  readonly found: ReturnType<typeof findCommands>
  readonly proof: ReturnType<typeof parsePlainCommands>
  readonly programs: readonly string[]
}

/** The last ones: a command is often checked more than once. */
const readings = new Map<string, CommandReading>()
const MAX_READINGS = 32

function checkParsedText(
  text: string,
  folder: string,
  context: ShellContext,
  parse: ShellParser,
): ShellDecision & { readonly isPlain: boolean } {
  const { pathContext, ruleSet, rejected } = context
  const { found, proof, programs } = readCommand(text, folder, pathContext.home, parse)
  const { understood, complete } = found
  const isOnline = found.commands.some((one) =>
    needsNetwork([getProgramName(one), ...one.words.slice(1).map(({ guess }) => guess)]),
  )
  const isPlain = isPlainText(text, proof)
  const hiddenChanges = findHiddenChanges(found.commands, pathContext)
  const known = { programs, isPlain, hiddenChanges, ...(isOnline && { needsNetwork: true as const }) }

  const disguised = found.commands.map(getProgramName).find(isConfusableName)
  if (disguised !== undefined) {
    const why = `“${disguised}” is written so that it looks like another name.`
    return { ...finalDecision('deny', 'hidden characters', why), ...known }
  }
  if (!understood && !rejected) return { ...finalDecision('deny', 'parser', 'It cannot be parsed.'), ...known }
  const dangers = [
    ...findDangers(found, pathContext),
    ...found.commands.flatMap((command) => findRestrictingRules(command, ruleSet)),
  ]
  const worst = findStrictest(dangers)
  if (worst) return { ...worst, isFinal: true, ...known }
  if (!complete)
    return { ...finalDecision('deny', 'limits', 'It is too complicated to be judged; put it into a file.'), ...known }

  if ('doubt' in proof) return { ...askBecause(`It is not proved harmless: ${proof.doubt}.`), ...known }
  if (text.length > MAX_AUTO_ALLOWED_CHARS)
    return { ...askBecause('It is not proved harmless: it is too long to be judged.'), ...known }
  return { ...checkPlainCommands(proof.commands, folder, context), ...known }
}

function isPlainText(text: string, proof: CommandReading['proof']): boolean {
  return 'commands' in proof && !AMBIGUOUS_SYNTAX.test(text)
}

const AMBIGUOUS_SYNTAX = /[{}\\#]|;[;&]/

/** A longer command is never allowed without approval, a much longer one never at all. */
const MAX_AUTO_ALLOWED_CHARS = 20_000
const MAX_COMMAND_BYTES = 100_000
const MAX_COMMANDS = 64

type CoreDecision = Pick<
  ShellDecision,
  'verdict' | 'rule' | 'why' | 'isFinal' | 'isHarmless' | 'gitHelpers' | 'always' | 'subcommands'
>

function checkPlainCommands(commands: readonly PlainCommand[], start: string, context: ShellContext): CoreDecision {
  if (commands.length > MAX_COMMANDS)
    return askBecause(`It runs ${commands.length} commands, which is too many to be sure.`)
  let folders = [start]
  let subshells: readonly number[] = []
  const allowedCommands: AllowedCommand[] = []
  const missing: PlainCommand[] = []
  let why = ''
  for (const [at, command] of commands.entries()) {
    const entered = command.subshells.findIndex((one, depth) => one !== subshells[depth])
    const depth = entered < 0 ? command.subshells.length : entered
    folders = folders.slice(0, depth + 1)
    while (folders.length <= command.subshells.length) folders.push(folders.at(-1) ?? start)
    ;({ subshells } = command)
    const folder = folders.at(-1) ?? start
    const next = command.words[0] === 'cd' ? resolveCd(command, commands.slice(at + 1), folder, context) : undefined
    if (next !== undefined) {
      folders[folders.length - 1] = next
      continue
    }
    const outcome = checkPlainCommand(...resolveGitFolder(command, folder, context), context)
    if ('rule' in outcome) allowedCommands.push(outcome)
    else {
      missing.push(command)
      why ||= outcome.doubt
    }
  }
  if (missing.length === 0) {
    const rule = unique(allowedCommands.map((one) => one.rule)).join(', ')
    // A rule of the user about `git commit` includes its hooks; and all commands share one environment.
    const git = allowedCommands.filter(({ program }) => program === 'git')
    const gitHelpers = git.length > 0 &&
      git.every(({ isProvenHarmless }) => isProvenHarmless) && { gitHelpers: 'off' as const }
    const isProved = allowedCommands.every(({ isBuiltinRule }) => isBuiltinRule)
    const reason = isProved ? 'It is proved harmless.' : `Your rules allow it: ${rule}.`
    const isHarmless = allowedCommands.every(({ isProvenHarmless }) => isProvenHarmless)
    return { verdict: 'allow', rule, why: reason, isFinal: false, ...gitHelpers, ...(isHarmless && { isHarmless }) }
  }
  const rules = missing.map(({ words }) => quoteRuleWords(words)).filter((words) => words !== undefined)
  const whole =
    rules.length === missing.length && commands.every(({ reads, patterns }) => reads.length + patterns.length === 0)
  const subcommands = whole
    ? listGrantableSubcommands(missing, folders.at(-1) ?? start, context.pathContext)
    : undefined
  return {
    ...askBecause(why),
    ...(whole && { always: unique(rules).map((words) => `${SHELL_TOOL_NAME}(=${words})`) }),
    ...defined({ subcommands }),
  }
}

/** Returns the subcommands, if each command has one that a rule could allow. */
function listGrantableSubcommands(
  missing: readonly PlainCommand[],
  folder: string,
  pathContext: PathContext,
): string[] | undefined {
  const found = missing.map(({ words }) => {
    const subcommand = findSubcommandWords(words)
    return subcommand && findSubcommandRisk(words, subcommand.length, folder, pathContext) === undefined
      ? quoteRuleWords(subcommand)
      : undefined
  })
  const known = found.filter((words) => words !== undefined)
  return known.length === found.length ? unique(known) : undefined
}

/** Returns why the words after a subcommand may do more than the rule means; undefined for unknown programs. */
function findSubcommandRisk(
  words: readonly string[],
  ruleLength: number,
  folder: string,
  pathContext: PathContext,
): string | undefined {
  const subcommand = findSubcommandWords(words)
  if (!subcommand || ruleLength < subcommand.length) return undefined
  const isOutside = (path: string) => classifyPath(path, 'write', pathContext, folder).kind !== 'in'
  const word = findRiskyWord(subcommand, words.slice(ruleLength), isOutside)
  return word === undefined ? undefined : `“${word}” is an option or a path that may do more than the rule means`
}

interface AllowedCommand {
  readonly rule: string
  readonly program: string
  readonly isProvenHarmless: boolean
  readonly isBuiltinRule: boolean
}

function checkPlainCommand(
  command: PlainCommand,
  folder: string,
  { ruleSet, pathContext }: ShellContext,
): AllowedCommand | { doubt: string } {
  const { words, reads } = command
  const ruleMatch = findRuleFor(stripGitPagerOptions(words), ruleSet)
  const shown = words.join(' ')
  if (ruleMatch?.rule.verdict !== 'allow') return { doubt: `No rule allows “${shown}”.` }
  const { more, words: ruleLength = [], text } = ruleMatch.rule
  const risk =
    reads.map((file) => findPathRisk(file, folder, pathContext)).find((one) => one !== undefined) ??
    (more === 'harmless' ? findExpandedRisk(command, ruleLength.length, folder, pathContext) : findGlobRisk(command)) ??
    (more === 'any' ? findSubcommandRisk(words, ruleLength.length, folder, pathContext) : undefined)
  return risk === undefined
    ? {
        rule: text,
        program: words[0] ?? '',
        isProvenHarmless: more === 'harmless',
        isBuiltinRule: ruleMatch.tier === 'default',
      }
    : { doubt: `“${shown}” is not proved harmless: ${risk}.` }
}

/** Checks the command with its glob patterns expanded. */
function findExpandedRisk(
  command: PlainCommand,
  ruleLength: number,
  folder: string,
  pathContext: PathContext,
): string | undefined {
  const [first = ruleLength] = command.patterns
  if (first < ruleLength) return findGlobRisk(command)
  const words: string[] = []
  for (const [at, word] of command.words.entries()) {
    const found = command.patterns.includes(at) ? expandGlob(word, folder, pathContext.disk ?? NO_DISK_VIEW) : [word]
    if (!found) return `“${word}” matches too many files`
    // A file may be named like an option.
    const optionLike = found.find((one) => one !== word && one.startsWith('-'))
    if (optionLike !== undefined) return `“${word}” matches the file “${optionLike}”, which looks like an option`
    const isEmpty = command.patterns.includes(at) && found.length === 1 && found[0] === word
    if (isEmpty && mayMatchSecretFile(word, [...(pathContext.secretFiles ?? []), ...SECRET_FILE_PATTERNS]))
      return `“${word}” may match a file with secrets`
    words.push(...found)
  }
  // A file that replaces the pipe may be empty, such as /dev/null.
  return findCommandRisk(
    { words, folder, isPiped: command.operator === '|' && command.reads.length === 0 },
    ruleLength,
    pathContext,
  )
}

function findGlobRisk({ words, patterns: [first] }: PlainCommand): string | undefined {
  return first === undefined ? undefined : `what “${words[first]}” stands for is known only when it runs`
}

/** Returns the folder that `cd` changes to, if it is certain: in the workspace, and nothing runs if `cd` fails. */
function resolveCd(
  { words, reads }: PlainCommand,
  rest: readonly PlainCommand[],
  folder: string,
  { pathContext }: ShellContext,
): string | undefined {
  const [, target = '', ...more] = words
  if (more.length > 0 || reads.length > 0) return undefined
  return rest.every(({ operator }) => operator === '&&' || operator === '|')
    ? resolveWorkspaceFolder(target, folder, pathContext)
    : undefined
}

/** `git -C` runs in another folder. */
function resolveGitFolder(
  command: PlainCommand,
  folder: string,
  { pathContext }: ShellContext,
): [PlainCommand, string] {
  const { words, folder: named } = parseGitFolder(command.words)
  const at =
    named === undefined || command.patterns.length > 0 ? undefined : resolveWorkspaceFolder(named, folder, pathContext)
  return at === undefined ? [command, folder] : [{ ...command, words }, at]
}

/** Returns undefined if the folder is not certain or outside the workspace. */
function resolveWorkspaceFolder(
  target: string,
  folder: string,
  { folders, disk = NO_DISK_VIEW }: PathContext,
): string | undefined {
  if (/^-|(?:^|\/)\.\.(?:\/|$)|^$|\*/.test(target)) return undefined
  const real = disk.realPath(posix.resolve(folder, target))
  if (real === undefined || disk.kind(real) !== 'folder') return undefined
  return folders.some((one) => isInsideFolder(real, disk.realPath(one) ?? one)) ? real : undefined
}

/** Ask and deny rules that match a command, ignoring the path and quoting of its program. */
function findRestrictingRules(
  command: ShellCommand,
  ruleSet: RuleSet,
): { verdict: 'ask' | 'deny'; rule: string; why: string }[] {
  const [first, ...args] = command.words
  if (!first || first.guess === '') return []
  const name = getPathBaseName(first.guess).toLowerCase()
  const words = [name, ...args.map(({ guess }) => guess)]
  const pattern = first.glob && /\w/.test(name) ? name.replace(/\[(.)[^\]]*\]/g, '$1') : undefined
  const bareWords = stripGitGlobalOptions(words)
  const ruleMatch = ruleSet.findCommandRule(
    (rule) =>
      coversTool(rule, SHELL_TOOL_NAME) ||
      isCoveredByRule(rule, rule.verdict === 'allow' ? stripGitPagerOptions(words) : bareWords, pattern),
  )
  const narrowMatch =
    ruleMatch?.rule.verdict === 'allow' && !ruleMatch.rule.words
      ? ruleSet.findCommandRule(
          (rule) => rule.verdict !== 'allow' && rule.words !== undefined && isCoveredByRule(rule, bareWords, pattern),
        )
      : ruleMatch
  const { verdict, text = '' } = narrowMatch?.rule ?? { verdict: 'allow' }
  if (verdict === 'allow') return []
  const how = verdict === 'deny' ? 'denies' : 'asks about'
  return [
    {
      verdict,
      rule: text,
      why: `The rule “${text}” ${how} ${words.join(' ').replaceAll(UNKNOWN_VALUE, '…').slice(0, 200)}.`,
    },
  ]
}

function isCoveredByRule(rule: PolicyRule, words: readonly string[], pattern: string | undefined): boolean {
  if (matchesCommandWords(rule, words)) return true
  const [first = '', ...rest] = rule.words ?? []
  return pattern !== undefined && rest.length === 0 && rule.verdict === 'deny' && matchesGlob(first, pattern)
}

function findRuleFor(words: readonly string[], ruleSet: RuleSet): RuleMatch | undefined {
  return ruleSet.findCommandRule((rule) => coversTool(rule, SHELL_TOOL_NAME) || matchesCommandWords(rule, words))
}

/** Words that only precede the actual program. */
const TRANSPARENT_WORDS: ReadonlySet<string> = new Set(['', 'command', 'builtin', 'time', 'coproc', '{', '}', '!'])

function listPrograms(commands: readonly ShellCommand[]): string[] {
  return unique(
    commands.map(getProgramName).filter((name) => !TRANSPARENT_WORDS.has(name) && !name.includes(UNKNOWN_VALUE)),
  )
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}

function askBecause(why: string): CoreDecision {
  return { verdict: 'ask', rule: 'not proved harmless', why, isFinal: false }
}

function finalDecision(verdict: Verdict, rule: string, why: string): ShellDecision {
  return { verdict, rule, why, programs: [], isFinal: true }
}
