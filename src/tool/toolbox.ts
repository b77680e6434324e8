import { isObject, type JsonObject } from '../model/json.ts'
import type { ToolSpec } from '../model/request.ts'
import { editDistance } from '../model/edit-distance.ts'
import { validateOrCoerce } from '../schema/coerce/coerce-arguments.ts'
import type { ToolNameAlias, Tool } from './tool.ts'

/** The tools of an agent. The list of specs is the same array as long as the tools are, so that requests stay the same byte for byte. */
export interface Toolbox {
  readonly specs: readonly ToolSpec[]
  find(name: string): { readonly tool: Tool; readonly renamed?: true } | { readonly problem: string }
  /** Validated arguments, or what is wrong with them, for the model. `calledAs` is the name that the model used. */
  validateInput(
    tool: Tool,
    input: JsonObject,
    calledAs?: string,
  ): { readonly input: JsonObject; readonly changes: readonly string[] } | { readonly problem: string }
  /** Applies changes of the tools, only before a request. Returns what the model and the user should know. */
  refresh?(): {
    readonly note?: string
    /** What must stay in the context however long the session gets, by topic. */
    readonly pinned?: readonly { readonly topic: string; readonly text: string }[]
    readonly notices: readonly string[]
  }
  /** A request was sent: slow work may begin. */
  onRequestSent?(): void
}

/** Some vendors refuse more tools. */
export const MAX_DECLARED_TOOLS = 128

/** If two tools have the same name, the first one is used. */
export function createToolbox(tools: readonly Tool[]): Toolbox {
  const byName = new Map<string, Tool>()
  for (const tool of tools) if (!byName.has(tool.spec.name)) byName.set(tool.spec.name, tool)
  const names = [...byName.keys()]

  return {
    specs: [...byName.values()].map((tool) => tool.spec),
    find(name) {
      const exact = byName.get(name)
      if (exact) return { tool: exact }
      const aliasMatch = findAlias([...byName.values()], name)
      if (aliasMatch?.alias.parameters) return { tool: aliasMatch.tool, renamed: true }
      if (aliasMatch) return { problem: `There is no tool “${name}”. ${suggestTool(aliasMatch.tool)}` }
      // A decorated or differently spelled name counts only if it can mean one tool (T162, T163).
      const normalizedName = normalizeToolName(name)
      const equalNames = names.filter((one) => normalizeToolName(one) === normalizedName)
      const similarMatches =
        equalNames.length > 0
          ? equalNames
          : names.filter((one) => differsByServer(normalizedName, normalizeToolName(one)))
      const onlyMatch = similarMatches.length === 1 ? byName.get(similarMatches[0] ?? '') : undefined
      if (onlyMatch) return { tool: onlyMatch, renamed: true }
      const suggestions = findNearestNames(name, names)
      const hint = suggestions.length > 0 ? ` Did you mean ${suggestions.join(' or ')}?` : ''
      return { problem: `There is no tool “${name}”.${hint} The tools are: ${names.join(', ')}.` }
    },
    validateInput(tool, input, calledAs = tool.spec.name) {
      const alias = calledAs === tool.spec.name ? undefined : findAlias([tool], calledAs)?.alias
      const unknownKey = alias && Object.keys(input).find((key) => !isKnownParameter(tool, alias, key))
      if (unknownKey !== undefined) {
        return { problem: `${calledAs} is ${tool.spec.name} here, and takes no “${unknownKey}”. ${suggestTool(tool)}` }
      }
      const renamed = renameParameters(input, { ...tool.aliases, ...alias?.parameters })
      const coerced = validateOrCoerce(tool.spec.schema, renamed)
      if (coerced.ok) return { input: coerced.value, changes: coerced.changes }
      const problems = coerced.errors.map(({ path, message }) => `${path === '' ? 'the arguments' : path}: ${message}`)
      return { problem: `The arguments of ${tool.spec.name} are not valid: ${problems.join('; ')}` }
    },
  }
}

/** The tool that has this name elsewhere; without the decoration that models put around it, only if one tool can be meant. */
function findAlias(
  tools: readonly Tool[],
  name: string,
): { readonly tool: Tool; readonly alias: ToolNameAlias } | undefined {
  const all = tools.flatMap((tool) => (tool.nameAliases ?? []).map((alias) => ({ tool, alias })))
  const exact = all.find(({ alias }) => alias.name === name)
  if (exact) return exact
  const similarMatches = all.filter(({ alias }) => normalizeToolName(alias.name) === normalizeToolName(name))
  return similarMatches.length === 1 ? similarMatches[0] : undefined
}

function isKnownParameter({ spec, aliases = {} }: Tool, { parameters = {} }: ToolNameAlias, key: string): boolean {
  const declared = spec.schema['properties']
  return [parameters, aliases, isObject(declared) ? declared : {}].some((names) => Object.hasOwn(names, key))
}

function suggestTool({ spec }: Tool): string {
  const declared = spec.schema['properties']
  return `Call ${spec.name} instead; its parameters are: ${Object.keys(isObject(declared) ? declared : {}).join(', ')}.`
}

/** Renames parameters to the declared names, unless both are given. */
function renameParameters(input: JsonObject, aliases: Readonly<Record<string, string>>): JsonObject {
  const renamed: JsonObject = {}
  for (const [key, value] of Object.entries(input)) {
    const name = Object.hasOwn(aliases, key) ? (aliases[key] ?? key) : key
    const target = name !== key && Object.hasOwn(input, name) ? key : name
    Object.defineProperty(renamed, target, { value, enumerable: true, writable: true, configurable: true })
  }
  return renamed
}

/** A name without what models and servers put around it: `functions.read_file`, `default_api:ReadFile`, `read_file()` (T162). */
function normalizeToolName(name: string): string {
  return name
    .trim()
    .replace(/<\|.*$/s, '')
    .replace(/\(\)$/, '')
    .replace(/\s+json$/, '')
    .replace(/^(?:functions|default_api|tools|tool)[.:]/, '')
    .replace(/^mcp__/, '')
    .replace(/^\$/, '')
    .split('__')
    .map((part) => part.replace(/[_\-\s]/g, '').toLowerCase())
    .join('__')
}

/** One name has the prefix of a server that the other lacks; two servers are never confused. */
function differsByServer(one: string, other: string): boolean {
  return one.endsWith(`__${other}`) || other.endsWith(`__${one}`)
}

function findNearestNames(name: string, names: readonly string[]): string[] {
  const wanted = normalizeToolName(name)
  return names
    .map((one) => ({ one, distance: editDistance(wanted, normalizeToolName(one)) }))
    .filter(({ one, distance: far }) => far <= Math.max(2, Math.floor(one.length / 2)))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ one }) => one)
}
