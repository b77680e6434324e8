import { isObject } from '../../model/json.ts'
import { type UnknownFields, findDuplicate, findFirstError, isNonBlankString, toObjectList } from './read-fields.ts'

export function checkInteractionsRequest(body: UnknownFields): string | undefined {
  const { input } = body
  if (!isNonBlankString(body['model']) && !isNonBlankString(body['agent'])) return "Missing required parameter 'model'."
  const unknownKey = Object.keys(body).find((key) => !BODY_KEYS.has(key))
  if (unknownKey !== undefined) return `Unknown parameter '${unknownKey}'.`
  if (typeof input === 'string') return input === '' ? "Missing required parameter 'input'." : checkTools(body)
  const steps = toObjectList(isObject(input) ? [input] : input)
  if (!steps || steps.length === 0) return "Missing required parameter 'input'."
  return (
    checkTools(body) ??
    checkFormat(body['response_format']) ??
    findFirstError(steps, checkStep) ??
    checkPairing(steps, isNonBlankString(body['previous_interaction_id']))
  )
}

function checkTools(body: UnknownFields): string | undefined {
  if (body['tools'] === undefined) return undefined
  const tools = toObjectList(body['tools'])
  if (!tools) return "Invalid value at 'tools'."
  const functions = tools.filter(({ type }) => type === 'function')
  const wrong = tools.findIndex(({ type }) => !isNonBlankString(type))
  if (wrong >= 0) return `The value is not supported for 'type' at 'tools[${wrong}]'.`
  const names = functions.map(({ name }) => String(name))
  const illegal = names.find((name) => !NAME_PATTERN.test(name))
  if (illegal !== undefined) return `Invalid function name '${illegal}'.`
  const duplicate = findDuplicate(names)
  return duplicate && `Duplicate function declaration found: ${duplicate}.`
}

function checkFormat(format: unknown): string | undefined {
  if (format === undefined) return undefined
  if (!isObject(format) || !isNonBlankString(format['type'])) return "Invalid value at 'response_format'."
  return format['schema'] !== undefined && format['mime_type'] !== 'application/json'
    ? "'response_format.schema' is only allowed with the mime type application/json."
    : undefined
}

function checkStep(step: UnknownFields, at: number): string | undefined {
  const here = `input[${at}]`
  switch (step['type']) {
    case 'user_input':
    case 'model_output': {
      const content = toObjectList(step['content'])
      if (!content || content.length === 0) return `'${here}.content' must not be empty.`
      return findFirstError(content, (one, index) => checkContent(one, `${here}.content[${index}]`))
    }
    case 'thought':
      return isNonBlankString(step['signature']) ? undefined : 'Request contains an invalid argument.'
    case 'function_call':
      if (!isNonBlankString(step['id'])) return `Missing required parameter '${here}.id'.`
      if (!NAME_PATTERN.test(String(step['name']))) return `Invalid value at '${here}.name'.`
      return isObject(step['arguments']) ? undefined : `Invalid value at '${here}.arguments'.`
    case 'function_result': {
      if (!isNonBlankString(step['call_id'])) return `Missing required parameter '${here}.call_id'.`
      const { result } = step
      const content = toObjectList(result)
      if (content) return findFirstError(content, (one, index) => checkContent(one, `${here}.result[${index}]`))
      return typeof result === 'string' || isObject(result) ? undefined : `Missing required parameter '${here}.result'.`
    }
    default:
      return isNonBlankString(step['type']) ? undefined : `The value is not supported for 'type' at '${here}'.`
  }
}

function checkContent(content: UnknownFields, here: string): string | undefined {
  const { type, text, data, uri } = content
  if (type === 'text') return typeof text === 'string' ? undefined : `Missing required parameter '${here}.text'.`
  if (typeof type !== 'string' || !MEDIA_TYPES.has(type)) return `The value is not supported for 'type' at '${here}'.`
  return isNonBlankString(data) || isNonBlankString(uri) ? undefined : `Missing required parameter '${here}.data'.`
}

/** Each call has its result after it. */
function checkPairing(steps: readonly UnknownFields[], hasStoredHistory: boolean): string | undefined {
  const open = new Set<string>()
  const seen = new Set<string>()
  for (const { type, id, call_id: callId } of steps) {
    if (type === 'function_call') {
      if (seen.has(String(id))) return `Duplicate function call id ${String(id)}.`
      seen.add(String(id))
      open.add(String(id))
    } else if (type === 'function_result' && !open.delete(String(callId)) && !hasStoredHistory)
      return `The function result ${String(callId)} belongs to no function call.`
    else if (type === 'user_input' && open.size > 0)
      return `Function call ${[...open].join(', ')} has no function result.`
  }
  const [unanswered] = open
  return unanswered && `Function call ${unanswered} has no function result.`
}

const BODY_KEYS = new Set(
  'agent agent_config background cached_content continuation_token environment generation_config input labels model previous_interaction_id response_format response_mime_type response_modalities safety_settings service_tier store stream system_instruction tools webhook_config'.split(
    ' ',
  ),
)
const MEDIA_TYPES = new Set(['image', 'audio', 'video', 'document'])
const NAME_PATTERN = /^[A-Za-z_][\w.:-]{0,127}$/
