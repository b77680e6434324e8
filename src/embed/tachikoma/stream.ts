import { splitRunnableCalls, createTurnFold } from '../../model/fold.ts'
import type { Fault } from '../../model/fault.ts'
import { createTurnKey } from '../../model/ids.ts'
import { isObject } from '../../model/json.ts'
import type { AssistantPart, AssistantTurn, CallPart } from '../../model/turn.ts'
import type { Usage } from '../../model/usage.ts'
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
  /** Calls that must not run, and why; on the last chunk only. */
  readonly rejected?: readonly { readonly id: string; readonly name: string; readonly reason: string }[]
}

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
    const frames = createFramer(contentType)

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
        transportError && { kind: 'transport', message: `The connection was lost: ${String(transportError.error)}` },
      ),
    ])
    if (last) yield last
    const { turn } = folder.end()
    if (turn.finish.reason === 'fault' || turn.finish.reason === 'aborted') {
      throw new GeminiStreamError(
        turn.finish.fault ?? { kind: 'server', message: 'The response was cancelled.' },
        transportError?.error,
      )
    }
    yield createFinalChunk(turn, turn.finish.reason)
  }
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
