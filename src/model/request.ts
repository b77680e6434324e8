import type { JsonObject } from './json.ts'
import type { ProviderOptions } from './provider-options.ts'
import type { NativeData, Turn, WireId } from './turn.ts'

/** A tool as it is declared to the model. `schema` is the JSON Schema of its arguments, as its author wrote it. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly schema: JsonObject
  /** The tool takes free text instead of JSON, on wires that support this. */
  readonly freeform?: boolean
  /** What the free text must match. */
  readonly grammar?: ToolGrammar
  /** The group of the tool; `name` is then `group__tool`, which is what wires without groups declare. */
  readonly namespace?: ToolNamespace
  /** The model sees the tool only once it has been found; see `ResultPart.foundTools`. */
  readonly deferred?: boolean
  /** Other fields of the declaration, which only its wire understands. */
  readonly native?: NativeData
}

/** A grammar of a tool that takes free text. */
export interface ToolGrammar {
  readonly syntax: 'lark' | 'regex'
  readonly definition: string
}

/** A group of tools, such as those of one MCP server. */
export interface ToolNamespace {
  readonly name: string
  readonly description?: string
  /** The name of the tool inside the group, if it is not what follows `group__`. */
  readonly tool?: string
}

/** A tool that we cannot run: hosted by a vendor, or of an unknown type. It is declared only to the wire that it was read from. */
export interface HostedTool {
  readonly wire: WireId
  readonly declaration: JsonObject
}

/** A tool that the vendor runs on its own servers. */
export type ServerTool = 'url_context' | 'google_search'

/** Whether the model may, must or must not make calls; `only` restricts the choice without changing the declared tools. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly name: string } | { readonly only: readonly string[] }

export const EFFORT_LEVELS = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const

export type EffortLevel = (typeof EFFORT_LEVELS)[number]

/** What is absent is not sent. */
export interface ModelParams {
  readonly maxTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly stop?: readonly string[]
  /** How much to think; a number is a token budget, on wires that have budgets. */
  readonly effort?: EffortLevel | number
  /** Ask for thinking, as much as the model likes, from models that think only then; `effort` goes before it. */
  readonly thinking?: boolean
  readonly parallelCalls?: boolean
  readonly stream?: boolean
  /** May the vendor store the response? The default is no, on wires that have this parameter. */
  readonly store?: boolean
  /** How long the prompt cache should live at least. A vendor with other lifetimes gets its next longer one. */
  readonly cacheTtl?: '5m' | '1h'
}

/** The format of the answer: a JSON value that fits a schema. */
export interface OutputFormat {
  readonly name: string
  /** JSON Schema. Its root describes an object, because most vendors accept nothing else there. */
  readonly schema: JsonObject
}

/** A response that a vendor stores: its id, which means nothing on other wires. */
export interface StoredResponse {
  readonly wire: WireId
  readonly id: string
}

/** A request to a model, the same for all vendors. */
export interface ModelRequest {
  readonly model: string
  readonly system?: string
  readonly tools: readonly ToolSpec[]
  /** Only tools that the model has; see `serverTools` of its profile. */
  readonly serverTools?: readonly ServerTool[]
  readonly hostedTools?: readonly HostedTool[]
  readonly toolChoice?: ToolChoice
  readonly turns: readonly Turn[]
  readonly params?: ModelParams
  /**
   * The format of the answer. It is sent as the vendor's own response format, or described in the system prompt where an
   * endpoint has none, so the answer must be validated in any case.
   */
  readonly output?: OutputFormat
  /** Fields of the request body that only one API has. */
  readonly providerOptions?: ProviderOptions
  /** The same for the whole session, so that the vendor can find our cached prefix. */
  readonly session?: string
  /** The id of this prompt, on wires that have one. */
  readonly prompt?: string
  /** The cloud project that pays, on wires that need it. */
  readonly project?: string
  /** The response that this request continues, if the vendor stores the history. */
  readonly previous?: StoredResponse
  /** The vendor's token of a response that stopped before its end: the response to this request is the rest of it. */
  readonly continuation?: string
  /** Ask why the prompt cache missed: the vendor compares this request with that of the response of this id, if there is one. */
  readonly diagnoseCache?: { readonly previous?: string }
}
