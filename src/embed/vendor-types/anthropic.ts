// The shapes of Anthropic's Messages API, as far as the helpers need them. Values of the SDK's own types fit, of any
// version, and what the helpers return fits them; so no SDK has to be installed.

/** A text block of a message. */
export interface AnthropicText {
  type: 'text'
  text: string
}

/** A tool call in a message. */
export interface AnthropicToolUse {
  type: 'tool_use'
  id: string
  name: string
  input: unknown
}

/** The result of a tool call in a message. */
export interface AnthropicToolResult {
  type: 'tool_result'
  tool_use_id: string
  content: string
  is_error: boolean
}

/** The result of a tool call as a history has it: with text, images and other blocks. */
export interface AnthropicToolResultLike {
  readonly type?: string
  readonly tool_use_id: string
  readonly content?:
    | string
    | readonly { readonly type: string; readonly text?: unknown; readonly source?: unknown }[]
    | undefined
  readonly is_error?: boolean | undefined
}

/** An event of a stream, or a whole message. */
export interface AnthropicEvent {
  readonly type: string
}

/** A tool as it is declared in a request. */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: { type: 'object'; [keyword: string]: unknown }
}

/** Whether the model may or must make calls; or `{ type: 'none' }`, which older SDKs have no type for. */
export type AnthropicToolChoice =
  | { type: 'auto'; disable_parallel_tool_use?: boolean }
  | { type: 'any'; disable_parallel_tool_use?: boolean }
  | { type: 'tool'; name: string; disable_parallel_tool_use?: boolean }

/** A message that the helpers write: a response of the model, or the results of its calls. */
export interface AnthropicMessage {
  role: 'assistant' | 'user'
  content:
    | string
    | (
        | AnthropicText
        | AnthropicToolUse
        | {
            type: 'tool_result'
            tool_use_id: string
            content?: string | (AnthropicText | AnthropicImage)[]
            is_error?: boolean
          }
        | { type: 'thinking'; thinking: string; signature: string }
        | { type: 'redacted_thinking'; data: string }
      )[]
}

/** An image in base64. */
export interface AnthropicImage {
  type: 'image'
  source: { type: 'base64'; media_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'; data: string }
}
