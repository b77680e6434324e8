import { isObject, type JsonObject, stringOf } from '../../model/json.ts'
import { forModel } from '../../policy/terminal.ts'
import { hasCycleInSchema } from '../../schema/cycle.ts'
import { hasValidTypes } from '../../schema/has-valid-types.ts'
import { likelyTypes } from '../../schema/implied.ts'
import { refOf } from '../../schema/refs.ts'
import { repairSchema } from '../../schema/repair.ts'
import { mapSchema, type Schema } from '../../schema/walk.ts'
import type { McpServerConfig } from './config.ts'

/** A tool of a server that can be declared. */
export interface RemoteTool {
  /** The name that the server knows. */
  readonly name: string
  readonly title: string
  readonly description: string
  readonly schema: JsonObject
  /** It can only be called as a task that goes on by itself. */
  readonly isTask: boolean
  /** It says of itself that it changes nothing. */
  readonly readOnly: boolean
  /** What was done to its schema. */
  readonly remarks: readonly string[]
}

/** A tool that is not used, and why. */
export interface SetAside {
  readonly name: string
  readonly reason: string
}

/** Looks through the tools of a server: what cannot be declared is set aside, alone and with its reason. */
export function gateTools(
  list: readonly JsonObject[],
  { includeTools, excludeTools = [] }: Pick<McpServerConfig, 'includeTools' | 'excludeTools'>,
): { readonly tools: readonly RemoteTool[]; readonly aside: readonly SetAside[] } {
  const tools = new Map<string, RemoteTool>()
  const aside: SetAside[] = []
  for (const item of list) {
    const name = typeof item['name'] === 'string' ? item['name'] : ''
    const shown = name === '' ? '(no name)' : name.slice(0, 100)
    const reason =
      unwanted(name, includeTools, excludeTools) ?? (tools.has(name) ? 'another tool has this name' : undefined)
    const tool = reason ?? gateTool(name, item)
    if (typeof tool === 'string') aside.push({ name: shown, reason: tool })
    else tools.set(name, tool)
  }
  return { tools: [...tools.values()], aside }
}

const MAX_NAME = 256
/** A description beyond this is not meant to describe. */
const MAX_DESCRIPTION = 10_000
const MAX_SCHEMA = 100_000

function unwanted(
  name: string,
  include: readonly string[] | undefined,
  exclude: readonly string[],
): string | undefined {
  if (name === '') return 'it has no name'
  if (name.length > MAX_NAME) return `its name is longer than ${MAX_NAME} characters`
  if (exclude.includes(name)) return 'the settings exclude it'
  // Some clients write what is included as a call: `search(query)`.
  if (include && !include.some((one) => one === name || one.startsWith(`${name}(`)))
    return 'the settings do not include it'
  return undefined
}

function gateTool(name: string, item: JsonObject): RemoteTool | string {
  const { inputSchema, description, annotations, title, execution } = item
  if (inputSchema !== undefined && JSON.stringify(inputSchema).length > MAX_SCHEMA) return 'its schema is too large'
  const repaired = repairSchema(visibleOnly(inputSchema))
  if ('unusable' in repaired) return repaired.unusable
  const typed = withTypes(repaired.schema)
  if (!hasValidTypes(forJudging(typed))) return 'a part of its schema does not say its type'
  const hints = isObject(annotations) ? annotations : {}
  const called = [title, hints['title']].map(stringOf).find((one) => one !== '') ?? name
  return {
    name,
    title: forModel(called).slice(0, MAX_NAME),
    description: forModel(typeof description === 'string' ? description : '').slice(0, MAX_DESCRIPTION),
    schema: typed,
    isTask: isObject(execution) && execution['taskSupport'] === 'required',
    readOnly: hints['readOnlyHint'] === true,
    remarks: [
      ...repaired.repairs,
      ...(hasCycleInSchema(typed) ? ['Its schema leads back to itself; where it does, it is cut off.'] : []),
    ],
  }
}

/** What no person can see in a schema, no model shall read either. */
function visibleOnly(schema: unknown): unknown {
  if (schema === undefined) return undefined
  const text = JSON.stringify(schema)
  const visible = forModel(text)
  return visible === text ? schema : JSON.parse(visible)
}

const COMBINERS = ['anyOf', 'oneOf', 'allOf', 'not', 'if']

/** Where nothing is said of a type, every type is meant; to say so changes nothing. */
function withTypes(schema: JsonObject): JsonObject {
  const typed = mapSchema(schema, (inner) => {
    if (typeof inner === 'boolean' || inner['type'] !== undefined || refOf(inner) !== undefined) return inner
    if (COMBINERS.some((key) => inner[key] !== undefined)) return inner
    const types = likelyTypes(inner)
    return { type: types.length === 1 && types[0] !== undefined ? types[0] : types, ...inner }
  })
  return isObject(typed) ? typed : schema
}

/** References lead to what is judged in its own place. */
function forJudging(schema: JsonObject): Schema {
  return mapSchema(schema, (inner) =>
    typeof inner === 'boolean' || refOf(inner) !== undefined || inner['not'] !== undefined || inner['if'] !== undefined
      ? { type: 'object' }
      : inner,
  )
}
