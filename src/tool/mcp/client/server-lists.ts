import { isObject, type JsonObject } from '../../../model/json.ts'
import type { McpConnection } from '../connection/connect.ts'

/** What a server offers, unvalidated. */
export interface McpServerLists {
  readonly tools: readonly JsonObject[]
  readonly prompts: readonly JsonObject[]
  readonly resources: readonly JsonObject[]
  readonly instructions?: string
  /** What was left out because the lists are too long. */
  readonly truncationNote?: string
}

export type McpListName = 'tools' | 'prompts' | 'resources'

export const MCP_LIST_NAMES: readonly McpListName[] = ['tools', 'prompts', 'resources']

export const EMPTY_MCP_SERVER_LISTS: McpServerLists = { tools: [], prompts: [], resources: [] }

const MAX_ITEMS = 2000
const MAX_PAGES = 500
const MAX_LIST_BYTES = 16 * 2 ** 20

export async function readFullList(
  { request }: Pick<McpConnection, 'request'>,
  name: McpListName,
): Promise<{ readonly items: JsonObject[]; readonly isTruncated: boolean }> {
  const items: JsonObject[] = []
  const seenCursors = new Set<string>()
  let cursor: string | undefined
  let bytes = 0
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await request(`${name}/list`, cursor === undefined ? {} : { cursor })
    const part = answer[name]
    for (const item of Array.isArray(part) ? part : []) {
      if (!isObject(item)) continue
      bytes += JSON.stringify(item).length
      if (items.length >= MAX_ITEMS || bytes > MAX_LIST_BYTES) return { items, isTruncated: true }
      items.push(item as JsonObject)
    }
    const { nextCursor } = answer
    if (typeof nextCursor !== 'string' || nextCursor === '') return { items, isTruncated: false }
    // A repeated cursor ends the list.
    if (seenCursors.has(nextCursor)) return { items, isTruncated: false }
    seenCursors.add(nextCursor)
    cursor = nextCursor
  }
  return { items, isTruncated: true }
}

/** Reads the lists that a server has. If one fails, only that list is missing. */
export async function readServerLists(
  connection: McpConnection,
  names: readonly McpListName[] = MCP_LIST_NAMES,
  previous: McpServerLists = EMPTY_MCP_SERVER_LISTS,
): Promise<McpServerLists> {
  const { truncationNote: _unused, ...rest } = previous
  const next: { -readonly [name in keyof McpServerLists]: McpServerLists[name] } = { ...rest }
  const cut: string[] = []
  for (const name of names) {
    if (!connection.offeredLists.includes(name)) continue
    try {
      const list = await readFullList(connection, name)
      next[name] = list.items
      if (list.isTruncated) cut.push(`Only the first ${list.items.length} ${name} of this server are used.`)
    } catch (error) {
      // A server without its tools is useless, so this is an error.
      if (name === 'tools') throw error
    }
  }
  return cut.length > 0 ? { ...next, truncationNote: cut.join(' ') } : next
}
