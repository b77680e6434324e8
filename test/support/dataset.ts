import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  isObject,
  type Json,
  type JsonObject,
  objectOrEmpty,
  stringOrEmpty,
  tryParseJson,
} from '../../src/model/json.ts'
import type { ModelRequest, ToolSpec } from '../../src/model/request.ts'
import type { AssistantTurn, CallPart, ResultPart, Turn } from '../../src/model/turn.ts'
import { fromPlainConversation } from '../../src/wire/plain-conversation/from-plain.ts'
import { wires } from './cases.ts'

/** A conversation with tools, from a data set. */
export interface DatasetCase {
  readonly id: string
  readonly request: ModelRequest
}

/**
 * All cases of a folder of JSON and JSONL files, in nearly any form: tools of any vendor under `tools`, `functions` or
 * `function`; `messages` as OpenAI or Anthropic has them; calls under `calls`, `answers` or `ground_truth`. Records with the
 * same id are one case, because some data sets keep the answers in files of their own.
 */
export function readDataset(folder: string): DatasetCase[] {
  const records = new Map<string, JsonObject>()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  for (const name of names.filter((path) => /\.jsonl?$/.test(path))) {
    for (const [at, record] of parseRecords(readFileSync(join(folder, name), 'utf8')).entries()) {
      const id = typeof record['id'] === 'string' ? record['id'] : `${name}:${at + 1}`
      records.set(id, { ...records.get(id), ...record })
    }
  }
  return [...records].flatMap(([id, record]) => toCase(id, record) ?? [])
}

/** One JSON value, or one on each line. */
function parseRecords(text: string): JsonObject[] {
  const whole = tryParseJson(text)
  const values = whole === undefined ? text.split('\n').map((line) => tryParseJson(line)) : [whole].flat()
  return values.filter(isObject) as JsonObject[]
}

/** Undefined if there are no tools. */
export function toCase(id: string, record: JsonObject): DatasetCase | undefined {
  const tools = uniqueTools(toList(record['tools'] ?? record['functions'] ?? record['function']).flatMap(toTools))
  if (tools.length === 0) return undefined
  const found =
    record['calls'] ?? record['answers'] ?? record['ground_truth'] ?? objectOrEmpty(record['expect'])['calls']
  const calls = toList(found).flatMap(toCall)
  const turns = readMessages(record['messages'])
  return {
    id,
    request: { model: 'm', tools, turns: calls.length === 0 ? turns : [...turns, ...answerCalls(id, calls)] },
  }
}

/** An assistant turn with these calls, and their results: text, structured, or an error. */
export function answerCalls(
  id: string,
  calls: readonly { readonly name: string; readonly input: JsonObject }[],
): Turn[] {
  const parts = calls.map(({ name, input }, at): CallPart => ({
    kind: 'call',
    id: `call_${at}`,
    name,
    raw: JSON.stringify(input),
    input,
  }))
  const origin = { provider: 'dataset', wire: 'openai-chat', model: 'm' } as const
  const turn: AssistantTurn = { role: 'assistant', origin, parts, finish: { reason: 'calls' } }
  const results = parts.map(({ id: callId, name, input = {} }, at): ResultPart => {
    const base = { kind: 'result', id: callId, name } as const
    const text = `Result ${at} of ${id}: ünïcode,\n"quotes" and {braces}`
    if (at % 3 === 2) return { ...base, status: 'error', content: [{ kind: 'text', text }], error: { message: text } }
    return {
      ...base,
      status: 'ok',
      content: at % 3 === 0 ? [{ kind: 'text', text }] : [],
      ...(at % 3 === 1 && { data: { input } }),
    }
  })
  // Tools end in any order.
  return [turn, { role: 'results', parts: results.toReversed() }]
}

function readMessages(value: unknown): Turn[] {
  const messages = toList(value).filter(isObject)
  if (messages.length === 0) return [{ role: 'user', parts: [{ kind: 'text', text: 'Go on.' }] }]
  if (messages.every(({ parts }) => Array.isArray(parts)))
    return [...fromPlainConversation({ messages }, { model: 'm' }).request.turns]
  const hasBlocks = messages.some(({ content }) => toList(content).some(isAnthropicBlock))
  return [...wires[hasBlocks ? 'anthropic' : 'openai-chat'].readRequest({ model: 'm', messages }).request.turns]
}

function isAnthropicBlock(block: unknown): boolean {
  return isObject(block) && (block['type'] === 'tool_use' || block['type'] === 'tool_result')
}

function toTools(value: unknown): ToolSpec[] {
  const entry = objectOrEmpty(value)
  const declarations = entry['functionDeclarations'] ?? entry['function_declarations']
  if (Array.isArray(declarations)) return declarations.flatMap(toTools)
  const tool = isObject(entry['function']) ? entry['function'] : entry
  const schema = SCHEMA_KEYS.map((key) => tool[key]).find(isObject) ?? { type: 'object', properties: {} }
  const name = stringOrEmpty(tool['name'])
  return name === '' ? [] : [{ name, description: stringOrEmpty(tool['description']), schema: schema as JsonObject }]
}

const SCHEMA_KEYS = ['schema', 'parameters', 'input_schema', 'inputSchema', 'parametersJsonSchema']

/** Some data sets declare a tool twice. */
function uniqueTools(tools: readonly ToolSpec[]): ToolSpec[] {
  return [...new Map(tools.map((tool) => [tool.name, tool])).values()]
}

function toCall(value: unknown): { name: string; input: JsonObject }[] {
  const entry = objectOrEmpty(value)
  const call = isObject(entry['function']) ? entry['function'] : entry
  if (typeof call['name'] !== 'string') return toGroundTruth(entry)
  const found = call['args'] ?? call['arguments'] ?? call['input'] ?? {}
  const input = typeof found === 'string' ? tryParseJson(found) : found
  return isObject(input) ? [{ name: call['name'], input: input as JsonObject }] : []
}

/** Answers of the form `{ name: { argument: [accepted values] } }`; the first value is taken, and "" means left out. */
function toGroundTruth(entry: Record<string, unknown>): { name: string; input: JsonObject }[] {
  const [only, ...others] = Object.entries(entry)
  if (!only || others.length > 0 || !isObject(only[1])) return []
  const values = Object.entries(only[1]).map(
    ([key, choices]) => [key, Array.isArray(choices) ? (choices as Json[])[0] : choices] as const,
  )
  return [{ name: only[0], input: Object.fromEntries(values.filter(([, choice]) => choice !== '')) as JsonObject }]
}

/** Some data sets keep lists as JSON text. */
function toList(value: unknown): unknown[] {
  const parsed = typeof value === 'string' ? tryParseJson(value) : value
  return Array.isArray(parsed) ? (parsed as unknown[]) : isObject(parsed) ? [parsed] : []
}
