import type { Verdict } from '../policy.ts'
import { isLike, matchesPath, matchesSomewhere, stepsIn } from '../path/pattern.ts'
import { wordsIn } from './words.ts'

/**
 * A rule, as written: `read_file` is about a tool, `write_file(src/**)` about its paths, `web_fetch(*.example.com)` about
 * hosts, `run_shell_command(git status)` about commands that begin with these words. A text that names no tool is a
 * command: `git status`. A `*` as the last word lets any plain words follow; `=` before the words means these and no more.
 * `deploy(*)` is about a tool whose name could be that of a program.
 */
export interface Rule {
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
export const SHELL = 'run_shell_command'

/** Reads a rule. */
export function readRule(text: string, verdict: Verdict): Rule | { readonly problem: string } {
  const trimmed = text.trim()
  const [, tool, what] = /^([\w*.-]+)\s*\((.*)\)$/s.exec(trimmed) ?? []
  if (tool === undefined || what === undefined) {
    return isToolName(trimmed) ? { text: trimmed, verdict, tool: trimmed } : commandRule(trimmed, trimmed, verdict)
  }
  if (what.trim() === '') return { problem: `the rule “${text}” has nothing between its brackets` }
  if (tool === SHELL) return commandRule(trimmed, what, verdict)
  if (tool === 'web_fetch') return { text: trimmed, verdict, tool, host: what.trim().toLowerCase() }
  if (what.trim() === '*' && !PATH_TOOLS.has(tool)) return { text: trimmed, verdict, tool }
  if (PATH_TOOLS.has(tool) || tool === '*') return { text: trimmed, verdict, tool, path: what.trim() }
  if (tool.includes('__'))
    return { problem: `the rule “${text}” has brackets, but rules about tools of servers can have none` }
  // A tool of a program's own: what it does says whether a path or a host is meant.
  return { text: trimmed, verdict, tool, path: what.trim(), host: what.trim().toLowerCase() }
}

function commandRule(text: string, command: string, verdict: Verdict): Rule | { readonly problem: string } {
  const exact = command.trim().startsWith('=')
  const words = wordsIn(exact ? command.trim().slice(1) : command)
  if (!words || words.length === 0) return { problem: `the rule “${text}” is not a list of words` }
  const odd = words.find((word) => !exact && /[;&|<>`$()\n]/.test(word))
  if (odd !== undefined) return { problem: `the rule “${text}” is about one command, so “${odd}” has no place in it` }
  const open = !exact && words.length > 1 && words.at(-1) === '*'
  return {
    text,
    verdict,
    tool: SHELL,
    words: open ? words.slice(0, -1) : words,
    more: exact ? 'none' : open ? 'any' : 'harmless',
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
export function wholeTool(tool: string): string {
  return isToolName(tool) ? tool : `${tool}(*)`
}

/** A bare word is a tool if it is one of ours, or has an underscore or a star, as no command that one meets has. */
function isToolName(text: string): boolean {
  return PATH_TOOLS.has(text) || text === '*' || /^[a-zA-Z][\w.*-]*_[\w.*-]*$/.test(text)
}

/** Is a rule about this tool? */
export function isAbout(rule: Rule, tool: string): boolean {
  return rule.tool === tool || isLike(tool, rule.tool)
}

/** Do the words of a command begin as the rule says? The words may be given as the program's bare name. */
export function coversWords(rule: Rule, words: readonly string[]): boolean {
  if (!rule.words) return false
  if (rule.more === 'none' && words.length !== rule.words.length) return false
  return rule.words.every((word, at) => words[at] === word)
}

/** Does a rule's pattern match a path? A plain pattern holds in the workspace, at any depth; one with `/` or `~/` is full. */
export function coversPath(rule: Rule, path: string, folder: string | undefined, home: string | undefined): boolean {
  if (rule.path === undefined) return false
  const full = rule.path.startsWith('~/') ? `${home ?? '~'}${rule.path.slice(1)}` : rule.path
  if (full.startsWith('/')) return matchesPath(stepsIn(path), full)
  return folder !== undefined && matchesSomewhere(stepsIn(path.slice(folder.length)), full)
}

/** Does a rule's host match a host? `*.example.com` also stands for `example.com` itself. */
export function coversHost(rule: Rule, host: string): boolean {
  if (rule.host === undefined) return false
  const name = host.toLowerCase().replace(/\.$/, '')
  if (!rule.host.startsWith('*.')) return name === rule.host
  return name === rule.host.slice(2) || name.endsWith(rule.host.slice(1))
}
