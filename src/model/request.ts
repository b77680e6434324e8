import type { JsonObject } from './json.ts'
import type { Turn } from './turn.ts'

/** A tool as the model is told of it. `schema` is the JSON Schema of its arguments, as its author wrote it. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly schema: JsonObject
  /** A tool that takes free text instead of JSON, on wires that have such a thing. */
  readonly freeform?: boolean
}

/** A tool that the vendor runs by itself, on its own machines: reading pages, searching the web. */
export type ServerTool = 'url_context' | 'google_search'

/** Whether the model may, must or must not call; `only` narrows the choice without changing the declared tools. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string } | { readonly only: readonly string[] }

/** Settings of one request. What is absent is not sent. */
export interface ModelParams {
  readonly maxTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly stop?: readonly string[]
  /** How hard to think: `off` asks for none; a number is a token budget where the wire knows budgets. */
  readonly effort?: 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | number
  readonly parallelCalls?: boolean
  readonly stream?: boolean
  /** May the vendor keep the answer? Absent means no, wherever a wire can say so. */
  readonly store?: boolean
}

/** All that a wire needs to write one request. */
export interface ModelRequest {
  readonly model: string
  readonly system?: string
  readonly tools: readonly ToolSpec[]
  /** Only where the model has them; see `serverTools` of its profile. */
  readonly serverTools?: readonly ServerTool[]
  readonly toolChoice?: ToolChoice
  readonly turns: readonly Turn[]
  readonly params?: ModelParams
  /** Stable for the life of a session: lets a vendor route us back to our cached prefix. */
  readonly session?: string
  /** Names this one prompt, where a wire wants to know. */
  readonly prompt?: string
  /** The cloud project that pays, where a wire wants to know. */
  readonly project?: string
  /** The vendor's id of the answer that this request goes on from, where the vendor keeps the history. */
  readonly previous?: string
}
