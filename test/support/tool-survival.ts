import { isObject, toCanonicalJson } from '../../src/model/json.ts'
import type { ModelRequest, ToolSpec } from '../../src/model/request.ts'
import { inlineRefs } from '../../src/schema/normalize/inline-refs.ts'
import { mapAllSubschemas } from '../../src/schema/walk-schema.ts'
import type { Wire } from '../../src/wire/wire.ts'

/** How a tool came back from another wire. */
export type ToolOutcome =
  | 'same'
  /** The schema means the same: references are inlined, or keywords are left out that the dialect must not have. */
  | 'equivalent'
  /** The model must find the tool first, and the wire can declare it only then. */
  | 'deferred'
  | 'missing'
  | 'other-description'
  | 'other-schema'

/** The tools that a request declares, also those inside its history. */
export function listTools({ tools, turns }: ModelRequest): ToolSpec[] {
  return [...tools, ...turns.flatMap((turn) => (turn.role === 'note' ? (turn.tools ?? []) : []))]
}

/** Encodes a request for a wire, reads it back, and compares every tool. */
export function carryTools(
  request: ModelRequest,
  wire: Wire,
): { readonly tool: ToolSpec; readonly outcome: ToolOutcome }[] {
  const { body } = wire.encodeRequest(request, wire.profile)
  const found = new Map(listTools(wire.readRequest(body).request).map((tool) => [tool.name, tool]))
  return listTools(request).map((tool) => ({ tool, outcome: compareTool(tool, found.get(tool.name)) }))
}

function compareTool(before: ToolSpec, after: ToolSpec | undefined): ToolOutcome {
  if (!after) return before.deferred ? 'deferred' : 'missing'
  // A blank description gets a text, and that of a free-form tool may have its grammar added.
  if (!after.description.startsWith(before.description.trim())) return 'other-description'
  if (toCanonicalJson(before.schema) === toCanonicalJson(after.schema)) return 'same'
  return comparableSchema(before) === comparableSchema(after) ? 'equivalent' : 'other-schema'
}

/** Without what says nothing about a value, and without `additionalProperties: false`, which OpenAI's dialect leaves out (T151). */
function comparableSchema({ schema }: ToolSpec): string {
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
