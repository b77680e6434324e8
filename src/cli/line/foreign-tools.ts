import { nearMisses } from '../../schema/near.ts'
import { Complaint } from '../exit.ts'

/** The tools of other agents, by the names that their users type, and what does the same here. */
const FOREIGN: Readonly<Record<string, readonly string[]>> = {
  // Claude Code, and others that took over its names.
  Bash: ['run_shell_command'],
  Read: ['read_file', 'read_many_files'],
  Write: ['write_file'],
  Edit: ['replace', 'smart_edit'],
  MultiEdit: ['replace', 'smart_edit'],
  Grep: ['search_file_content'],
  Glob: ['glob'],
  LS: ['list_directory'],
  WebFetch: ['web_fetch'],
  WebSearch: ['google_web_search'],
  // Gemini CLI, by the names of its classes and its newer names.
  ShellTool: ['run_shell_command'],
  ReadFileTool: ['read_file'],
  ReadManyFilesTool: ['read_many_files'],
  WriteFileTool: ['write_file'],
  EditTool: ['replace', 'smart_edit'],
  GrepTool: ['search_file_content'],
  GlobTool: ['glob'],
  LSTool: ['list_directory'],
  WebFetchTool: ['web_fetch'],
  WebSearchTool: ['google_web_search'],
  MemoryTool: ['save_memory'],
  grep_search: ['search_file_content'],
  // opencode, Codex, Cline.
  webfetch: ['web_fetch'],
  websearch: ['google_web_search'],
  execute_command: ['run_shell_command'],
  write_to_file: ['write_file'],
  list_files: ['list_directory'],
  search_files: ['search_file_content'],
  replace_in_file: ['replace', 'smart_edit'],
}

/** Our own tools, for the sake of mistyped names. */
const OURS = [...new Set(Object.values(FOREIGN).flat())]

/** Words that are a tool elsewhere and a command here. */
const AMBIGUOUS: Readonly<Record<string, string>> = {
  bash: 'run_shell_command for all commands, or run_shell_command(bash script.sh)',
  shell: 'run_shell_command',
  edit: 'replace,smart_edit',
  write: 'write_file',
  read: 'read_file',
}

/**
 * Reads one item of `--allowed-tools`. Names of other agents' tools, with what stands in their brackets, become rules of
 * ours; a name that is nobody's is a complaint, because a rule that fits nothing would be passed over in silence.
 */
export function readAllowed(item: string): readonly string[] {
  const several = splitBlanks(item)
  if (several.length > 1 && several.every((one) => Object.hasOwn(FOREIGN, nameOf(one)) || one.startsWith('mcp__')))
    return several.flatMap(readAllowed)
  const [, name = '', , what] = /^([\w.*-]+)(\((.*)\))?$/s.exec(item.trim()) ?? []
  if (name === '') return [item]
  const other = /^mcp__([^_]+(?:_[^_]+)*)(?:__(.+))?$/.exec(name)
  if (other) return [`${other[1] ?? ''}__${other[2] ?? '*'}`]
  if (Object.hasOwn(FOREIGN, name)) return (FOREIGN[name] ?? []).map((tool) => ruleOf(tool, what))
  if (what === undefined && Object.hasOwn(AMBIGUOUS, name))
    throw new Complaint(`“${name}” is no tool here; for the tool write ${AMBIGUOUS[name]}`)
  const near = OURS.includes(name) ? undefined : nearMisses([name], [...OURS, ...Object.keys(FOREIGN)]).get(name)
  if (near !== undefined) throw new Complaint(`there is no tool ${name}; did you mean ${near}?`)
  if (/^[A-Z][a-z]+(?:[A-Z]\w*)?$/.test(name))
    throw new Complaint(`there is no tool ${name} here; dragoman --help shows how --allowed-tools is written`)
  return [item]
}

function nameOf(item: string): string {
  return /^[\w.*-]+/.exec(item)?.[0] ?? ''
}

/** At blanks outside of brackets. */
function splitBlanks(text: string): string[] {
  return text.match(/(?:[^\s(]|\([^)]*\))+/g) ?? []
}

/** Claude Code writes `Bash(git diff:*)` for a prefix, `Bash(npm test)` for exactly that, `WebFetch(domain:example.com)`. */
function ruleOf(tool: string, what: string | undefined): string {
  const inner = what?.trim()
  if (inner === undefined || inner === '' || inner === '*') return tool
  if (tool === 'run_shell_command') {
    const prefix = /^(.*?)(?::\*| \*)$/s.exec(inner)?.[1]
    return `${tool}(${prefix === undefined ? `=${inner}` : `${prefix} *`})`
  }
  if (tool === 'web_fetch') return `${tool}(${inner.replace(/^domain:/, '')})`
  return `${tool}(${inner.replace(/^\/\//, '/').replace(/^\.\//, '')})`
}
