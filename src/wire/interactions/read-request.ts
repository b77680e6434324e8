import { defined } from '../../model/defined.ts'
import type { Warning } from '../../model/event.ts'
import {
  type JsonObject,
  filterObjects,
  isObject,
  nonBlankString,
  objectOrEmpty,
  stringOrEmpty,
} from '../../model/json.ts'
import type { HostedTool, ModelParams, ModelRequest, ServerTool, ToolChoice, ToolSpec } from '../../model/request.ts'
import { readOutputFormat } from '../output-format.ts'
import { readOtherFields } from '../provider-options.ts'
import { createNativeDataFromRequest, pickOtherFields, readToolSchema } from '../read-parts.ts'
import { warnNotKept } from '../unread-fields.ts'
import type { DecodedRequest } from '../wire.ts'
import { checkInteractionsTypes } from './field-types.ts'
import type { JsonFields } from './content.ts'
import { readSteps } from './read-steps.ts'

export function readInteractionsRequest(body: unknown): DecodedRequest {
  const fields = unwrapFormat(objectOrEmpty(body))
  const generation = objectOrEmpty(fields['generation_config'])
  const format = readFormat(fields['response_format'])
  const { turns, warnings } = readSteps(toSteps(fields['input']))
  checkInteractionsTypes(fields, warnings)
  const tools = filterObjects(fields['tools'])
  const serverTools = tools.flatMap(readServerTool)
  const hostedTools = tools.flatMap(readHostedTool)
  const choice = readToolChoice(generation['tool_choice'])
  const options = readOtherFields(fields, KNOWN_FIELDS, {
    generation_config: choice || generation['tool_choice'] === undefined ? KNOWN_GENERATION : UNREAD_CHOICE,
    ...(format.output && { response_format: 'type mime_type schema' }),
  })
  const previous = nonBlankString(fields['previous_interaction_id'])
  const request: ModelRequest = {
    model: stringOrEmpty(fields['model']).replace(/^models\//, ''),
    ...defined({ system: nonBlankString(fields['system_instruction']) }),
    tools: tools.flatMap(readFunction),
    ...(serverTools.length > 0 && { serverTools }),
    ...(hostedTools.length > 0 && { hostedTools }),
    ...defined({ toolChoice: choice }),
    turns,
    params: readParams(fields, generation),
    ...format,
    ...(previous !== undefined && { previous: { wire: 'interactions', id: previous } }),
    ...(options && { providerOptions: { interactions: options } }),
  }
  if (choice) warnAboutChoiceFields(objectOrEmpty(generation['tool_choice']), warnings)
  return { request, warnings: [...warnings, ...listUnreadWarnings(fields)] }
}

const KNOWN_FIELDS = 'model input system_instruction tools stream store previous_interaction_id'
const UNREAD_CHOICE = 'max_output_tokens temperature top_p stop_sequences thinking_level thinking_summaries'
const KNOWN_GENERATION = `${UNREAD_CHOICE} tool_choice`

/** The input may be a text, a content, a list of contents, or a list of steps. */
function toSteps(input: unknown): JsonFields[] {
  if (typeof input === 'string') return [{ type: 'user_input', content: [{ type: 'text', text: input }] }]
  const list = isObject(input) ? [input] : filterObjects(input)
  const isContent = ({ type }: JsonFields) => CONTENT_TYPES.has(String(type))
  return list.length > 0 && list.every(isContent) ? [{ type: 'user_input', content: list }] : list
}

const CONTENT_TYPES = new Set(['text', 'image', 'audio', 'video', 'document'])

/** What is not even an object cannot be kept. */
function listUnreadWarnings({ input, tools, system_instruction: system }: JsonFields): Warning[] {
  const unread = [input, tools].flatMap((list) => (Array.isArray(list) ? list.filter((one) => !isObject(one)) : []))
  return [
    ...unread.map((one) => ({
      code: 'unread-item',
      message: `${JSON.stringify(one)} is not an object and was dropped.`,
    })),
    ...(system !== undefined && typeof system !== 'string'
      ? [{ code: 'unread-item', message: 'The system instruction is not a text and was dropped.' }]
      : []),
  ]
}

function readFunction(tool: JsonFields): ToolSpec[] {
  if (tool['type'] !== 'function') return []
  const more = pickOtherFields(tool, FUNCTION_FIELDS)
  return [
    {
      name: stringOrEmpty(tool['name']),
      description: stringOrEmpty(tool['description']),
      schema: readToolSchema(tool['parameters']),
      ...(more && { native: createNativeDataFromRequest('interactions', undefined, more) }),
    },
  ]
}

const FUNCTION_FIELDS = 'type name description parameters'

function readServerTool(tool: JsonFields): ServerTool[] {
  const type = SERVER_TOOLS.find((name) => name === tool['type'])
  return type !== undefined && Object.keys(tool).length === 1 ? [type] : []
}

const SERVER_TOOLS: readonly ServerTool[] = ['url_context', 'google_search']

function readHostedTool(tool: JsonFields): HostedTool[] {
  if (tool['type'] === 'function' || readServerTool(tool).length > 0) return []
  return [{ wire: 'interactions', declaration: tool as JsonObject }]
}

function readToolChoice(value: unknown): ToolChoice | undefined {
  if (value === 'auto' || value === 'none') return value
  if (value === 'validated') return 'auto'
  if (value === 'any') return 'required'
  const { mode, tools } = objectOrEmpty(objectOrEmpty(value)['allowed_tools'])
  const names = Array.isArray(tools) ? tools.map(String) : []
  if (mode === 'any' && names.length === 1 && names[0] !== undefined) return { name: names[0] }
  return names.length > 0 ? { only: names } : undefined
}

function warnAboutChoiceFields(choice: JsonFields, warnings: Warning[]): void {
  const allowed = objectOrEmpty(choice['allowed_tools'])
  warnNotKept(warnings, 'A field of the tool choice', pickOtherFields(choice, 'allowed_tools'))
  warnNotKept(warnings, 'A field of the tool choice', pickOtherFields(allowed, 'mode tools'))
}

/** A list of one format means the same as the format. */
function unwrapFormat(fields: JsonFields): Record<string, unknown> {
  const { response_format: format } = fields
  return Array.isArray(format) && format.length === 1 ? { ...fields, response_format: format[0] } : { ...fields }
}

/** Only a text format with a schema; anything else is kept as it is. */
function readFormat(format: unknown): Pick<ModelRequest, 'output'> {
  const { type, mime_type: mime, schema } = objectOrEmpty(format)
  return type === 'text' && mime === 'application/json' ? readOutputFormat('answer', schema) : {}
}

function readParams(body: JsonFields, generation: JsonFields): ModelParams {
  const stop = generation['stop_sequences']
  const level = THINKING_LEVELS.find((name) => name === generation['thinking_level'])
  return {
    ...(typeof generation['max_output_tokens'] === 'number' && { maxTokens: generation['max_output_tokens'] }),
    ...(typeof generation['temperature'] === 'number' && { temperature: generation['temperature'] }),
    ...(typeof generation['top_p'] === 'number' && { topP: generation['top_p'] }),
    ...(Array.isArray(stop) && stop.length > 0 && { stop: stop.map(String) }),
    ...defined({ effort: level }),
    ...(typeof body['stream'] === 'boolean' && { stream: body['stream'] }),
    ...(typeof body['store'] === 'boolean' && { store: body['store'] }),
  }
}

const THINKING_LEVELS = ['minimal', 'low', 'medium', 'high'] as const
