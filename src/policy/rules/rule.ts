import type { Verdict } from '../policy.ts'
import { matchesGlob, matchesPathPattern, matchesPathSuffix, toPathSegments } from '../path/path-pattern.ts'
import { splitRuleWords } from './rule-words.ts'

/**
 * A rule, as written: `read_file` is about a tool, `write_file(src/**)` about its paths, `web_fetch(*.example.com)` about
 * hosts, `run_shell_command(git status)` about commands that begin with these words. A text that names no tool is a
 * command: `git status`. A `*` as the last word lets any plain words follow; `=` before the words means these and no more.
 * `deploy(*)` is about a tool whose name could be that of a program.
 */
export interface PolicyRule {
  readonly text: string
  readonly verdict: Verdict
  readonly tool: string
  readonly words?: readonly string[]
  /** How much may follow the words: what is known to be harmless, any plain words, or nothing. */
  readonly more?: 'harmless' | 'any' | 'none'
  readonly path?: string
  readonly host?: string
}

/** The tool whose rules are about commands. */
export const SHELL_TOOL = 'run_shell_command'

/** Reads a rule. */
export function parseRule(text: string, verdict: Verdict): PolicyRule | { readonly problem: string } {
  const trimmed = text.trim()
  const [, tool, argument] = /^([\w*.-]+)\s*\((.*)\)$/s.exec(trimmed) ?? []
  if (tool === undefined || argument === undefined) {
    return isToolName(trimmed) ? { text: trimmed, verdict, tool: trimmed } : parseCommandRule(trimmed, trimmed, verdict)
  }
  if (argument.trim() === '') return { problem: `the rule “${text}” has nothing between its brackets` }
  if (tool === SHELL_TOOL) return parseCommandRule(trimmed, argument, verdict)
  if (tool === 'web_fetch') return { text: trimmed, verdict, tool, host: argument.trim().toLowerCase() }
  if (argument.trim() === '*' && !PATH_TOOLS.has(tool)) return { text: trimmed, verdict, tool }
  if (PATH_TOOLS.has(tool) || tool === '*') return { text: trimmed, verdict, tool, path: argument.trim() }
  if (tool.includes('__'))
    return { problem: `the rule “${text}” has brackets, but rules about tools of servers can have none` }
  // A tool of a program's own: what it does says whether a path or a host is meant.
  return { text: trimmed, verdict, tool, path: argument.trim(), host: argument.trim().toLowerCase() }
}

function parseCommandRule(text: string, command: string, verdict: Verdict): PolicyRule | { readonly problem: string } {
  const exact = command.trim().startsWith('=')
  const words = splitRuleWords(exact ? command.trim().slice(1) : command)
  if (!words || words.length === 0) return { problem: `the rule “${text}” is not a list of words` }
  const operator = words.find((word) => !exact && /[;&|<>`$()\n]/.test(word))
  if (operator !== undefined)
    return { problem: `the rule “${text}” is about one command, so “${operator}” has no place in it` }
  const isOpenEnded = !exact && words.length > 1 && words.at(-1) === '*'
  return {
    text,
    verdict,
    tool: SHELL_TOOL,
    words: isOpenEnded ? words.slice(0, -1) : words,
    more: exact ? 'none' : isOpenEnded ? 'any' : 'harmless',
  }
}

const PATH_TOOLS: ReadonlySet<string> = new Set([
  'read_file',
  'write_file',
  'replace',
  'smart_edit',
  'list_directory',
  'glob',
  'search_file_content',
  'read_many_files',
  'save_memory',
])

/** The rule about a whole tool, in words that are never read as a command. */
export function formatToolRule(tool: string): string {
  return isToolName(tool) ? tool : `${tool}(*)`
}

/** A bare word is a tool if it is one of ours, or has an underscore or a star, as no command that one meets has. */
function isToolName(text: string): boolean {
  return PATH_TOOLS.has(text) || text === '*' || /^[a-zA-Z][\w.*-]*_[\w.*-]*$/.test(text)
}

/** Is a rule about this tool? */
export function appliesToTool(rule: PolicyRule, tool: string): boolean {
  return rule.tool === tool || matchesGlob(tool, rule.tool)
}

/** Do the words of a command begin as the rule says? The words may be given as the program's bare name. */
export function matchesCommandWords(rule: PolicyRule, words: readonly string[]): boolean {
  if (!rule.words) return false
  if (rule.more === 'none' && words.length !== rule.words.length) return false
  return rule.words.every((word, at) => words[at] === word)
}

/** Does a rule's pattern match a path? A plain pattern holds in the workspace, at any depth; one with `/` or `~/` is full. */
export function matchesRulePath(
  rule: PolicyRule,
  path: string,
  folder: string | undefined,
  home: string | undefined,
): boolean {
  if (rule.path === undefined) return false
  const fullPattern = rule.path.startsWith('~/') ? `${home ?? '~'}${rule.path.slice(1)}` : rule.path
  if (fullPattern.startsWith('/')) return matchesPathPattern(toPathSegments(path), fullPattern)
  return folder !== undefined && matchesPathSuffix(toPathSegments(path.slice(folder.length)), fullPattern)
}

/** Does a rule's host match a host? `*.example.com` also stands for `example.com` itself. */
export function matchesRuleHost(rule: PolicyRule, host: string): boolean {
  if (rule.host === undefined) return false
  const name = host.toLowerCase().replace(/\.$/, '')
  if (!rule.host.startsWith('*.')) return name === rule.host
  return name === rule.host.slice(2) || name.endsWith(rule.host.slice(1))
}
