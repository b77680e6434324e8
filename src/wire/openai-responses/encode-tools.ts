import { defined } from '../../model/defined.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ToolSpec } from '../../model/request.ts'
import type { DeclaredTool, ToolDeclarations } from '../../schema/dialect/declare-tools.ts'
import { declareToolsForProfile, getNativeToolFields } from '../declare-tools.ts'
import type { EncodeContext } from '../history/transcript.ts'
import { hasNativeLateTools, isToolSearchSpec } from '../late-tools.ts'

const WIRE_ID = 'openai-responses'

/** The declarations of tools; those of a namespace stand together, at the place of its first tool. */
export function declareResponsesTools(tools: readonly DeclaredTool[], context: EncodeContext): JsonObject[] {
  const hasLateTools = hasNativeLateTools(context.profile)
  const out: JsonObject[] = []
  const namespaces = new Map<string, JsonObject[]>()
  for (const tool of tools) {
    const { namespace } = tool
    if (!hasLateTools || !namespace) {
      out.push(declareTool(tool, tool.name, context))
      continue
    }
    let members = namespaces.get(namespace.name)
    if (!members) {
      namespaces.set(namespace.name, (members = []))
      const { name, description = `The tools of ${name}.` } = namespace
      out.push({ type: 'namespace', name, description, tools: members })
    }
    members.push(declareTool(tool, namespace.tool, context))
  }
  return out
}

/** `strict` is always sent: without it some servers assume true and make every parameter required (T144). */
function declareTool(tool: DeclaredTool, name: string, context: EncodeContext): JsonObject {
  const { description, schema, strict = false, freeform, grammar, deferred } = tool
  const native = getNativeToolFields(tool, WIRE_ID)
  if (isToolSearchSpec(tool))
    return hasNativeLateTools(context.profile)
      ? { ...native, description, parameters: schema }
      : { type: 'function', name, description, parameters: schema, strict }
  const deferral = context.canFindTools && deferred ? { defer_loading: true } : {}
  if (freeform)
    return {
      type: 'custom',
      name,
      description,
      ...(grammar && { format: { type: 'grammar', syntax: grammar.syntax, definition: grammar.definition } }),
      ...deferral,
      ...native,
    }
  return { type: 'function', name, description, parameters: schema, strict, ...deferral, ...native }
}

/** Is this the tool by which the client searches for tools, and is it declared as such? */
export function isClientToolSearch(tool: DeclaredTool | undefined, { profile }: EncodeContext): boolean {
  return tool !== undefined && hasNativeLateTools(profile) && isToolSearchSpec(tool)
}

/** Tools that the history adds, as they were when they were added: a later declaration must not change what was sent. */
export function declareLateTools(tools: readonly ToolSpec[], { profile, projection }: EncodeContext): DeclaredTool[] {
  return declareToolsForProfile(tools, profile).tools.map((tool) => ({
    ...tool,
    name: projection.toWireName(tool.originalName),
    ...defined({ namespace: projection.findTool(tool.originalName)?.namespace }),
  }))
}

/** The item that adds tools to a history. */
export function createAdditionalTools(tools: readonly DeclaredTool[], context: EncodeContext): JsonObject[] {
  if (tools.length === 0) return []
  return [{ type: 'additional_tools', role: 'developer', tools: declareResponsesTools(tools, context) }]
}

/** The name of a tool as calls and choices have it. */
export function toWireToolName(
  name: string,
  { profile, projection }: { readonly profile: EncodeContext['profile']; readonly projection: ToolDeclarations },
): { name: string; namespace?: string } {
  const namespace = hasNativeLateTools(profile) ? projection.findTool(name)?.namespace : undefined
  return namespace ? { name: namespace.tool, namespace: namespace.name } : { name: projection.toWireName(name) }
}
