import type { JsonObject } from '../../model/json.ts'
import { type Answer, type AnswerPart, cutUp } from '../answer.ts'
import { sign } from '../marks.ts'
import { type Frame, prefixed, type Speaker, type Spot, TROUBLES } from './speaker.ts'
import { verbatim } from './verbatim.ts'

/** Anthropic's messages. */
export const anthropic: Speaker = {
  frames,
  whole: (answer) => ({
    ...message(answer),
    content: answer.parts.map((part) => block(part)),
    stop_reason: word(answer),
    usage: { ...inputUsage(answer), ...outputUsage(answer) },
  }),
  fault,
  trouble(trouble) {
    const { status, message: said } = TROUBLES[trouble]
    return { event: 'error', data: { type: 'error', error: fault(status, said)['error'] ?? null }, spot: 'text' }
  },
}

function frames(answer: Answer): Frame[] {
  const made: Frame[] = []
  const add = (type: string, fields: JsonObject, spot: Spot, call?: number): void => {
    made.push({ event: type, data: { type, ...fields }, spot, ...(call !== undefined && { call }) })
  }
  add('message_start', { message: { ...message(answer), usage: { ...inputUsage(answer), output_tokens: 1 } } }, 'open')
  add('ping', {}, 'open')
  let calls = 0
  for (const [index, part] of answer.parts.entries()) {
    const call = part.kind === 'call' ? calls++ : undefined
    const delta = (spot: Spot, fields: JsonObject) => add('content_block_delta', { index, delta: fields }, spot, call)
    const opening = part.kind === 'call' && part.asObject ? block(part) : emptied(part)
    add('content_block_start', { index, content_block: opening }, part.kind === 'call' ? 'call' : spotOf(part), call)
    if (part.kind === 'text')
      for (const text of cutUp(part.text, answer.pieces)) delta('text', { type: 'text_delta', text })
    else if (part.kind === 'reasoning') {
      for (const thinking of cutUp(part.text, answer.pieces)) delta('thinking', { type: 'thinking_delta', thinking })
      delta('thinking', { type: 'signature_delta', signature: sign(part.text) })
    } else if (!part.asObject) {
      delta('arguments', { type: 'input_json_delta', partial_json: '' })
      for (const json of cutUp(part.raw, answer.pieces))
        delta('arguments', { type: 'input_json_delta', partial_json: json })
    }
    add('content_block_stop', { index }, part.kind === 'call' ? 'call-end' : spotOf(part), call)
  }
  const end = { stop_reason: word(answer), stop_sequence: null, stop_details: null, container: null }
  add('message_delta', { delta: end, usage: outputUsage(answer) }, 'end')
  add('message_stop', {}, 'end')
  return made
}

function spotOf(part: AnswerPart): Spot {
  return part.kind === 'text' ? 'text' : part.kind === 'reasoning' ? 'thinking' : 'arguments'
}

function message(answer: Answer): JsonObject {
  return {
    id: `msg_${answer.id}`,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
  }
}

function block(part: AnswerPart): JsonObject {
  if (part.kind === 'text') return { type: 'text', text: part.text, citations: null }
  if (part.kind === 'reasoning') return { type: 'thinking', thinking: part.text, signature: sign(part.text) }
  const id = prefixed('toolu_', part.id)
  return {
    type: 'tool_use',
    ...(id !== undefined && { id }),
    name: part.name,
    input: verbatim(part.raw),
    caller: { type: 'direct' },
  }
}

/** A block as it begins, before its deltas. */
function emptied(part: AnswerPart): JsonObject {
  if (part.kind === 'text') return { type: 'text', text: '', citations: null }
  if (part.kind === 'reasoning') return { type: 'thinking', thinking: '', signature: '' }
  return { ...block(part), input: {} }
}

function word(answer: Answer): string | null {
  return answer.word === undefined ? WORDS[answer.finish] : answer.word
}

const WORDS: Readonly<Record<Answer['finish'], string>> = {
  stop: 'end_turn',
  calls: 'tool_use',
  length: 'max_tokens',
  filter: 'refusal',
  'malformed-call': 'tool_use',
}

function inputUsage({ usage }: Answer): JsonObject {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    service_tier: 'standard',
  }
}

function outputUsage({ usage }: Answer): JsonObject {
  const thinking = usage.reasoning > 0 ? { output_tokens_details: { thinking_tokens: usage.reasoning } } : {}
  return { output_tokens: usage.output + usage.reasoning, ...thinking }
}

function fault(status: number, said: string, code?: string): JsonObject {
  const type = code ?? FAULTS.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  return { type: 'error', error: { type, message: said }, request_id: 'req_rehearsal' }
}

const FAULTS: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
])
