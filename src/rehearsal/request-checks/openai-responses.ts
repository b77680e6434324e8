import { isObject } from '../../model/json.ts'
import { checkOpenAiFormat } from './response-format.ts'
import { type UnknownFields, findFirstError, toObjectList, isNonBlankString, findDuplicate } from './read-fields.ts'

export function checkResponsesRequest(body: UnknownFields): string | undefined {
  const { input } = body
  if (typeof input === 'string') return input === '' ? "Missing required parameter: 'input'." : checkTools(body)
  const items = toObjectList(input)
  if (!items) return "Invalid type for 'input': expected a string or an array of objects."
  if (items.length === 0) return "Invalid 'input': empty array."
  const format = isObject(body['text']) ? body['text']['format'] : undefined
  return (
    checkTools(body) ??
    checkOpenAiFormat(format, format, 'text.format', body) ??
    findFirstError(items, checkItem) ??
    checkItemPairing(items, isNonBlankString(body['previous_response_id']))
  )
}

function checkTools(body: UnknownFields): string | undefined {
  if (body['tools'] === undefined) return undefined
  const tools = toObjectList(body['tools'])
  if (!tools) return "Invalid type for 'tools': expected an array of objects."
  const functions = tools.filter(({ type }) => type === 'function' || type === 'custom')
  const names = functions.map(({ name }) => String(name))
  const wrong = names.find((name) => !NAME_PATTERN.test(name))
  if (wrong !== undefined) return `Invalid 'tools[${names.indexOf(wrong)}].name': string does not match pattern.`
  const duplicate = findDuplicate(names)
  return duplicate && `Invalid 'tools': the name ${duplicate} is not unique.`
}

function checkItem(item: UnknownFields, at: number): string | undefined {
  const type = item['type'] ?? 'message'
  const here = `input[${at}]`
  if (type === 'message') return checkMessage(item, here)
  if (type === 'function_call' || type === 'custom_tool_call') {
    const text = item[type === 'function_call' ? 'arguments' : 'input']
    if (!isCallId(item['call_id'])) return `Invalid '${here}.call_id': expected a string with length between 1 and 64.`
    if (!NAME_PATTERN.test(String(item['name']))) return `Invalid '${here}.name': string does not match pattern.`
    return typeof text === 'string' ? undefined : `Invalid type for '${here}.arguments': expected a string.`
  }
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    if (!isCallId(item['call_id'])) return `Missing required parameter: '${here}.call_id'.`
    const { output } = item
    return typeof output === 'string' || toObjectList(output)
      ? undefined
      : `Missing required parameter: '${here}.output'.`
  }
  if (type === 'reasoning')
    return Array.isArray(item['summary']) ? undefined : `Missing required parameter: '${here}.summary'.`
  return typeof type === 'string' && type !== '' ? undefined : `Invalid value for '${here}.type'.`
}

function checkMessage(item: UnknownFields, here: string): string | undefined {
  const { role, content } = item
  if (typeof role !== 'string' || !MESSAGE_ROLES.has(role))
    return `Invalid value: '${String(role)}' for '${here}.role'.`
  if (typeof content === 'string') return undefined
  const parts = toObjectList(content)
  if (!parts || parts.length === 0) return `Invalid value for '${here}.content'.`
  const allowedTypes = role === 'assistant' ? OUTPUT_CONTENT_TYPES : INPUT_CONTENT_TYPES
  const wrong = parts.find(({ type }) => typeof type !== 'string' || !allowedTypes.has(type))
  return wrong && `Invalid value: '${String(wrong['type'])}' for the content of '${here}' with the role ${role}.`
}

/** Each call has its output after it, and reasoning comes before what it led to. */
function checkItemPairing(items: readonly UnknownFields[], hasStoredHistory: boolean): string | undefined {
  const openCalls = new Set<string>()
  const answeredCalls = new Set<string>()
  for (const [at, item] of items.entries()) {
    const type = String(item['type'])
    const id = String(item['call_id'])
    if (type === 'function_call' || type === 'custom_tool_call') {
      if (openCalls.has(id) || answeredCalls.has(id)) return `Duplicate item found with call_id ${id}.`
      openCalls.add(id)
    } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      if (answeredCalls.has(id)) return `Duplicate item found with call_id ${id}.`
      if (!openCalls.delete(id) && !hasStoredHistory)
        return `No tool call found for function call output with call_id ${id}.`
      answeredCalls.add(id)
    } else if (type === 'reasoning' && !canFollowReasoning(items[at + 1]))
      return `Item '${String(item['id'])}' of type 'reasoning' was provided without its required following item.`
  }
  const [unanswered] = openCalls
  return unanswered && `No tool output found for function call ${unanswered}.`
}

function canFollowReasoning(next: UnknownFields | undefined): boolean {
  if (!isObject(next)) return false
  const type = next['type'] ?? 'message'
  return type === 'message' ? next['role'] === 'assistant' : typeof type === 'string' && !type.endsWith('_output')
}

function isCallId(value: unknown): boolean {
  return typeof value === 'string' && value.length >= 1 && value.length <= 64
}

const MESSAGE_ROLES = new Set(['system', 'developer', 'user', 'assistant'])
const INPUT_CONTENT_TYPES = new Set(['input_text', 'input_image', 'input_file', 'input_audio'])
const OUTPUT_CONTENT_TYPES = new Set(['output_text', 'refusal'])
const NAME_PATTERN = /^[\w-]{1,64}$/
