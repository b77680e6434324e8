import type { Json, JsonObject } from '../../model/json.ts'
import type { ProviderOptions } from '../../model/provider-options.ts'
import type { HostedTool, OutputFormat, ServerTool, ToolChoice, ToolSpec } from '../../model/request.ts'
import type { CallFlaw, Finish, ModelOrigin, NativeData, ResultStatus, WireId } from '../../model/turn.ts'

/**
 * A request in one format for all wires. It has everything that the request has, so that reading and encoding it gives the
 * same body again. `dragoman wire read` prints it with its details apart; see details.ts.
 */
export interface CompleteConversation {
  readonly model?: string
  readonly system: string | null
  readonly messages: readonly PlainMessage[]
  /** All tools, also those that only a note adds. */
  readonly tools?: readonly PlainTool[]
  /** Tools that the vendor runs, on wires that have them. */
  readonly serverTools?: readonly ServerTool[]
  /** Tools that only their own API can carry. */
  readonly hostedTools?: readonly HostedTool[]
  readonly toolChoice?: ToolChoice
  readonly params?: JsonObject
  readonly output?: OutputFormat
  readonly providerOptions?: ProviderOptions
  readonly session?: string
  readonly prompt?: string
  readonly project?: string
  /** The response that this continues, if the vendor stores the history. */
  readonly previous?: string
  /** The wire whose vendor knows `previous`; without it, the one that the conversation is encoded for. */
  readonly previousWire?: WireId
  readonly continuation?: string
  readonly diagnoseCache?: { readonly previous?: string }
}

/** The output of `dragoman wire read`, and the input of `dragoman wire encode`. */
export interface PlainConversation extends Pick<
  CompleteConversation,
  'system' | 'messages' | 'tools' | 'hostedTools' | 'toolChoice' | 'params' | 'output' | 'previous'
> {
  readonly details?: ConversationDetails
}

type JsonFields = Readonly<Record<string, unknown>>

/**
 * What a conversation has besides its words, calls and tools: data that only vendors understand, settings of one API, notes.
 * It stands apart, so that the messages can be read and compared. Objects of a list are named by their index.
 */
export interface ConversationDetails {
  readonly request?: JsonFields
  readonly tools?: Readonly<Record<string, JsonFields>>
  readonly messages?: Readonly<Record<string, MessageDetails>>
  /** Notes without text, each before the message of this index. */
  readonly notes?: readonly { readonly before: number; readonly note: PlainNote }[]
}

export interface MessageDetails {
  readonly message?: JsonFields
  readonly parts?: Readonly<Record<string, JsonFields>>
}

export type PlainTool = Omit<ToolSpec, 'description'> & { readonly description?: string }

export interface PlainMessage {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly parts: readonly PlainPart[]
  /** The message is not the user's: a system message inside the history, or a change of the tools. */
  readonly note?: PlainNote
  /** How a response ended, if not by `stop`. */
  readonly finish?: Finish
  /** The model that made a response, if it is known. */
  readonly origin?: ModelOrigin
}

export interface PlainNote {
  readonly trusted?: true
  /** Names of `tools` that are declared only here; or whole tools, where `tools` has another one of that name. */
  readonly addsTools?: readonly (string | PlainTool)[]
  readonly removesTools?: readonly string[]
  readonly native?: NativeData
}

export type PlainPart = PlainContentPart | PlainReasoning | PlainCall | PlainResult

/** What people and models write, and what results consist of. */
export type PlainContentPart = PlainText | PlainMedia | PlainItem

export interface PlainText {
  readonly type: 'text'
  readonly text: string
  readonly name?: string
  readonly refusal?: true
  readonly native?: NativeData
}

export interface PlainMedia {
  readonly type: 'media'
  readonly mime: string
  readonly data?: string
  readonly uri?: string
  readonly name?: string
  readonly native?: NativeData
}

/** Something that only the vendor understands. */
export interface PlainItem {
  readonly type: 'item'
  readonly kind: string
  readonly refusal?: true
  readonly name?: string
  readonly native?: NativeData
}

export interface PlainReasoning {
  readonly type: 'reasoning'
  readonly text?: string
  /** It has data that must go back to its vendor; see `native`. */
  readonly opaque?: true
  readonly native?: NativeData
}

export interface PlainCall {
  readonly type: 'call'
  /** As on the wire; absent if the wire has none. */
  readonly id?: string
  /** Our own id, if it is not that of the wire. */
  readonly ownId?: string
  readonly name: string
  /** The parsed arguments, or their text if it cannot be parsed. */
  readonly args: Json
  /** The argument text as received, if it is not what `args` would be written as. */
  readonly raw?: string
  /** The arguments are free text, which is `raw`. */
  readonly freeform?: true
  readonly flaw?: CallFlaw
  readonly opaque?: true
  readonly native?: NativeData
}

export interface PlainResult {
  readonly type: 'result'
  readonly id?: string
  readonly ownId?: string
  readonly name?: string
  /** The text or the data of the result. */
  readonly output: Json
  readonly error?: true
  /** If it is neither `ok` nor `error`. */
  readonly status?: ResultStatus
  /** What the result consists of, if `output` does not say all of it; then its data is in `data`. */
  readonly content?: readonly PlainContentPart[]
  readonly data?: Json
  readonly display?: Json
  readonly errorDetails?: { readonly message: string; readonly type?: string }
  readonly foundTools?: readonly string[]
  readonly native?: NativeData
}
