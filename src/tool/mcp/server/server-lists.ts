import { isObject, type JsonObject } from '../../../model/json.ts'
import type { Connection } from '../connection/connect.ts'

/** All that a server offers, as it said it; nothing in it is trusted yet. */
export interface ServerLists {
  readonly tools: readonly JsonObject[]
  readonly prompts: readonly JsonObject[]
  readonly resources: readonly JsonObject[]
  /** What a model should know of the tools. */
  readonly instructions?: string
  /** What was left out, because it was too much, in a sentence. */
  readonly truncationNote?: string
}

/** The lists that a server may have. */
export type McpListName = 'tools' | 'prompts' | 'resources'

export const MCP_LIST_NAMES: readonly McpListName[] = ['tools', 'prompts', 'resources']

/** A server that offers nothing. */
export const EMPTY_LISTS: ServerLists = { tools: [], prompts: [], resources: [] }

const MAX_ITEMS = 2000
const MAX_PAGES = 500
const MAX_LIST_BYTES = 16 * 2 ** 20

/** Reads a list to its last page. Of a list without end, the beginning. */
export async function readFullList(
  { request }: Pick<Connection, 'request'>,
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
    // A server that leads in a circle has said all that it has to say.
    if (seenCursors.has(nextCursor)) return { items, isTruncated: false }
    seenCursors.add(nextCursor)
    cursor = nextCursor
  }
  return { items, isTruncated: true }
}

/** Reads the lists that a server says it has. One that it fails to give costs only that list. */
export async function readServerLists(
  connection: Connection,
  names: readonly McpListName[] = MCP_LIST_NAMES,
  previous: ServerLists = EMPTY_LISTS,
): Promise<ServerLists> {
  const { truncationNote: _unused, ...rest } = previous
  const next: { -readonly [name in keyof ServerLists]: ServerLists[name] } = { ...rest }
  const cut: string[] = []
  for (const name of names) {
    if (!connection.offeredLists.includes(name)) continue
    try {
      const list = await readFullList(connection, name)
      next[name] = list.items
      if (list.isTruncated) cut.push(`Only the first ${list.items.length} ${name} of this server are used.`)
    } catch (error) {
      // Without its tools a server is of no use, and that must be seen.
      if (name === 'tools') throw error
    }
  }
  return cut.length > 0 ? { ...next, truncationNote: cut.join(' ') } : next
}
