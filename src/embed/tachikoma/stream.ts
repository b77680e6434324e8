import { splitRunnableCalls, createTurnFold } from '../../model/fold.ts'
import type { Fault } from '../../model/fault.ts'
import { createTurnKey } from '../../model/ids.ts'
import { isObject } from '../../model/json.ts'
import type { AssistantTurn, CallPart } from '../../model/turn.ts'
import type { Usage } from '../../model/usage.ts'
import { createFramer } from '../../wire/framing/framer.ts'
import { gemini } from '../../wire/gemini/wire.ts'
import type { GeminiDialect } from '../gemini-declarations.ts'
import { toToolSpec } from './convert.ts'
import type { ToolDefinition } from './types.ts'
import { defined } from '../../model/defined.ts'

/** A call, whole: it comes in one piece, at the end of the answer, because only then it is known to be whole. */
export interface ToolCallDelta {
  readonly index: number
  readonly id: string
  readonly name: string
  readonly argumentsDelta: string
  readonly wireId?: string
  readonly thoughtSignature?: string
}

/** A piece of an answer. */
export interface CompletionChunk {
  /** Visible text. */
  readonly delta: string
  /** What the model thought, as far as it shows it. */
  readonly thought?: string
  readonly toolCalls: readonly ToolCallDelta[]
  readonly isFinal: boolean
  /** On the last chunk only. */
  readonly usage?: Usage
  /** On the last chunk only. */
  readonly finishReason?: 'stop' | 'length' | 'content_filter' | 'malformed_call'
  /** Calls that must not run, and why; on the last chunk only. */
  readonly rejected?: readonly { readonly id: string; readonly name: string; readonly reason: string }[]
}

/** What helps to read an answer. */
export interface GeminiStreamOptions {
  /** The tools that were declared: calls come back in their author's spelling, and calls written as text are found. */
  readonly tools?: readonly ToolDefinition[]
  /** How the tools were declared. */
  readonly dialect?: GeminiDialect
  /** Unique for ever, at least 16 letters and digits: the ids of the calls are made from it. Random by default. */
  readonly key?: string
  /** The HTTP status, so that an error body is read as one. */
  readonly status?: number
  readonly contentType?: string
}

/** An answer that cannot be used: the endpoint failed, or the bytes ended before the answer did. */
export class GeminiStreamError extends Error {
  override readonly name = 'GeminiStreamError'
  readonly fault: Fault

  constructor(fault: Fault, cause?: unknown) {
    super(fault.message, cause === undefined ? undefined : { cause })
    this.fault = fault
  }
}

/** An answer of Gemini as chunks, the last of which is final; throws a `GeminiStreamError` where there is no end. */
export class GeminiStream implements AsyncIterable<CompletionChunk> {
  readonly #bytes: AsyncIterable<Uint8Array>
  readonly #options: GeminiStreamOptions

  constructor(bytes: AsyncIterable<Uint8Array>, options: GeminiStreamOptions = {}) {
    this.#bytes = bytes
    this.#options = options
  }

  /** The chunks; the bytes are there only once. */
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
    const kinds = new Map<number, string>()
    const frames = createFramer(contentType)

    function foldEvents(events: ReturnType<typeof gemini.decodeFrame>): CompletionChunk | undefined {
      let delta = ''
      let thought = ''
      for (const event of events) {
        folder.push(event)
        if (event.type === 'part-open') kinds.set(event.index, event.kind)
        else if (event.type === 'part-delta' && kinds.get(event.index) === 'text') delta += event.text
        else if (event.type === 'part-delta' && kinds.get(event.index) === 'reasoning') thought += event.text
      }
      if (delta === '' && thought === '') return undefined
      return { delta, ...(thought !== '' && { thought }), toolCalls: [], isFinal: false }
    }

    let transportError: { readonly error: unknown } | undefined
    try {
      for await (const bytes of this.#bytes) {
        const chunk = foldEvents(frames.push(bytes).flatMap((frame) => gemini.decodeFrame(state, frame)))
        if (chunk) yield chunk
      }
    } catch (error) {
      transportError = { error }
    }
    const last = foldEvents([
      ...frames.end().flatMap((frame) => gemini.decodeFrame(state, frame)),
      ...gemini.finishDecoding(
        state,
        transportError && { kind: 'transport', message: `The connection broke: ${String(transportError.error)}` },
      ),
    ])
    if (last) yield last
    const { turn } = folder.end()
    if (turn.finish.reason === 'fault' || turn.finish.reason === 'aborted') {
      throw new GeminiStreamError(
        turn.finish.fault ?? { kind: 'server', message: 'The answer was cancelled.' },
        transportError?.error,
      )
    }
    yield createFinalChunk(turn, turn.finish.reason)
  }
}

/** Reads the bytes of a response, whether they are events, an array or lines of JSON, and however they are cut. */
export function createStream(bytes: AsyncIterable<Uint8Array>, options: GeminiStreamOptions = {}): GeminiStream {
  return new GeminiStream(bytes, options)
}

/** The words for how an answer ended. */
const FINISH_REASONS = {
  stop: 'stop',
  calls: 'stop',
  length: 'length',
  filter: 'content_filter',
  'malformed-call': 'malformed_call',
} as const

function createFinalChunk(turn: AssistantTurn, finishReason: keyof typeof FINISH_REASONS): CompletionChunk {
  const { calls, rejected } = splitRunnableCalls(turn)
  return {
    delta: '',
    toolCalls: calls.map(toToolCallDelta),
    isFinal: true,
    ...defined({ usage: turn.usage }),
    finishReason: FINISH_REASONS[finishReason],
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
