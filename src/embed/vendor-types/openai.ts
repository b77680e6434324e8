// The shapes of OpenAI's chat completions API, as far as the helpers need them. Values of the SDK's own types fit, of any
// version, and what the helpers return fits them; so no SDK has to be installed.

/** A tool of a request: a function, or a tool that takes free text. */
export interface ChatTool {
  readonly type: string
  readonly function?:
    | {
        readonly name: string
        readonly description?: string | undefined
        readonly parameters?: object | null | undefined
        readonly strict?: boolean | null | undefined
      }
    | undefined
  readonly custom?: { readonly name: string; readonly description?: string | undefined } | undefined
}

/** Whether the model may, must or must not make calls. */
export type ChatToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { readonly type: 'function'; readonly function: { readonly name: string } }
  | { readonly type: 'custom'; readonly custom: { readonly name: string } }
  | { readonly type: 'allowed_tools'; readonly allowed_tools: object }

/** The parameters of a request; they may have more fields. */
export interface ChatParams {
  readonly model: string
  readonly messages: readonly {
    readonly role: 'developer' | 'system' | 'user' | 'assistant' | 'tool' | 'function'
    readonly content?: unknown
  }[]
  readonly stream?: boolean | null | undefined
  readonly tools?: unknown
  readonly tool_choice?: unknown
  readonly parallel_tool_calls?: boolean | null | undefined
}

/** The delta of a choice in a chunk of a stream. */
export interface ChatDelta {
  readonly role?: string | null | undefined
  readonly content?: string | null | undefined
  readonly tool_calls?: readonly unknown[] | null | undefined
}

/** A chunk of a stream, or a whole response. */
export interface ChatChunk {
  readonly choices: readonly object[]
  readonly usage?: object | null | undefined
}

/** A function as it is declared in a request. */
export interface ChatFunctionTool {
  type: 'function'
  function: { name: string; description: string; parameters: Record<string, unknown>; strict?: boolean }
}

/** A message that the helpers write: a response of the model, a result, or media that a tool returned. */
export type ChatMessage =
  | {
      role: 'assistant'
      content?: string | null
      tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[]
    }
  | { role: 'tool'; tool_call_id: string; content: string }
  | {
      role: 'user'
      content: string | ({ type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } })[]
    }
