// The shapes of OpenAI's Responses API, as far as the helpers need them. Values of the SDK's own types fit, of any version,
// and what the helpers return fits them; so no SDK has to be installed.
import type { JsonObject } from '../../model/json.ts'

/** An event of a stream, or a whole response. */
export type ResponsesEvent = { readonly type: string } | { readonly object: string; readonly output: readonly object[] }

/** A function as it is declared in a request. */
export interface ResponsesFunctionTool {
  type: 'function'
  name: string
  description: string
  parameters: Record<string, unknown>
  strict: boolean
}

/** Whether the model may, must or must not make calls; or `allowed_tools`, which older SDKs have no type for. */
export type ResponsesToolChoice = 'auto' | 'none' | 'required' | { type: 'function'; name: string }

/** An item of `input`, such as `function_call`, `function_call_output` or `reasoning`. */
export type ResponsesItem = JsonObject & { type?: string }
