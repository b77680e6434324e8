import { isObject, type JsonObject } from '../../model/json.ts'
import type { Connection } from './connect.ts'

/** All that a server offers, as it said it; nothing in it is trusted yet. */
export interface Lists {
  readonly tools: readonly JsonObject[]
  readonly prompts: readonly JsonObject[]
  readonly resources: readonly JsonObject[]
  /** What a model should know of the tools. */
  readonly instructions?: string
  /** What was left out, because it was too much, in a sentence. */
  readonly cut?: string
}

/** The lists that a server may have. */
export type ListName = 'tools' | 'prompts' | 'resources'

export const LIST_NAMES: readonly ListName[] = ['tools', 'prompts', 'resources']

/** A server that offers nothing. */
export const NO_LISTS: Lists = { tools: [], prompts: [], resources: [] }

const MAX_ITEMS = 2000
const MAX_PAGES = 500
const MAX_BYTES = 16 * 2 ** 20

/** Reads a list to its last page. Of a list without end, the beginning. */
export async function wholeList(
  { request }: Pick<Connection, 'request'>,
  name: ListName,
): Promise<{ readonly items: JsonObject[]; readonly cut: boolean }> {
  const items: JsonObject[] = []
  const seen = new Set<string>()
  let cursor: string | undefined
  let bytes = 0
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await request(`${name}/list`, cursor === undefined ? {} : { cursor })
    const part = answer[name]
    for (const item of Array.isArray(part) ? part : []) {
      if (!isObject(item)) continue
      bytes += JSON.stringify(item).length
      if (items.length >= MAX_ITEMS || bytes > MAX_BYTES) return { items, cut: true }
      items.push(item as JsonObject)
    }
    const { nextCursor } = answer
    if (typeof nextCursor !== 'string' || nextCursor === '') return { items, cut: false }
    // A server that leads in a circle has said all that it has to say.
    if (seen.has(nextCursor)) return { items, cut: false }
    seen.add(nextCursor)
    cursor = nextCursor
  }
  return { items, cut: true }
}

/** Reads the lists that a server says it has. One that it fails to give costs only that list. */
export async function readLists(
  connection: Connection,
  names: readonly ListName[] = LIST_NAMES,
  former: Lists = NO_LISTS,
): Promise<Lists> {
  const { cut: _unused, ...rest } = former
  const next: { -readonly [name in keyof Lists]: Lists[name] } = { ...rest }
  const cut: string[] = []
  for (const name of names) {
    if (!connection.offers.includes(name)) continue
    try {
      const list = await wholeList(connection, name)
      next[name] = list.items
      if (list.cut) cut.push(`Only the first ${list.items.length} of its ${name} are used.`)
    } catch (error) {
      // Without its tools a server is of no use, and that must be seen.
      if (name === 'tools') throw error
    }
  }
  return cut.length > 0 ? { ...next, cut: cut.join(' ') } : next
}
