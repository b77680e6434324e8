import type { Warning } from '../model/event.ts'
import type { JsonObject } from '../model/json.ts'
import type { Profile, SchemaDialect } from '../model/profile.ts'
import type { ModelRequest, ToolSpec } from '../model/request.ts'
import type { WireId } from '../model/turn.ts'
import { type ToolDeclarations, declareTools } from '../schema/dialect/declare-tools.ts'
import type { EncodeContext, HistoryPosition } from './history/transcript.ts'
import { canFindTools, collectDeclaredTools, type CollectedTools, hasNativeLateTools } from './late-tools.ts'
import { formatExcerpt } from './unread-fields.ts'

/** The tools as they are declared to an endpoint, and the mapping back. Encoder and decoder must use the same. */
export function declareToolsForProfile(tools: readonly ToolSpec[], profile: Profile): ToolDeclarations {
  return declareTools(tools, chooseDialect(profile))
}

/** What the encoder of a wire needs to know about a request. */
export function createEncodeContext(
  wire: WireId,
  request: ModelRequest,
  profile: Profile,
  position?: HistoryPosition,
): EncodeContext {
  const { serverTools = [], hostedTools = [] } = request
  const collected = position?.tools ?? collectDeclaredTools(request)
  const canCall = collected.known.length + serverTools.length > 0 || hostedTools.some((hosted) => hosted.wire === wire)
  const projection = declareRequestTools(request, profile, collected)
  return { wire, profile, projection, canCall, canFindTools: canFindTools(wire, request, profile, collected) }
}

/**
 * The declarations of a request. The mapping covers every tool that its history ever had; `tools` are those to declare beside
 * the history: where tools can be added inside it, those of the request, and else all that are not removed.
 */
function declareRequestTools(request: ModelRequest, profile: Profile, collected: CollectedTools): ToolDeclarations {
  const all = declareToolsForProfile(collected.known, profile)
  const wanted = hasNativeLateTools(profile) ? request.tools : collected.current
  if (wanted === collected.known) return all
  let views = VIEWS.get(all)
  if (views === undefined) VIEWS.set(all, (views = new WeakMap()))
  let view = views.get(wanted)
  if (view === undefined) {
    const names = new Set(wanted.map(({ name }) => name))
    const tools = all.tools.filter(({ originalName }) => names.has(originalName))
    const removed = hasNativeLateTools(profile) ? [] : collected.known.filter(({ name }) => !names.has(name))
    views.set(wanted, (view = { ...all, tools, warnings: [...all.warnings, ...describeRemovedFields(removed)] }))
  }
  return view
}

/** What only a vendor understands of tools that are not declared any more. */
function describeRemovedFields(removed: readonly ToolSpec[]): string[] {
  const described = removed.filter(({ native }) => native !== undefined)
  return described.map(({ name, native }) => `The removed tool ${name} is not declared: ${formatExcerpt(native?.data)}`)
}

/** The same lists give the same object, because it is the key of other caches. */
const VIEWS = new WeakMap<ToolDeclarations, WeakMap<readonly ToolSpec[], ToolDeclarations>>()

/** The declarations of the tools that only this wire can carry; the others are left out with a warning. */
export function listHostedTools(request: ModelRequest, wire: WireId, warnings: Warning[]): JsonObject[] {
  return (request.hostedTools ?? []).flatMap((tool) => {
    if (tool.wire === wire) return [tool.declaration]
    const { type, name } = tool.declaration
    const label = [type, name].filter((text) => typeof text === 'string').join(' ')
    warnings.push({
      code: 'hosted-tool',
      message: `The tool ${label} of ${tool.wire} was left out: it runs only there.`,
    })
    return []
  })
}

/** The fields of a declaration that only this wire understands. */
export function getNativeToolFields({ native }: Pick<ToolSpec, 'native'>, wire: WireId): JsonObject {
  return native?.wire === wire ? (native.data as JsonObject) : {}
}

/** Which tools could not be declared, and what was changed in the others. */
export function listDeclarationWarnings(projection: ToolDeclarations): Warning[] {
  return [
    ...projection.skipped.map(({ name, reason }) => ({ code: 'tool-set-aside', message: `${name}: ${reason}` })),
    ...projection.warnings.map((message) => ({ code: 'tool-changed', message })),
  ]
}

/** On OpenAI's wires, tools with constrained calls are declared in the strict dialect (T150). */
function chooseDialect(profile: Profile): SchemaDialect {
  return profile.constrain && profile.dialect === 'openai' ? 'openai-strict' : profile.dialect
}
