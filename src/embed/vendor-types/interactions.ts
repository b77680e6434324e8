// The shapes of Gemini's Interactions API, as far as the helpers need them. Values of the SDK's own types fit, of any version,
// and what the helpers return fits them; so no SDK has to be installed.
import type { JsonObject } from '../../model/json.ts'

/** An event of a stream, or a whole interaction. */
export type InteractionsEvent = { readonly event_type: string } | { readonly id: string; readonly status: string }

/** A function as it is declared in a request. */
export interface InteractionsFunctionTool {
  type: 'function'
  name: string
  description: string
  parameters: Record<string, unknown>
}

/** Whether the model may, must or must not make calls, and which. */
export type InteractionsToolChoice =
  | 'auto'
  | 'any'
  | 'none'
  | 'validated'
  | { allowed_tools: { mode: 'any' | 'validated'; tools: string[] } }

/** A step of `input`, such as `function_call`, `function_result` or `thought`. */
export type InteractionsStep = JsonObject & { type: string }
