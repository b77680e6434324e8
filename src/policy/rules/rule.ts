import type { Verdict } from '../policy.ts'
import { matchesGlob, matchesPathPattern, matchesPathSuffix, toPathSegments } from '../path/path-pattern.ts'
import { splitRuleWords } from './rule-words.ts'

/**
 * A parsed rule. `read_file` is about a tool, `write_file(src/**)` about its paths, `web_fetch(*.example.com)` about
 * hosts, `run_shell_command(git status)` about commands that begin with these words. Several words are a command: `git
 * status`. A single word is the tool or the command of that name. A `*` as the last word of a command allows any
 * literal words to follow; `=` before the words allows none. `deploy(*)` is about the tool `deploy` only.
 */
export interface PolicyRule {
  readonly text: string
  readonly verdict: Verdict
  /** A name or pattern of tools. Without it, the rule is about commands only. */
  readonly tool?: string
  /** The text in the brackets: a pattern of paths or of hosts, depending on the effect of the call. */
  readonly argument?: string
  readonly words?: readonly string[]
  /** What may follow the words: harmless words, any literal words, or none. */
  readonly more?: 'harmless' | 'any' | 'none'
}

export const SHELL_TOOL_NAME = 'run_shell_command'

/** A single word in a built-in rule is only a command: it must not allow a tool of the same name. */
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

type RuleProblem = { readonly problem: string }

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

/** Returns the rule about a whole tool, in a form that is never parsed as a command. */
export function formatToolRule(tool: string): string {
  return isToolOnly(tool) ? tool : `${tool}(*)`
}

function isToolOnly(text: string): boolean {
  return text === '*' || /^[a-zA-Z][\w.*-]*_[\w.*-]*$/.test(text)
}

function namesTool(rule: PolicyRule, tool: string): boolean {
  return rule.tool !== undefined && (rule.tool === tool || matchesGlob(tool, rule.tool))
}

export function coversTool(rule: PolicyRule, tool: string): boolean {
  return namesTool(rule, tool) && (rule.argument === undefined || rule.argument === '*')
}

export function matchesCommandWords(rule: PolicyRule, words: readonly string[]): boolean {
  if (!rule.words) return false
  if (rule.more === 'none' && words.length !== rule.words.length) return false
  return rule.words.every((word, at) => words[at] === word)
}

/**
 * A pattern that begins with `/` or `~/` is compared with the whole path, any other with the path inside the
 * workspace, from any segment on.
 */
export function coversPath(
  rule: PolicyRule,
  tool: string,
  path: string,
  { folder, home }: { readonly folder: string | undefined; readonly home?: string | undefined },
): boolean {
  if (!namesTool(rule, tool)) return false
  const { argument } = rule
  // An ask or deny rule applies to the whole tool, an allow rule only inside the workspace.
  if (argument === undefined || (argument === '*' && rule.verdict !== 'allow')) return true
  const fullPattern = argument.startsWith('~/') ? `${home ?? '~'}${argument.slice(1)}` : argument
  if (fullPattern.startsWith('/')) return matchesPathPattern(toPathSegments(path), fullPattern)
  return folder !== undefined && matchesPathSuffix(toPathSegments(path.slice(folder.length)), fullPattern)
}

/** `*.example.com` also matches `example.com` itself. */
export function coversHost(rule: PolicyRule, tool: string, host: string): boolean {
  if (coversTool(rule, tool)) return true
  if (!namesTool(rule, tool) || rule.argument === undefined) return false
  const name = host.toLowerCase().replace(/\.$/, '')
  const pattern = rule.argument.toLowerCase()
  if (!pattern.startsWith('*.')) return name === pattern
  return name === pattern.slice(2) || name.endsWith(pattern.slice(1))
}
