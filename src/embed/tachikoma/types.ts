import type { Json } from '../../model/json.ts'

export type { ToolChoice } from '../../model/request.ts'

/** A tool as its author describes it; `parameters` is a JSON Schema. */
export interface ToolDefinition {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
}

/** A call that the model made. */
export interface ToolCall {
  /** Ours, and unique for ever. */
  readonly id: string
  readonly name: string
  /** JSON text. */
  readonly arguments: string
  /** The endpoint's own id, which goes back to it; many calls have none. */
  readonly wireId?: string
  /** Gemini's signature of the call, which Gemini 3 wants back with it. */
  readonly thoughtSignature?: string
}

/** What a tool has to say. */
export type ToolResultContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'json'; readonly value: Json }
  | { readonly type: 'error'; readonly message: string }

/** The answer to a call. */
export interface ToolResult {
  readonly id: string
  readonly name: string
  readonly content: ToolResultContent
  readonly success: boolean
  /** The endpoint's own id of the call, if it gave one. */
  readonly wireId?: string
}

/** Answers a call with text. */
export function textResult(call: ToolCall, text: string): ToolResult {
  return createResult(call, { type: 'text', text })
}

/** Answers a call with a JSON value. */
export function jsonResult(call: ToolCall, value: Json): ToolResult {
  return createResult(call, { type: 'json', value })
}

/** Answers a call with an error. */
export function errorResult(call: ToolCall, message: string): ToolResult {
  return createResult(call, { type: 'error', message })
}

function createResult(call: ToolCall, content: ToolResultContent): ToolResult {
  const wireId = call.wireId === undefined ? {} : { wireId: call.wireId }
  return { id: call.id, name: call.name, content, success: content.type !== 'error', ...wireId }
}
