import { isObject, type JsonObject, stringOrEmpty } from '../../../model/json.ts'
import { sanitizeForModel } from '../../../policy/text/sanitize-for-model.ts'
import { hasCycleInSchema } from '../../../schema/normalize/detect-cycles.ts'
import { hasValidTypes } from '../../../schema/normalize/has-valid-types.ts'
import { inferSchemaTypes } from '../../../schema/normalize/infer-type.ts'
import { getRef } from '../../../schema/normalize/resolve-refs.ts'
import { repairSchema } from '../../../schema/normalize/repair-schema.ts'
import { mapAllSubschemas, type JsonSchema } from '../../../schema/walk-schema.ts'
import type { McpServerConfig } from '../client/server-config.ts'

export interface RemoteTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly schema: JsonObject
  /** It can only be called as an MCP task. */
  readonly isTask: boolean
  readonly readOnly: boolean
  /** A second call with the same arguments has no further effect. */
  readonly isIdempotent: boolean
  readonly remarks: readonly string[]
}

export interface SkippedTool {
  readonly name: string
  readonly reason: string
}

/** Skips tools that cannot be declared, each with a reason. */
export function filterTools(
  list: readonly JsonObject[],
  { includeTools, excludeTools = [] }: Pick<McpServerConfig, 'includeTools' | 'excludeTools'>,
): { readonly tools: readonly RemoteTool[]; readonly skipped: readonly SkippedTool[] } {
  const tools = new Map<string, RemoteTool>()
  const skipped: SkippedTool[] = []
  for (const item of list) {
    const name = typeof item['name'] === 'string' ? item['name'] : ''
    const displayName = name === '' ? '(no name)' : name.slice(0, 100)
    const reason =
      findSkipReason(name, includeTools, excludeTools) ?? (tools.has(name) ? 'another tool has this name' : undefined)
    const tool = reason ?? toRemoteTool(name, item)
    if (typeof tool === 'string') skipped.push({ name: displayName, reason: tool })
    else tools.set(name, tool)
  }
  return { tools: [...tools.values()], skipped }
}

const MAX_NAME_CHARS = 256
const MAX_DESCRIPTION_CHARS = 10_000
const MAX_SCHEMA_CHARS = 100_000

function findSkipReason(
  name: string,
  include: readonly string[] | undefined,
  exclude: readonly string[],
): string | undefined {
  if (name === '') return 'it has no name'
  if (name.length > MAX_NAME_CHARS) return `its name is longer than ${MAX_NAME_CHARS} characters`
  if (exclude.includes(name)) return 'the settings exclude it'
  // Some clients write an included tool as a call: `search(query)`.
  if (include && !include.some((one) => one === name || one.startsWith(`${name}(`)))
    return 'the settings do not include it'
  return undefined
}

function toRemoteTool(name: string, item: JsonObject): RemoteTool | string {
  const { inputSchema, description, annotations, title, execution } = item
  if (inputSchema !== undefined && JSON.stringify(inputSchema).length > MAX_SCHEMA_CHARS)
    return 'its schema is too large'
  const repaired = repairSchema(removeHiddenCharacters(inputSchema))
  if ('unusable' in repaired) return repaired.unusable
  const typed = addMissingTypes(repaired.schema)
  if (!hasValidTypes(replaceReferences(typed))) return 'a part of its schema has no type'
  const hints = isObject(annotations) ? annotations : {}
  const displayTitle = [title, hints['title']].map(stringOrEmpty).find((one) => one !== '') ?? name
  return {
    name,
    title: sanitizeForModel(displayTitle).slice(0, MAX_NAME_CHARS),
    description: sanitizeForModel(typeof description === 'string' ? description : '').slice(0, MAX_DESCRIPTION_CHARS),
    schema: typed,
    isTask: isObject(execution) && execution['taskSupport'] === 'required',
    readOnly: hints['readOnlyHint'] === true,
    isIdempotent: hints['idempotentHint'] === true,
    remarks: [
      ...repaired.repairs,
      ...(hasCycleInSchema(typed) ? ['Its schema is recursive, and is cut off where it recurs.'] : []),
    ],
  }
}

/** Models must not read what a user cannot see. */
function removeHiddenCharacters(schema: unknown): unknown {
  if (schema === undefined) return undefined
  const text = JSON.stringify(schema)
  const visible = sanitizeForModel(text)
  return visible === text ? schema : JSON.parse(visible)
}

const COMBINING_KEYWORDS = ['anyOf', 'oneOf', 'allOf', 'not', 'if']

/** A missing type means any type; to declare that changes nothing. */
function addMissingTypes(schema: JsonObject): JsonObject {
  const typed = mapAllSubschemas(schema, (inner) => {
    if (typeof inner === 'boolean' || inner['type'] !== undefined || getRef(inner) !== undefined) return inner
    if (COMBINING_KEYWORDS.some((key) => inner[key] !== undefined)) return inner
    const types = inferSchemaTypes(inner)
    return { type: types.length === 1 && types[0] !== undefined ? types[0] : types, ...inner }
  })
  return isObject(typed) ? typed : schema
}

/** The targets of references are checked on their own. */
function replaceReferences(schema: JsonObject): JsonSchema {
  return mapAllSubschemas(schema, (inner) =>
    typeof inner === 'boolean' || getRef(inner) !== undefined || inner['not'] !== undefined || inner['if'] !== undefined
      ? { type: 'object' }
      : inner,
  )
}
