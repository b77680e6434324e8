import { isObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import { type ScriptedResponse, type ScriptedResponseCall, getResponseCalls } from '../response/scripted-response.ts'
import type { MisbehaviourAt } from './misbehaviour.ts'
import { parseJsonOrText } from '../response/encode-frames.ts'
import { isGoogleWire } from '../is-google-wire.ts'
import { formatTextCall } from './format-text-call.ts'

/** What goes wrong with the response itself, before a wire encodes it. */
export function alterResponse(
  response: ScriptedResponse,
  misbehaviour: MisbehaviourAt<'response'>,
  wire: WireId,
): ScriptedResponse {
  const mapCalls = (change: (call: ScriptedResponseCall, at: number) => ScriptedResponseCall): ScriptedResponse => {
    let at = 0
    return { ...response, parts: response.parts.map((part) => (part.kind === 'call' ? change(part, at++) : part)) }
  }
  switch (misbehaviour.kind) {
    case 'ids-missing':
      return mapCalls((call) => ({ ...call, id: undefined }))
    case 'ids-empty':
      return mapCalls((call) => ({ ...call, id: '' }))
    case 'ids-same':
      return mapCalls((call) => ({ ...call, id: getResponseCalls(response)[0]?.id }))
    case 'arguments-object':
      return mapCalls((call) => ({ ...call, sendsObject: true }))
    case 'arguments-doubled':
      return mapCalls((call) => ({ ...call, raw: JSON.stringify(call.raw) }))
    case 'malformed-call':
      return isGoogleWire(wire)
        ? { ...withoutCalls(response), finish: 'malformed-call' }
        : mapCalls(makeArgumentsMalformed)
    case 'text-call':
      return writeCallsAsText(response, misbehaviour.dialect ?? 'hermes')
    case 'length':
      return truncateResponse(response, wire, misbehaviour.lie === true)
    case 'finish-wrong':
      return { ...response, finishReasonOverride: misbehaviour.word ?? pickWrongFinishReason(response, wire) }
    case 'empty':
      return { ...response, parts: [], finish: 'stop' }
    case 'filter':
      return { ...response, finish: 'filter' }
    case 'think-in-text':
      return moveReasoningToText(response)
    default:
      return misbehaviour satisfies never
  }
}

function withoutCalls(response: ScriptedResponse): ScriptedResponse {
  return { ...response, parts: response.parts.filter((part) => part.kind !== 'call') }
}

function makeArgumentsMalformed(call: ScriptedResponseCall): ScriptedResponseCall {
  const args = parseJsonOrText(call.raw)
  const keys = isObject(args) ? Object.keys(args) : []
  return { ...call, raw: `{${keys.map((key) => `${key}=?`).join(', ') || 'x=?'}}` }
}

function writeCallsAsText(response: ScriptedResponse, dialect: Parameters<typeof formatTextCall>[0]): ScriptedResponse {
  const texts = response.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  const textCalls = getResponseCalls(response).map((call) => formatTextCall(dialect, call.name, call.raw))
  const rest = response.parts.filter((part) => part.kind === 'reasoning')
  return { ...response, parts: [...rest, { kind: 'text', text: [...texts, ...textCalls].join('\n') }], finish: 'stop' }
}

/** Gemini never sends half a call: unless it hides the truncation, it sends none. */
function truncateResponse(response: ScriptedResponse, wire: WireId, hidesTruncation: boolean): ScriptedResponse {
  const last = response.parts.at(-1)
  const finish = hidesTruncation ? response.finish : 'length'
  if (!last) return { ...response, finish }
  const before = response.parts.slice(0, -1)
  if (last.kind !== 'call')
    return { ...response, parts: [...before, { ...last, text: takeFirstHalf(last.text) }], finish }
  if (isGoogleWire(wire) && !hidesTruncation) return { ...response, parts: before, finish }
  return { ...response, parts: [...before, { ...last, raw: takeFirstHalf(last.raw), isTruncated: true }], finish }
}

function takeFirstHalf(text: string): string {
  return text.slice(0, Math.ceil(text.length / 2))
}

/** The finish reason for calls without calls, and the reverse; an unknown one on wires without this distinction. */
function pickWrongFinishReason(response: ScriptedResponse, wire: WireId): string {
  const hasCalls = getResponseCalls(response).length > 0
  if (wire === 'openai-chat') return hasCalls ? 'stop' : 'tool_calls'
  if (wire === 'anthropic') return hasCalls ? 'end_turn' : 'tool_use'
  return isGoogleWire(wire) ? 'FINISHED' : 'finished'
}

function moveReasoningToText(response: ScriptedResponse): ScriptedResponse {
  const reasoning = response.parts.flatMap((part) => (part.kind === 'reasoning' ? [part.text] : [])).join('')
  if (reasoning === '') return response
  const texts = response.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('')
  const text = { kind: 'text', text: `<think>${reasoning}</think>\n${texts}` } as const
  return { ...response, parts: [text, ...getResponseCalls(response)] }
}
