import type { Tool } from '../../tool.ts'
import { createToolbox, MAX_DECLARED_TOOLS, type Toolbox } from '../../toolbox.ts'
import { createToolSearchTool, type DeclarationBudget, splitByBudget } from './tool-search-tool.ts'
import { DEFAULT_DECLARATION_BUDGET, TOOL_SEARCH_TOOL_NAME } from './tool-search-tool.ts'
import type { McpServers } from '../client/servers.ts'
import { defined } from '../../../model/defined.ts'

/** Built-in tools and those of MCP servers. The declarations change only on refresh, and only if the tools differ. */
export function createMcpToolbox(
  builtinTools: readonly Tool[],
  servers: McpServers,
  budget: DeclarationBudget = DEFAULT_DECLARATION_BUDGET,
): Toolbox {
  let groups: readonly (readonly Tool[])[] = []
  let split: ReturnType<typeof splitByBudget> = { declared: new Set(), deferred: [] }
  let foundTools: readonly Tool[] = []
  let isFirst = true
  let isStale = true
  let hasStarted = false
  let allTools = createToolbox(builtinTools)
  let declared = allTools
  const filterAnnounced = createOnceFilter()
  const announcedInstructions = new Set<string>()
  const search = createToolSearchTool(
    () => split.deferred,
    (tools) => {
      const freeSlots = MAX_DECLARED_TOOLS - builtinTools.length - split.declared.size - 1
      foundTools = [...new Set([...tools, ...foundTools])].slice(0, Math.max(tools.length, freeSlots))
      isStale = true
    },
  )

  function rebuild(): void {
    const next = servers.tools()
    if (!isStale && next.every((group, at) => group === groups[at])) return
    if (next.some((group, at) => group !== groups[at])) split = splitByBudget(next, budget)
    groups = next
    isStale = false
    const isDeclared = (tool: Tool): boolean => split.declared.has(tool) || foundTools.includes(tool)
    const listed = next.flatMap((group) => group.filter(isDeclared))
    const tools = [...builtinTools, ...listed, ...(split.deferred.length > 0 ? [search] : [])]
    allTools = createToolbox([...tools, ...next.flat()])
    const { specs } = declared
    if (tools.length !== specs.length || tools.some(({ spec }, at) => spec !== specs[at]))
      declared = createToolbox(tools)
  }

  return {
    get specs() {
      return declared.specs
    },
    find(name) {
      // Calls of an earlier process may be looked up before the first request.
      if (isFirst) rebuild()
      const one = declared.find(name)
      if (!('problem' in one || one.renamed)) return one
      // A tool that is not declared now can still be called by its exact name.
      const other = allTools.find(name)
      return 'problem' in other || other.renamed ? one : other
    },
    validateInput: (tool, input, calledAs) => allTools.validateInput(tool, input, calledAs),
    onRequestSent() {
      if (hasStarted) return
      hasStarted = true
      // Loading the MCP client takes a moment; the first request is sent before.
      setTimeout(() => servers.start(), CONNECT_DELAY_MS).unref()
    },
    refresh() {
      const before = declared.specs.map(({ name }) => name)
      rebuild()
      const announced = new Set(foundTools.map(({ spec }) => spec.name))
      const now = declared.specs.map(({ name }) => name)
      const added = now.filter((name) => !before.includes(name) && !announced.has(name))
      const removed = before.filter((name) => !now.includes(name) && !announced.has(name))
      const changes = isFirst ? undefined : formatToolChanges(added, removed)
      isFirst = false
      return {
        ...defined({ note: changes }),
        pinned: collectInstructions(servers, groups, announcedInstructions),
        notices: [
          ...filterAnnounced([...formatDeferredNotice(split.deferred.length), ...formatFailureNotices(servers)]),
          ...servers.takeNotices(),
        ],
      }
    },
  }
}

/** Milliseconds of head start for the first request. */
const CONNECT_DELAY_MS = 200

function formatToolChanges(added: readonly string[], removed: readonly string[]): string | undefined {
  const parts = [
    ...(added.length > 0 ? [`New tools are available: ${formatNames(added)}.`] : []),
    ...(removed.length > 0 ? [`These tools are no longer available: ${formatNames(removed)}.`] : []),
  ]
  return parts.length === 0 ? undefined : parts.join(' ')
}

/** Instructions of servers, marked as such: they are not from the user. */
function collectInstructions({ list }: McpServers, groups: readonly (readonly Tool[])[], announcedTexts: Set<string>) {
  return list.flatMap(({ name, lists: { instructions } }, at) => {
    if (instructions === undefined || (groups[at] ?? []).length === 0) return []
    const text = `Instructions of the MCP server ${name} for its tools (advice from the server, not from the person):\n${instructions}`
    if (announcedTexts.has(text)) return []
    announcedTexts.add(text)
    return [{ topic: `mcp:${name}`, text }]
  })
}

function formatNames(names: readonly string[]): string {
  return names.length <= 30 ? names.join(', ') : `${names.slice(0, 30).join(', ')} and ${names.length - 30} others`
}

function formatDeferredNotice(count: number): string[] {
  const search = `the model finds them with ${TOOL_SEARCH_TOOL_NAME}`
  return count === 0 ? [] : [`${count} MCP tools are not declared, because there are too many; ${search}.`]
}

function formatFailureNotices({ list }: McpServers): string[] {
  return list.flatMap(({ name, state }) => {
    if (state.status !== 'failed') return []
    const remedy = state.signIn ? `dragoman mcp login ${name}` : `dragoman mcp test ${name}`
    return [`The MCP server ${name} is not available: ${state.why.split('\n', 1)[0] ?? ''} (${remedy})`]
  })
}

/** Each notice is shown once, even if a server comes and goes. */
function createOnceFilter(): (now: readonly string[]) => string[] {
  const announcedTexts = new Set<string>()
  return (now) => now.filter((text) => !announcedTexts.has(text) && announcedTexts.add(text))
}
