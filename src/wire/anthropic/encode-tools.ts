import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject, objectOrEmpty } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { ModelRequest, ToolChoice } from '../../model/request.ts'
import type { DeclaredTool, ToolDeclarations } from '../../schema/dialect/declare-tools.ts'
import { declareToolsForProfile, getNativeToolFields, listHostedTools } from '../declare-tools.ts'
import { createCacheMark } from '../encode-parts.ts'
import type { EncodeContext, TranscriptStep } from '../history/transcript.ts'
import { hasNativeLateTools } from '../late-tools.ts'
import { warnNotKept } from '../unread-fields.ts'

interface ToolContext extends Pick<EncodeContext, 'profile' | 'projection' | 'canFindTools'> {
  readonly steps: readonly TranscriptStep[]
  readonly thinking: boolean
  readonly warnings: Warning[]
}

export function encodeTools(request: ModelRequest, context: ToolContext): JsonObject {
  const { profile, projection, steps, warnings } = context
  const hosted = listHostedTools(request, 'anthropic', warnings)
  if (profile.tools === 'text') {
    for (const tool of hosted) warnNotKept(warnings, 'A tool that the model cannot call', tool)
    return {}
  }
  const tools = listTools(request, context)
  if (tools.length + hosted.length === 0) return declareClosedTools(steps, projection)
  const strict = profile.constrain ? tools.filter((tool) => isStrictSchema(tool.schema)).slice(0, MAX_STRICT_TOOLS) : []
  const isOneVisible = [...tools, ...hosted].some((tool) => !isDeferred(tool))
  const declarations = tools.map((tool): JsonObject => ({
    ...declareTool(tool, profile, strict.includes(tool)),
    // At least one tool must be visible.
    ...(context.canFindTools && isOneVisible && tool.deferred && { defer_loading: true }),
  }))
  // A deferred tool is not part of the prompt, and cannot be marked.
  const last = declarations.findLast((tool) => !isDeferred(tool))
  if (last && (profile.cache === 'auto' || profile.cache === 'marks'))
    last['cache_control'] = createCacheMark(request.params ?? {})
  const all = { tools: [...hosted, ...declarations] }
  const choice = encodeToolChoice(request.toolChoice, all.tools, context)
  const isSerial = request.params?.parallelCalls === false && choice !== 'none'
  if (choice === 'auto' && !isSerial) return all
  const wanted: JsonObject = typeof choice === 'string' ? { type: choice } : { type: 'tool', name: choice.name }
  return { ...all, tool_choice: { ...wanted, ...(isSerial && { disable_parallel_tool_use: true }) } }
}

/** Where tools are added inside the history, those of the request stay as they were, whatever is declared later. */
function listTools(request: ModelRequest, { profile, projection }: ToolContext): readonly DeclaredTool[] {
  if (!hasNativeLateTools(profile)) return projection.tools
  const { tools } = declareToolsForProfile(request.tools, profile)
  return tools.map((tool) => ({ ...tool, name: projection.toWireName(tool.originalName) }))
}

function isDeferred(tool: JsonObject | DeclaredTool): boolean {
  return 'deferred' in tool ? tool.deferred === true : 'defer_loading' in tool && tool['defer_loading'] === true
}

/** The declaration of a tool, in the list of the request or inside the history. */
export function declareTool(tool: DeclaredTool, profile: Profile, isStrict = false): JsonObject {
  return {
    name: tool.name,
    description: tool.description,
    input_schema: tool.schema,
    ...(isStrict && { strict: true }),
    ...(profile.eagerArguments && { eager_input_streaming: true }),
    ...getNativeToolFields(tool, 'anthropic'),
  }
}

/** A history with calls is rejected without tools, so the tools that it uses are declared, but cannot be called (T98). */
function declareClosedTools(steps: readonly TranscriptStep[], projection: ToolDeclarations): JsonObject {
  const calls = steps.flatMap((step) => (step.kind === 'assistant' ? step.pairs : []))
  const unknown = calls.filter(({ call }) => projection.findTool(call.name) === undefined)
  const names = new Set(unknown.map(({ call }) => projection.toWireName(call.name)))
  if (names.size === 0) return {}
  const isClosed = calls.length === unknown.length
  return { tools: [...names].map(declareClosedTool), ...(isClosed && { tool_choice: { type: 'none' } }) }
}

function declareClosedTool(name: string): JsonObject {
  return {
    name,
    description: 'A tool used earlier; it cannot be called now.',
    input_schema: { type: 'object', properties: {} },
  }
}

/** This API cannot restrict the choice to some tools, and cannot force a call while thinking is on (T83). */
function encodeToolChoice(
  requested: ToolChoice | undefined,
  declarations: readonly JsonObject[],
  { projection, thinking, warnings }: ToolContext,
): 'auto' | 'none' | 'any' | { name: string } {
  const fallBackToAuto = (message: string) => {
    warnings.push({ code: 'tool-choice', message })
    return 'auto' as const
  }
  if (requested === undefined || requested === 'auto') return 'auto'
  if (requested === 'none') return 'none'
  if (typeof requested !== 'string' && 'only' in requested) {
    if (requested.only.length === 0) return 'none'
    return fallBackToAuto('This API cannot restrict the choice of tools; the model may call all declared ones.')
  }
  if (thinking) return fallBackToAuto('Calls cannot be forced while thinking is on; the model decides (T83).')
  if (requested === 'required') return 'any'
  const name = projection.toWireName(requested.name)
  return declarations.some((tool) => tool['name'] === name)
    ? { name }
    : fallBackToAuto(`The tool ${requested.name} is not declared; the model decides.`)
}

/** The vendor compiles up to twenty schemas. */
const MAX_STRICT_TOOLS = 20

/** Can the vendor enforce this schema? It supports closed objects without optional properties (T150). */
function isStrictSchema(schema: unknown): boolean {
  if (!isObject(schema) || typeof schema['type'] !== 'string') return false
  if (!Object.keys(schema).every((key) => STRICT_SCHEMA_KEYS.has(key))) return false
  if (schema['type'] === 'array') return isStrictSchema(schema['items'])
  if (schema['type'] !== 'object') return true
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  if (schema['additionalProperties'] !== false) return false
  return Object.entries(objectOrEmpty(schema['properties'])).every(
    ([key, inner]) => required.includes(key) && isStrictSchema(inner),
  )
}

const STRICT_SCHEMA_KEYS = new Set(
  'type description title enum items properties required additionalProperties'.split(' '),
)
