import { defined } from '../../model/defined.ts'
import type { Warning } from '../../model/event.ts'
import { isObject, type Json, type JsonObject, stringOrEmpty } from '../../model/json.ts'
import type { HostedTool, ServerTool, ToolChoice, ToolSpec } from '../../model/request.ts'
import type { WireId } from '../../model/turn.ts'
import { createNativeDataFromRequest, readToolSchema, pickOtherFields } from '../read-parts.ts'
import { readObjects } from '../unread-fields.ts'
import { GEMINI_SERVER_TOOL_NAMES } from './encode-request.ts'
import type { GeminiPart } from './parts.ts'

/** A tool object may have functions and tools of the vendor; those that are not ours are kept as they are. */
export function readGeminiTools(wire: WireId, value: unknown, warnings: Warning[]) {
  const tools: ToolSpec[] = []
  const serverTools: ServerTool[] = []
  const hostedTools: HostedTool[] = []
  for (const tool of readObjects(value, 'A tool', warnings)) {
    const functions = readObjects(getField(tool, 'functionDeclarations'), 'A function', warnings)
    tools.push(...functions.map((fields) => readDeclaration(wire, fields)))
    for (const [field, config] of Object.entries(tool as JsonObject)) {
      const serverTool = SERVER_TOOLS.find(([, name]) => name === toCamelCase(field))?.[0]
      const isEmpty = isObject(config) && Object.keys(config).length === 0
      if (serverTool && isEmpty) serverTools.push(serverTool)
      else if (toCamelCase(field) !== 'functionDeclarations' && config !== null)
        hostedTools.push({ wire, declaration: { [field]: config } })
    }
  }
  return { tools, serverTools, hostedTools }
}

const SERVER_TOOLS = Object.entries(GEMINI_SERVER_TOOL_NAMES) as [ServerTool, string][]

function readDeclaration(wire: WireId, fields: GeminiPart): ToolSpec {
  const { parameters } = fields
  const jsonSchema = getField(fields, 'parametersJsonSchema')
  const others = pickOtherFields(
    fields,
    `name description parameters ${isObject(jsonSchema) ? 'parametersJsonSchema parameters_json_schema' : ''}`,
  )
  return {
    name: stringOrEmpty(fields['name']),
    description: stringOrEmpty(fields['description']),
    schema: readToolSchema(isObject(jsonSchema) ? jsonSchema : lowercaseTypes(parameters as Json)),
    ...(others && { native: createNativeDataFromRequest(wire, undefined, others) }),
  }
}

/** `options` are what only this wire can say about the choice of tools. */
export function readToolConfig(config: GeminiPart): { choice?: ToolChoice; options?: JsonObject } {
  const calling = getField(config, 'functionCallingConfig')
  const choice = toToolChoice(calling)
  const known = `allowedFunctionNames ${choice === undefined ? '' : 'mode'}`
  const callingOptions = isObject(calling) ? pickOtherFields(calling, known) : undefined
  const options = {
    ...pickOtherFields(config, 'functionCallingConfig function_calling_config'),
    ...defined({ functionCallingConfig: callingOptions }),
  }
  return { ...defined({ choice }), ...(Object.keys(options).length > 0 && { options }) }
}

function toToolChoice(config: unknown): ToolChoice | undefined {
  if (!isObject(config)) return undefined
  const listed = config['allowedFunctionNames']
  const names = Array.isArray(listed) ? listed.map(String) : []
  const mode = config['mode']
  if (mode === 'ANY' && names.length === 1 && names[0] !== undefined) return { name: names[0] }
  if (names.length > 0) return { only: names }
  if (mode === 'AUTO' || mode === 'VALIDATED') return 'auto'
  if (mode === 'ANY') return 'required'
  return mode === 'NONE' ? 'none' : undefined
}

/** Gemini's own dialect has upper-case types. */
export function lowercaseTypes(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(lowercaseTypes)
  if (!isObject(schema)) return schema
  const lower = (key: string, value: Json) =>
    key === 'type' && typeof value === 'string' ? value.toLowerCase() : lowercaseTypes(value)
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, lower(key, value)]))
}

/** The API accepts keys in camel case and in snake case. */
export function getField(fields: GeminiPart, key: string): unknown {
  return fields[key] ?? fields[key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]
}

function toCamelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
}
