import { type JsonObject, toCanonicalJson } from '../../model/json.ts'
import type { ToolSpec } from '../../model/request.ts'
import { toWellFormed } from '../../model/text.ts'
import type { EncodeContext, UserStep } from '../history/transcript.ts'
import { getReplayableData } from '../history/transcript.ts'
import { declareTool } from './encode-tools.ts'

/** A system message inside the history: it must follow a user message, and an assistant message or nothing follows it (T177). */
export interface SystemMessage {
  readonly role: 'system'
  readonly content: JsonObject[]
}

/** A message that only changes settings is accepted anywhere, and counts from the next user message on. */
export function encodeSettingsNote({ note }: UserStep, context: EncodeContext): SystemMessage | undefined {
  const { content, ...settings } = (note && getReplayableData(note, context)) ?? {}
  const isSettingsOnly = Array.isArray(content) && content.length === 0 && 'output_config' in settings
  return isSettingsOnly ? { role: 'system', content: [], ...settings } : undefined
}

/** With `withText` false, only the changes of tools: the text is written elsewhere. */
export function encodeNote(
  step: UserStep,
  context: EncodeContext,
  requestTools: readonly ToolSpec[],
  withText: boolean,
): SystemMessage[] {
  const { content: kept, ...fields } = (withText && step.note && getReplayableData(step.note, context)) || {}
  if (Array.isArray(kept)) return [{ role: 'system', content: kept as JsonObject[], ...fields }]
  const text = withText && step.note ? toWellFormed(step.note.text) : ''
  const content = [
    ...(step.removedTools ?? []).flatMap((name) => encodeRemoval(name, context)),
    ...(step.tools ?? []).flatMap((tool) => encodeAddition(tool, context, requestTools)),
    ...(text.trim() === '' ? [] : [{ type: 'text', text }]),
  ]
  return content.length === 0 ? [] : [{ role: 'system', content }]
}

/** A name that is not declared would be rejected. */
function encodeRemoval(name: string, { projection }: EncodeContext): JsonObject[] {
  const tool = projection.findTool(name)
  return tool ? [{ type: 'tool_removal', tool: { type: 'tool_reference', name: tool.name } }] : []
}

function isSameSchema(one: JsonObject, other: JsonObject): boolean {
  return one === other || toCanonicalJson(one) === toCanonicalJson(other)
}

/** A tool of the request is named; another one is defined here. */
function encodeAddition(added: ToolSpec, context: EncodeContext, requestTools: readonly ToolSpec[]): JsonObject[] {
  const tool = context.projection.findTool(added.name)
  if (!tool) return []
  const declared = requestTools.find(({ name }) => name === added.name)
  const isSame = declared?.description === added.description && isSameSchema(declared.schema, added.schema)
  const reference: JsonObject = isSame
    ? { type: 'tool_reference', name: tool.name }
    : { type: 'tool_definition', definition: declareTool(tool, context.profile) }
  return [{ type: 'tool_addition', tool: reference }]
}
