import { defined } from '../../model/defined.ts'
import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { CallFragment } from '../calls/call-assembler.ts'
import { createFieldFilter, createNestedFilter } from '../other-fields.ts'
import { pickOtherFields, warnAboutFields, warnAboutUnknown } from '../read-parts.ts'

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

/**
 * A message of a request whose content is in `content_list`, as messages of the usual form: texts and what is not known are
 * its content, calls are its calls, and each result is a message of its own.
 */
export function expandContentList(message: JsonFields, warnings: Warning[]): JsonFields[] {
  const { content_list: list, ...others } = message
  if (!Array.isArray(list)) return [message]
  const content: unknown[] = []
  const calls: JsonObject[] = []
  const results: JsonObject[] = []
  for (const entry of list as readonly unknown[]) {
    const { type, ...fields } = objectOrEmpty(entry)
    const result = fields['tool_results']
    const use = type === 'text' || !isObject(entry) ? undefined : readToolUse(entry)
    if (isObject(result)) results.push(toResultMessage(fields, result))
    else if (use) calls.push(toToolCall(entry as JsonFields, use))
    else content.push(entry)
  }
  const texts = content.map((entry) => stringOrEmpty(objectOrEmpty(entry)['text'])).join('')
  const isRepeated = isFilled(others['content']) && (content.length === 0 || texts === others['content'])
  if (isFilled(others['content']) && !isRepeated) warnAboutUnknown('The content list of a message', content, warnings)
  const hasCalls = isFilled(others['tool_calls'])
  const rest = {
    ...others,
    ...(!isFilled(others['content']) && content.length > 0 && { content }),
    ...(!hasCalls && calls.length > 0 && { tool_calls: calls }),
  }
  const isOnlyResults = results.length > 0 && content.length + calls.length === 0 && !isFilled(others['content'])
  if (!isOnlyResults) return [...results, rest]
  warnAboutFields(pickOtherFields(others, 'role content'), 'a message with results', warnings)
  return results
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== ''
}

function toToolCall(entry: JsonFields, { tool_use_id: id, name, input, ...inside }: JsonFields): JsonObject {
  const args = typeof input === 'string' ? input : JSON.stringify(input ?? {})
  const beside = 'tool_use' in entry ? pickOtherFields(entry, 'type tool_use') : undefined
  const { type: _type, ...others } = inside
  const call = { id, type: 'function', function: { name, arguments: args }, ...others, ...beside }
  return defined(call) as JsonObject
}

function toResultMessage(
  { tool_results: _results, ...beside }: JsonFields,
  { tool_use_id: id, name, content, ...inside }: JsonFields,
): JsonObject {
  return defined({ role: 'tool', tool_call_id: id, name, content, ...inside, ...beside }) as JsonObject
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
