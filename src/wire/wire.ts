import type { TurnEvent, Warning } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import type { JsonObject } from '../model/json.ts'
import type { Profile } from '../model/profile.ts'
import type { ModelRequest, ToolChoice, ToolSpec } from '../model/request.ts'
import type { WireId } from '../model/turn.ts'
import type { Frame } from './framing/frame.ts'
import type { ResponseWriter } from './response-writer.ts'
import type { HistoryPosition } from './history/transcript.ts'

/** A request body, and what had to be changed or left out on the way. The history is the last key, so that a longer history extends the bytes. */
export interface EncodedRequest {
  readonly body: JsonObject
  readonly warnings: readonly Warning[]
}

/** What a wire must know to read the answer to a request. */
export interface DecodeContext {
  /** Unique for ever; the ids of the calls are made from it, so that reading the same bytes again gives the same turn. */
  readonly turnKey: string
  readonly profile: Profile
  readonly tools: readonly ToolSpec[]
  readonly toolChoice?: ToolChoice
  /** The HTTP status; an error body is read with the same code as an error in a stream. */
  readonly status?: number
  /** Wait hints and the like, lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * A language that a model endpoint speaks: pure functions, no I/O. `start` makes the state of one response, which only
 * `step` and `stop` change; `step` reads one frame; `stop` closes what is open and always ends in exactly one `finish`.
 */
export interface Wire<State = unknown> {
  readonly id: WireId
  /** The profile of the plain endpoint, to be changed by a vendor's row. */
  readonly profile: Profile
  /** With `place`, only a later part of the history; see incremental.ts. */
  encodeRequest(request: ModelRequest, profile: Profile, position?: HistoryPosition): EncodedRequest
  startDecoding(reading: DecodeContext): State
  decodeFrame(state: State, frame: Frame): TurnEvent[]
  /** `fault` says why the bytes ended early, where the transport knows. */
  finishDecoding(state: State, fault?: Fault): TurnEvent[]
  /** The request that a body means: the inverse of `encode`, for servers, gateways and debugging. */
  readRequest(body: unknown): ModelRequest
  /** Writes responses: the inverse of `start`, `step` and `stop`, for servers and gateways. */
  readonly responseWriter: ResponseWriter
}
