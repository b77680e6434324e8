import { defined } from '../../model/defined.ts'
import type { Warning } from '../../model/event.ts'
import {
  isObject,
  type JsonObject,
  filterObjects,
  nonBlankString,
  objectOrEmpty,
  stringOrEmpty,
} from '../../model/json.ts'
import type { OtherFields } from '../../model/provider-options.ts'
import type { ModelParams, ModelRequest, ToolChoice } from '../../model/request.ts'
import type { Turn } from '../../model/turn.ts'
import { readOutputFormat } from '../output-format.ts'
import { readOtherFields } from '../provider-options.ts'
import { readOpenAiCacheTtl, readOpenAiEffort, warnAboutUnknown } from '../read-parts.ts'
import type { DecodedRequest } from '../wire.ts'
import { checkResponsesTypes } from './field-types.ts'
import type { JsonFields } from './output-item.ts'
import { readItem } from './read-items.ts'
import { createToolReader, type ToolReader } from './read-tools.ts'

const WIRE_ID = 'openai-responses'

export function readResponsesRequest(body: unknown): DecodedRequest {
  const warnings: Warning[] = []
  const fields = objectOrEmpty(body)
  checkResponsesTypes(fields, warnings)
  const system = [nonBlankString(fields['instructions'])].filter((text) => text !== undefined)
  const turns: Turn[] = []
  const reader = createToolReader(warnings)
  // The names of the declared tools come first: calls refer to them.
  const tools = reader.read(fields['tools'])
  for (const item of listItems(fields['input'], warnings)) readItem(item, { turns, system, tools: reader, warnings })
  const session = nonBlankString(fields['prompt_cache_key'])
  const previous = nonBlankString(fields['previous_response_id'])
  const params = readParams(fields)
  const format = objectOrEmpty(objectOrEmpty(fields['text'])['format'])
  const output = format['type'] === 'json_schema' ? readOutputFormat(format['name'], format['schema']) : {}
  const options = readOptions(fields, params, output.output !== undefined)
  const request: ModelRequest = {
    model: nonBlankString(fields['model']) ?? '',
    ...(system.length > 0 && { system: system.join('\n') }),
    tools,
    ...(reader.hosted.length > 0 && { hostedTools: reader.hosted }),
    ...defined({ toolChoice: readToolChoice(fields['tool_choice'], reader) }),
    turns,
    params,
    ...output,
    ...defined({ session }),
    ...(previous !== undefined && { previous: { wire: WIRE_ID, id: previous } }),
    ...(options && { providerOptions: { [WIRE_ID]: options } }),
  }
  return { request, warnings }
}

function listItems(input: unknown, warnings: Warning[]): JsonFields[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  if (input !== undefined && !Array.isArray(input)) warnAboutUnknown('The input', input, warnings)
  if (Array.isArray(input))
    for (const item of input) if (!isObject(item)) warnAboutUnknown('An item that is not an object', item, warnings)
  return filterObjects(input)
}

/** The fields that nothing else reads, and those whose value says more than what was read of it. */
function readOptions(body: JsonFields, params: ModelParams, hasOutput: boolean): OtherFields | undefined {
  const { text, reasoning, include, tool_choice: choice, prompt_cache_options: cache } = body
  const { format, ...otherText } = objectOrEmpty(text)
  const otherFormat = hasOutput
    ? readOtherFields(objectOrEmpty(format), 'type name schema strict')
    : objectOrEmpty(format)['type'] !== 'text' && isObject(format)
      ? format
      : undefined
  const { effort, ...otherReasoning } = objectOrEmpty(reasoning)
  // It is what we ask for with every effort.
  if (params.effort !== undefined && otherReasoning['summary'] === 'auto') delete otherReasoning['summary']
  const { ttl, ...otherCache } = objectOrEmpty(cache)
  const found = {
    ...readOtherFields(body, KNOWN_FIELDS),
    ...toOption('text', { ...otherText, ...defined({ format: otherFormat }) }),
    ...toOption('reasoning', { ...otherReasoning, ...(params.effort === undefined && defined({ effort })) }),
    ...toOption('prompt_cache_options', { ...otherCache, ...(params.cacheTtl === undefined && defined({ ttl })) }),
    ...(Array.isArray(include) &&
      include.some((one) => one !== ENCRYPTED) && { include: [...new Set([...include, ENCRYPTED])] }),
    ...(!isPlainChoice(choice) && { tool_choice: choice }),
    ...pickUnread(body, params),
  }
  return Object.keys(found).length > 0 ? (found as OtherFields) : undefined
}

const KNOWN_FIELDS =
  'model input instructions tools text reasoning include prompt_cache_key prompt_cache_options prompt_cache_retention previous_response_id tool_choice stream store max_output_tokens temperature top_p parallel_tool_calls'

const ENCRYPTED = 'reasoning.encrypted_content'

function toOption(name: string, fields: Record<string, unknown>): Record<string, unknown> {
  return Object.keys(fields).length > 0 ? { [name]: fields } : {}
}

/** Settings of a type that is not expected go back as they came. */
function pickUnread(body: JsonFields, params: ModelParams): Record<string, unknown> {
  const isUnread = ([name, param]: readonly [string, keyof ModelParams]) =>
    body[name] !== undefined && body[name] !== null && params[param] === undefined
  const unread = SETTINGS.filter(isUnread).map(([name]) => [name, body[name]])
  return Object.fromEntries(unread) as Record<string, unknown>
}

const SETTINGS = [
  ['max_output_tokens', 'maxTokens'],
  ['temperature', 'temperature'],
  ['top_p', 'topP'],
  ['store', 'store'],
  ['prompt_cache_retention', 'cacheTtl'],
] as const

function readToolChoice(value: unknown, reader: ToolReader): ToolChoice | undefined {
  if (value === 'auto' || value === 'none' || value === 'required') return value
  const { type, tools, name, namespace } = objectOrEmpty(value)
  const toToolName = (one: JsonFields) => reader.toToolName(one['namespace'], stringOrEmpty(one['name']))
  if (type === 'allowed_tools') return { only: filterObjects(tools).filter(isToolReference).map(toToolName) }
  return isToolReference({ type, name }) ? { name: toToolName({ name, namespace }) } : undefined
}

function isToolReference({ type, name }: JsonFields): boolean {
  return (type === 'function' || type === 'custom' || type === undefined) && nonBlankString(name) !== undefined
}

/** Is a choice exactly what it is read as? */
function isPlainChoice(value: unknown): boolean {
  if (value === undefined || value === null || value === 'auto' || value === 'none' || value === 'required') return true
  const { type, mode, tools, ...more } = objectOrEmpty(value)
  if (type === 'allowed_tools')
    return mode === 'auto' && Array.isArray(tools) && tools.every(isPlainReference) && Object.keys(more).length === 0
  return isPlainReference(value)
}

function isPlainReference(value: unknown): boolean {
  const { type: _type, name: _name, namespace: _namespace, ...more } = objectOrEmpty(value)
  return isToolReference(objectOrEmpty(value)) && Object.keys(more).length === 0
}

/** Parallel calls are the default on this wire, so only `false` has a meaning. */
function readParams(body: JsonFields): ModelParams {
  const effort = readOpenAiEffort(objectOrEmpty(body['reasoning'])['effort'])
  return {
    ...(typeof body['max_output_tokens'] === 'number' && { maxTokens: body['max_output_tokens'] }),
    ...(typeof body['temperature'] === 'number' && { temperature: body['temperature'] }),
    ...(typeof body['top_p'] === 'number' && { topP: body['top_p'] }),
    ...defined({ effort, cacheTtl: readOpenAiCacheTtl(body) }),
    ...(body['parallel_tool_calls'] === false && { parallelCalls: false }),
    ...(typeof body['stream'] === 'boolean' && { stream: body['stream'] }),
    ...(typeof body['store'] === 'boolean' && { store: body['store'] }),
  }
}

/** The tools that a request body declares, wherever it does, for writing the response to it. */
export function readResponsesTools(body: JsonObject): ModelRequest['tools'] {
  const { tools, turns } = readResponsesRequest({
    tools: body['tools'],
    input: filterDeclarations(body['input']),
  }).request
  return [...tools, ...turns.flatMap((turn) => (turn.role === 'note' ? (turn.tools ?? []) : []))]
}

function filterDeclarations(input: unknown): JsonObject[] {
  const isDeclaration = ({ type }: JsonFields) => type === 'additional_tools' || type === 'tool_search_output'
  return filterObjects(input).filter(isDeclaration) as JsonObject[]
}
