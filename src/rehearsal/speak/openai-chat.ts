import type { Json, JsonObject } from '../../model/json.ts'
import type { Usage } from '../../model/usage.ts'
import { type Answer, type AnswerCall, callsOf, cutUp } from '../answer.ts'
import { openaiFault } from './openai-fault.ts'
import { type Frame, prefixed, type Speaker, type Spot, TROUBLES, type Wants } from './speaker.ts'
import { verbatim } from './verbatim.ts'

/** OpenAI's chat completions; thoughts come as `reasoning_content`, as the compatible endpoints send them. */
export const openaiChat: Speaker = {
  frames,
  whole,
  fault: openaiFault,
  trouble(trouble) {
    const { status, message } = TROUBLES[trouble]
    return { data: openaiFault(status, message), spot: 'text' }
  },
}

function frames(answer: Answer, wants: Wants): Frame[] {
  const made: Frame[] = []
  const head = {
    id: `chatcmpl-${answer.id}`,
    object: 'chat.completion.chunk',
    created: answer.created,
    model: answer.model,
    system_fingerprint: 'fp_rehearsal',
  }
  const counted = wants.usage ? { usage: null } : {}
  const add = (spot: Spot, delta: JsonObject, call?: number, finish: string | null = null): void => {
    const data = { ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }], ...counted }
    made.push({ data, spot, ...(call !== undefined && { call }) })
  }
  add('open', { role: 'assistant', content: callsOf(answer).length > 0 ? null : '', refusal: null })
  let index = 0
  for (const part of answer.parts) {
    if (part.kind === 'reasoning')
      for (const piece of cutUp(part.text, answer.pieces)) add('thinking', { reasoning_content: piece })
    else if (part.kind === 'text') for (const piece of cutUp(part.text, answer.pieces)) add('text', { content: piece })
    else {
      const at = index++
      add('call', { tool_calls: [{ index: at, ...toolCall(part, part.asObject ? verbatim(part.raw) : '') }] }, at)
      if (part.asObject) continue
      for (const piece of cutUp(part.raw, answer.pieces))
        add('arguments', { tool_calls: [{ index: at, function: { arguments: piece } }] }, at)
    }
  }
  add('end', {}, undefined, word(answer))
  if (wants.usage) made.push({ data: { ...head, choices: [], usage: usageOf(answer.usage) }, spot: 'done' })
  made.push({ data: null, raw: '[DONE]', spot: 'done' })
  return made
}

function whole(answer: Answer): JsonObject {
  const texts = (kind: 'text' | 'reasoning') =>
    answer.parts.flatMap((part) => (part.kind === kind ? [part.text] : [])).join('')
  const calls = callsOf(answer)
  const reasoning = texts('reasoning')
  const message = {
    role: 'assistant',
    content: texts('text') === '' && calls.length > 0 ? null : texts('text'),
    refusal: null,
    annotations: [],
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && {
      tool_calls: calls.map((call) => toolCall(call, call.asObject ? verbatim(call.raw) : call.raw)),
    }),
  }
  return {
    id: `chatcmpl-${answer.id}`,
    object: 'chat.completion',
    created: answer.created,
    model: answer.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: word(answer) }],
    usage: usageOf(answer.usage),
    service_tier: 'default',
    system_fingerprint: 'fp_rehearsal',
  }
}

function toolCall(call: AnswerCall, args: Json): JsonObject {
  const id = prefixed('call_', call.id)
  return { ...(id !== undefined && { id }), type: 'function', function: { name: call.name, arguments: args } }
}

function word(answer: Answer): string | null {
  return answer.word === undefined ? WORDS[answer.finish] : answer.word
}

const WORDS: Readonly<Record<Answer['finish'], string>> = {
  stop: 'stop',
  calls: 'tool_calls',
  length: 'length',
  filter: 'content_filter',
  'malformed-call': 'tool_calls',
}

function usageOf(usage: Usage): JsonObject {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  const completion = usage.output + usage.reasoning
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(usage.cacheWrite > 0 && { cache_write_tokens: usage.cacheWrite }),
      audio_tokens: 0,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}
