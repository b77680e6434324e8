import { isObject, type JsonObject, objectOrEmpty, toCanonicalJson } from '../../src/model/json.ts'
import type { ModelRequest, ToolSpec } from '../../src/model/request.ts'
import { inlineRefs } from '../../src/schema/normalize/inline-refs.ts'
import { repairSchema } from '../../src/schema/normalize/repair-schema.ts'
import { forEachSubschema, mapAllSubschemas } from '../../src/schema/walk-schema.ts'
import { declareToolsForProfile } from '../../src/wire/declare-tools.ts'
import type { Wire } from '../../src/wire/wire.ts'

/** How a tool came back from another wire. */
export type ToolOutcome =
  | 'same'
  /** The schema means the same: types are added, references inlined, or keywords left out that the dialect must not have. */
  | 'equivalent'
  /** No wire accepts the schema; a warning says so. */
  | 'unusable'
  /** Its name or that of a parameter is not legal there. */
  | 'renamed'
  | 'missing'
  | 'other-description'
  | 'other-schema'

/** The tools that a request declares, also those inside its history. */
export function listTools({ tools, turns }: ModelRequest): ToolSpec[] {
  return [...tools, ...turns.flatMap((turn) => (turn.role === 'note' ? (turn.tools ?? []) : []))]
}

/** What became of every tool of a request that was encoded for a wire and read back. */
export function compareTools(before: ModelRequest, after: ModelRequest, wire: Wire): CarriedTool[] {
  const found = new Map(listTools(after).map((tool) => [tool.name, tool]))
  const tools = listTools(before)
  const declarations = declareToolsForProfile(tools, wire.profile)
  return tools.map((tool) => {
    const other = found.get(tool.name)
    const renamed = !other && found.has(declarations.toWireName(tool.name))
    return { tool, outcome: renamed ? 'renamed' : compareTool(tool, other) }
  })
}

export interface CarriedTool {
  readonly tool: ToolSpec
  readonly outcome: ToolOutcome
}

function compareTool(before: ToolSpec, after: ToolSpec | undefined): ToolOutcome {
  const repaired = repairSchema(before.schema)
  if (!after) return 'unusable' in repaired ? 'unusable' : 'missing'
  // A blank description gets a text, and that of a free-form tool may have its grammar added.
  if (!after.description.trim().startsWith(before.description.trim())) return 'other-description'
  if (toCanonicalJson(before.schema) === toCanonicalJson(after.schema)) return 'same'
  const expected = 'unusable' in repaired ? before.schema : repaired.schema
  if (toComparableSchema(expected) === toComparableSchema(after.schema)) return 'equivalent'
  return hasIllegalParameter(expected) ? 'renamed' : 'other-schema'
}

/** Anthropic has the strictest rule. */
function hasIllegalParameter(schema: JsonObject): boolean {
  let found = false
  forEachSubschema(schema, (inner) => {
    const names = typeof inner === 'boolean' ? [] : Object.keys(objectOrEmpty(inner['properties']))
    found ||= names.some((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name))
  })
  return found
}

/** Without what says nothing about a value, and without `additionalProperties: false`, which OpenAI's dialect leaves out (T151). */
function toComparableSchema(schema: JsonObject): string {
  const out = mapAllSubschemas(inlineRefs(schema).schema, (inner) => {
    if (typeof inner === 'boolean') return inner
    const { $schema: _schema, $id: _id, $comment: _comment, ...rest } = inner
    const { additionalProperties, ...open } = rest
    return additionalProperties === false ? open : rest
  })
  return toCanonicalJson(out)
}

/** Counts the tools in a request body of any vendor, without the wires' own readers. */
export function countDeclaredTools(body: unknown): number {
  if (!isObject(body)) return 0
  const inner = isObject(body['request']) ? countDeclaredTools(body['request']) : 0
  const items = [body['input'], body['messages']].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))
  const late = items.map((item) => (isObject(item) ? countTools(item['tools']) : 0))
  return late.reduce((sum, count) => sum + count, inner + countTools(body['tools']))
}

function countTools(list: unknown): number {
  if (!Array.isArray(list)) return 0
  return list.reduce<number>((sum, entry: unknown) => {
    if (!isObject(entry)) return sum
    const functions = entry['functionDeclarations'] ?? entry['function_declarations']
    if (Array.isArray(functions)) return sum + functions.length + Object.keys(entry).length - 1
    return sum + (Array.isArray(entry['tools']) ? countTools(entry['tools']) : 1)
  }, 0)
}
