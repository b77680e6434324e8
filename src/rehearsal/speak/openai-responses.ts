import type { Json, JsonObject } from '../../model/json.ts'
import type { Usage } from '../../model/usage.ts'
import type { Answer, AnswerCall, AnswerPart } from '../answer.ts'
import { cutUp } from '../answer.ts'
import { sign } from '../marks.ts'
import { openaiFault } from './openai-fault.ts'
import { type Frame, prefixed, type Speaker, type Spot, TROUBLES, type Wants } from './speaker.ts'
import { verbatim } from './verbatim.ts'

/** OpenAI's Responses. The events get their numbers when they are sent. */
export const openaiResponses: Speaker = {
  frames,
  whole: (answer, wants) => response(answer, wants, ending(answer)),
  fault: openaiFault,
  trouble(trouble) {
    const { status, message } = TROUBLES[trouble]
    const { code, type } = openaiFault(status, message)['error'] as JsonObject
    const data = { type: 'error', code: code ?? type ?? null, message, param: null }
    return { event: 'error', data, spot: 'text' }
  },
}

function frames(answer: Answer, wants: Wants): Frame[] {
  const made: Frame[] = []
  const add = (type: string, fields: JsonObject, spot: Spot, call?: number): void => {
    made.push({ event: type, data: { type, ...fields }, spot, ...(call !== undefined && { call }) })
  }
  const begun = response(answer, wants, 'in_progress')
  add('response.created', { response: begun }, 'open')
  add('response.in_progress', { response: begun }, 'open')
  let calls = 0
  for (const [index, part] of answer.parts.entries()) {
    const item = itemOf(answer, part, index, wants)
    if (part.kind === 'call') callFrames(part, { item, index, call: calls++, pieces: answer.pieces }, add)
    else textFrames(part, { item, index, pieces: answer.pieces }, add)
  }
  const status = ending(answer)
  // A word that nobody knows comes under the name of a plain end.
  const name = status !== null && ENDINGS.has(status) ? status : 'completed'
  if (status !== null) add(`response.${name}`, { response: response(answer, wants, status) }, 'end')
  return made
}

const ENDINGS = new Set(['completed', 'incomplete', 'failed', 'cancelled'])

type Add = (type: string, fields: JsonObject, spot: Spot, call?: number) => void

function callFrames(
  part: AnswerCall,
  at: { item: JsonObject; index: number; call: number; pieces: number | undefined },
  add: Add,
): void {
  const { item, index, call } = at
  const place = { item_id: item['id'] ?? '', output_index: index }
  const begun = { ...item, arguments: '', status: 'in_progress' }
  add('response.output_item.added', { output_index: index, item: begun }, 'call', call)
  if (!part.asObject) {
    for (const delta of cutUp(part.raw, at.pieces))
      add('response.function_call_arguments.delta', { ...place, delta }, 'arguments', call)
    const done = { ...place, name: part.name, arguments: part.raw }
    add('response.function_call_arguments.done', done, 'call-end', call)
  }
  add('response.output_item.done', { output_index: index, item }, 'call-end', call)
}

function textFrames(
  part: Exclude<AnswerPart, AnswerCall>,
  at: { item: JsonObject; index: number; pieces: number | undefined },
  add: Add,
): void {
  const { item, index } = at
  const thinking = part.kind === 'reasoning'
  const spot = thinking ? 'thinking' : 'text'
  const place = { item_id: item['id'] ?? '', output_index: index, [thinking ? 'summary_index' : 'content_index']: 0 }
  const piece = (text: string): JsonObject => (thinking ? { type: 'summary_text', text } : outputText(text))
  const [word, name] = thinking ? ['reasoning_summary_part', 'reasoning_summary_text'] : ['content_part', 'output_text']
  const extra = thinking ? {} : { logprobs: [] }
  const begun = thinking
    ? { id: item['id'] ?? '', type: 'reasoning', summary: [] }
    : { ...item, content: [], status: 'in_progress' }
  add('response.output_item.added', { output_index: index, item: begun }, spot)
  add(`response.${word}.added`, { ...place, part: piece('') }, spot)
  for (const delta of cutUp(part.text, at.pieces)) add(`response.${name}.delta`, { ...place, delta, ...extra }, spot)
  add(`response.${name}.done`, { ...place, text: part.text, ...extra }, spot)
  add(`response.${word}.done`, { ...place, part: piece(part.text) }, spot)
  add('response.output_item.done', { output_index: index, item }, spot)
}

/** An item as it stands at the end. */
function itemOf(answer: Answer, part: AnswerPart, index: number, wants: Wants): JsonObject {
  const id = `${answer.id}_i${index}`
  if (part.kind === 'reasoning') {
    const sealed = wants.sealed ? { encrypted_content: sign(part.text) } : {}
    return { id: `rs_${id}`, type: 'reasoning', summary: [{ type: 'summary_text', text: part.text }], ...sealed }
  }
  if (part.kind === 'text') {
    const status = answer.finish === 'length' ? 'incomplete' : 'completed'
    return { id: `msg_${id}`, type: 'message', status, content: [outputText(part.text)], role: 'assistant' }
  }
  const callId = prefixed('call_', part.id)
  return {
    id: `fc_${id}`,
    type: 'function_call',
    status: part.cut && answer.finish === 'length' ? 'incomplete' : 'completed',
    arguments: part.asObject ? verbatim(part.raw) : part.raw,
    ...(callId !== undefined && { call_id: callId }),
    name: part.name,
  }
}

function outputText(text: string): JsonObject {
  return { type: 'output_text', annotations: [], logprobs: [], text }
}

/** How the answer ends; null where it is not to say so. */
function ending(answer: Answer): string | null {
  if (answer.word !== undefined) return answer.word
  return answer.finish === 'length' || answer.finish === 'filter' ? 'incomplete' : 'completed'
}

function response(answer: Answer, wants: Wants, status: string | null): JsonObject {
  const { body } = wants
  const open = status === 'in_progress'
  const why = answer.finish === 'filter' ? 'content_filter' : 'max_output_tokens'
  const given = (key: string, other: Json): Json => body[key] ?? other
  return {
    id: `resp_${answer.id}`,
    object: 'response',
    created_at: answer.created,
    ...(status !== null && { status }),
    background: false,
    completed_at: open ? null : answer.created + 1,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: why } : null,
    instructions: given('instructions', null),
    max_output_tokens: given('max_output_tokens', null),
    max_tool_calls: null,
    model: answer.model,
    output: open ? [] : answer.parts.map((part, index) => itemOf(answer, part, index, wants)),
    parallel_tool_calls: given('parallel_tool_calls', true),
    previous_response_id: given('previous_response_id', null),
    prompt_cache_key: given('prompt_cache_key', null),
    reasoning: given('reasoning', { effort: null, summary: null }),
    safety_identifier: null,
    service_tier: 'default',
    store: given('store', true),
    temperature: given('temperature', 1),
    text: given('text', { format: { type: 'text' } }),
    tool_choice: given('tool_choice', 'auto'),
    tools: given('tools', []),
    top_logprobs: 0,
    top_p: given('top_p', 1),
    truncation: 'disabled',
    usage: open ? null : usageOf(answer.usage),
    user: null,
    metadata: {},
  }
}

function usageOf(usage: Usage): JsonObject {
  const input = usage.input + usage.cacheRead + usage.cacheWrite
  const output = usage.output + usage.reasoning
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(usage.cacheWrite > 0 && { cache_write_tokens: usage.cacheWrite }),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
  }
}
