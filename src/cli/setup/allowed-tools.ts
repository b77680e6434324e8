import { SHELL_TOOL_NAME } from '../../policy/rules/rule.ts'
import { listHarmlessCommands } from '../../policy/shell/harmless-command.ts'
import { matchSimilarNames } from '../../schema/similar-names.ts'
import { listAllBuiltins } from '../../tool/builtin/index.ts'
import type { Tool } from '../../tool/tool.ts'
import type { RunArgs } from '../args/run-args.ts'
import { UserError } from '../user-error.ts'

/** Tools that other agents have and that do not exist here, or that no rule can allow. */
const UNAVAILABLE_TOOLS =
  'NotebookEdit todowrite todoread update_plan spawn_agent ask_user enter_plan_mode exit_plan_mode ' +
  'browser_action ask_followup_question attempt_completion list_code_definition_names get_internal_docs'

/**
 * Turns the items of `--allowed-tools` into rules. Names of other agents' tools, with what stands in their brackets, become
 * rules about ours; an unknown name is an error, because a rule that matches nothing would be ignored silently.
 */
export function toAllowRules(items: readonly string[], folder: string): readonly string[] {
  const tools = listAllBuiltins()
  return items.flatMap((item) => toRules(item, tools, folder))
}

/** The rules of a run, in our words. */
export function translateToolRules<T extends Pick<RunArgs, 'allowedTools' | 'disallowedTools'>>(
  args: T,
  folder: string,
): T {
  const { allowedTools, disallowedTools } = args
  return {
    ...args,
    allowedTools: toAllowRules(allowedTools, folder),
    ...(disallowedTools && { disallowedTools: toAllowRules(disallowedTools, folder) }),
  }
}

function toRules(item: string, tools: readonly Tool[], folder: string): readonly string[] {
  const items = splitAtBlanks(item)
  if (
    items.length > 1 &&
    items.every((one) => one.startsWith('mcp__') || findByAlias(parseToolName(one), tools).length > 0)
  )
    return items.flatMap((one) => toRules(one, tools, folder))
  const [, name = '', , argument] = /^([\w.*-]+)(\((.*)\))?$/s.exec(item.trim()) ?? []
  if (name === '') return [item]
  if (argument?.trim() === '') throw new UserError(`“${item}” has nothing between its brackets`)
  const mcpName = /^mcp__([^_]+(?:_[^_]+)*)(?:__(.+))?$/.exec(name)
  if (mcpName && argument !== undefined)
    throw new UserError(`“${item}” has brackets, but rules about tools of MCP servers cannot have any`)
  if (mcpName) return [`${mcpName[1] ?? ''}__${mcpName[2] ?? '*'}`]
  if (UNAVAILABLE_TOOLS.split(' ').includes(name)) throw new UserError(describeUnknownTool(name))
  const names = tools.map(({ spec }) => spec.name)
  if (names.includes(name) || listHarmlessCommands().includes(name)) return [item]
  const meant = findByAlias(name, tools)
  if (meant.length > 0 && /^[a-z]+$/.test(name))
    throw new UserError(
      `“${name}” is not a tool here; write ${meant.join(',')} for the tool, ${SHELL_TOOL_NAME}(${name}) for the command`,
    )
  if (meant.length > 0) return meant.map((tool) => translateRule(tool, argument, name, folder))
  const near = matchSimilarNames([name], [...names, ...tools.flatMap(listAliases)]).get(name)
  if (near !== undefined) throw new UserError(`there is no tool ${name}; did you mean ${near}?`)
  if (/^[A-Z][a-z]+(?:[A-Z]\w*)?$/.test(name)) throw new UserError(describeUnknownTool(name))
  return [item]
}

function describeUnknownTool(name: string): string {
  return `there is no tool ${name} here; dragoman --help shows how tools are named`
}

function findByAlias(name: string, tools: readonly Tool[]): string[] {
  return tools.filter((tool) => listAliases(tool).includes(name)).map(({ spec }) => spec.name)
}

function listAliases({ nameAliases = [], ruleAliases = [] }: Tool): string[] {
  return [...nameAliases.map(({ name }) => name), ...ruleAliases]
}

function parseToolName(item: string): string {
  return /^[\w.*-]+/.exec(item)?.[0] ?? ''
}

/** At blanks outside of brackets. */
function splitAtBlanks(text: string): string[] {
  return text.match(/(?:[^\s(]|\([^)]*\))+/g) ?? []
}

/**
 * Claude Code writes `Bash(git diff:*)` for a prefix, `Bash(npm test)` for exactly that command, `WebFetch(domain:example.com)`,
 * and paths as `//etc/hosts` (absolute), `/src/**` or `./src/**` (from the project) and `src/**`. Other agents mean the beginning
 * of a command, as rules here do.
 */
function translateRule(tool: string, argument: string | undefined, foreignName: string, folder: string): string {
  const trimmed = argument?.trim()
  if (trimmed === undefined || trimmed === '*') return tool
  if (tool === SHELL_TOOL_NAME) {
    const prefix = /^(.*?)(?::\*| \*)$/s.exec(trimmed)?.[1]
    if (prefix !== undefined) return `${tool}(${prefix} *)`
    return foreignName === 'Bash' ? `${tool}(=${trimmed})` : `${tool}(${trimmed})`
  }
  if (trimmed.startsWith('//')) return `${tool}(${trimmed.slice(1)})`
  const fromProject = /^\.?\/+([^]*)$/.exec(trimmed)?.[1]
  if (fromProject === undefined) return `${tool}(${trimmed.replace(/^domain:/, '')})`
  if (/[*?[\]{}()\\!]/.test(folder))
    throw new UserError(`“${foreignName}(${trimmed})” cannot be used in ${folder}; write ${tool}(${fromProject})`)
  return `${tool}(${folder}/${fromProject})`
}
