import type { Verdict } from '../policy.ts'
import { matchesGlob, matchesPathPattern, matchesPathSuffix, toPathSegments } from '../path/path-pattern.ts'
import { splitRuleWords } from './rule-words.ts'

/**
 * A rule, as written: `read_file` is about a tool, `write_file(src/**)` about its paths, `web_fetch(*.example.com)` about
 * hosts, `run_shell_command(git status)` about commands that begin with these words. A text of several words is a command:
 * `git status`. A single word is the tool or the command of that name. A `*` as the last word of a command allows any literal
 * words to follow; `=` before the words allows nothing to follow. `deploy(*)` is about the tool `deploy` only.
 */
export interface PolicyRule {
  readonly text: string
  readonly verdict: Verdict
  /** The tools that it is about, by name or pattern; without it, it is about commands only. */
  readonly tool?: string
  /** What stands in the brackets. Whether it is compared with a path or a host is decided by what the call does. */
  readonly argument?: string
  readonly words?: readonly string[]
  /** How much may follow the words: what is known to be harmless, any literal words, or nothing. */
  readonly more?: 'harmless' | 'any' | 'none'
}

/** The tool whose rules are about commands. */
export const SHELL_TOOL_NAME = 'run_shell_command'

/** A single word in a built-in rule is a command: a tool that has the name of a harmless command is not allowed by it. */
export function parseRule(
  text: string,
  verdict: Verdict,
  singleWord: 'command' | 'tool-or-command' = 'tool-or-command',
): PolicyRule | RuleProblem {
  const trimmed = text.trim()
  const [, tool, brackets] = /^([\w*.-]+)\s*\((.*)\)$/s.exec(trimmed) ?? []
  if (tool === undefined || brackets === undefined) {
    if (isToolOnly(trimmed)) return { text: trimmed, verdict, tool: trimmed }
    const rule = parseCommandRule(trimmed, verdict)
    return singleWord === 'tool-or-command' && /^[\w.-]+$/.test(trimmed) ? { ...rule, tool: trimmed } : rule
  }
  const argument = brackets.trim()
  if (argument === '') return { problem: `the rule “${text}” has nothing between its brackets` }
  const isForCommands = tool === SHELL_TOOL_NAME || (tool !== '*' && matchesGlob(SHELL_TOOL_NAME, tool))
  if (isForCommands && argument !== '*') return { ...parseCommandRule(argument, verdict, trimmed), tool, argument }
  if (tool.includes('__') && argument !== '*')
    return { problem: `the rule “${text}” has brackets, but rules about tools of MCP servers cannot have any` }
  return { text: trimmed, verdict, tool, argument }
}

/** Something is wrong with a rule; the sentence says what. */
export interface RuleProblem {
  readonly problem: string
}

function parseCommandRule(command: string, verdict: Verdict, text = command): PolicyRule | RuleProblem {
  const exact = command.trim().startsWith('=')
  const words = splitRuleWords(exact ? command.trim().slice(1) : command)
  if (!words || words.length === 0) return { problem: `the rule “${text}” is not a list of words` }
  const operator = words.find((word) => !exact && /[;&|<>`$()\n]/.test(word))
  if (operator !== undefined)
    return { problem: `the rule “${text}” is about one command and cannot contain “${operator}”` }
  const isOpenEnded = !exact && words.length > 1 && words.at(-1) === '*'
  return {
    text,
    verdict,
    words: isOpenEnded ? words.slice(0, -1) : words,
    more: exact ? 'none' : isOpenEnded ? 'any' : 'harmless',
  }
}

/** The rule about a whole tool, in words that are never read as a command. */
export function formatToolRule(tool: string): string {
  return isToolOnly(tool) ? tool : `${tool}(*)`
}

/** A word with an underscore or a star is no command. */
function isToolOnly(text: string): boolean {
  return text === '*' || /^[a-zA-Z][\w.*-]*_[\w.*-]*$/.test(text)
}

function namesTool(rule: PolicyRule, tool: string): boolean {
  return rule.tool !== undefined && (rule.tool === tool || matchesGlob(tool, rule.tool))
}

/** Is a rule about this tool, whatever its arguments? */
export function coversTool(rule: PolicyRule, tool: string): boolean {
  return namesTool(rule, tool) && (rule.argument === undefined || rule.argument === '*')
}

/** Do the words of a command begin as the rule says? The words may be given as the program's bare name. */
export function matchesCommandWords(rule: PolicyRule, words: readonly string[]): boolean {
  if (!rule.words) return false
  if (rule.more === 'none' && words.length !== rule.words.length) return false
  return rule.words.every((word, at) => words[at] === word)
}

/**
 * Is a rule about this tool at this path? A pattern that begins with `/` or `~/` is compared with the whole path, any other
 * with the path in the workspace, at any depth.
 */
export function coversPath(
  rule: PolicyRule,
  tool: string,
  path: string,
  { folder, home }: { readonly folder: string | undefined; readonly home?: string | undefined },
): boolean {
  if (!namesTool(rule, tool)) return false
  const { argument } = rule
  // A rule that asks or denies holds for the whole tool; one that allows, in the workspace.
  if (argument === undefined || (argument === '*' && rule.verdict !== 'allow')) return true
  const fullPattern = argument.startsWith('~/') ? `${home ?? '~'}${argument.slice(1)}` : argument
  if (fullPattern.startsWith('/')) return matchesPathPattern(toPathSegments(path), fullPattern)
  return folder !== undefined && matchesPathSuffix(toPathSegments(path.slice(folder.length)), fullPattern)
}

/** Is a rule about this tool at this host? `*.example.com` also matches `example.com` itself. */
export function coversHost(rule: PolicyRule, tool: string, host: string): boolean {
  if (coversTool(rule, tool)) return true
  if (!namesTool(rule, tool) || rule.argument === undefined) return false
  const name = host.toLowerCase().replace(/\.$/, '')
  const pattern = rule.argument.toLowerCase()
  if (!pattern.startsWith('*.')) return name === pattern
  return name === pattern.slice(2) || name.endsWith(pattern.slice(1))
}
