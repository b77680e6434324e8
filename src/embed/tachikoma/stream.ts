import { splitRunnableCalls, createTurnFold } from '../../model/fold.ts'
import type { Warning } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import { createTurnKey } from '../../model/ids.ts'
import { isObject, objectOrEmpty } from '../../model/json.ts'
import type { AssistantPart, AssistantTurn, CallPart } from '../../model/turn.ts'
import type { Usage } from '../../model/usage.ts'
import type { Frame } from '../../wire/framing/frame.ts'
import { createFramer } from '../../wire/framing/framer.ts'
import { gemini } from '../../wire/gemini/wire.ts'
import type { GeminiDialect } from '../gemini-declarations.ts'
import { toToolSpec } from '../tool-calls/definitions.ts'
import type { ToolDefinition } from './types.ts'
import { defined } from '../../model/defined.ts'

/** A complete call. All calls are in the last chunk, because only then they are known to be complete. */
export interface ToolCallDelta {
  readonly index: number
  readonly id: string
  readonly name: string
  readonly argumentsDelta: string
  readonly wireId?: string
  readonly thoughtSignature?: string
}

/** A piece of a response. The last one has the calls. */
export interface CompletionChunk {
  readonly delta: string
  /** Reasoning, as far as the model shows it. */
  readonly thought?: string
  readonly toolCalls: readonly ToolCallDelta[]
  readonly isFinal: boolean
  /** On the last chunk only. */
  readonly usage?: Usage
  /** On the last chunk only. */
  readonly finishReason?: 'stop' | 'length' | 'content_filter' | 'malformed_call'
  /** The vendor's own finish reason; on the last chunk only. One that is not known counts as `stop`, but no call may run. */
  readonly rawFinishReason?: string
  /** What was handled or dropped, such as a line that cannot be parsed; on the last chunk only. */
  readonly warnings?: readonly Warning[]
  /** Calls that must not run, and why; on the last chunk only. */
  readonly rejected?: readonly { readonly id: string; readonly name: string; readonly reason: string }[]
}

/** What a stream knows of the request and the HTTP response. */
export interface GeminiStreamOptions {
  /** The declared tools, so that calls have their original names, and calls written as text are found. */
  readonly tools?: readonly ToolDefinition[]
  readonly dialect?: GeminiDialect
  /** Globally unique, at least 16 letters and digits: call ids are derived from it. Random by default. */
  readonly key?: string
  /** The HTTP status, so that an error body is recognised. */
  readonly status?: number
  readonly contentType?: string
}

/** The endpoint failed, or the stream ended before the response was complete. */
export class GeminiStreamError extends Error {
  override readonly name = 'GeminiStreamError'
  readonly fault: Fault

  constructor(fault: Fault, cause?: unknown) {
    super(fault.message, cause === undefined ? undefined : { cause })
    this.fault = fault
  }
}

/** A response of Gemini as chunks, the last of which is final. Throws a `GeminiStreamError` if it is incomplete. */
export class GeminiStream implements AsyncIterable<CompletionChunk> {
  readonly #bytes: AsyncIterable<Uint8Array>
  readonly #options: GeminiStreamOptions

  constructor(bytes: AsyncIterable<Uint8Array>, options: GeminiStreamOptions = {}) {
    this.#bytes = bytes
    this.#options = options
  }

  /** Can be iterated only once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<CompletionChunk, void, undefined> {
    const { tools = [], dialect = 'gemini', key, status, contentType } = this.#options
    const profile = { ...gemini.profile, dialect }
    const state = gemini.startDecoding({
      turnKey: key ?? createTurnKey(crypto.getRandomValues(new Uint8Array(20))),
      profile,
      tools: tools.map(toToolSpec),
      ...defined({ status }),
    })
    const folder = createTurnFold({ provider: profile.signer, wire: gemini.id, model: '' })
    const kinds = new Map<number, AssistantPart['kind']>()
    const framer = createFramer(contentType)
    let isWithinCall = false
    const dropped: Warning[] = []

    /** A line that cannot be parsed is dropped, unless it may be a piece of a call, or the end of the response. */
    function decodeFrames(frames: readonly Frame[], isLast: boolean): ReturnType<typeof gemini.decodeFrame> {
      return frames.flatMap((frame) => {
        if (frame.kind === 'json') isWithinCall = continuesCall(frame.value) ?? isWithinCall
        const mayDrop = !isWithinCall && (!isLast || state.end !== undefined) && (status ?? 200) < 400
        if (frame.kind !== 'bad' || !mayDrop) return gemini.decodeFrame(state, frame)
        dropped.push({
          code: 'bad-line',
          message: `A line cannot be parsed and was dropped: ${frame.text.slice(0, 200)}`,
        })
        return []
      })
    }

    function foldEvents(events: ReturnType<typeof gemini.decodeFrame>): CompletionChunk | undefined {
      let delta = ''
      let thought = ''
      for (const event of events) {
        folder.push(event)
        if (event.type === 'part-open') kinds.set(event.index, event.kind)
        if (event.type !== 'part-delta') continue
        const kind = kinds.get(event.index)
        if (kind === 'text') delta += event.text
        else if (kind === 'reasoning') thought += event.text
      }
      if (delta === '' && thought === '') return undefined
      return { delta, ...(thought !== '' && { thought }), toolCalls: [], isFinal: false }
    }

    let transportError: { readonly error: unknown } | undefined
    try {
      for await (const bytes of this.#bytes) {
        const chunk = foldEvents(decodeFrames(framer.push(bytes), false))
        if (chunk) yield chunk
      }
    } catch (error) {
      transportError = { error }
    }
    const last = foldEvents([
      ...decodeFrames(framer.end(), true),
      ...gemini.finishDecoding(
        state,
        transportError && { kind: 'transport', message: `The connection was lost: ${String(transportError.error)}` },
      ),
    ])
    if (last) yield last
    const { turn, warnings } = folder.end()
    const { reason, raw, fault } = turn.finish
    // The response did end, only with a word that is not known.
    const isUnknownEnd = reason === 'fault' && raw !== undefined && fault?.code === raw
    if ((reason === 'fault' && !isUnknownEnd) || reason === 'aborted') {
      throw new GeminiStreamError(
        fault ?? { kind: 'server', message: 'The response was cancelled.' },
        transportError?.error,
      )
    }
    yield createFinalChunk(turn, reason, [...dropped, ...warnings])
  }
}

/** Does the last call of a chunk continue in the next one? Undefined if the chunk has no call. */
function continuesCall(value: unknown): boolean | undefined {
  const chunk = objectOrEmpty(objectOrEmpty(value)['response'] ?? value)
  const candidates = Array.isArray(chunk['candidates']) ? chunk['candidates'] : []
  const parts: unknown = objectOrEmpty(objectOrEmpty(candidates[0])['content'])['parts']
  const last = (Array.isArray(parts) ? parts : []).map((part) => objectOrEmpty(part)['functionCall']).findLast(isObject)
  return last && last['willContinue'] === true
}

/** Accepts server-sent events, a JSON array or lines of JSON, in chunks of any size. */
export function createStream(bytes: AsyncIterable<Uint8Array>, options: GeminiStreamOptions = {}): GeminiStream {
  return new GeminiStream(bytes, options)
}

const FINISH_REASONS = {
  stop: 'stop',
  calls: 'stop',
  length: 'length',
  filter: 'content_filter',
  'malformed-call': 'malformed_call',
  fault: 'stop',
} as const

function createFinalChunk(
  turn: AssistantTurn,
  finishReason: keyof typeof FINISH_REASONS,
  warnings: readonly Warning[],
): CompletionChunk {
  const { calls, rejected } = splitRunnableCalls(turn)
  return {
    delta: '',
    toolCalls: calls.map(toToolCallDelta),
    isFinal: true,
    ...defined({ usage: turn.usage }),
    finishReason: FINISH_REASONS[finishReason],
    ...defined({ rawFinishReason: turn.finish.raw }),
    ...(warnings.length > 0 && { warnings }),
    ...(rejected.length > 0 && {
      rejected: rejected.map(({ call, reason }) => ({ id: call.id, name: call.name, reason })),
    }),
  }
}

function toToolCallDelta(call: CallPart, index: number): ToolCallDelta {
  const wireId = call.native?.id
  const signature = isObject(call.native?.data) ? call.native.data['thoughtSignature'] : undefined
  return {
    index,
    id: call.id,
    name: call.name,
    argumentsDelta: JSON.stringify(call.input ?? {}),
    ...defined({ wireId }),
    ...(typeof signature === 'string' && { thoughtSignature: signature }),
  }
}
