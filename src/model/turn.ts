import type { Fault } from './fault.ts'
import type { Json, JsonObject } from './json.ts'
import type { ToolSpec } from './request.ts'
import type { Usage } from './usage.ts'

/** The API formats of vendors. */
export type WireId = 'gemini' | 'interactions' | 'code-assist' | 'openai-chat' | 'openai-responses' | 'anthropic'

/** The model that made a turn: its provider, the API format, and its name. */
export interface ModelOrigin {
  readonly provider: string
  readonly wire: WireId
  readonly model: string
}

/**
 * Vendor data of a part: signatures, encrypted reasoning, item ids. It is opaque, and is sent back unchanged, only to the
 * wire and signer that made it. `id` is the vendor's id of the part.
 */
export interface NativeData {
  readonly wire: WireId
  readonly signer: string
  readonly id?: string
  readonly data?: Json
}

/** Visible text. With `native` it may be empty: then it only holds the place of data that the vendor wants back. */
export interface TextPart {
  readonly kind: 'text'
  readonly text: string
  /** The model refuses the request with this text, on wires that mark refusals. */
  readonly refusal?: true
  /** The name of the file or resource that a user attached; the text is its content. */
  readonly name?: string
  readonly native?: NativeData
}

/** The model's reasoning, as far as the vendor shows it. */
export interface ReasoningPart {
  readonly kind: 'reasoning'
  readonly text: string
  readonly native?: NativeData
}

/** An image, a sound or a document: inline as base64 `data`, or by `uri`. */
export interface MediaPart {
  readonly kind: 'media'
  readonly mime: string
  readonly data?: string
  readonly uri?: string
  readonly name?: string
  readonly native?: NativeData
}

/** Why a call must not run. */
export interface CallFlaw {
  readonly code: 'unfinished' | 'not-json' | 'not-object' | 'unnamed' | 'ambiguous' | 'forbidden'
  readonly message: string
}

/** A tool call. `id` is our own; `raw` is the argument text as received; `input` is absent unless the arguments are valid. */
export interface CallPart {
  readonly kind: 'call'
  readonly id: string
  readonly name: string
  readonly raw: string
  readonly input?: JsonObject
  /** The arguments are free text, not JSON; `input` is then `{ input: raw }`. */
  readonly freeform?: true
  readonly flaw?: CallFlaw
  readonly native?: NativeData
}

export type ResultStatus = 'ok' | 'error' | 'denied' | 'cancelled' | 'interrupted'

/** The result of a call: `content` for the model, `display` for the user. */
export interface ResultPart {
  readonly kind: 'result'
  readonly id: string
  readonly name: string
  readonly status: ResultStatus
  readonly content: readonly (TextPart | MediaPart)[]
  /** A structured result; on wires that take only text it is sent as JSON text. */
  readonly data?: Json
  readonly display?: Json
  readonly error?: { readonly message: string; readonly type?: string }
  /** The names of deferred tools that the model may call from here on. */
  readonly foundTools?: readonly string[]
  readonly native?: NativeData
}

/** A piece of a turn. */
export type Part = TextPart | ReasoningPart | MediaPart | CallPart | ResultPart

export type AssistantPart = TextPart | ReasoningPart | MediaPart | CallPart

/** How a turn ended. Calls run only after `stop` and `calls`; whether there are any is decided by the parts. */
export type FinishReason = 'stop' | 'calls' | 'length' | 'filter' | 'malformed-call' | 'aborted' | 'fault'

/** How a response of the model ended. */
export interface Finish {
  readonly reason: FinishReason
  /** The vendor's own label. */
  readonly raw?: string
  readonly fault?: Fault
  /** Other fields of the response, which only its wire understands, for writing it again. */
  readonly native?: NativeData
}

/**
 * How to get the rest of a response that the vendor stopped before its end: by the same request with the vendor's token, or by
 * the same request with this response after its history.
 */
export type Continuation = { readonly kind: 'token'; readonly token: string } | { readonly kind: 'resend' }

/** A message of the user. */
export interface UserTurn {
  readonly role: 'user'
  readonly parts: readonly (TextPart | MediaPart)[]
}

/** A response of the model, with the model that made it. */
export interface AssistantTurn {
  readonly role: 'assistant'
  readonly origin: ModelOrigin
  readonly parts: readonly AssistantPart[]
  readonly finish: Finish
  readonly usage?: Usage
}

/** The results of the calls of one response. */
export interface ResultsTurn {
  readonly role: 'results'
  readonly parts: readonly ResultPart[]
}

/** A message of Dragoman itself, in the history, so that the system prompt does not change. */
export interface NoteTurn {
  readonly role: 'note'
  readonly text: string
  /** No text of tools, files or servers is in it: it may get the authority of the system prompt. */
  readonly trusted?: true
  /** Tools that are declared from here on, beside those of the request. */
  readonly tools?: readonly ToolSpec[]
  /** The names of tools that are gone from here on. */
  readonly removedTools?: readonly string[]
  /** Other fields of the message, which only its wire understands. */
  readonly native?: NativeData
}

/** A step of the conversation. */
export type Turn = UserTurn | AssistantTurn | ResultsTurn | NoteTurn
