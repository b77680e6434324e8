import { isObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import { type Answer, type AnswerCall, callsOf } from '../answer.ts'
import type { Misbehaviour } from '../misbehaviour.ts'
import { parsed } from '../write-answer.ts'
import { writeCall } from './written-call.ts'

/** What goes wrong with the answer itself, before it is written down on a wire. */
export function alterAnswer(answer: Answer, one: Misbehaviour, wire: WireId, stream: boolean): Answer {
  const calls = (change: (call: AnswerCall, at: number) => AnswerCall): Answer => {
    let at = 0
    return { ...answer, parts: answer.parts.map((part) => (part.kind === 'call' ? change(part, at++) : part)) }
  }
  switch (one.kind) {
    case 'ids-missing':
      return calls((call) => ({ ...call, id: undefined }))
    case 'ids-empty':
      return calls((call) => ({ ...call, id: '' }))
    case 'ids-same':
      return calls((call) => ({ ...call, id: callsOf(answer)[0]?.id }))
    case 'arguments-object':
      return calls((call) => ({ ...call, asObject: true }))
    case 'arguments-doubled':
      return calls((call) => ({ ...call, raw: JSON.stringify(call.raw) }))
    case 'malformed-call':
      return isGemini(wire) ? { ...withoutCalls(answer), finish: 'malformed-call' } : calls(unreadable)
    case 'text-call':
      return asText(answer, one.dialect ?? 'hermes')
    case 'length':
      return cutOff(answer, wire, one.lie === true)
    case 'finish-wrong':
      return { ...answer, word: one.word ?? wrongWord(answer, wire) }
    case 'finish-missing':
      // In a stream the event itself is missing; see alter-frames.
      return stream ? answer : { ...answer, word: null }
    case 'empty':
      return { ...answer, parts: [], finish: 'stop' }
    case 'filter':
      return { ...answer, finish: 'filter' }
    case 'think-in-text':
      return thinkAloud(answer)
    default:
      return answer
  }
}

function isGemini(wire: WireId): boolean {
  return wire === 'gemini' || wire === 'code-assist'
}

function withoutCalls(answer: Answer): Answer {
  return { ...answer, parts: answer.parts.filter((part) => part.kind !== 'call') }
}

/** Arguments that no reader can make sense of. */
function unreadable(call: AnswerCall): AnswerCall {
  const args = parsed(call.raw)
  const keys = isObject(args) ? Object.keys(args) : []
  return { ...call, raw: `{${keys.map((key) => `${key}=?`).join(', ') || 'x=?'}}` }
}

function asText(answer: Answer, dialect: Parameters<typeof writeCall>[0]): Answer {
  const said = answer.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []))
  const written = callsOf(answer).map((call) => writeCall(dialect, call.name, call.raw))
  const rest = answer.parts.filter((part) => part.kind === 'reasoning')
  return { ...answer, parts: [...rest, { kind: 'text', text: [...said, ...written].join('\n') }], finish: 'stop' }
}

/** Gemini never sends half a call: where it is honest it sends none. */
function cutOff(answer: Answer, wire: WireId, lie: boolean): Answer {
  const last = answer.parts.at(-1)
  const finish = lie ? answer.finish : 'length'
  if (!last) return { ...answer, finish }
  const before = answer.parts.slice(0, -1)
  if (last.kind !== 'call') return { ...answer, parts: [...before, { ...last, text: half(last.text) }], finish }
  if (isGemini(wire) && !lie) return { ...answer, parts: before, finish }
  return { ...answer, parts: [...before, { ...last, raw: half(last.raw), cut: true }], finish }
}

function half(text: string): string {
  return text.slice(0, Math.ceil(text.length / 2))
}

/** Calls under a word for none, and the other way round; where there is no such word, one that nobody knows. */
function wrongWord(answer: Answer, wire: WireId): string {
  const called = callsOf(answer).length > 0
  if (wire === 'openai-chat') return called ? 'stop' : 'tool_calls'
  if (wire === 'anthropic') return called ? 'end_turn' : 'tool_use'
  return wire === 'openai-responses' ? 'finished' : 'FINISHED'
}

function thinkAloud(answer: Answer): Answer {
  const thought = answer.parts.flatMap((part) => (part.kind === 'reasoning' ? [part.text] : [])).join('')
  if (thought === '') return answer
  const said = answer.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('')
  const text = { kind: 'text', text: `<think>${thought}</think>\n${said}` } as const
  return { ...answer, parts: [text, ...callsOf(answer)] }
}
