import type { Warning } from '../../model/event.ts'
import { isObject, objectOrEmpty, stringOrEmpty, type JsonObject } from '../../model/json.ts'
import type { HostedTool, ToolChoice, ToolSpec } from '../../model/request.ts'
import { createNativeDataFromRequest, readToolSchema, pickOtherFields } from '../read-parts.ts'
import { readObjects } from '../unread-fields.ts'

/** The tools that a client runs, and those that only the vendor knows: hosted ones, and client tools of a versioned type. */
export function readTools(value: unknown, warnings: Warning[], noteMark: (mark: unknown) => void) {
  const read = readObjects(value, 'A tool', warnings).map((fields) => readTool(fields, noteMark))
  return {
    tools: read.flatMap(({ spec }) => spec ?? []),
    hostedTools: read.flatMap(({ hosted }) => hosted ?? []),
  }
}

export function readTool(
  fields: Record<string, unknown>,
  noteMark: (mark: unknown) => void,
): { spec?: ToolSpec; hosted?: HostedTool } {
  if ('cache_control' in fields) noteMark(fields['cache_control'])
  const { name, type } = fields
  const isCustom = type === undefined || type === null || type === 'custom'
  if (!isObject(fields['input_schema']) && !(isCustom && typeof name === 'string'))
    return { hosted: { wire: 'anthropic', declaration: pickOtherFields(fields, 'cache_control') ?? {} } }
  const known = `name description input_schema defer_loading cache_control${isCustom ? ' type' : ''}`
  const others = pickOtherFields(fields, known)
  return {
    spec: {
      name: stringOrEmpty(name),
      description: stringOrEmpty(fields['description']),
      schema: readToolSchema(fields['input_schema']),
      ...(fields['defer_loading'] === true && { deferred: true }),
      ...(others && { native: createNativeDataFromRequest('anthropic', undefined, others) }),
    },
  }
}

/** `options` are what only this wire can say about the choice. */
export function readToolChoice(value: unknown): { choice?: ToolChoice; isSerial: boolean; options?: JsonObject } {
  if (!isObject(value)) return { isSerial: false }
  const choice = toToolChoice(value)
  const others = pickOtherFields(value, 'type name disable_parallel_tool_use')
  return {
    isSerial: value['disable_parallel_tool_use'] === true,
    ...(choice !== undefined && { choice }),
    ...((choice === undefined || others) && { options: value as JsonObject }),
  }
}

function toToolChoice(fields: Record<string, unknown>): ToolChoice | undefined {
  const { type, name } = objectOrEmpty(fields)
  if (type === 'auto' || type === 'none') return type
  if (type === 'any') return 'required'
  return type === 'tool' && typeof name === 'string' ? { name } : undefined
}
