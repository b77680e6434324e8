import { matchSimilarNames } from '../../schema/similar-names.ts'
import { UserError } from '../user-error.ts'

const SHELL = 'run_shell_command'
const EDITS = ['replace', 'smart_edit']

/** The tools of other agents, by the names that their users type, and what does the same here. */
const TOOL_ALIASES: Readonly<Record<string, readonly string[]>> = {
  // Claude Code, and others that took over its names.
  Bash: [SHELL],
  Read: ['read_file', 'read_many_files'],
  Write: ['write_file'],
  Edit: EDITS,
  MultiEdit: EDITS,
  Grep: ['search_file_content'],
  Glob: ['glob'],
  LS: ['list_directory'],
  WebFetch: ['web_fetch'],
  WebSearch: ['google_web_search'],
  // Gemini CLI, by the names of its classes, its newer names and those that it shows.
  ShellTool: [SHELL],
  Shell: [SHELL],
  ReadFile: ['read_file'],
  ReadFolder: ['list_directory'],
  FindFiles: ['glob'],
  SearchText: ['search_file_content'],
  GoogleSearch: ['google_web_search'],
  ReadFileTool: ['read_file'],
  ReadManyFilesTool: ['read_many_files'],
  WriteFileTool: ['write_file'],
  EditTool: EDITS,
  GrepTool: ['search_file_content'],
  GlobTool: ['glob'],
  LSTool: ['list_directory'],
  WebFetchTool: ['web_fetch'],
  WebSearchTool: ['google_web_search'],
  MemoryTool: ['save_memory'],
  grep_search: ['search_file_content'],
  // opencode, Codex, Cline, Cursor, Copilot.
  webfetch: ['web_fetch'],
  fetch_webpage: ['web_fetch'],
  websearch: ['google_web_search'],
  web_search: ['google_web_search'],
  execute_command: [SHELL],
  shell_command: [SHELL],
  local_shell: [SHELL],
  exec_command: [SHELL],
  'container.exec': [SHELL],
  run_terminal_cmd: [SHELL],
  run_in_terminal: [SHELL],
  write_to_file: ['write_file'],
  create_file: ['write_file'],
  open_file: ['read_file'],
  view_image: ['read_file'],
  list_files: ['list_directory'],
  list_dir: ['list_directory'],
  file_search: ['glob'],
  find_files: ['glob'],
  search_files: ['search_file_content'],
  grep_files: ['search_file_content'],
  codebase_search: ['search_file_content'],
  ripgrep: ['search_file_content'],
  replace_in_file: EDITS,
  replace_string_in_file: EDITS,
  search_replace: EDITS,
  multiedit: EDITS,
  str_replace_editor: EDITS,
  str_replace_based_edit_tool: EDITS,
  apply_patch: EDITS,
  apply_diff: EDITS,
  edit_file: EDITS,
}

/** Tools that others have and nothing here does; a word in small letters would be taken for a command otherwise. */
const NOT_HERE =
  'write_todos todowrite todoread update_plan task subagent spawn_agent activate_skill ask_user exit_plan_mode enter_plan_mode ' +
  'browser_action ask_followup_question attempt_completion list_code_definition_names get_internal_docs'

/** Our own tools, for the sake of mistyped names. */
const BUILTIN_TOOL_NAMES = [...new Set(Object.values(TOOL_ALIASES).flat())]

/** Words that are a tool elsewhere and a command here. */
const AMBIGUOUS_TOOL_NAMES: Readonly<Record<string, string>> = {
  bash: 'run_shell_command for all commands, or run_shell_command(bash script.sh)',
  shell: 'run_shell_command',
  edit: 'replace,smart_edit',
  write: 'write_file',
  read: 'read_file',
  list: 'list_directory',
  view: 'read_file',
  fetch: 'web_fetch',
}

/**
 * Reads one item of `--allowed-tools`. Names of other agents' tools, with what stands in their brackets, become rules of
 * ours; a name that is nobody's is a complaint, because a rule that fits nothing would be passed over in silence.
 */
export function parseAllowedTool(item: string): readonly string[] {
  const items = splitAtBlanks(item)
  if (
    items.length > 1 &&
    items.every((one) => Object.hasOwn(TOOL_ALIASES, parseToolName(one)) || one.startsWith('mcp__'))
  )
    return items.flatMap(parseAllowedTool)
  const [, name = '', , argument] = /^([\w.*-]+)(\((.*)\))?$/s.exec(item.trim()) ?? []
  if (name === '') return [item]
  const mcpName = /^mcp__([^_]+(?:_[^_]+)*)(?:__(.+))?$/.exec(name)
  if (mcpName) return [`${mcpName[1] ?? ''}__${mcpName[2] ?? '*'}`]
  if (Object.hasOwn(TOOL_ALIASES, name)) return (TOOL_ALIASES[name] ?? []).map((tool) => toRule(tool, argument, name))
  if (argument === undefined && Object.hasOwn(AMBIGUOUS_TOOL_NAMES, name))
    throw new UserError(`“${name}” is no tool here; for the tool write ${AMBIGUOUS_TOOL_NAMES[name]}`)
  const near = BUILTIN_TOOL_NAMES.includes(name)
    ? undefined
    : matchSimilarNames([name], [...BUILTIN_TOOL_NAMES, ...Object.keys(TOOL_ALIASES)]).get(name)
  if (near !== undefined) throw new UserError(`there is no tool ${name}; did you mean ${near}?`)
  if (/^[A-Z][a-z]+(?:[A-Z]\w*)?$/.test(name) || NOT_HERE.split(' ').includes(name))
    throw new UserError(`there is no tool ${name} here; dragoman --help shows how --allowed-tools is written`)
  return [item]
}

function parseToolName(item: string): string {
  return /^[\w.*-]+/.exec(item)?.[0] ?? ''
}

/** At blanks outside of brackets. */
function splitAtBlanks(text: string): string[] {
  return text.match(/(?:[^\s(]|\([^)]*\))+/g) ?? []
}

/**
 * Claude Code writes `Bash(git diff:*)` for a prefix, `Bash(npm test)` for exactly that, `WebFetch(domain:example.com)`. To
 * others, as to us, what stands in the brackets is the beginning of a command.
 */
function toRule(tool: string, argument: string | undefined, foreign: string): string {
  const trimmed = argument?.trim()
  if (trimmed === undefined || trimmed === '' || trimmed === '*') return tool
  if (tool === SHELL) {
    const prefix = /^(.*?)(?::\*| \*)$/s.exec(trimmed)?.[1]
    if (prefix === undefined && foreign !== 'Bash') return `${tool}(${trimmed})`
    return `${tool}(${prefix === undefined ? `=${trimmed}` : `${prefix} *`})`
  }
  if (tool === 'web_fetch') return `${tool}(${trimmed.replace(/^domain:/, '')})`
  return `${tool}(${trimmed.replace(/^\/\//, '/').replace(/^\.\//, '')})`
}
