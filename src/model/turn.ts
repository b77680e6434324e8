import type { Fault } from './fault.ts'
import type { Json, JsonObject } from './json.ts'
import type { Usage } from './usage.ts'

/** The five languages that Dragoman speaks. */
export type WireId = 'gemini' | 'code-assist' | 'openai-chat' | 'openai-responses' | 'anthropic'

/** Who made an assistant turn. */
export interface ModelOrigin {
  readonly provider: string
  readonly wire: WireId
  readonly model: string
}

/**
 * A vendor's own data on a part: signatures, encrypted reasoning, item ids. It is opaque to us, and goes back, byte for
 * byte, only to the wire and signer that made it. `id` is the id that the vendor gave the part.
 */
export interface NativeData {
  readonly wire: WireId
  readonly signer: string
  readonly id?: string
  readonly data?: Json
}

/** Visible text. With `native` it may be empty: then it only carries something that the vendor wants back in this place. */
export interface TextPart {
  readonly kind: 'text'
  readonly text: string
  /** The model declines in these words, on wires that tell a refusal from an answer. */
  readonly refusal?: true
  /** The name of the file or resource that a user attached; the text is its content. */
  readonly name?: string
  readonly native?: NativeData
}

/** What the model thought, as far as it shows it. */
export interface ReasoningPart {
  readonly kind: 'reasoning'
  readonly text: string
  readonly native?: NativeData
}

/** An image, a sound, a document: inline as base64 `data`, or by `uri`. */
export interface MediaPart {
  readonly kind: 'media'
  readonly mime: string
  readonly data?: string
  readonly uri?: string
  readonly name?: string
  readonly native?: NativeData
}

/** Why a call must not run, though the model began it. */
export interface CallFlaw {
  readonly code: 'unfinished' | 'not-json' | 'not-object' | 'unnamed' | 'ambiguous' | 'forbidden'
  readonly message: string
}

/** A tool call. `id` is ours for ever; `raw` is the argument text exactly as it came; `input` is absent unless it may be trusted. */
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

/** How a call ended. */
export type ResultStatus = 'ok' | 'error' | 'denied' | 'cancelled' | 'interrupted'

/** The answer to a call: `content` for the model, `display` for the person. */
export interface ResultPart {
  readonly kind: 'result'
  readonly id: string
  readonly name: string
  readonly status: ResultStatus
  readonly content: readonly (TextPart | MediaPart)[]
  /** A structured answer; wires that take only text get it as JSON text. */
  readonly data?: Json
  readonly display?: Json
  readonly error?: { readonly message: string; readonly type?: string }
  readonly native?: NativeData
}

export type Part = TextPart | ReasoningPart | MediaPart | CallPart | ResultPart

/** What an assistant turn may hold. */
export type AssistantPart = TextPart | ReasoningPart | MediaPart | CallPart

/** How a turn ended. The loop goes on content, never on this label; but only `stop` and `calls` let calls run. */
export type FinishReason = 'stop' | 'calls' | 'length' | 'filter' | 'malformed-call' | 'aborted' | 'fault'

export interface Finish {
  readonly reason: FinishReason
  /** The vendor's own word. */
  readonly raw?: string
  readonly fault?: Fault
}

export interface UserTurn {
  readonly role: 'user'
  readonly parts: readonly (TextPart | MediaPart)[]
}

export interface AssistantTurn {
  readonly role: 'assistant'
  readonly origin: ModelOrigin
  readonly parts: readonly AssistantPart[]
  readonly finish: Finish
  readonly usage?: Usage
}

export interface ResultsTurn {
  readonly role: 'results'
  readonly parts: readonly ResultPart[]
}

/** A message of the harness, in time order, so that the system prompt can stay the same byte for byte. */
export interface NoteTurn {
  readonly role: 'note'
  readonly text: string
}

export type Turn = UserTurn | AssistantTurn | ResultsTurn | NoteTurn
