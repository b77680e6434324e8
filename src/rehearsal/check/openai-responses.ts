import { isObject } from '../../model/json.ts'
import { type Fields, firstOf, objects, says, twice } from './fields.ts'

/** What OpenAI's Responses would refuse. */
export function checkResponses(body: Fields): string | undefined {
  const { input } = body
  if (typeof input === 'string') return input === '' ? "Missing required parameter: 'input'." : checkTools(body)
  const items = objects(input)
  if (!items) return "Invalid type for 'input': expected a string or an array of objects."
  if (items.length === 0) return "Invalid 'input': empty array."
  return checkTools(body) ?? firstOf(items, checkItem) ?? paired(items, says(body['previous_response_id']))
}

function checkTools(body: Fields): string | undefined {
  if (body['tools'] === undefined) return undefined
  const tools = objects(body['tools'])
  if (!tools) return "Invalid type for 'tools': expected an array of objects."
  const functions = tools.filter(({ type }) => type === 'function' || type === 'custom')
  const names = functions.map(({ name }) => String(name))
  const wrong = names.find((name) => !NAME.test(name))
  if (wrong !== undefined) return `Invalid 'tools[${names.indexOf(wrong)}].name': string does not match pattern.`
  const again = twice(names)
  return again && `Invalid 'tools': the name ${again} is not unique.`
}

function checkItem(item: Fields, at: number): string | undefined {
  const type = item['type'] ?? 'message'
  const here = `input[${at}]`
  if (type === 'message') return checkMessage(item, here)
  if (type === 'function_call' || type === 'custom_tool_call') {
    const text = item[type === 'function_call' ? 'arguments' : 'input']
    if (!isId(item['call_id'])) return `Invalid '${here}.call_id': expected a string with length between 1 and 64.`
    if (!NAME.test(String(item['name']))) return `Invalid '${here}.name': string does not match pattern.`
    return typeof text === 'string' ? undefined : `Invalid type for '${here}.arguments': expected a string.`
  }
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    if (!isId(item['call_id'])) return `Missing required parameter: '${here}.call_id'.`
    const { output } = item
    return typeof output === 'string' || objects(output) ? undefined : `Missing required parameter: '${here}.output'.`
  }
  if (type === 'reasoning')
    return Array.isArray(item['summary']) ? undefined : `Missing required parameter: '${here}.summary'.`
  return typeof type === 'string' && type !== '' ? undefined : `Invalid value for '${here}.type'.`
}

function checkMessage(item: Fields, here: string): string | undefined {
  const { role, content } = item
  if (typeof role !== 'string' || !ROLES.has(role)) return `Invalid value: '${String(role)}' for '${here}.role'.`
  if (typeof content === 'string') return undefined
  const parts = objects(content)
  if (!parts || parts.length === 0) return `Invalid value for '${here}.content'.`
  const wanted = role === 'assistant' ? THEIRS : OURS
  const wrong = parts.find(({ type }) => typeof type !== 'string' || !wanted.has(type))
  return wrong && `Invalid value: '${String(wrong['type'])}' for the content of '${here}' with the role ${role}.`
}

/** Calls and results belong together, in this order, and a thought goes before what it led to. */
function paired(items: readonly Fields[], kept: boolean): string | undefined {
  const open = new Set<string>()
  const closed = new Set<string>()
  for (const [at, item] of items.entries()) {
    const type = String(item['type'])
    const id = String(item['call_id'])
    if (type === 'function_call' || type === 'custom_tool_call') {
      if (open.has(id) || closed.has(id)) return `Duplicate item found with call_id ${id}.`
      open.add(id)
    } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      if (closed.has(id)) return `Duplicate item found with call_id ${id}.`
      if (!open.delete(id) && !kept) return `No tool call found for function call output with call_id ${id}.`
      closed.add(id)
    } else if (type === 'reasoning' && !follows(items[at + 1]))
      return `Item '${String(item['id'])}' of type 'reasoning' was provided without its required following item.`
  }
  const [unanswered] = open
  return unanswered && `No tool output found for function call ${unanswered}.`
}

function follows(next: Fields | undefined): boolean {
  if (!isObject(next)) return false
  const type = next['type'] ?? 'message'
  return type === 'message' ? next['role'] === 'assistant' : typeof type === 'string' && !type.endsWith('_output')
}

function isId(value: unknown): boolean {
  return typeof value === 'string' && value.length >= 1 && value.length <= 64
}

const ROLES = new Set(['system', 'developer', 'user', 'assistant'])
const OURS = new Set(['input_text', 'input_image', 'input_file', 'input_audio'])
const THEIRS = new Set(['output_text', 'refusal'])
const NAME = /^[\w-]{1,64}$/
