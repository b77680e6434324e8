import type { Json, JsonObject } from '../../src/model/json.ts'
import type { WireId } from '../../src/model/turn.ts'
import { sealMark } from './seals.ts'

/** What a scripted model answers: a thought, some words, and calls. */
export interface Answer {
  readonly signer: string
  /** Tells the answers of one session apart. */
  readonly round: number
  readonly thought: string
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly args: JsonObject; readonly id?: string }[]
}

/** The bytes of an answer as the vendor of a wire streams it, with its own ids, signatures and sealed thoughts, all marked. */
export function vendorStream(wire: WireId, answer: Answer): Uint8Array {
  return Buffer.from(STREAMS[wire](answer, sealMark(wire, answer.signer)))
}

/** The type under which such a stream comes. */
export const SSE = 'text/event-stream'

/** The id that a vendor gives to a call; Gemini's endpoint gives one too, Code Assist does not (T126). */
export function vendorCallId(wire: WireId, { signer, round, calls }: Answer, at: number): string | undefined {
  const mark = sealMark(wire, signer)
  const dictated = calls[at]?.id
  if (dictated !== undefined) return dictated
  if (wire === 'code-assist') return undefined
  if (wire === 'gemini') return `${mark}-${round}-${at}`
  return `${wire === 'anthropic' ? 'toolu' : 'call'}_${mark}${round}${at}`
}

const STREAMS: Record<WireId, (answer: Answer, mark: string) => string> = {
  gemini: (answer, mark) => geminiChunks('gemini', answer, mark).map(data).join(''),
  'code-assist': (answer, mark) =>
    geminiChunks('code-assist', answer, mark)
      .map((response) => data({ response, traceId: 't' }))
      .join(''),
  interactions,
  'openai-chat': chat,
  'openai-responses': responses,
  anthropic,
}

function data(value: Json): string {
  return `data: ${JSON.stringify(value)}\n\n`
}

function event(value: JsonObject): string {
  return `event: ${(value['type'] ?? value['event_type']) as string}\n${data(value)}`
}

/** Cuts a text in two, because vendors do. */
function halves(text: string): [string, string] {
  const middle = Math.floor(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

/** The thought comes unsigned, the first call carries the signature, and the last part is empty and signed (T117–T119). */
function geminiChunks(wire: WireId, answer: Answer, mark: string): JsonObject[] {
  const { thought, text, calls, round } = answer
  const parts: JsonObject[] = [
    { text: thought, thought: true },
    ...halves(text).map((piece) => ({ text: piece })),
    ...calls.map(({ name, args }, at) => {
      const id = vendorCallId(wire, answer, at)
      const call = { functionCall: { ...(id !== undefined && { id }), name, args } }
      return at === 0 ? { ...call, thoughtSignature: `${mark}${round}call==` } : call
    }),
    { text: '', thoughtSignature: `${mark}${round}end==` },
  ]
  const chunk = (one: JsonObject[], finish?: string): JsonObject => ({
    candidates: [
      { content: { role: 'model', parts: one }, index: 0, ...(finish !== undefined && { finishReason: finish }) },
    ],
    modelVersion: 'gemini-3-pro',
    responseId: `r${round}`,
  })
  return [...parts.slice(0, -1).map((part) => chunk([part])), chunk(parts.slice(-1), 'STOP')]
}

function chat(answer: Answer, mark: string): string {
  const { thought, text, calls, round } = answer
  const chunk = (delta: JsonObject, finish: string | null = null): string =>
    data({
      id: `chatcmpl-${round}`,
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
  const details = [{ type: 'reasoning.encrypted', data: `${mark}${round}`, index: 0 }]
  const deltas = calls.flatMap(({ name, args }, index): JsonObject[] => {
    const [first, rest] = halves(JSON.stringify(args))
    const id = vendorCallId('openai-chat', answer, index) ?? ''
    const extra = index === 0 ? { extra_content: { google: { thought_signature: `${mark}${round}` } } } : {}
    return [
      { tool_calls: [{ index, id, type: 'function', function: { name, arguments: first }, ...extra }] },
      { tool_calls: [{ index, function: { arguments: rest } }] },
    ]
  })
  return [
    chunk({ role: 'assistant', content: '' }),
    ...halves(`${mark} ${thought}`).map((reasoning_content) => chunk({ reasoning_content })),
    chunk({ reasoning_details: details }),
    ...halves(text).map((content) => chunk({ content })),
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    'data: [DONE]\n\n',
  ].join('')
}

function responses(answer: Answer, mark: string): string {
  const { thought, text, calls, round } = answer
  const summary = [{ type: 'summary_text', text: thought }]
  const reasoning = { type: 'reasoning', id: `rs_${mark}${round}`, summary, encrypted_content: `${mark}${round}sealed` }
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }]
  const said = { type: 'message', id: `msg_${mark}${round}`, status: 'completed', role: 'assistant', content }
  const made = calls.map(({ name, args }, at) => ({
    type: 'function_call',
    id: `fc_${mark}${round}${at}`,
    call_id: vendorCallId('openai-responses', answer, at) ?? '',
    name,
    arguments: JSON.stringify(args),
    status: 'completed',
  }))
  const output: JsonObject[] = [reasoning, said, ...made]
  const whole = { id: `resp_${mark}${round}`, object: 'response', created_at: 1, model: 'm' }
  const events: JsonObject[] = [{ type: 'response.created', response: { ...whole, status: 'in_progress', output: [] } }]
  for (const [output_index, item] of output.entries()) {
    events.push(...itemEvents(item, output_index))
    events.push({ type: 'response.output_item.done', output_index, item })
  }
  events.push({ type: 'response.completed', response: { ...whole, status: 'completed', output } })
  return events.map((one, sequence_number) => event({ ...one, sequence_number })).join('')
}

/** How an item begins and grows. */
function itemEvents(item: JsonObject, output_index: number): JsonObject[] {
  const at = { item_id: item['id'] ?? '', output_index }
  const added = (blank: JsonObject) => ({
    type: 'response.output_item.added',
    output_index,
    item: { ...item, ...blank },
  })
  if (item['type'] === 'function_call') {
    const whole = item['arguments'] as string
    const deltas = halves(whole).map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta }))
    const done = { type: 'response.function_call_arguments.done', ...at, name: item['name'] ?? '', arguments: whole }
    return [added({ arguments: '', status: 'in_progress' }), ...deltas, done]
  }
  if (item['type'] === 'reasoning') return [added({ summary: [], encrypted_content: '' })]
  const [part] = item['content'] as [JsonObject & { text: string }]
  const where = { ...at, content_index: 0 }
  return [
    added({ content: [], status: 'in_progress' }),
    { type: 'response.content_part.added', ...where, part: { ...part, text: '' } },
    ...halves(part.text).map((delta) => ({ type: 'response.output_text.delta', ...where, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...where, text: part.text, logprobs: [] },
    { type: 'response.content_part.done', ...where, part },
  ]
}

function anthropic(answer: Answer, mark: string): string {
  const { thought, text, calls, round } = answer
  const usage = { input_tokens: 1, output_tokens: 1 }
  const message = { id: `msg_${round}`, type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null }
  const thinking = halves(`${mark} ${thought}`).map((piece) => ({ type: 'thinking_delta', thinking: piece }))
  const blocks: [JsonObject, JsonObject[]][] = [
    [
      { type: 'thinking', thinking: '', signature: '' },
      [...thinking, { type: 'signature_delta', signature: `${mark}${round}signed` }],
    ],
    [{ type: 'text', text: '' }, halves(text).map((piece) => ({ type: 'text_delta', text: piece }))],
    ...calls.map(({ name, args }, at): [JsonObject, JsonObject[]] => [
      { type: 'tool_use', id: vendorCallId('anthropic', answer, at) ?? '', name, input: {} },
      halves(JSON.stringify(args)).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    ]),
  ]
  const stop_reason = calls.length > 0 ? 'tool_use' : 'end_turn'
  return [
    { type: 'message_start', message: { ...message, stop_sequence: null, usage } },
    ...blocks.flatMap(([content_block, deltas], index) => [
      { type: 'content_block_start', index, content_block },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
    .map((one) => event(one as JsonObject))
    .join('')
}

/** The thought is signed by a delta of its own, after its summary. */
function interactions(answer: Answer, mark: string): string {
  const { thought, text, calls, round } = answer
  const interaction = { id: '', object: 'interaction', model: 'gemini-3.8-flash' }
  const steps: [JsonObject, JsonObject[]][] = [
    [
      { type: 'thought' },
      [
        ...halves(`${mark} ${thought}`).map((piece) => ({
          type: 'thought_summary',
          content: { type: 'text', text: piece },
        })),
        { type: 'thought_signature', signature: `${mark}${round}signed==` },
      ],
    ],
    [{ type: 'model_output' }, halves(text).map((piece) => ({ type: 'text', text: piece }))],
    ...calls.map(({ name, args }, at): [JsonObject, JsonObject[]] => [
      { type: 'function_call', id: vendorCallId('interactions', answer, at) ?? '', name, arguments: {} },
      halves(JSON.stringify(args)).map((piece) => ({ type: 'arguments_delta', arguments: piece })),
    ]),
  ]
  const usage = { total_tokens: 3, total_input_tokens: 1, total_output_tokens: 1, total_thought_tokens: 1 }
  const events: JsonObject[] = [
    { interaction: { ...interaction, status: 'in_progress' }, event_type: 'interaction.created' },
    { interaction_id: '', status: 'in_progress', event_type: 'interaction.status_update' },
    ...steps.flatMap(([step, deltas], index): JsonObject[] => [
      { index, step, event_type: 'step.start' },
      ...deltas.map((delta) => ({ index, delta, event_type: 'step.delta' })),
      { index, event_type: 'step.stop' },
    ]),
    { interaction: { ...interaction, status: 'completed', usage }, event_type: 'interaction.completed' },
  ]
  return `${events.map(event).join('')}event: done\ndata: [DONE]\n\n`
}
