import type { Warning } from '../../model/event.ts'
import { splitRunnableCalls, createTurnFold } from '../../model/fold.ts'
import { createTurnKey } from '../../model/ids.ts'
import { toCanonicalJson, type JsonObject } from '../../model/json.ts'
import { joinTextParts } from '../../model/text.ts'
import type { AssistantTurn, CallPart, Finish } from '../../model/turn.ts'
import { openaiChat } from '../../wire/openai-chat/wire.ts'
import type { ChatDelta, ChatTool } from '../vendor-types/openai.ts'
import type { NativeToolCall } from './native-tool-calls.ts'

/** What an assembler knows of the request and the endpoint. */
export interface AssemblerOptions {
  /** The tools of the request. They are needed to join fragments of names, and to find calls written as text. */
  readonly tools?: readonly ChatTool[] | undefined
  /** Globally unique, at least 16 letters and digits: ids are derived from it for calls that have none. */
  readonly key?: string
  /** `vendor` keeps the ids of the endpoint where they are unique in the response; `own` never does. */
  readonly ids?: 'vendor' | 'own'
  /** The endpoint writes HTML entities into arguments. */
  readonly entities?: boolean
  readonly onWarning?: (warning: Warning) => void
}

/** A complete call that may run. */
export interface CompleteToolCall extends NativeToolCall {
  index: number
  id: string
  type: 'function' | 'custom'
  /** The parsed arguments; `function.arguments` is the same as strict JSON. */
  input: JsonObject
}

/** A call that must not run, but needs a result. */
export interface RejectedToolCall {
  id: string
  name: string
  /** As received. */
  arguments: string
  /** A sentence for the model. */
  reason: string
}

/** The calls of a response that ended. */
export interface AssembledToolCalls {
  calls: CompleteToolCall[]
  rejected: RejectedToolCall[]
  /** The text, without calls that were written in it. */
  text: string
  /** How the response really ended, whatever finish reason the endpoint sent. */
  finish: Finish
}

/** Assembles the calls of one response from its deltas. */
export interface NativeToolCallAssembler {
  /** Takes a complete delta, with its text. `choice` is the index of its choice. */
  push(delta: ChatDelta | null | undefined, choice?: number): void
  /** Ends the stream. Without a finish reason no call may run, because none is known to be complete. */
  end(finishReason?: string | null): AssembledToolCalls
}

/** Creates an assembler for one response. Several can be used in parallel. */
export function nativeToolCallAssembler(options: AssemblerOptions = {}): NativeToolCallAssembler {
  const profile = { ...openaiChat.profile, entities: options.entities ?? false }
  const state = openaiChat.startDecoding({
    turnKey: options.key ?? createTurnKey(crypto.getRandomValues(new Uint8Array(20))),
    profile,
    tools: openaiChat.readRequest({ tools: options.tools ?? [] }).request.tools,
  })
  const folder = createTurnFold({ provider: profile.signer, wire: openaiChat.id, model: '' })
  let result: AssembledToolCalls | undefined

  function foldEvents(events: ReturnType<typeof openaiChat.decodeFrame>): void {
    for (const event of events) {
      folder.push(event)
      if (event.type === 'warn') options.onWarning?.(event.warning)
    }
  }

  function decodeChoice(choice: Record<string, unknown>): void {
    foldEvents(openaiChat.decodeFrame(state, { kind: 'json', value: { choices: [choice] } }))
  }

  return {
    push(delta, choice = 0) {
      if (!delta) return
      if (!result) decodeChoice({ index: choice, delta })
      else options.onWarning?.({ code: 'after-end', message: 'A delta after the end was dropped.' })
    },
    end(finishReason) {
      if (result) return result
      if (finishReason) decodeChoice({ index: 0, delta: {}, finish_reason: finishReason })
      foldEvents(openaiChat.finishDecoding(state))
      result = toAssembledCalls(folder.end().turn, options.ids ?? 'vendor')
      return result
    },
  }
}

function toAssembledCalls(turn: AssistantTurn, kind: 'vendor' | 'own'): AssembledToolCalls {
  const { calls, rejected } = splitRunnableCalls(turn)
  const ids = assignCallIds(turn, kind)
  const idOf = (call: CallPart) => ids.get(call) ?? call.id
  return {
    calls: calls.map((call, index) => ({
      index,
      id: idOf(call),
      type: call.freeform ? 'custom' : 'function',
      function: { name: call.name, arguments: toStrictJson(call) },
      input: call.input ?? {},
    })),
    rejected: rejected.map(({ call, reason }) => ({ id: idOf(call), name: call.name, arguments: call.raw, reason })),
    text: joinTextParts(turn.parts),
    finish: turn.finish,
  }
}

/** If the endpoint used an id twice, the first call keeps it. */
function assignCallIds(turn: AssistantTurn, kind: 'vendor' | 'own'): Map<CallPart, string> {
  const ids = new Map<CallPart, string>()
  const used = new Set<string>()
  for (const part of turn.parts) {
    if (part.kind !== 'call') continue
    const vendorId = kind === 'vendor' ? part.native?.id : undefined
    const id = vendorId === undefined || used.has(vendorId) ? part.id : vendorId
    used.add(id)
    ids.set(part, id)
  }
  return ids
}

/** The arguments as received, if they are strict JSON with the same meaning. */
function toStrictJson(call: CallPart): string {
  try {
    if (toCanonicalJson(JSON.parse(call.raw)) === toCanonicalJson(call.input)) return call.raw
  } catch {
    // Not strict JSON: serialized from the parsed input.
  }
  return JSON.stringify(call.input ?? {})
}
