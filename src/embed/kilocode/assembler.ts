import type OpenAI from 'openai'
import type { Warning } from '../../model/event.ts'
import { splitRunnableCalls, createTurnFold } from '../../model/fold.ts'
import { createTurnKey } from '../../model/ids.ts'
import { toCanonicalJson, type JsonObject } from '../../model/json.ts'
import { joinTextParts } from '../../model/text.ts'
import type { AssistantTurn, CallPart, Finish } from '../../model/turn.ts'
import { openaiChat } from '../../wire/openai-chat/wire.ts'
import type { NativeToolCall } from './native-tool-calls.ts'

/** How a response is to be put together. */
export interface AssemblerOptions {
  /** The tools that were sent; they tell apart what the pieces of a name can mean, and find calls written as text. */
  readonly tools?: readonly OpenAI.Chat.ChatCompletionTool[] | undefined
  /** Unique for ever, at least 16 letters and digits: the ids of calls that came without one are made from it. */
  readonly key?: string
  /** `vendor` keeps the endpoint's id where it is the first of its kind in the response; `own` never does. */
  readonly ids?: 'vendor' | 'own'
  /** The endpoint writes HTML entities into arguments. */
  readonly entities?: boolean
  readonly onWarning?: (warning: Warning) => void
}

/** A call that is whole, and may run. */
export interface CompleteToolCall extends NativeToolCall {
  index: number
  id: string
  type: 'function' | 'custom'
  /** The arguments, parsed; `function.arguments` is strict JSON that says the same. */
  input: JsonObject
}

/** A call that must not run, but must be answered. */
export interface RejectedToolCall {
  id: string
  name: string
  /** What the model wrote, as it came. */
  arguments: string
  /** One sentence, to be told to the model. */
  reason: string
}

/** What a response came to. */
export interface AssembledToolCalls {
  calls: CompleteToolCall[]
  rejected: RejectedToolCall[]
  /** The visible text, without calls that were written into it. */
  text: string
  /** How the answer really ended, whatever the endpoint called it. */
  finish: Finish
}

/** Puts the calls of one response together. */
export interface NativeToolCallAssembler {
  /** Takes a delta, whole: its text matters too. `choice` is the index of the choice that it came in. */
  push(delta: OpenAI.Chat.ChatCompletionChunk.Choice.Delta | null | undefined, choice?: number): void
  /** The stream is over. Without the endpoint's finish reason no call may run, because none is known to be whole. */
  end(finishReason?: string | null): AssembledToolCalls
}

/** Starts the assembler of one response. It shares nothing with any other, so responses may come side by side. */
export function nativeToolCallAssembler(options: AssemblerOptions = {}): NativeToolCallAssembler {
  const profile = { ...openaiChat.profile, entities: options.entities ?? false }
  const state = openaiChat.startDecoding({
    turnKey: options.key ?? createTurnKey(crypto.getRandomValues(new Uint8Array(20))),
    profile,
    tools: openaiChat.readRequest({ tools: options.tools ?? [] }).tools,
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
      else options.onWarning?.({ code: 'after-end', message: 'A delta came after the end and was dropped.' })
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

/** One id for each call, for life; an id that the endpoint gave twice stays with the first. */
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

/** The arguments as they came, where every JSON parser reads them as we do. */
function toStrictJson(call: CallPart): string {
  try {
    if (toCanonicalJson(JSON.parse(call.raw)) === toCanonicalJson(call.input)) return call.raw
  } catch {
    // Not strict JSON: written anew from what was read.
  }
  return JSON.stringify(call.input ?? {})
}
