import { isObject } from '../../model/json.ts'
import { type Fields, firstOf, objects, twice } from './fields.ts'

/** What OpenAI's chat completions would refuse. */
export function checkChat(body: Fields): string | undefined {
  const messages = objects(body['messages'])
  if (!messages) return "Invalid type for 'messages': expected an array of objects."
  if (messages.length === 0) return "Invalid 'messages': empty array. Expected an array with minimum length 1."
  return checkTools(body) ?? firstOf(messages, (message, at) => checkMessage(message, at, messages))
}

function checkTools(body: Fields): string | undefined {
  const tools = body['tools']
  if (tools === undefined) {
    const needy = ['tool_choice', 'parallel_tool_calls'].find((key) => body[key] !== undefined && body[key] !== 'none')
    return needy && `'${needy}' is only allowed when 'tools' are specified.`
  }
  const listed = objects(tools)
  if (!listed || listed.length === 0) return "[] is too short - 'tools'"
  if (listed.length > 128) return `Invalid 'tools': array too long. Expected an array with maximum length 128.`
  const names = listed.map((tool) => nameOf(tool))
  const wrong = names.findIndex((name) => !NAME.test(name))
  if (wrong >= 0) return `Invalid 'tools[${wrong}].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.`
  const again = twice(names)
  return again && `Invalid 'tools': the name ${again} is not unique.`
}

function checkMessage(message: Fields, at: number, messages: readonly Fields[]): string | undefined {
  const { role, content } = message
  const here = `messages[${at}]`
  if (typeof role !== 'string' || !ROLES.has(role)) return `Invalid value: '${String(role)}' for '${here}.role'.`
  const calls = message['tool_calls'] === undefined ? [] : objects(message['tool_calls'])
  if (role === 'tool') return checkResult(message, at, messages)
  if (role !== 'assistant')
    return isContent(content) ? undefined : `Invalid value for '${here}.content': expected a string or an array.`
  if (!calls || (message['tool_calls'] !== undefined && calls.length === 0))
    return `Invalid '${here}.tool_calls': empty array. Expected an array with minimum length 1.`
  if (calls.length === 0 && (!isContent(content) || content === ''))
    return `Invalid value for '${here}.content': expected a string, got ${content === '' ? 'an empty one' : 'null'}.`
  return firstOf(calls, (call, place) => checkCall(call, `${here}.tool_calls[${place}]`)) ?? paired(calls, at, messages)
}

function checkCall(call: Fields, here: string): string | undefined {
  const { id, type } = call
  if (typeof id !== 'string' || id === '' || id.length > 40)
    return `Invalid '${here}.id': expected a string with length between 1 and 40.`
  if (type !== 'function' && type !== 'custom') return `Missing required parameter: '${here}.type'.`
  const inner = call[type]
  if (!isObject(inner)) return `Missing required parameter: '${here}.${type}'.`
  if (!NAME.test(nameOf(call)))
    return `Invalid '${here}.${type}.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.`
  const args = inner[type === 'function' ? 'arguments' : 'input']
  if (typeof args !== 'string') return `Invalid type for '${here}.${type}.arguments': expected a string.`
  return type === 'custom' || isJsonObject(args)
    ? undefined
    : `Invalid '${here}.function.arguments': not a JSON object.`
}

/** Each call has its result in the messages right after it, and each of them answers one of these calls. */
function paired(calls: readonly Fields[], at: number, messages: readonly Fields[]): string | undefined {
  const ids = calls.map((call) => String(call['id']))
  const again = twice(ids)
  if (again !== undefined) return `Duplicate value for 'tool_call_id' of '${again}' in messages[${at}].`
  const answered: string[] = []
  for (let next = at + 1; messages[next]?.['role'] === 'tool'; next++)
    answered.push(String(messages[next]?.['tool_call_id']))
  const open = ids.filter((id) => !answered.includes(id))
  if (open.length > 0)
    return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`
  const doubled = twice(answered)
  return doubled && `The call ${doubled} has more than one response message.`
}

function checkResult(message: Fields, at: number, messages: readonly Fields[]): string | undefined {
  if (!isContent(message['content'])) return `Invalid value for 'messages[${at}].content': expected a string.`
  let place = at - 1
  while (messages[place]?.['role'] === 'tool') place--
  const before = messages[place]
  const calls = before?.['role'] === 'assistant' ? (objects(before['tool_calls']) ?? []) : []
  if (calls.some((call) => call['id'] === message['tool_call_id'])) return undefined
  return `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.`
}

function nameOf(tool: Fields): string {
  const inner = tool['function'] ?? tool['custom']
  return isObject(inner) && typeof inner['name'] === 'string' ? inner['name'] : ''
}

function isContent(content: unknown): boolean {
  return typeof content === 'string' || (objects(content)?.length ?? 0) > 0
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}

const ROLES = new Set(['system', 'developer', 'user', 'assistant', 'tool'])
const NAME = /^[\w-]{1,64}$/
