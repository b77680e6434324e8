import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../src/model/json.ts'
import type { ToolSpec } from '../../src/model/request.ts'
import { declareTools, type ToolDeclarations } from '../../src/schema/dialect/declare-tools.ts'
import type { SchemaDialect } from '../../src/model/profile.ts'
import { refusals } from './dialect-check.ts'

/** All dialects there are. */
export const DIALECTS: readonly SchemaDialect[] = [
  'gemini-json',
  'gemini',
  'openai',
  'openai-strict',
  'anthropic',
  'grammar',
]

/** A schema that no dialect but the older one of Gemini and strict mode has to change. */
export const sound = {
  type: 'object',
  properties: { path: { type: 'string', description: 'p' }, limit: { type: 'integer' } },
  required: ['path'],
}

/** A tool of that schema. */
export function tool(schema: JsonObject, name = 't', description = 'd'): ToolSpec {
  return { name, description, schema }
}

/** Declares one tool, `t`, that the service must accept. */
export function declare(schema: JsonObject, dialect: SchemaDialect): ToolDeclarations {
  const projection = declareTools([tool(schema)], dialect)
  assert.deepEqual(projection.skipped, [])
  for (const each of projection.tools) assert.deepEqual(refusals(dialect, each), [])
  return projection
}

/** The schema that one tool is declared with. */
export function declared(schema: JsonObject, dialect: SchemaDialect): Json | undefined {
  return declare(schema, dialect).tools[0]?.schema
}
