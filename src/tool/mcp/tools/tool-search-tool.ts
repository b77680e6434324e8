import { type JsonObject, stringOrEmpty } from '../../../model/json.ts'
import type { Tool } from '../../tool.ts'
import DESCRIPTION from './search-tools.md'

/** How many MCP tools are declared in each request; the others are found with the search tool. */
export interface DeclarationBudget {
  readonly tools: number
  readonly bytes: number
}

export const DEFAULT_DECLARATION_BUDGET: DeclarationBudget = { tools: 100, bytes: 40_000 }

export const TOOL_SEARCH_TOOL_NAME = 'search_tools'

/** Servers with few tools come first, and none gets more than its share. */
export function splitByBudget(
  groups: readonly (readonly Tool[])[],
  budget: DeclarationBudget = DEFAULT_DECLARATION_BUDGET,
): { readonly declared: ReadonlySet<Tool>; readonly deferred: readonly Tool[] } {
  const sizes = new Map(groups.flat().map((tool) => [tool, JSON.stringify(tool.spec).length]))
  const bytesOf = (tools: readonly Tool[]): number => tools.reduce((sum, tool) => sum + (sizes.get(tool) ?? 0), 0)
  const declared = new Set<Tool>()
  let [count, bytes] = [budget.tools, budget.bytes]
  const smallestFirst = [...groups].sort((one, other) => bytesOf(one) - bytesOf(other))
  for (const [at, group] of smallestFirst.entries()) {
    const remainingGroups = smallestFirst.length - at
    let [share, remainingBytes] = [Math.floor(count / remainingGroups), bytes / remainingGroups]
    for (const tool of group) {
      const size = sizes.get(tool) ?? 0
      if (share < 1 || remainingBytes < size) continue
      declared.add(tool)
      share -= 1
      remainingBytes -= size
      count -= 1
      bytes -= size
    }
  }
  return { declared, deferred: groups.flat().filter((tool) => !declared.has(tool)) }
}

/** Finds tools that are not declared; `onFound` declares them from the next turn on. */
export function createToolSearchTool(deferred: () => readonly Tool[], onFound: (tools: readonly Tool[]) => void): Tool {
  return {
    spec: {
      name: TOOL_SEARCH_TOOL_NAME,
      description: DESCRIPTION.trim(),
      schema: {
        type: 'object',
        properties: { query: { type: 'string', description: 'Words that describe what the tool should do.' } },
        required: ['query'],
      },
    },
    kind: 'search',
    origin: 'native',
    effects: () => [],
    run: (input: JsonObject) => {
      const query = stringOrEmpty(input['query'])
      const hits = rankTools(deferred(), query).slice(0, MAX_SEARCH_RESULTS)
      onFound(hits)
      if (hits.length === 0) return Promise.resolve({ content: `No tool matches “${query}”; try other words.` })
      const lines = hits.map(({ spec }) => `${spec.name}: ${spec.description.trim().split('\n', 1)[0]?.slice(0, 200)}`)
      const content = `These tools are available from your next turn on:\n${lines.join('\n')}`
      return Promise.resolve({ content, display: `${hits.length} tools for “${query}”` })
    },
  }
}

const MAX_SEARCH_RESULTS = 8

/** Most matching words first; a match in the name counts more. */
function rankTools(tools: readonly Tool[], query: string): Tool[] {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return tools
    .map((tool) => ({ tool, score: scoreTool(tool, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ tool }) => tool)
}

function scoreTool({ spec }: Tool, words: readonly string[]): number {
  const name = spec.name.toLowerCase()
  const text = spec.description.toLowerCase()
  return words.reduce((sum, word) => sum + (name.includes(word) ? 3 : 0) + (text.includes(word) ? 1 : 0), 0)
}
