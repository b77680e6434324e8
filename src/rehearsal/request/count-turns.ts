import { isObject, filterObjects, type JsonObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'

/** Counts independently of the wires, so that it finds their bugs. */
export function countAssistantTurns(wire: WireId, body: JsonObject): number {
  if (wire === 'openai-responses') return countRuns(filterObjects(body['input']).map(isAssistantItem))
  if (wire === 'interactions') return countRuns(filterObjects(body['input']).map(isModelStep))
  if (wire === 'openai-chat' || wire === 'anthropic') return countRole(filterObjects(body['messages']), 'assistant')
  const inner = wire === 'code-assist' && isObject(body['request']) ? body['request'] : body
  return countRole(filterObjects(inner['contents']), 'model')
}

/** The same from the bytes, without parsing. Roles inside text do not count, since their quotes are escaped. */
export function countAssistantTurnsInBytes(wire: WireId, chunks: readonly Buffer[]): number {
  // One character per byte is enough for ASCII markers, and faster than searching the bytes.
  const texts = chunks.map((chunk) => chunk.toString('latin1'))
  const markers =
    wire === 'openai-responses' ? RESPONSES_MARKERS : wire === 'interactions' ? INTERACTIONS_MARKERS : undefined
  if (!markers) {
    const role = wire === 'openai-chat' || wire === 'anthropic' ? 'assistant' : 'model'
    return findOccurrences(texts, `"role":"${role}"`).length
  }
  const occurrences = Object.entries(markers).flatMap(([marker, isAssistant]) =>
    findOccurrences(texts, marker).map((at) => ({ at, isAssistant })),
  )
  return countRuns(occurrences.sort((a, b) => a.at - b.at).map(({ isAssistant }) => isAssistant))
}

/** Whether the item with this text belongs to the assistant. */
const RESPONSES_MARKERS: Readonly<Record<string, boolean>> = {
  '"type":"function_call"': true,
  '"type":"reasoning"': true,
  '"type":"output_text"': true,
  '"role":"assistant"': true,
  '"type":"function_call_output"': false,
  '"role":"user"': false,
}

const INTERACTIONS_MARKERS: Readonly<Record<string, boolean>> = {
  '"type":"function_call"': true,
  '"type":"thought"': true,
  '"type":"model_output"': true,
  '"type":"function_result"': false,
  '"type":"user_input"': false,
}

function findOccurrences(texts: readonly string[], marker: string): number[] {
  const found: number[] = []
  let start = 0
  // A marker may span two chunks, so the end of one is searched again with the next.
  let tail = ''
  for (const piece of texts) {
    const text = tail + piece
    for (let at = text.indexOf(marker); at >= 0; at = text.indexOf(marker, at + marker.length)) found.push(start + at)
    tail = text.slice(-(marker.length - 1))
    start += text.length - tail.length
  }
  return found
}

/** The number of uninterrupted runs of true. */
function countRuns(values: readonly (boolean | undefined)[]): number {
  let runs = 0
  let before = false
  for (const value of values) {
    if (value === undefined) continue
    if (value && !before) runs++
    before = value
  }
  return runs
}

/** Items of the vendor's own tools are undefined. */
function isAssistantItem(item: Record<string, unknown>): boolean | undefined {
  const type = item['type'] ?? 'message'
  if (type === 'message') return item['role'] === 'assistant'
  if (type === 'function_call' || type === 'custom_tool_call' || type === 'reasoning') return true
  return type === 'function_call_output' || type === 'custom_tool_call_output' ? false : undefined
}

/** Steps of the vendor's own tools are undefined. */
function isModelStep({ type }: Record<string, unknown>): boolean | undefined {
  if (type === 'model_output' || type === 'function_call' || type === 'thought') return true
  return type === 'user_input' || type === 'function_result' ? false : undefined
}

function countRole(messages: readonly Record<string, unknown>[], role: string): number {
  return messages.filter((message) => message['role'] === role).length
}
