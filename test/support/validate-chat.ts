import { isObject } from '../../src/model/json.ts'
import type { Profile } from '../../src/model/profile.ts'
import {
  type Fields,
  OPENAI_NAME,
  type Refuse,
  declarations,
  historicName,
  isText,
  list,
  onlyKeys,
  paired,
  uniqueIds,
} from './validate-shape.ts'

/** What a chat completions endpoint would refuse. */
export function validateChat(body: Fields, profile: Profile, refuse: Refuse): void {
  const messages = list(body['messages'])
  onlyKeys(body, PARAMETERS, refuse, 'body')
  tools(body, profile, refuse)
  parameters(body, profile, refuse)
  const spoken = messages[0]?.['role'] === profile.systemRole ? messages.slice(1) : messages
  if (profile.tools === 'text' && messages.some((one) => one['role'] === 'tool' || Object.hasOwn(one, 'tool_calls')))
    refuse('a call for a model without calls')
  if (spoken[0]?.['role'] !== 'user') refuse('T93 does not begin with the user')
  if (messages.at(-1)?.['role'] === 'assistant') refuse('T102 ends with the assistant')
  order(spoken, profile, refuse)
  for (const message of messages) MESSAGES[String(message['role'])]?.(message, profile, refuse)
  const marks = JSON.stringify(body['messages']).split('"cache_control"').length - 1
  if (marks > (profile.cache === 'marks' ? 4 : 0)) refuse('unasked cache marks')
}

const PARAMETERS =
  'model stream stream_options max_tokens max_completion_tokens temperature top_p stop reasoning_effort ' +
  'prompt_cache_key tool_choice parallel_tool_calls tools messages'

function parameters(body: Fields, profile: Profile, refuse: Refuse): void {
  const other = profile.maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  if (Object.hasOwn(body, other)) refuse(`T155 ${other} on an endpoint that calls it ${profile.maxTokensField}`)
  if (Object.hasOwn(body, 'stream_options') && (body['stream'] !== true || !profile.streamUsage))
    refuse('T155 stream_options')
  const stop = body['stop']
  if (stop !== undefined && (!Array.isArray(stop) || stop.length === 0 || stop.length > 4)) refuse('T155 stop')
  if (body['reasoning_effort'] !== undefined && profile.thinking === 'none') refuse('T155 reasoning_effort')
}

function tools(body: Fields, profile: Profile, refuse: Refuse): void {
  const given = list(body['tools'])
  if (!Object.hasOwn(body, 'tools')) {
    for (const key of ['tool_choice', 'parallel_tool_calls'])
      if (Object.hasOwn(body, key)) refuse(`T98 ${key} without tools`)
    return
  }
  if (profile.tools === 'text') refuse('tools for a model without calls')
  const inner = given.map((one) => one[String(one['type'])]).filter(isObject)
  const names = declarations(
    inner.map(({ name, description, parameters: schema }) => ({ name, description, schema })),
    { names: OPENAI_NAME, object: 'object' },
    refuse,
  )
  const strict = inner.filter((one) => Object.hasOwn(one, 'strict'))
  const constrained = profile.dialect === 'openai-strict' || (profile.constrain && profile.dialect === 'openai')
  if (!constrained && strict.length > 0) refuse('T150 strict')
  const custom = new Set(given.flatMap(({ custom: one }) => (isObject(one) ? [String(one['name'])] : [])))
  choice(body['tool_choice'], names, custom, refuse)
}

function choice(given: unknown, names: Set<string>, custom: Set<string>, refuse: Refuse): void {
  if (given === undefined || given === 'none' || given === 'required') return
  if (!isObject(given)) return refuse('T153 tool_choice', JSON.stringify(given))
  const allowed = isObject(given['allowed_tools']) ? list(given['allowed_tools']['tools']) : [given]
  if (allowed.length === 0) refuse('T153 nothing is allowed')
  for (const one of allowed) {
    const name = String(nameOf(one))
    if (!names.has(name)) refuse('T153 chooses what is not declared', name)
    if ((one['type'] === 'custom') !== custom.has(name)) refuse('T153 chooses a tool as what it is not', name)
  }
}

/** Roles and their neighbours, and the results right after their calls. */
function order(messages: readonly Fields[], profile: Profile, refuse: Refuse): void {
  uniqueIds(
    messages.flatMap((message) => list(message['tool_calls']).map(({ id }) => id)),
    { any: /^[\x21-\x7e]{1,40}$/, nine: /^[A-Za-z0-9]{9}$/, functions: /^functions\.[\w.-]+:\d+$/ }[profile.ids],
    refuse,
  )
  for (const [at, message] of messages.entries()) {
    const { role } = message
    const before = messages[at - 1]?.['role']
    const where = `message ${at}`
    if (role === 'assistant' && before === 'assistant') refuse('T93 two answers in a row', where)
    if (role === 'user' && before === 'user' && profile.alternate) refuse('T93 two user messages in a row', where)
    if (role === 'user' && before === 'tool' && profile.bridge) refuse('T94 a user message after a result', where)
    if (role === 'tool' && before !== 'tool' && before !== 'assistant')
      refuse('T89 a result that answers nothing', where)
    if (role !== 'assistant') continue
    const rest = messages.slice(at + 1)
    const end = rest.findIndex((one) => one['role'] !== 'tool')
    const results = end < 0 ? rest : rest.slice(0, end)
    const calls = list(message['tool_calls'])
    paired(
      calls.map(({ id }) => id),
      results.map((one) => one['tool_call_id']),
      refuse,
      where,
    )
    const names = calls.map(nameOf)
    if (profile.resultName && results.some((one, n) => one['name'] !== names[n]))
      refuse('T99 a result without its name')
    if (!profile.resultName && results.some((one) => Object.hasOwn(one, 'name'))) refuse('T99 an unasked name')
  }
}

/** The name inside a call, a tool or a choice, whatever its type. */
function nameOf(given: Fields): unknown {
  const inner = given[String(given['type'])]
  return isObject(inner) ? inner['name'] : undefined
}

type Check = (message: Fields, profile: Profile, refuse: Refuse) => void

function system(message: Fields, profile: Profile, refuse: Refuse): void {
  onlyKeys(message, 'role content', refuse, 'system')
  if (message['role'] !== profile.systemRole) refuse('T101 the role of the system message')
  const { content } = message
  const texts = Array.isArray(content) ? content.map((part: Fields) => part['text']) : [content]
  if (texts.length === 0 || !texts.every(isText)) refuse('T136 an empty system message')
}

function user(message: Fields, profile: Profile, refuse: Refuse): void {
  onlyKeys(message, 'role content', refuse, 'user')
  const { content } = message
  if (typeof content === 'string') return isText(content) ? undefined : refuse('T85 an empty user message')
  if (list(content).length === 0) refuse('T85 an empty user message')
  for (const part of list(content)) {
    if (part['type'] !== 'text' && !profile.media) refuse('T100 media for a model that takes none')
    if (part['type'] === 'text' && !isText(part['text'])) refuse('T136 an empty text')
    if (part['type'] === 'image_url') picture(part['image_url'], refuse)
    if (part['type'] === 'input_audio' && !(isObject(part['input_audio']) && isText(part['input_audio']['data'])))
      refuse('T100 empty audio')
    if (part['type'] === 'file' && !(isObject(part['file']) && /^data:[^,]+,./.test(String(part['file']['file_data']))))
      refuse('T100 an empty file')
  }
}

function picture(given: unknown, refuse: Refuse): void {
  const url = isObject(given) ? String(given['url']) : ''
  if (!/^(?:data:image\/(?:png|jpeg|gif|webp);base64,.|https?:\/\/.)/.test(url))
    refuse('T100 a picture that is not there', url)
}

function assistant(message: Fields, profile: Profile, refuse: Refuse): void {
  onlyKeys(
    message,
    'role content tool_calls reasoning_content reasoning reasoning_text reasoning_details',
    refuse,
    'assistant',
  )
  const calls = list(message['tool_calls'])
  if (Object.hasOwn(message, 'tool_calls') && calls.length === 0) refuse('T98 an empty list of calls')
  const { content } = message
  if (Array.isArray(content)) refuse('T87 content as a list')
  else if (!isText(content)) {
    if (calls.length === 0) refuse('T85 an answer that says nothing')
    const form = content === undefined ? 'omit' : content === null ? 'null' : 'empty'
    if (form !== profile.emptyContent) refuse(`T86 no content, written as ${form}`)
  }
  if (profile.needsReasoning && typeof message[profile.needsReasoning] !== 'string') refuse('T75 no reasoning field')
  const fields = ['reasoning_content', 'reasoning', 'reasoning_text', 'reasoning_details']
  for (const key of fields.filter((field) => Object.hasOwn(message, field)))
    if (profile.replay === 'never' && !(key === profile.needsReasoning && message[key] === '')) refuse('T78 reasoning')
  for (const call of calls) {
    onlyKeys(call, 'id type function custom extra_content', refuse, 'call')
    const inner = call[String(call['type'])]
    if (!isObject(inner)) refuse('T30 a call of no kind')
    else if (call['type'] === 'custom') {
      if (typeof inner['input'] !== 'string') refuse('T30 no input')
    } else if (!argumentsFit(inner['arguments'])) refuse('T40 arguments that are no object', String(inner['arguments']))
    historicName(nameOf(call), OPENAI_NAME, refuse)
  }
}

/** Is this the text of a JSON object, of which every string can be sent? */
export function argumentsFit(text: unknown): boolean {
  try {
    const value: unknown = JSON.parse(String(text))
    return typeof text === 'string' && isObject(value) && !/\\u(?:0000|d[89a-f])/.test(JSON.stringify(value))
  } catch {
    return false
  }
}

function tool(message: Fields, _profile: Profile, refuse: Refuse): void {
  onlyKeys(message, 'role tool_call_id name content', refuse, 'tool')
  if (!isText(message['content'])) refuse('T99 a result that is no text')
}

const MESSAGES: Record<string, Check> = { system, developer: system, user, assistant, tool }
