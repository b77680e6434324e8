import { isObject, stringOrEmpty } from '../../model/json.ts'
import { createFieldFilter } from '../other-fields.ts'
import type { TurnBuilder } from '../turn/turn-builder.ts'
import { formatExcerpt } from '../unread-fields.ts'
import type { JsonFields } from './content.ts'

/** A proxy may omit the type: then the fields show it. */
export function getDeltaType(delta: JsonFields): string {
  if (typeof delta['type'] === 'string' && delta['type'] !== '') return delta['type']
  if (delta['arguments'] !== undefined || delta['arguments_delta'] !== undefined) return 'arguments_delta'
  if (delta['signature'] !== undefined) return 'thought_signature'
  if (isObject(delta['content'])) return 'thought_summary'
  return typeof delta['text'] === 'string' ? 'text' : ''
}

/** The type of the step that a delta belongs to; undefined if it is not known. */
export function getStepType(deltaType: string): string | undefined {
  return STEP_BY_DELTA.get(deltaType) ?? (isServerStep(deltaType) ? deltaType : undefined)
}

/** Steps of the vendor's own tools; their deltas have the same names. */
export function isServerStep(type: string): boolean {
  return /_(?:call|result)$/.test(type)
}

/** Some servers name the field like the type. */
export function readArguments(delta: JsonFields): string {
  const args = delta['arguments'] ?? delta['arguments_delta']
  return isObject(args) ? JSON.stringify(args) : stringOrEmpty(args)
}

/** For a delta, or a content, that its step cannot contain. */
export function warnDropped(builder: TurnBuilder, type: string, fields: JsonFields): void {
  const excerpt = formatExcerpt(fields)
  builder.warn('unknown-delta', `A delta of the unknown type “${type.slice(0, 80)}” was dropped (T190): ${excerpt}`)
}

/** What the deltas of thoughts and calls have besides what is read. */
export const pickDeltaFields = createFieldFilter('type text signature summary content arguments arguments_delta')

const STEP_BY_DELTA: ReadonlyMap<string, string> = new Map([
  ['text', 'model_output'],
  ['image', 'model_output'],
  ['audio', 'model_output'],
  ['video', 'model_output'],
  ['document', 'model_output'],
  ['text_annotation_delta', 'model_output'],
  ['thought_summary', 'thought'],
  ['thought_signature', 'thought'],
  ['arguments_delta', 'function_call'],
])
