import { isObject } from '../../model/json.ts'
import type { UnknownFields } from './read-fields.ts'

/** OpenAI's response format: `fields` has the schema, its name and whether it is strict; `path` is where that is. */
export function checkOpenAiFormat(format: unknown, fields: unknown, path: string, body: UnknownFields) {
  if (format === undefined) return undefined
  if (!isObject(format)) return `Invalid type for '${path}': expected an object.`
  const { type } = format
  if (type === 'text') return undefined
  if (type === 'json_object')
    return /json/i.test(JSON.stringify(body['messages'] ?? [body['input'], body['instructions']]))
      ? undefined
      : `'messages' must contain the word 'json' in some form, to use '${path}' of type 'json_object'.`
  if (type !== 'json_schema')
    return `Invalid value: '${String(type)}'. Supported values are: 'json_object', 'json_schema', and 'text'.`
  if (!isObject(fields) || !/^[\w-]{1,64}$/.test(String(fields['name']))) return `Invalid '${path}.name'.`
  const { schema, strict } = fields
  if (!isObject(schema) || schema['type'] !== 'object')
    return `Invalid schema for response_format '${String(fields['name'])}': schema must be a JSON Schema of 'type: "object"'.`
  const isWrong = strict === true && !everyObject(schema, (one) => isClosed(one) && requiresAll(one))
  return isWrong
    ? `Invalid schema for response_format: 'additionalProperties' is required to be false, and 'required' to include every key.`
    : undefined
}

/** Anthropic's `output_config`. */
export function checkAnthropicFormat(config: unknown): string | undefined {
  const format = isObject(config) ? config['format'] : undefined
  if (format === undefined) return undefined
  if (!isObject(format) || format['type'] !== 'json_schema')
    return "output_config.format.type: Input should be 'json_schema'"
  if (!isObject(format['schema'])) return 'output_config.format.schema: Field required'
  if (!everyObject(format['schema'], isClosed))
    return "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
  const refused = UNSUPPORTED_KEYWORDS.find((keyword) => !everyNode(format['schema'], (one) => !(keyword in one)))
  return refused && `output_config.format.schema: For this type, property '${refused}' is not supported`
}

/** Gemini's `generationConfig`. */
export function checkGeminiFormat(config: unknown): string | undefined {
  if (!isObject(config)) return undefined
  const { responseSchema, responseJsonSchema, responseMimeType } = config
  if (responseSchema !== undefined && responseJsonSchema !== undefined)
    return '* GenerateContentRequest.generation_config: only one of response_schema and response_json_schema may be set.'
  return (responseSchema ?? responseJsonSchema) !== undefined && responseMimeType !== 'application/json'
    ? "* GenerateContentRequest.generation_config.response_schema: only allowed when mime_type is 'application/json'"
    : undefined
}

const UNSUPPORTED_KEYWORDS = ['minimum', 'maximum', 'multipleOf', 'minLength', 'maxLength', 'pattern', 'maxItems']

function isClosed(schema: UnknownFields): boolean {
  return schema['additionalProperties'] === false
}

function requiresAll({ properties, required }: UnknownFields): boolean {
  return Object.keys(isObject(properties) ? properties : {}).every(
    (key) => Array.isArray(required) && required.includes(key),
  )
}

function everyObject(schema: unknown, check: (schema: UnknownFields) => boolean): boolean {
  return everyNode(schema, (one) => (one['type'] === 'object' || isObject(one['properties']) ? check(one) : true))
}

/** All subschemas, as far as response formats have them. */
function everyNode(schema: unknown, check: (schema: UnknownFields) => boolean): boolean {
  if (!isObject(schema)) return true
  const { properties, $defs, items, anyOf } = schema
  const inner = [properties, $defs].flatMap((map) => (isObject(map) ? Object.values(map) : []))
  return (
    check(schema) && [...inner, items, ...(Array.isArray(anyOf) ? anyOf : [])].every((one) => everyNode(one, check))
  )
}
