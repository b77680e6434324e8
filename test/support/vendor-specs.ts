import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { isObject, type Json, type JsonObject } from '../../src/model/json.ts'
import { shared } from './paths.ts'

const GEMINI = join(shared, 'specs/gemini-vertex-request.schema.json')
const OPENAI = join(shared, 'specs/openai-requests.openapi.json')

/** The `skip` option of a test that needs the vendors' published schemas. */
export const skipWithoutSpecs: false | string =
  existsSync(GEMINI) && existsSync(OPENAI) ? false : 'the folder ../shared/specs is absent'

/** Says where a body departs from what the vendor publishes; empty if nowhere. */
export type Spec = (body: unknown) => string[]

/** The request of generateContent. It is Vertex AI's; the ids of calls, which it lacks, are added as AI Studio takes them (T126). */
export function geminiSpec(): Spec {
  const schema = load(GEMINI)
  const defs = schema['$defs'] as Record<string, { properties: JsonObject }>
  for (const name of ['FunctionCall', 'FunctionResponse']) Object.assign(defs[name]?.properties ?? {}, { id: STRING })
  return spec(schema)
}

/** The request of OpenAI's chat completions. */
export function chatSpec(): Spec {
  return openAi('CreateChatCompletionRequest')
}

/**
 * The request of OpenAI's Responses. A thought goes back without its id, which the published form demands: it names
 * something that a server which keeps nothing cannot find (T84).
 */
export function responsesSpec(): Spec {
  return openAi('CreateResponse', (schemas) => {
    Object.assign(schemas['ReasoningItem'] ?? {}, { required: ['type', 'summary', 'encrypted_content'] })
  })
}

const STRING: JsonObject = { type: 'string' }

function load(path: string): JsonObject {
  return JSON.parse(readFileSync(path, 'utf8')) as JsonObject
}

function openAi(name: string, adjust?: (schemas: Record<string, JsonObject>) => void): Spec {
  const whole = load(OPENAI)
  const { schemas } = whole['components'] as { schemas: Record<string, JsonObject> }
  adjust?.(schemas)
  const members = Object.values(schemas).flatMap(({ allOf }) => (Array.isArray(allOf) ? allOf : []) as JsonObject[])
  const parts = new Set(members.map(({ $ref: ref }) => (typeof ref === 'string' ? ref.split('/').at(-1) : '')))
  const read = Object.entries(schemas).map(([key, schema]) => [key, closed(schema, parts.has(key))])
  return spec({ components: { schemas: Object.fromEntries(read) as JsonObject }, $ref: `#/components/schemas/${name}` })
}

/**
 * Reads the description as the service does. Keys that it does not name are refused. One of several forms has to fit,
 * but more may: forms that differ in a key that may be missing overlap. And null is a type of its own.
 */
function closed(value: Json, part: boolean): Json {
  if (Array.isArray(value)) return value.map((one) => closed(one, part))
  if (!isObject(value)) return value
  const { oneOf, nullable: _nullable, discriminator: _discriminator, ...rest } = value
  const open: JsonObject = { ...rest, ...(oneOf !== undefined && { anyOf: oneOf }) }
  const out: JsonObject = {}
  for (const [key, inner] of Object.entries(open)) {
    // The members of allOf describe one object together, and are closed together.
    out[key] = LITERAL.has(key) ? inner : closed(inner, key === 'allOf')
  }
  const described = isObject(open['properties']) && open['type'] === 'object'
  if (described && !part && open['additionalProperties'] === undefined) out['additionalProperties'] = false
  if (open['allOf'] !== undefined && !part) out['unevaluatedProperties'] = false
  return out
}

const LITERAL = new Set(['enum', 'default', 'required', 'const'])

function spec(schema: JsonObject): Spec {
  const ajv = new Ajv2020({ strict: false, allErrors: false, verbose: false, logger: false })
  formats.default(ajv)
  const validate: ValidateFunction = ajv.compile(schema)
  return (body) => {
    if (validate(body)) return []
    return (validate.errors ?? []).map(({ instancePath, message, params }) =>
      [instancePath, message, JSON.stringify(params)].join(' '),
    )
  }
}
