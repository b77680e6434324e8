import type { JsonObject } from '../../../src/model/json.ts'
import type { WireId } from '../../../src/model/turn.ts'

/** What a model answers on each wire, in a stream and whole. */
export interface Answers {
  readonly call: (name: string, args: JsonObject) => Answer
  readonly text: (text: string) => Answer
}

interface Answer {
  readonly events: readonly string[]
  readonly whole: JsonObject
}

const sse = (...values: unknown[]): string[] => values.map((value) => `data: ${JSON.stringify(value)}\n\n`)

const named = (...values: { type: string }[]): string[] =>
  values.map((value) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`)

const GEMINI_USAGE = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 }

function gemini(envelope: (value: JsonObject) => JsonObject): Answers {
  const answer = (part: JsonObject): Answer => {
    const whole = envelope({
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: GEMINI_USAGE,
    })
    return { events: sse(whole), whole }
  }
  return {
    call: (name, args) => answer({ functionCall: { name, args }, thoughtSignature: 'c2lnbmF0dXJl' }),
    text: (text) => answer({ text }),
  }
}

const CHAT_USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

const chat: Answers = {
  call(name, args) {
    const text = JSON.stringify(args)
    const call = (index: number | undefined, piece: JsonObject) => ({ ...(index !== undefined && { index }), ...piece })
    const first = call(0, { id: 'call_native_1', type: 'function', function: { name, arguments: text.slice(0, 4) } })
    const rest = call(0, { function: { arguments: text.slice(4) } })
    return {
      events: [
        ...sse(
          { id: 'c1', choices: [{ index: 0, delta: { role: 'assistant', content: null, tool_calls: [first] } }] },
          { id: 'c1', choices: [{ index: 0, delta: { tool_calls: [rest] } }] },
          { id: 'c1', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
          { id: 'c1', choices: [], usage: CHAT_USAGE },
        ),
        'data: [DONE]\n\n',
      ],
      whole: {
        id: 'c1',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: 'call_native_1', type: 'function', function: { name, arguments: text } }],
            },
            finish_reason: 'tool_calls',
          },
        ],
        usage: CHAT_USAGE,
      },
    }
  },
  text: (text) => ({
    events: [
      ...sse(
        { id: 'c2', choices: [{ index: 0, delta: { role: 'assistant', content: text.slice(0, 3) } }] },
        { id: 'c2', choices: [{ index: 0, delta: { content: text.slice(3) } }] },
        { id: 'c2', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: CHAT_USAGE },
      ),
      'data: [DONE]\n\n',
    ],
    whole: {
      id: 'c2',
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: CHAT_USAGE,
    },
  }),
}

const responses: Answers = {
  call: (name, args) =>
    item({
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_native_1',
      name,
      arguments: JSON.stringify(args),
      status: 'completed',
    }),
  text: (text) =>
    item({
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [] }],
    }),
}

function item(output: JsonObject): Answer {
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
  const whole = { id: 'resp_1', object: 'response', status: 'completed', output: [output], usage }
  const events = named(
    { type: 'response.created', response: { id: 'resp_1', status: 'in_progress', output: [] } } as { type: string },
    { type: 'response.output_item.added', output_index: 0, item: output } as { type: string },
    { type: 'response.output_item.done', output_index: 0, item: output } as { type: string },
    { type: 'response.completed', response: whole } as { type: string },
  )
  return { events, whole }
}

const anthropic: Answers = {
  call(name, args) {
    const text = JSON.stringify(args)
    const block = { type: 'tool_use', id: 'toolu_native_1', name, input: {} }
    return message({ ...block, input: args }, block, { type: 'input_json_delta', partial_json: text }, 'tool_use')
  },
  text: (text) => message({ type: 'text', text }, { type: 'text', text: '' }, { type: 'text_delta', text }, 'end_turn'),
}

function message(whole: JsonObject, block: JsonObject, delta: JsonObject, reason: string): Answer {
  const head = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    usage: { input_tokens: 10, output_tokens: 1 },
  }
  const events = named(
    { type: 'message_start', message: { ...head, content: [] } } as { type: string },
    { type: 'content_block_start', index: 0, content_block: block } as { type: string },
    { type: 'ping' },
    { type: 'content_block_delta', index: 0, delta } as { type: string },
    { type: 'content_block_stop', index: 0 } as { type: string },
    { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 5 } } as { type: string },
    { type: 'message_stop' },
  )
  return { events, whole: { ...head, content: [whole], stop_reason: reason } }
}

const interactions: Answers = {
  call: (name, args) =>
    step(
      { type: 'function_call', id: 'call_native_1', name, arguments: {} },
      { type: 'arguments_delta', arguments: JSON.stringify(args) },
      { type: 'function_call', id: 'call_native_1', name, arguments: args },
    ),
  text: (text) =>
    step({ type: 'model_output' }, { type: 'text', text }, { type: 'model_output', content: [{ type: 'text', text }] }),
}

function step(start: JsonObject, delta: JsonObject, whole: JsonObject): Answer {
  const usage = { total_input_tokens: 10, total_output_tokens: 5, total_tokens: 15 }
  const head = { id: '', object: 'interaction', model: 'm' }
  const done = { ...head, status: 'completed', usage }
  const events = sse(
    { interaction: { ...head, status: 'in_progress' }, event_type: 'interaction.created' },
    { index: 0, step: start, event_type: 'step.start' },
    { index: 0, delta, event_type: 'step.delta' },
    { index: 0, event_type: 'step.stop' },
    { interaction: done, event_type: 'interaction.completed' },
  )
  return { events, whole: { ...done, steps: [whole] } }
}

/** The answers of each wire. */
export const answers: Readonly<Record<WireId, Answers>> = {
  gemini: gemini((value) => value),
  interactions,
  'code-assist': gemini((response) => ({ response, traceId: 't' })),
  'openai-chat': chat,
  'openai-responses': responses,
  anthropic,
}
