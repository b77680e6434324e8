import type { TurnEvent, Warning } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import type { JsonObject } from '../model/json.ts'
import type { Profile } from '../model/profile.ts'
import type { ModelRequest, OutputFormat, ToolChoice, ToolSpec } from '../model/request.ts'
import type { AssistantTurn, WireId } from '../model/turn.ts'
import type { Frame } from './framing/frame.ts'
import type { HeaderLists } from './header-lists.ts'
import type { ResponseWriter } from './response-writer.ts'
import type { HistoryPosition } from './history/transcript.ts'

/** A request body. The history is its last key, so that a longer history only adds bytes at the end. */
export interface EncodedRequest {
  readonly body: JsonObject
  /** What was changed or left out. */
  readonly warnings: readonly Warning[]
  /** The headers that this body needs. */
  readonly headers?: HeaderLists
  /** What the encoding of the turns after these depends on, for the position of those. */
  readonly endState?: HistoryPosition['before']
}

/** A request that was read from a body. */
export interface DecodedRequest {
  readonly request: ModelRequest
  /** What could not be kept: nothing is dropped without a warning. */
  readonly warnings: readonly Warning[]
}

/** What a wire needs to know to decode the response to a request. */
export interface DecodeContext {
  /** Globally unique. The ids of the calls are made from it, so that decoding the same bytes again gives the same turn. */
  readonly turnKey: string
  readonly profile: Profile
  readonly tools: readonly ToolSpec[]
  readonly toolChoice?: ToolChoice
  /** The format of the answer: a text that begins as JSON contains no calls. */
  readonly output?: OutputFormat
  /** The HTTP status; an error body is decoded like an error in a stream. */
  readonly status?: number
  /** With lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The API format of a vendor: pure functions, no I/O. `startDecoding` creates the state of one response, which only
 * `decodeFrame` and `finishDecoding` change; the last event is always the only `finish`.
 */
export interface Wire<State = unknown> {
  readonly id: WireId
  /** The defaults, which a provider overrides. */
  readonly profile: Profile
  /** With `position`, only a later part of the history; see history/incremental-body-writer.ts. */
  encodeRequest(request: ModelRequest, profile: Profile, position?: HistoryPosition): EncodedRequest
  /** Does what is sent of this response depend on the response before or after it? Then the history is not split there. */
  dependsOnNeighbours?(turn: AssistantTurn): boolean
  startDecoding(reading: DecodeContext): State
  decodeFrame(state: State, frame: Frame): TurnEvent[]
  /** `fault` is the transport error that ended the response, if there was one. */
  finishDecoding(state: State, fault?: Fault): TurnEvent[]
  /** The inverse of `encodeRequest`, for servers, gateways and debugging. */
  readRequest(body: unknown): DecodedRequest
  /** The inverse of decoding, for servers and gateways. */
  readonly responseWriter: ResponseWriter
}
