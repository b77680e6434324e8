import { isObject, type JsonObject, stringOrEmpty } from '../../model/json.ts'
import type { CallFragment } from '../calls/call-assembler.ts'
import { createFieldFilter, createNestedFilter } from '../other-fields.ts'

/** What the list `content_list` of a message says, which Snowflake sends beside or instead of `content` and `tool_calls` (T202). */
export interface ContentList {
  readonly text: string
  /** In a stream, the id and name come first, and then the arguments in pieces. */
  readonly calls: readonly CallFragment[]
  /** Entries, or fields of them, that are not read. */
  readonly others: readonly JsonObject[]
}

export function readContentList(list: readonly unknown[]): ContentList {
  const texts: string[] = []
  const uses: JsonFields[] = []
  const others: JsonObject[] = []
  for (const entry of list.filter(isObject)) {
    const use = readToolUse(entry)
    const isText = typeof entry['text'] === 'string'
    if (isText) texts.push(stringOrEmpty(entry['text']))
    else if (use) uses.push(use)
    const unread = isText ? pickTextEntry(entry) : use ? pickToolUseEntry(entry) : (entry as JsonObject)
    if (unread) others.push(unread)
  }
  const calls = uses.map(({ tool_use_id: id, name, input: args }, listPosition): CallFragment => {
    return { id, name, args, listPosition, listLength: uses.length }
  })
  return { text: texts.join(''), calls, others }
}

type JsonFields = Readonly<Record<string, unknown>>

/** The fields of a call; in a stream they stand in the entry itself. */
function readToolUse(entry: JsonFields): JsonFields | undefined {
  const inner = isObject(entry['tool_use']) ? entry['tool_use'] : entry
  return 'tool_use_id' in inner || 'name' in inner || 'input' in inner ? inner : undefined
}

const pickTextEntry = createFieldFilter('type text')

const pickToolUseEntry = createNestedFilter('type tool_use_id name input', {
  tool_use: createFieldFilter('tool_use_id name input'),
})
