import { isObject, type JsonObject } from '../model/json.ts'
import type { ToolSpec } from '../model/request.ts'
import { settle } from '../schema/coerce.ts'
import type { NameAlias, Tool } from './define.ts'

/** The tools of an agent. The list of specs is the same array as long as the tools are, so that requests stay the same byte for byte. */
export interface Toolbox {
  readonly specs: readonly ToolSpec[]
  /** Finds a tool by the name that a model used; says why it cannot. */
  find(name: string): { readonly tool: Tool; readonly renamed?: true } | { readonly problem: string }
  /** Arguments as the tool wants them; or what is wrong with them, in words for the model. `calledAs` is the name that the model used. */
  accept(
    tool: Tool,
    input: JsonObject,
    calledAs?: string,
  ): { readonly input: JsonObject; readonly changes: readonly string[] } | { readonly problem: string }
  /**
   * Takes up the tools that came and went; called before a request, and at no other time. Gives what the model should
   * know of it, and what the person should.
   */
  refresh?(): {
    readonly note?: string
    /** What must stay known however long the session gets, by topic. */
    readonly pinned?: readonly { readonly topic: string; readonly text: string }[]
    readonly notices: readonly string[]
  }
  /** A request is on its way: what takes long may begin. */
  begin?(): void
}

/** Makes a toolbox. Two tools cannot have the same name: the first one stays. */
export function toolbox(tools: readonly Tool[]): Toolbox {
  const byName = new Map<string, Tool>()
  for (const tool of tools) if (!byName.has(tool.spec.name)) byName.set(tool.spec.name, tool)
  const names = [...byName.keys()]

  return {
    specs: [...byName.values()].map((tool) => tool.spec),
    find(name) {
      const exact = byName.get(name)
      if (exact) return { tool: exact }
      const foreign = aliased([...byName.values()], name)
      if (foreign?.alias.parameters) return { tool: foreign.tool, renamed: true }
      if (foreign) return { problem: `There is no tool “${name}”. ${callInstead(foreign.tool)}` }
      // A decorated or differently spelled name counts only if it can mean one tool (T162, T163).
      const plain = bare(name)
      const same = names.filter((one) => bare(one) === plain)
      const alike = same.length > 0 ? same : names.filter((one) => differsByServer(plain, bare(one)))
      const only = alike.length === 1 ? byName.get(alike[0] ?? '') : undefined
      if (only) return { tool: only, renamed: true }
      const near = nearest(name, names)
      const hint = near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : ''
      return { problem: `There is no tool “${name}”.${hint} The tools are: ${names.join(', ')}.` }
    },
    accept(tool, input, calledAs = tool.spec.name) {
      const alias = calledAs === tool.spec.name ? undefined : aliased([tool], calledAs)?.alias
      const extra = alias && Object.keys(input).find((key) => !isKnown(tool, alias, key))
      if (extra !== undefined) {
        return { problem: `${calledAs} is ${tool.spec.name} here, and takes no “${extra}”. ${callInstead(tool)}` }
      }
      const renamed = rename(input, { ...tool.aliases, ...alias?.parameters })
      const settled = settle(tool.spec.schema, renamed)
      if (settled.ok) return { input: settled.value, changes: settled.changes }
      const problems = settled.problems.map(
        ({ path, message }) => `${path === '' ? 'the arguments' : path}: ${message}`,
      )
      return { problem: `The arguments of ${tool.spec.name} are not valid: ${problems.join('; ')}` }
    },
  }
}

/** The tool that has this name elsewhere; without the decoration that models put around it, only if one tool can be meant. */
function aliased(tools: readonly Tool[], name: string): { readonly tool: Tool; readonly alias: NameAlias } | undefined {
  const all = tools.flatMap((tool) => (tool.nameAliases ?? []).map((alias) => ({ tool, alias })))
  const exact = all.find(({ alias }) => alias.name === name)
  if (exact) return exact
  const alike = all.filter(({ alias }) => bare(alias.name) === bare(name))
  return alike.length === 1 ? alike[0] : undefined
}

function isKnown({ spec, aliases = {} }: Tool, { parameters = {} }: NameAlias, key: string): boolean {
  const declared = spec.schema['properties']
  return [parameters, aliases, isObject(declared) ? declared : {}].some((names) => Object.hasOwn(names, key))
}

function callInstead({ spec }: Tool): string {
  const declared = spec.schema['properties']
  return `Call ${spec.name} instead; its parameters are: ${Object.keys(isObject(declared) ? declared : {}).join(', ')}.`
}

/** Newer names of the same parameters are taken for the declared ones, unless both are given. */
function rename(input: JsonObject, aliases: Readonly<Record<string, string>>): JsonObject {
  const renamed: JsonObject = {}
  for (const [key, value] of Object.entries(input)) {
    const name = Object.hasOwn(aliases, key) ? (aliases[key] ?? key) : key
    const target = name !== key && Object.hasOwn(input, name) ? key : name
    Object.defineProperty(renamed, target, { value, enumerable: true, writable: true, configurable: true })
  }
  return renamed
}

/** A name without what models and servers put around it: `functions.read_file`, `default_api:ReadFile`, `read_file()` (T162). */
function bare(name: string): string {
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

/** One of them has the name of a server before it that the other lacks; two servers are never taken for each other. */
function differsByServer(one: string, other: string): boolean {
  return one.endsWith(`__${other}`) || other.endsWith(`__${one}`)
}

/** The names that are closest to a name, at most three, and only if they are close. */
function nearest(name: string, names: readonly string[]): string[] {
  const wanted = bare(name)
  return names
    .map((one) => ({ one, distance: distance(wanted, bare(one)) }))
    .filter(({ one, distance: far }) => far <= Math.max(2, Math.floor(one.length / 2)))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ one }) => one)
}

function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const swap = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}
