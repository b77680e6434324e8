import { isObject, type JsonObject } from '../model/json.ts'
import type { WireId } from '../model/turn.ts'

/** How many times the assistant speaks in a body. It counts for itself, so that a fault in a wire cannot hide. */
export function assistantTurns(wire: WireId, body: JsonObject): number {
  if (wire === 'openai-responses') return spells(list(body['input']).map(isAssistantItem))
  if (wire === 'openai-chat' || wire === 'anthropic') return count(list(body['messages']), 'assistant')
  const inner = wire === 'code-assist' && isObject(body['request']) ? body['request'] : body
  return count(list(inner['contents']), 'model')
}

/** The same, from the bytes, without reading them as JSON. Text that speaks of roles has its quotes escaped, and does not count. */
export function scanTurns(wire: WireId, chunks: readonly Buffer[]): number {
  // A byte a letter is enough to find marks in plain letters, and much faster than searching the bytes.
  const texts = chunks.map((chunk) => chunk.toString('latin1'))
  if (wire !== 'openai-responses') {
    const role = wire === 'openai-chat' || wire === 'anthropic' ? 'assistant' : 'model'
    return occurrences(texts, `"role":"${role}"`).length
  }
  const theirs = ['"type":"function_call"', '"type":"reasoning"', '"type":"output_text"', '"role":"assistant"']
  const ours = ['"type":"function_call_output"', '"role":"user"']
  const marks = [
    ...theirs.flatMap((mark) => occurrences(texts, mark).map((at) => ({ at, own: true }))),
    ...ours.flatMap((mark) => occurrences(texts, mark).map((at) => ({ at, own: false }))),
  ]
  return spells(marks.sort((a, b) => a.at - b.at).map(({ own }) => own))
}

/** Where a mark stands in text that came in pieces. */
function occurrences(texts: readonly string[], mark: string): number[] {
  const found: number[] = []
  let start = 0
  // A mark may lie across two pieces, so the end of one is looked at again with the next.
  let held = ''
  for (const piece of texts) {
    const text = held + piece
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) found.push(start + at)
    held = text.slice(-(mark.length - 1))
    start += text.length - held.length
  }
  return found
}

/** How many unbroken spells of true there are. */
function spells(values: readonly (boolean | undefined)[]): number {
  let spoken = 0
  let before = false
  for (const value of values) {
    if (value === undefined) continue
    if (value && !before) spoken++
    before = value
  }
  return spoken
}

/** Is this item the assistant's? What the vendor did by itself says nothing. */
function isAssistantItem(item: Record<string, unknown>): boolean | undefined {
  const type = item['type'] ?? 'message'
  if (type === 'message') return item['role'] === 'assistant'
  if (type === 'function_call' || type === 'custom_tool_call' || type === 'reasoning') return true
  return type === 'function_call_output' || type === 'custom_tool_call_output' ? false : undefined
}

function count(messages: readonly Record<string, unknown>[], role: string): number {
  return messages.filter((message) => message['role'] === role).length
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
