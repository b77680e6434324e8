import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import { isObject, type Json } from '../../model/json.ts'
import type { FinishReason } from '../../model/turn.ts'
import { type UsageReport, usageFrom } from '../../model/usage.ts'
import { classify, findError } from '../fault.ts'
import type { Frame } from '../frame.ts'
import type { Run } from '../run.ts'
import { type Scribe, startScribe } from '../scribe.ts'
import { type Think, startThink } from '../think.ts'
import type { Reading } from '../wire.ts'
import { type ReasoningDetails, startDetails } from './reasoning-details.ts'

/** What is known of an answer while it comes in. */
export interface State {
  readonly scribe: Scribe
  /** Reasoning, text and refusal have their places before all calls, so that a streamed answer folds like a whole one. */
  readonly reasoning: Run
  readonly text: Run
  readonly refusal: Run
  readonly details: ReasoningDetails
  readonly think: Think | undefined
  /** Under which field the reasoning comes; a second field at the same time repeats it (T76). */
  reasoningField: string | undefined
  /** The text as it came; `divided` if thoughts were inside it, and then it must go back like this (T79). */
  content: string
  divided: boolean
  opened: boolean
  counts: Partial<UsageReport>
  status: number | undefined
}

/** Starts reading an answer. */
export function start(reading: Reading): State {
  const scribe = startScribe('openai-chat', reading)
  return {
    scribe,
    reasoning: scribe.run('reasoning', scribe.reserve()),
    text: scribe.run('text', scribe.reserve()),
    refusal: scribe.run('text', scribe.reserve(), true),
    details: startDetails(),
    think: reading.profile.think ? startThink() : undefined,
    reasoningField: undefined,
    content: '',
    divided: false,
    opened: false,
    counts: {},
    status: reading.status,
  }
}

/** Reads one frame: a chunk of a stream, or a whole answer. */
export function step(state: State, frame: Frame): TurnEvent[] {
  const { scribe } = state
  if (frame.kind === 'json') chunk(state, unwrap(frame.value))
  else if (frame.kind === 'bad') scribe.taint(`A part of the answer could not be read: ${frame.text.slice(0, 200)}`)
  else if (frame.kind === 'comment') {
    const status = /^\s*HTTP_STATUS\/(\d{3})/.exec(frame.text)?.[1]
    if (status !== undefined) state.status = Number(status)
  }
  return scribe.take()
}

/** Closes what is open; `fault` says why the bytes ended early, if they did. */
export function stop(state: State, fault?: Fault): TurnEvent[] {
  const { scribe, think } = state
  for (const piece of think?.end() ?? []) divide(state, piece)
  const details = state.details.end()
  if (state.reasoningField !== undefined || details) {
    const field = state.reasoningField === undefined ? {} : { field: state.reasoningField }
    state.reasoning.close(scribe.seal(undefined, { ...field, ...(details && { details }) }))
  }
  if (state.divided) state.text.close(scribe.seal(undefined, { content: state.content }))
  if (!scribe.over && !scribe.failed && !fault && (state.status ?? 200) >= 400) {
    scribe.fail(classify({ message: `HTTP ${state.status}` }, { status: state.status ?? 0, ...headers(state) }))
  }
  return scribe.stop(fault)
}

function chunk(state: State, value: Record<string, unknown>): void {
  const { scribe } = state
  const choices = Array.isArray(value['choices']) ? value['choices'].filter(isObject) : undefined
  const error = !choices || (value['error'] !== undefined && value['error'] !== null) ? findError(value) : undefined
  if (error) fail(state, error)
  else if (!KNOWN.some((key) => key in value))
    scribe.warn('unknown-frame', `A frame was not understood: ${JSON.stringify(value).slice(0, 200)}`)
  if (!state.opened && (choices || value['id'] !== undefined)) {
    state.opened = true
    const id = typeof value['id'] === 'string' ? { id: value['id'] } : {}
    const model = typeof value['model'] === 'string' && value['model'] !== '' ? { model: value['model'] } : {}
    scribe.emit({ type: 'open', ...id, ...model })
  }
  for (const [at, one] of (choices ?? []).entries())
    choice(state, one, typeof one['index'] === 'number' ? one['index'] : at)
  usage(state, value['usage'])
  if (isObject(value['x_groq'])) usage(state, value['x_groq']['usage'])
}

/** Only the first choice speaks; but a call may live in another (T25). */
function choice(state: State, one: Record<string, unknown>, at: number): void {
  const { scribe } = state
  const error = isObject(one['error']) ? findError(one) : undefined
  if (error) fail(state, error)
  const whole = isObject(one['message'])
  const delta = isObject(one['delta']) ? one['delta'] : whole ? (one['message'] as Record<string, unknown>) : {}
  if (at === 0) speak(state, delta, whole)
  else if (typeof delta['content'] === 'string' && delta['content'] !== '')
    scribe.warn('other-choice', 'The text of another choice than the first was not read (T25).')
  const listed = delta['tool_calls']
  const calls = Array.isArray(listed) ? listed : isObject(listed) ? [listed] : []
  for (const [position, call] of calls.entries())
    if (isObject(call)) toolCall(state, call, { at, position, listed: calls.length })
  if (isObject(delta['function_call'])) {
    const { name, arguments: args } = delta['function_call']
    scribe.calls.add({ index: -1, name, args })
  }
  usage(state, one['usage'])
  const finish = one['finish_reason']
  if (typeof finish !== 'string' || finish === '') return
  const reason = FINISH.get(finish.toLowerCase()) ?? unknownFinish(finish)
  end(state, reason, finish)
}

function end(state: State, reason: FinishReason | undefined, word: string): void {
  const { scribe } = state
  if (reason === 'fault') scribe.fail({ kind: 'server', message: `The endpoint ended the answer with “${word}”.` })
  if (reason !== undefined) return scribe.ended(reason, word)
  scribe.warn('unknown-finish', `The answer ended with the unknown word “${word}” (T54).`)
  if (scribe.calls.count > 0)
    scribe.fail({ kind: 'decode', message: `The answer ended with the unknown word “${word}”.` })
  scribe.ended('stop', word)
}

function speak(state: State, delta: Record<string, unknown>, whole: boolean): void {
  const { details } = state
  for (const field of REASONING_FIELDS) {
    const thought = delta[field]
    const text =
      typeof thought === 'string'
        ? thought
        : isObject(thought) && typeof thought['text'] === 'string'
          ? thought['text']
          : ''
    if (text === '') continue
    if (state.reasoningField !== undefined && state.reasoningField !== field) continue
    state.reasoningField = field
    state.reasoning.add(text)
  }
  if (Array.isArray(delta['reasoning_details'])) {
    const text = details.add(delta['reasoning_details'])
    if (state.reasoningField === undefined) state.reasoning.add(text)
  }
  const content = delta['content']
  if (typeof content === 'string') write(state, whole ? unsaid(state, content) : content)
  else if (Array.isArray(content)) for (const part of content) contentPart(state, part)
  if (typeof delta['refusal'] === 'string') state.refusal.add(delta['refusal'])
  if (Array.isArray(delta['images'])) for (const image of delta['images']) picture(state, image)
}

function write(state: State, text: string): void {
  state.content += text
  if (state.think) for (const piece of state.think.push(text)) divide(state, piece)
  else state.text.add(text)
}

/** Puts a piece of text where it belongs: what stood inside `<think>` is reasoning. */
function divide(state: State, { channel, text }: { channel: 'text' | 'reasoning'; text: string }): void {
  if (channel === 'reasoning') state.divided = true
  const run = channel === 'text' ? state.text : state.reasoning
  run.add(text)
}

/** A whole message after a stream of pieces repeats them (T26). */
function unsaid(state: State, text: string): string {
  return text.startsWith(state.content) ? text.slice(state.content.length) : text
}

/** Content as a list of parts, with thoughts among them (Mistral). */
function contentPart(state: State, part: unknown): void {
  if (typeof part === 'string') return write(state, part)
  if (!isObject(part)) return
  if (part['type'] === 'thinking') {
    const thoughts = Array.isArray(part['thinking']) ? part['thinking'] : [part['thinking']]
    for (const thought of thoughts) {
      const text = isObject(thought) ? thought['text'] : thought
      if (typeof text === 'string') state.reasoning.add(text)
    }
  } else if (typeof part['text'] === 'string') write(state, part['text'])
  else if (part['type'] === 'image_url') picture(state, part)
  else state.scribe.warn('unknown-content', `A part of type ${String(part['type'])} was not understood.`)
}

function picture(state: State, image: unknown): void {
  const url = isObject(image) && isObject(image['image_url']) ? image['image_url']['url'] : undefined
  if (typeof url !== 'string') return
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url)
  if (inline) state.scribe.add({ kind: 'media', mime: inline[1] ?? '', data: inline[2] ?? '' })
  else state.scribe.add({ kind: 'media', mime: 'image/*', uri: url })
}

/** Reads a call in OpenAI's shape, in Gemini's ({name, args}), or as free text (T16, T30). */
function toolCall(
  state: State,
  call: Record<string, unknown>,
  where: { at: number; position: number; listed: number },
): void {
  const { calls } = state.scribe
  const inner = isObject(call['function']) ? call['function'] : isObject(call['custom']) ? call['custom'] : call
  const index = typeof call['index'] === 'number' ? call['index'] + where.at * 1000 : undefined
  const slot = calls.add({
    id: call['id'],
    index,
    name: inner['name'],
    args: inner['arguments'] ?? inner['args'] ?? inner['input'],
    position: where.position,
    listed: where.listed,
    freeform: call['type'] === 'custom',
  })
  // The signature may come alone, after the call (T119).
  const signed = slot ?? (index === undefined ? undefined : calls.at(index))
  if (signed && isObject(call['extra_content'])) signed.data = { extra_content: call['extra_content'] as Json }
}

/** Some gateways wrap the answer: `{data: {choices: …}}` (T26). */
function unwrap(value: unknown): Record<string, unknown> {
  if (!isObject(value)) return {}
  const inner = value['data']
  return !Array.isArray(value['choices']) && isObject(inner) && Array.isArray(inner['choices']) ? inner : value
}

function fail(state: State, error: NonNullable<ReturnType<typeof findError>>): void {
  const status = state.status === undefined ? {} : { status: state.status }
  state.scribe.fail(classify(error, { ...status, ...headers(state) }))
}

function headers(state: State) {
  return state.scribe.reading.headers ? { headers: state.scribe.reading.headers } : {}
}

function usage(state: State, value: unknown): void {
  if (!isObject(value)) return
  const input = isObject(value['prompt_tokens_details']) ? value['prompt_tokens_details'] : {}
  const output = isObject(value['completion_tokens_details']) ? value['completion_tokens_details'] : {}
  const seen = {
    input: value['prompt_tokens'],
    output: value['completion_tokens'],
    total: value['total_tokens'],
    cacheRead: input['cached_tokens'] ?? value['prompt_cache_hit_tokens'] ?? value['cached_tokens'],
    cacheWrite: input['cache_write_tokens'],
    reasoning: output['reasoning_tokens'] ?? value['reasoning_tokens'],
  }
  for (const [key, count] of Object.entries(seen))
    if (count !== undefined && count !== null) Object.assign(state.counts, { [key]: count })
  state.scribe.usage(usageFrom({ ...state.counts, inputHoldsCache: true, outputHoldsReasoning: true }))
}

const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_text'] as const

/** What a chunk may be known by. */
const KNOWN = ['choices', 'id', 'object', 'usage', 'x_groq']

function unknownFinish(word: string): FinishReason | undefined {
  if (/malformed_function_call/i.test(word)) return 'malformed-call'
  return /content.?filter|safety|blocked/i.test(word) ? 'filter' : undefined
}

/** The words under which endpoints end an answer, in lower case (T54). */
const FINISH: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries({
    stop: 'stop',
    end: 'stop',
    eos: 'stop',
    eos_token: 'stop',
    end_turn: 'stop',
    stop_sequence: 'stop',
    complete: 'stop',
    completed: 'stop',
    tool_calls: 'calls',
    tool_call: 'calls',
    tool_use: 'calls',
    function_call: 'calls',
    function_calls: 'calls',
    length: 'length',
    max_tokens: 'length',
    model_length: 'length',
    max_output_tokens: 'length',
    model_context_window_exceeded: 'length',
    content_filter: 'filter',
    sensitive: 'filter',
    safety: 'filter',
    refusal: 'filter',
    malformed_function_call: 'malformed-call',
    error: 'fault',
    insufficient_system_resource: 'fault',
    abort: 'aborted',
    aborted: 'aborted',
    cancelled: 'aborted',
  } as const),
)
