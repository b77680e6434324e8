import { defined } from '../../model/defined.ts'
import type { Warning } from '../../model/event.ts'
import {
  isObject,
  type Json,
  type JsonObject,
  filterObjects,
  nonBlankString,
  objectOrEmpty,
  stringOrEmpty,
} from '../../model/json.ts'
import type { OtherFields } from '../../model/provider-options.ts'
import type { HostedTool, ModelParams, ModelRequest, ToolChoice, ToolGrammar, ToolSpec } from '../../model/request.ts'
import type { AssistantPart, CallPart, ResultPart, Turn } from '../../model/turn.ts'
import { createFreeformSchema } from '../../schema/freeform-schema.ts'
import { parseCallArguments } from '../calls/parse-arguments.ts'
import { createUnansweredCalls, type ResultReference } from '../history/unanswered-calls.ts'
import { readOutputFormat } from '../output-format.ts'
import { readOtherFields } from '../provider-options.ts'
import {
  appendResults,
  createNativeDataFromRequest,
  keepMessageFields,
  pickOtherFields,
  readOpenAiCacheTtl,
  readOpenAiEffort,
  readToolSchema,
  warnAboutFields,
  warnAboutUnknown,
} from '../read-parts.ts'
import type { DecodedRequest } from '../wire.ts'
import { REASONING_FIELDS } from './reasoning-details.ts'
import { expandContentList } from './content-list.ts'
import { checkChatTypes } from './field-types.ts'
import { readContentParts } from './read-content.ts'

const WIRE_ID = 'openai-chat'
const READ_ORIGIN = { provider: WIRE_ID, wire: WIRE_ID, model: '' } as const

export function readChatRequest(body: unknown): DecodedRequest {
  const warnings: Warning[] = []
  const fields = objectOrEmpty(body)
  checkChatTypes(fields, warnings)
  const turns: Turn[] = []
  const system: string[] = []
  const hostedTools: HostedTool[] = []
  const tools = readTools(fields['tools'], hostedTools, warnings)
  let callCount = 0
  const unanswered = createUnansweredCalls({ anyName: true })
  let results: Record<string, unknown>[] = []
  /** Results are matched together with those that follow them. */
  const flushResults = (): void => {
    const answered = unanswered.match(results.map(toReference))
    if (results.length > 0) appendResults(turns, ...results.map((one, at) => readToolResult(one, answered[at])))
    results = []
  }
  const messages = listObjects(fields['messages'], 'A message', warnings)
  for (const message of messages.flatMap((one) => expandContentList(one, warnings))) {
    const role = message['role']
    if (role === 'tool' || role === 'function') {
      results.push(message)
      continue
    }
    flushResults()
    if (role === 'system' || role === 'developer') readSystemMessage(message, turns, system, warnings)
    else if (role === 'assistant') {
      const parts = readAssistantParts(message, () => `call${callCount++}`, warnings)
      unanswered.addResponse(parts.filter((part) => part.kind === 'call'))
      turns.push({ role: 'assistant', origin: READ_ORIGIN, parts, finish: { reason: 'stop' } })
    } else {
      if (role !== 'user') warnAboutUnknown('The role of a message', role ?? message, warnings)
      const others = pickOtherFields(message, 'role content')
      const parts = keepMessageFields(readContentParts(message['content']), WIRE_ID, others, warnings)
      turns.push({ role: 'user', parts })
    }
  }
  flushResults()
  const params = readParams(fields)
  const format = readResponseFormat(objectOrEmpty(fields['response_format']))
  const options = readOptions(fields, params, format.output !== undefined)
  const request: ModelRequest = {
    model: stringOrEmpty(fields['model']),
    ...(system.length > 0 && { system: system.join('\n') }),
    tools,
    ...(hostedTools.length > 0 && { hostedTools }),
    ...defined({ toolChoice: readToolChoice(fields['tool_choice']) }),
    turns,
    params,
    ...format,
    ...defined({ session: nonBlankString(fields['prompt_cache_key']) }),
    ...(options && { providerOptions: { [WIRE_ID]: options } }),
  }
  return { request, warnings }
}

function listObjects(list: unknown, what: string, warnings: Warning[]): Record<string, unknown>[] {
  if (Array.isArray(list)) for (const one of list) if (!isObject(one)) warnAboutUnknown(what, one, warnings)
  return filterObjects(list)
}

/** At the start they are the system prompt; later ones are notes, so that the order is kept (T101). */
function readSystemMessage(
  message: Record<string, unknown>,
  turns: Turn[],
  system: string[],
  warnings: Warning[],
): void {
  const parts = readContentParts(message['content'])
  warnAboutFields(pickOtherFields(message, 'role content'), 'a system message', warnings)
  for (const { native } of parts) if (native) warnAboutUnknown('Part of a system message', native.data, warnings)
  const text = parts.map((part) => (part.kind === 'text' ? part.text : '')).join('\n')
  if (turns.length === 0) system.push(text)
  else turns.push({ role: 'note', text })
}

/** The fields that nothing else reads, and those whose value says more than what was read of it. */
function readOptions(body: Record<string, unknown>, params: ModelParams, hasOutput: boolean): OtherFields | undefined {
  const { response_format: format, prompt_cache_options: cache, stream_options: stream, tool_choice: choice } = body
  const { ttl, ...otherCache } = objectOrEmpty(cache)
  const { include_usage: _usage, ...otherStream } = objectOrEmpty(stream)
  const { json_schema: schema, ...otherFormat } = objectOrEmpty(format)
  const otherSchema = readOtherFields(objectOrEmpty(schema), 'name schema strict')
  const unreadFormat = hasOutput
    ? { ...readOtherFields(otherFormat, 'type'), ...(otherSchema && { json_schema: otherSchema }) }
    : otherFormat['type'] === 'text'
      ? {}
      : objectOrEmpty(format)
  const found = {
    ...readOtherFields(body, KNOWN_FIELDS),
    ...toOption('response_format', unreadFormat),
    ...toOption('stream_options', otherStream),
    ...toOption('prompt_cache_options', { ...otherCache, ...(params.cacheTtl === undefined && defined({ ttl })) }),
    ...(!isPlainChoice(choice) && { tool_choice: choice }),
    ...pickUnread(body, params),
  }
  return Object.keys(found).length > 0 ? (found as OtherFields) : undefined
}

const KNOWN_FIELDS =
  'model messages stream stream_options max_tokens max_completion_tokens temperature top_p stop reasoning_effort response_format prompt_cache_key prompt_cache_retention prompt_cache_options tool_choice parallel_tool_calls tools'

/** Settings of a type that is not expected go back as they came. */
function pickUnread(body: Record<string, unknown>, params: ModelParams): Record<string, unknown> {
  const unread = SETTINGS.filter(
    ([name, param]) => body[name] !== undefined && body[name] !== null && params[param] === undefined,
  )
  return Object.fromEntries(unread.map(([name]) => [name, body[name]]))
}

const SETTINGS = [
  ['max_tokens', 'maxTokens'],
  ['max_completion_tokens', 'maxTokens'],
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['stop', 'stop'],
  ['reasoning_effort', 'effort'],
  ['prompt_cache_retention', 'cacheTtl'],
] as const

function toOption(name: string, fields: Record<string, unknown>): Record<string, unknown> {
  return Object.keys(fields).length > 0 ? { [name]: fields } : {}
}

function readResponseFormat(fields: Record<string, unknown>): Pick<ModelRequest, 'output'> {
  const { name, schema } = objectOrEmpty(fields['json_schema'])
  return readOutputFormat(name, schema)
}

function readAssistantParts(
  message: Record<string, unknown>,
  newId: () => string,
  warnings: Warning[],
): AssistantPart[] {
  const parts: AssistantPart[] = []
  const field = REASONING_FIELDS.find((key) => stringOrEmpty(message[key]) !== '')
  const details = Array.isArray(message['reasoning_details']) ? (message['reasoning_details'] as Json) : undefined
  if (field !== undefined || details !== undefined) {
    const native = createNativeDataFromRequest(WIRE_ID, undefined, defined({ field, details }))
    parts.push({ kind: 'reasoning', text: field ? String(message[field]) : '', native })
  }
  parts.push(...readContentParts(message['content']))
  const { refusal } = message
  if (typeof refusal === 'string' && refusal !== '')
    parts.push({
      kind: 'text',
      text: refusal,
      refusal: true,
      native: createNativeDataFromRequest(WIRE_ID, undefined, { refusal: true }),
    })
  for (const call of listObjects(message['tool_calls'], 'A call', warnings)) {
    const isCall = [call['function'], call['custom']].some(isObject) || typeof call['name'] === 'string'
    if (isCall) parts.push(readCall(call, newId))
    else warnAboutUnknown('A call of an unknown form', call, warnings)
  }
  // The older form of a call has no id.
  const older = message['function_call']
  if (isObject(older)) parts.push(readCall({ type: 'function', function: older }, newId))
  const known = `role content refusal tool_calls function_call reasoning_details ${REASONING_FIELDS.join(' ')}`
  const filled = Object.fromEntries(Object.entries(message).filter(([, value]) => value !== null))
  return keepMessageFields<AssistantPart>(parts, WIRE_ID, pickOtherFields(filled, known), warnings)
}

/** What a call has beside its name and its arguments is merged into it again. */
function readCall(call: Record<string, unknown>, newId: () => string): AssistantPart {
  const key = isObject(call['function']) ? 'function' : isObject(call['custom']) ? 'custom' : undefined
  const inner = key === undefined ? call : objectOrEmpty(call[key])
  const args = inner['arguments'] ?? inner['input'] ?? inner['args']
  const raw = typeof args === 'string' ? args : JSON.stringify(args ?? {})
  const id = nonBlankString(call['id'])
  const isFreeform = call['type'] === 'custom'
  const reading = parseCallArguments(raw)
  const input = isFreeform ? { input: raw } : reading.ok ? reading.inputs[0] : undefined
  const innerFields = key && pickOtherFields(inner, 'name arguments input args')
  const outer = pickOtherFields(call, key ? `id type index ${key}` : 'id type index name arguments input args')
  const data = { ...outer, ...(key && innerFields && { [key]: innerFields }) }
  return {
    kind: 'call',
    id: id ?? newId(),
    name: stringOrEmpty(inner['name']),
    raw,
    ...defined({ input }),
    ...(isFreeform && { freeform: true as const }),
    native: createNativeDataFromRequest(WIRE_ID, id, Object.keys(data).length > 0 ? data : undefined),
  }
}

/** An id that no call has is not that of another call. */
function toReference(message: Record<string, unknown>): ResultReference {
  const id = nonBlankString(message['tool_call_id'])
  return id === undefined ? { name: nonBlankString(message['name']) } : { id }
}

/** A result without the id of a call belongs to the call of its name, or else to the first one that has no result yet. */
function readToolResult(message: Record<string, unknown>, answered: CallPart | undefined): ResultPart {
  const id = nonBlankString(message['tool_call_id'])
  const fields = pickOtherFields(message, 'role content tool_call_id name')
  return {
    kind: 'result',
    id: id ?? answered?.id ?? '',
    name: stringOrEmpty(message['name']),
    status: 'ok',
    content: readContentParts(message['content']),
    native: createNativeDataFromRequest(WIRE_ID, id, fields && { message: fields }),
  }
}

/** Tools that the client runs; the others are added to `hosted`. */
function readTools(list: unknown, hosted: HostedTool[], warnings: Warning[]): ToolSpec[] {
  return listObjects(list, 'A tool', warnings).flatMap((fields) => {
    const { type = isObject(fields['custom']) ? 'custom' : 'function' } = fields
    const inner = objectOrEmpty(fields[type === 'custom' ? 'custom' : 'function'] ?? fields)
    if ((type === 'function' || type === 'custom') && typeof inner['name'] === 'string')
      return [readTool(fields, inner, type === 'custom')]
    hosted.push({ wire: WIRE_ID, declaration: fields as JsonObject })
    return []
  })
}

function readTool(fields: Record<string, unknown>, inner: Record<string, unknown>, isFreeform: boolean): ToolSpec {
  const key = isFreeform ? 'custom' : 'function'
  const grammar = isFreeform ? readGrammar(inner['format']) : undefined
  const isPlain = grammar !== undefined || objectOrEmpty(inner['format'])['type'] === 'text'
  const known = `type name description parameters${isFreeform && isPlain ? ' format' : ''}${inner['strict'] === true ? '' : ' strict'}`
  const innerFields = pickOtherFields(inner, inner === fields ? `${known} defer_loading` : known)
  const outer = inner === fields ? undefined : pickOtherFields(fields, `type defer_loading ${key}`)
  const data = { ...outer, ...(innerFields && { [key]: innerFields }) }
  const native = Object.keys(data).length > 0 ? createNativeDataFromRequest(WIRE_ID, undefined, data) : undefined
  return {
    name: stringOrEmpty(inner['name']),
    description: stringOrEmpty(inner['description']),
    schema: isFreeform ? createFreeformSchema(grammar) : readToolSchema(inner['parameters']),
    ...(isFreeform && { freeform: true }),
    ...(fields['defer_loading'] === true && { deferred: true }),
    ...defined({ grammar, native }),
  }
}

/** A grammar in exactly the form in which it is declared again. */
function readGrammar(format: unknown): ToolGrammar | undefined {
  const { type, grammar, ...more } = objectOrEmpty(format)
  const { syntax, definition, ...inside } = objectOrEmpty(grammar)
  if (type !== 'grammar' || typeof definition !== 'string' || Object.keys({ ...more, ...inside }).length > 0)
    return undefined
  return syntax === 'lark' || syntax === 'regex' ? { syntax, definition } : undefined
}

function readToolChoice(value: unknown): ToolChoice | undefined {
  if (value === 'auto' || value === 'none' || value === 'required') return value
  if (value === 'any') return 'required'
  if (!isObject(value)) return undefined
  const allowed = value['allowed_tools']
  if (isObject(allowed) && Array.isArray(allowed['tools']))
    return { only: filterObjects(allowed['tools']).flatMap((one) => getChosenName(one) ?? []) }
  const name = getChosenName(value)
  return name === undefined ? undefined : { name }
}

/** Is a choice exactly what it is read as? */
function isPlainChoice(value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (typeof value === 'string') return ['auto', 'none', 'required', 'any'].includes(value)
  const { type, allowed_tools: allowed, ...more } = objectOrEmpty(value)
  if (type !== 'allowed_tools') return isPlainReference(value)
  const { mode, tools, ...inside } = objectOrEmpty(allowed)
  const isPlain = mode === 'auto' && Array.isArray(tools) && tools.every(isPlainReference)
  return isPlain && Object.keys({ ...more, ...inside }).length === 0
}

function isPlainReference(value: unknown): boolean {
  const { type: _type, function: called, custom = called, ...more } = objectOrEmpty(value)
  const { name, ...inside } = objectOrEmpty(custom)
  return typeof name === 'string' && Object.keys({ ...more, ...inside }).length === 0
}

function getChosenName(fields: Record<string, unknown>): string | undefined {
  const name = objectOrEmpty([fields['function'], fields['custom']].find(isObject))['name']
  return typeof name === 'string' ? name : undefined
}

function readParams(body: Record<string, unknown>): ModelParams {
  const maxTokens = body['max_completion_tokens'] ?? body['max_tokens']
  return {
    ...(typeof maxTokens === 'number' && { maxTokens }),
    ...(typeof body['temperature'] === 'number' && { temperature: body['temperature'] }),
    ...(typeof body['top_p'] === 'number' && { topP: body['top_p'] }),
    ...(Array.isArray(body['stop']) && { stop: body['stop'].map(String) }),
    ...(typeof body['stop'] === 'string' && { stop: [body['stop']] }),
    ...(typeof body['parallel_tool_calls'] === 'boolean' && { parallelCalls: body['parallel_tool_calls'] }),
    ...defined({ effort: readOpenAiEffort(body['reasoning_effort']), cacheTtl: readOpenAiCacheTtl(body) }),
    ...(typeof body['stream'] === 'boolean' && { stream: body['stream'] }),
  }
}
