import { isObject, tryParseJson } from '../../model/json.ts'
import { checkOpenAiFormat } from './response-format.ts'
import { type UnknownFields, findFirstError, toObjectList, findDuplicate } from './read-fields.ts'

export function checkChatRequest(body: UnknownFields): string | undefined {
  const messages = toObjectList(body['messages'])
  if (!messages) return "Invalid type for 'messages': expected an array of objects."
  if (messages.length === 0) return "Invalid 'messages': empty array. Expected an array with minimum length 1."
  const format = body['response_format']
  const details = isObject(format) ? format['json_schema'] : undefined
  return (
    checkTools(body) ??
    checkOpenAiFormat(format, details, 'response_format', body) ??
    findFirstError(messages, (message, at) => checkMessage(message, at, messages))
  )
}

function checkTools(body: UnknownFields): string | undefined {
  const tools = body['tools']
  if (tools === undefined) {
    const dependentField = ['tool_choice', 'parallel_tool_calls'].find(
      (key) => body[key] !== undefined && body[key] !== 'none',
    )
    return dependentField && `'${dependentField}' is only allowed when 'tools' are specified.`
  }
  const listed = toObjectList(tools)
  if (!listed || listed.length === 0) return "[] is too short - 'tools'"
  if (listed.length > 128) return `Invalid 'tools': array too long. Expected an array with maximum length 128.`
  const names = listed.map((tool) => getToolName(tool))
  const wrong = names.findIndex((name) => !NAME_PATTERN.test(name))
  if (wrong >= 0) return `Invalid 'tools[${wrong}].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.`
  const duplicate = findDuplicate(names)
  return duplicate && `Invalid 'tools': the name ${duplicate} is not unique.`
}

function checkMessage(message: UnknownFields, at: number, messages: readonly UnknownFields[]): string | undefined {
  const { role, content } = message
  const here = `messages[${at}]`
  if (typeof role !== 'string' || !MESSAGE_ROLES.has(role))
    return `Invalid value: '${String(role)}' for '${here}.role'.`
  const calls = message['tool_calls'] === undefined ? [] : toObjectList(message['tool_calls'])
  if (role === 'tool') return checkResult(message, at, messages)
  if (role !== 'assistant')
    return isContent(content) ? undefined : `Invalid value for '${here}.content': expected a string or an array.`
  if (!calls || (message['tool_calls'] !== undefined && calls.length === 0))
    return `Invalid '${here}.tool_calls': empty array. Expected an array with minimum length 1.`
  if (calls.length === 0 && (!isContent(content) || content === ''))
    return `Invalid value for '${here}.content': expected a string, got ${content === '' ? 'an empty one' : 'null'}.`
  return (
    findFirstError(calls, (call, index) => checkCall(call, `${here}.tool_calls[${index}]`)) ??
    checkPairing(calls, at, messages)
  )
}

function checkCall(call: UnknownFields, here: string): string | undefined {
  const { id, type } = call
  if (typeof id !== 'string' || id === '' || id.length > 40)
    return `Invalid '${here}.id': expected a string with length between 1 and 40.`
  if (type !== 'function' && type !== 'custom') return `Missing required parameter: '${here}.type'.`
  const inner = call[type]
  if (!isObject(inner)) return `Missing required parameter: '${here}.${type}'.`
  if (!NAME_PATTERN.test(getToolName(call)))
    return `Invalid '${here}.${type}.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.`
  const args = inner[type === 'function' ? 'arguments' : 'input']
  if (typeof args !== 'string') return `Invalid type for '${here}.${type}.arguments': expected a string.`
  return type === 'custom' || isObject(tryParseJson(args))
    ? undefined
    : `Invalid '${here}.function.arguments': not a JSON object.`
}

/** Each call has its result in the messages right after it, and each of these answers one of the calls. */
function checkPairing(
  calls: readonly UnknownFields[],
  at: number,
  messages: readonly UnknownFields[],
): string | undefined {
  const ids = calls.map((call) => String(call['id']))
  const duplicate = findDuplicate(ids)
  if (duplicate !== undefined) return `Duplicate value for 'tool_call_id' of '${duplicate}' in messages[${at}].`
  const answered: string[] = []
  for (let next = at + 1; messages[next]?.['role'] === 'tool'; next++)
    answered.push(String(messages[next]?.['tool_call_id']))
  const unanswered = ids.filter((id) => !answered.includes(id))
  if (unanswered.length > 0)
    return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${unanswered.join(', ')}`
  const duplicateAnswer = findDuplicate(answered)
  return duplicateAnswer && `The call ${duplicateAnswer} has more than one response message.`
}

function checkResult(message: UnknownFields, at: number, messages: readonly UnknownFields[]): string | undefined {
  if (!isContent(message['content'])) return `Invalid value for 'messages[${at}].content': expected a string.`
  let index = at - 1
  while (messages[index]?.['role'] === 'tool') index--
  const before = messages[index]
  const calls = before?.['role'] === 'assistant' ? (toObjectList(before['tool_calls']) ?? []) : []
  if (calls.some((call) => call['id'] === message['tool_call_id'])) return undefined
  return `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.`
}

function getToolName(tool: UnknownFields): string {
  const inner = tool['function'] ?? tool['custom']
  return isObject(inner) && typeof inner['name'] === 'string' ? inner['name'] : ''
}

function isContent(content: unknown): boolean {
  return typeof content === 'string' || (toObjectList(content)?.length ?? 0) > 0
}

const MESSAGE_ROLES = new Set(['system', 'developer', 'user', 'assistant', 'tool'])
const NAME_PATTERN = /^[\w-]{1,64}$/
