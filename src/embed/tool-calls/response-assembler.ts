import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'
import type { TurnEvent, Warning } from '../../model/event.ts'
import { createTurnFold, splitRunnableCalls } from '../../model/fold.ts'
import { createTurnKey } from '../../model/ids.ts'
import type { JsonObject } from '../../model/json.ts'
import { joinTextParts } from '../../model/text.ts'
import type { AssistantPart, AssistantTurn, CallPart, Finish } from '../../model/turn.ts'
import type { Usage } from '../../model/usage.ts'
import { createFramer } from '../../wire/framing/framer.ts'
import type { Wire } from '../../wire/wire.ts'
import { toToolSpec, type ToolDefinition } from './definitions.ts'

/** What an assembler knows of the request and the HTTP response. */
export interface ResponseAssemblerOptions {
  /** The tools of the request. Calls get their names and arguments back, and calls written as text are found. */
  readonly tools?: readonly ToolDefinition[] | undefined
  /** Globally unique, at least 16 letters and digits: the ids of the calls are made from it. Random by default. */
  readonly key?: string | undefined
  /** The HTTP status, if raw bytes are pushed: an error body is then recognised. */
  readonly status?: number | undefined
  /** The content type, if raw bytes are pushed. It is only a hint. */
  readonly contentType?: string | undefined
}

/** What a chunk brought, to be shown. A call must not run before `end()` returned it. */
export type ResponseEvent =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  /** A call begins. `index` is its place in the response; its id and name may not be known yet. */
  | { readonly type: 'call-open'; readonly index: number; readonly id?: string; readonly name?: string }
  /** A piece of the arguments of a call. */
  | { readonly type: 'call-delta'; readonly index: number; readonly text: string }
  | { readonly type: 'call-close'; readonly index: number; readonly id: string; readonly name: string }
  /** Something irregular was handled. Whenever data is dropped, there is a warning. */
  | { readonly type: 'warning'; readonly warning: Warning }

/** A complete call that may run. */
export interface AssembledCall {
  /** Unique for ever; a result refers to it. */
  readonly id: string
  readonly name: string
  readonly input: JsonObject
  /** The arguments as the model wrote them. */
  readonly raw: string
}

/** A call that must not run. `toHistory` tells the model the reason. */
export interface RejectedCall {
  readonly id: string
  readonly name: string
  readonly raw: string
  readonly reason: string
}

/** A response with signatures and other data of the vendor. It can be stored as JSON; what is in it may change. */
export interface ResponseTurn {
  readonly role: 'assistant'
}

/** A response that ended. */
export interface AssembledResponse {
  readonly calls: readonly AssembledCall[]
  readonly rejected: readonly RejectedCall[]
  /** Without calls that were written in it. */
  readonly text: string
  readonly reasoning: string
  /** How the response really ended. After a fault no call may run. */
  readonly finish: Finish
  readonly usage?: Usage
  /** What only the end made known. */
  readonly events: readonly ResponseEvent[]
  /** The whole response, for `toHistory`. */
  readonly turn: ResponseTurn
}

/** Assembles one response. `Chunk` is what the vendor's SDK yields. */
export interface ResponseAssembler<Chunk> {
  /** Takes a chunk of the SDK's stream, a whole response of the SDK, or raw bytes of the HTTP body, split anywhere. */
  push(chunk: Chunk | Uint8Array): ResponseEvent[]
  /** Ends the response, with the error if the connection broke. Later calls return the same response. */
  end(error?: unknown): AssembledResponse
}

/** Creates an assembler for one response of a wire. */
export function createResponseAssembler<Chunk extends object, State>(
  wire: Wire<State>,
  options: ResponseAssemblerOptions,
): ResponseAssembler<Chunk> {
  const state = wire.startDecoding({
    turnKey: options.key ?? createTurnKey(crypto.getRandomValues(new Uint8Array(20))),
    profile: wire.profile,
    tools: (options.tools ?? []).map(toToolSpec),
    ...defined({ status: options.status }),
  })
  const framer = createFramer(options.contentType)
  const turnFold = createTurnFold({ provider: wire.profile.signer, wire: wire.id, model: '' })
  const kinds = new Map<number, AssistantPart['kind']>()
  let response: AssembledResponse | undefined

  function foldEvents(events: readonly TurnEvent[]): ResponseEvent[] {
    return events.flatMap((event) => {
      turnFold.push(event)
      return toResponseEvent(event, kinds) ?? []
    })
  }

  return {
    push(chunk) {
      if (response) return [{ type: 'warning', warning: AFTER_END }]
      const frames = chunk instanceof Uint8Array ? framer.push(chunk) : [{ kind: 'json', value: chunk } as const]
      return foldEvents(frames.flatMap((frame) => wire.decodeFrame(state, frame)))
    },
    end(error) {
      if (response) return response
      const fault = error === undefined ? undefined : ({ kind: 'transport', message: getErrorMessage(error) } as const)
      const rest = framer.end().flatMap((frame) => wire.decodeFrame(state, frame))
      const events = foldEvents([...rest, ...wire.finishDecoding(state, fault)])
      response = toAssembledResponse(turnFold.end().turn, events)
      return response
    },
  }
}

/** Assembles a whole stream: of chunks of the SDK, or of raw bytes. An error of the stream becomes the `finish`. */
export async function assembleStream<Chunk>(
  assembler: ResponseAssembler<Chunk>,
  stream: AsyncIterable<Chunk | Uint8Array>,
  onEvent?: (event: ResponseEvent) => void,
): Promise<AssembledResponse> {
  let failure: { readonly error: unknown } | undefined
  async function* readChunks() {
    try {
      yield* stream
    } catch (error) {
      failure = { error }
    }
  }
  for await (const chunk of readChunks()) for (const event of assembler.push(chunk)) onEvent?.(event)
  const response = assembler.end(failure && (failure.error ?? 'The stream failed.'))
  for (const event of response.events) onEvent?.(event)
  return response
}

const AFTER_END: Warning = { code: 'after-end', message: 'A chunk after the end was dropped.' }

function toResponseEvent(event: TurnEvent, kinds: Map<number, AssistantPart['kind']>): ResponseEvent | undefined {
  switch (event.type) {
    case 'part-open':
      kinds.set(event.index, event.kind)
      if (event.kind !== 'call') return undefined
      return { type: 'call-open', index: event.index, ...defined({ id: event.id, name: event.name }) }
    case 'part-delta': {
      const kind = kinds.get(event.index)
      if (kind === 'call') return { type: 'call-delta', index: event.index, text: event.text }
      return kind === 'text' || kind === 'reasoning' ? { type: kind, text: event.text } : undefined
    }
    case 'part-close':
      if (event.part.kind !== 'call') return undefined
      return { type: 'call-close', index: event.index, id: event.part.id, name: event.part.name }
    case 'warn':
      return { type: 'warning', warning: event.warning }
    case 'open':
    case 'wait':
    case 'usage':
    case 'finish':
      return undefined
    default:
      return event satisfies never
  }
}

function toAssembledResponse(turn: AssistantTurn, events: readonly ResponseEvent[]): AssembledResponse {
  const { calls, rejected } = splitRunnableCalls(turn)
  const describe = ({ id, name, raw }: CallPart) => ({ id, name, raw })
  return {
    calls: calls.map((call) => ({ ...describe(call), input: call.input ?? {} })),
    rejected: rejected.map(({ call, reason }) => ({ ...describe(call), reason })),
    text: joinTextParts(turn.parts),
    reasoning: turn.parts.flatMap((part) => (part.kind === 'reasoning' ? [part.text] : [])).join(''),
    finish: turn.finish,
    ...defined({ usage: turn.usage }),
    events,
    turn,
  }
}
