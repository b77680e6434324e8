import { defined } from '../../model/defined.ts'
import type { Json } from '../../model/json.ts'

export type { ToolChoice } from '../../model/request.ts'
export type { ToolDefinition } from '../tool-calls/definitions.ts'

/** A complete call of the model. */
export interface ToolCall {
  /** Created here, and globally unique. */
  readonly id: string
  readonly name: string
  /** JSON text. */
  readonly arguments: string
  /** The id of the endpoint, which is sent back to it; many calls have none. */
  readonly wireId?: string
  /** Gemini's signature of the call, which must be sent back to Gemini 3. */
  readonly thoughtSignature?: string
}

/** What a tool returned: text, a JSON value, or an error message. */
export type ToolResultContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'json'; readonly value: Json }
  | { readonly type: 'error'; readonly message: string }

/** The result of a call. */
export interface ToolResult {
  readonly id: string
  readonly name: string
  readonly content: ToolResultContent
  readonly success: boolean
  /** The id of the call at the endpoint, if it has one. */
  readonly wireId?: string
}

/** A result with text. */
export function textResult(call: ToolCall, text: string): ToolResult {
  return createResult(call, { type: 'text', text })
}

/** A result with a JSON value. */
export function jsonResult(call: ToolCall, value: Json): ToolResult {
  return createResult(call, { type: 'json', value })
}

/** A result that tells the model why the call failed. */
export function errorResult(call: ToolCall, message: string): ToolResult {
  return createResult(call, { type: 'error', message })
}

function createResult(call: ToolCall, content: ToolResultContent): ToolResult {
  const { id, name, wireId } = call
  return { id, name, content, success: content.type !== 'error', ...defined({ wireId }) }
}
