import { defined } from '../../model/defined.ts'
import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject, filterObjects, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { OtherFields } from '../../model/provider-options.ts'
import type { ModelParams, ModelRequest } from '../../model/request.ts'
import { readOutputFormat } from '../output-format.ts'
import { pickOtherFields } from '../read-parts.ts'
import { warnNotKept } from '../unread-fields.ts'
import type { DecodedRequest } from '../wire.ts'
import { joinText, type MessageReader, readBlocks, readMessages } from './read-messages.ts'
import { checkAnthropicTypes } from './field-types.ts'
import { readToolChoice, readTools } from './read-tools.ts'

/** What only this wire understands stays on its part or tool, or among the provider options. */
export function readAnthropicRequest(body: unknown): DecodedRequest {
  const warnings: Warning[] = []
  const fields = objectOrEmpty(body)
  checkAnthropicTypes(fields, warnings)
  const model = stringOrEmpty(fields['model'])
  const marks: unknown[] = []
  const noteMark = (mark: unknown) => void (mark !== null && marks.push(mark))
  const { tools, hostedTools } = readTools(fields['tools'], warnings, noteMark)
  const reader: MessageReader = { model, tools, warnings, noteMark }
  const system = readSystem(fields['system'], reader)
  const { choice, isSerial, options: choiceOptions } = readToolChoice(fields['tool_choice'])
  const { params, understood } = readParams(fields)
  const turns = readMessages(fields['messages'], reader)
  warnAboutMarks(fields, marks, warnings)
  const format = objectOrEmpty(fields['output_config'])['format'] ?? fields['output_format']
  const known = [
    ...READ_FIELDS,
    ...understood,
    ...(isSchemaFormat(fields['output_format']) ? ['output_format'] : []),
  ].join(' ')
  const options: OtherFields = {
    ...pickOtherFields(fields, known),
    ...defined({
      tool_choice: choiceOptions,
      thinking: readThinkingOptions(fields['thinking']),
      output_config: readOutputOptions(fields['output_config']),
    }),
  }
  const request: ModelRequest = {
    model,
    ...(system !== '' && { system }),
    tools,
    ...(hostedTools.length > 0 && { hostedTools }),
    ...defined({ toolChoice: choice }),
    turns,
    params: { ...params, ...(isSerial && { parallelCalls: false }) },
    ...(isSchemaFormat(format) && readOutputFormat('answer', format['schema'])),
    ...(Object.keys(options).length > 0 && { providerOptions: { anthropic: options } }),
  }
  return { request, warnings }
}

/** The fields that are read one by one. */
const READ_FIELDS = 'model messages system tools tool_choice cache_control thinking output_config'.split(' ')

function readSystem(value: unknown, reader: MessageReader): string {
  const blocks = readBlocks(value, reader)
  for (const block of blocks)
    warnNotKept(
      reader.warnings,
      'A part of the system prompt',
      block['type'] === 'text' || block['type'] === undefined ? pickOtherFields(block, 'type text') : block,
    )
  return joinText(blocks.filter((block) => typeof block['text'] === 'string'))
}

/** Requests get cache marks of their own, at the end of the tools, of the system prompt and of the history. */
function warnAboutMarks(fields: Record<string, unknown>, marks: readonly unknown[], warnings: Warning[]): void {
  const places = [fields, filterObjects(fields['tools']).at(-1), filterObjects(fields['system']).at(-1)]
  const usual = new Set(places.map((place) => place?.['cache_control']).filter(isUsualMark))
  const others = [...marks, fields['cache_control']].filter((mark) => mark !== undefined && !usual.has(mark))
  const forms = [...new Set(others.map((mark) => JSON.stringify(mark)))].join(', ')
  if (forms !== '')
    warnings.push({ code: 'cache-marks', message: `Requests get cache marks of their own, instead of ${forms}.` })
}

function isUsualMark(mark: unknown): boolean {
  return isObject(mark) && pickOtherFields(mark, 'type ttl') === undefined
}

interface ParamField {
  readonly field: string
  readonly read: (value: unknown) => ModelParams | undefined
}

const PARAM_FIELDS: readonly ParamField[] = [
  { field: 'max_tokens', read: (value) => (typeof value === 'number' ? { maxTokens: value } : undefined) },
  { field: 'temperature', read: (value) => (typeof value === 'number' ? { temperature: value } : undefined) },
  { field: 'top_p', read: (value) => (typeof value === 'number' ? { topP: value } : undefined) },
  { field: 'stop_sequences', read: (value) => (Array.isArray(value) ? { stop: value.map(String) } : undefined) },
  { field: 'stream', read: (value) => (typeof value === 'boolean' ? { stream: value } : undefined) },
]

/** A field with a value that is not understood is kept among the options. */
function readParams(body: Record<string, unknown>): { params: ModelParams; understood: string[] } {
  const read = PARAM_FIELDS.map(({ field, read: readValue }) => ({ field, param: readValue(body[field]) }))
  const params: ModelParams = Object.assign({}, ...read.map(({ param }) => param)) as ModelParams
  return {
    params: { ...params, ...defined({ effort: readEffort(body), cacheTtl: readCacheTtl(body) }) },
    understood: read.flatMap(({ field, param }) => (param ? [field] : [])),
  }
}

function readCacheTtl(body: Record<string, unknown>): ModelParams['cacheTtl'] {
  const contents = filterObjects(body['messages']).flatMap(({ content }) => filterObjects(content))
  const marked = [body, ...filterObjects(body['tools']), ...filterObjects(body['system']), ...contents]
  const lifetimes = marked.map((fields) => objectOrEmpty(fields['cache_control'])['ttl'])
  return (['1h', '5m'] as const).find((ttl) => lifetimes.includes(ttl))
}

function readEffort(body: Record<string, unknown>): ModelParams['effort'] | undefined {
  const thinking = objectOrEmpty(body['thinking'])
  const { effort } = objectOrEmpty(body['output_config'])
  if (thinking['type'] === 'disabled') return 'off'
  if (thinking['type'] === 'enabled' && typeof thinking['budget_tokens'] === 'number') return thinking['budget_tokens']
  if (effort === 'max') return 'xhigh'
  // Adaptive thinking without an effort has the vendor's default.
  return EFFORTS.find((level) => level === effort) ?? (thinking['type'] === 'adaptive' ? 'high' : undefined)
}

const EFFORTS = ['low', 'medium', 'high', 'xhigh'] as const

/** How thinking is shown, and types of thinking that are unknown. */
function readThinkingOptions(value: unknown): JsonObject | undefined {
  if (!isObject(value)) return undefined
  if (!THINKING_TYPES.has(stringOrEmpty(value['type']))) return value as JsonObject
  return pickOtherFields(value, 'type budget_tokens')
}

const THINKING_TYPES = new Set(['adaptive', 'enabled', 'disabled'])

function readOutputOptions(value: unknown): JsonObject | undefined {
  if (!isObject(value)) return undefined
  const { effort, format } = value
  const isEffortRead = EFFORTS.some((level) => level === effort)
  const formatOptions = isSchemaFormat(format) ? pickOtherFields(format, 'type schema') : format
  const options = {
    ...pickOtherFields(value, `format${isEffortRead ? ' effort' : ''}`),
    ...(formatOptions !== undefined && { format: formatOptions as JsonObject }),
  }
  return Object.keys(options).length === 0 ? undefined : options
}

function isSchemaFormat(format: unknown): format is Record<string, unknown> {
  return isObject(format) && format['type'] === 'json_schema' && isObject(format['schema'])
}
