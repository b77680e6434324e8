import { createParser } from 'eventsource-parser'
import type { WireId } from '../src/model/turn.ts'
import { decodeResponse } from '../src/wire/decode-response.ts'
import { loadWire } from '../src/wire/wires.ts'
import { measureCpuTime } from './support/measure.ts'
import { type BenchmarkRow, reportTable } from './support/report.ts'

/** A stream of text in this many pieces, and one call whose arguments come in this many fragments. */
const TEXT_CHUNKS = 20_000
const FRAGMENTS = 5_000

const tools = [
  {
    name: 'write_file',
    description: 'Writes.',
    schema: { type: 'object', properties: { content: { type: 'string' } } },
  },
]

type Chunks = (pieces: readonly string[]) => unknown[]

/** How each wire says text, and how it says the arguments of a call. */
const WIRE_SAMPLES: Record<
  WireId,
  { text: Chunks; call?: Chunks; said: (event: StreamedEvent) => string | undefined }
> = {
  'openai-chat': {
    text: (pieces) => [
      ...pieces.map((content) => ({
        id: 'x',
        model: 'm',
        choices: [{ index: 0, delta: { content }, finish_reason: null }],
      })),
      { id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    ],
    call: (pieces) => [
      chatCall({ index: 0, id: 'c', type: 'function', function: { name: 'write_file', arguments: '' } }),
      ...pieces.map((args) => chatCall({ index: 0, function: { arguments: args } })),
      { id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    ],
    said: (event) =>
      event.choices?.[0]?.delta?.content ?? event.choices?.[0]?.delta?.tool_calls?.[0]?.function?.arguments,
  },
  anthropic: {
    text: (pieces) =>
      anthropic(
        { type: 'text', text: '' },
        pieces.map((text) => ({ type: 'text_delta', text })),
        'end_turn',
      ),
    call: (pieces) =>
      anthropic(
        { type: 'tool_use', id: 'c', name: 'write_file', input: {} },
        pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
        'tool_use',
      ),
    said: (event) => event.delta_?.text ?? event.delta_?.partial_json,
  },
  'openai-responses': {
    text: (pieces) =>
      responses({ type: 'message', id: 'm1', role: 'assistant', content: [] }, pieces, 'response.output_text.delta', {
        type: 'message',
        id: 'm1',
        role: 'assistant',
        content: [{ type: 'output_text', text: pieces.join('') }],
      }),
    call: (pieces) =>
      responses(
        { type: 'function_call', id: 'f1', call_id: 'c', name: 'write_file', arguments: '' },
        pieces,
        'response.function_call_arguments.delta',
        {
          type: 'function_call',
          id: 'f1',
          call_id: 'c',
          name: 'write_file',
          arguments: pieces.join(''),
        },
      ),
    said: (event) => (typeof event.delta === 'string' ? event.delta : undefined),
  },
  gemini: {
    text: (pieces) => gemini(pieces),
    said: (event) => event.candidates?.[0]?.content?.parts?.[0]?.text,
  },
  interactions: {
    text: (pieces) =>
      interactions(
        { type: 'model_output' },
        pieces.map((text) => ({ type: 'text', text })),
      ),
    call: (pieces) =>
      interactions(
        { type: 'function_call', id: 'c', name: 'write_file', arguments: {} },
        pieces.map((args) => ({ type: 'arguments_delta', arguments: args })),
      ),
    said: (event) => event.delta_?.text ?? event.delta_?.arguments,
  },
  'code-assist': {
    text: (pieces) => gemini(pieces).map((response) => ({ response })),
    said: (event) => event.response?.candidates?.[0]?.content?.parts?.[0]?.text,
  },
}

const rows: BenchmarkRow[] = []
for (const [id, { text, call, said }] of Object.entries(WIRE_SAMPLES) as [WireId, (typeof WIRE_SAMPLES)[WireId]][]) {
  const wire = await loadWire(id)
  const read = (bytes: Uint8Array[]) =>
    decodeResponse(wire, { turnKey: 'k'.repeat(20), profile: wire.profile, tools }, bytes, 'text/event-stream')
  const cases = [
    {
      what: `${id}: text in ${TEXT_CHUNKS} pieces`,
      stream: (count: number) => sse(text(createWords(count))),
      count: TEXT_CHUNKS,
    },
    ...(call
      ? [
          {
            what: `${id}: arguments in ${FRAGMENTS} fragments`,
            stream: (count: number) => sse(call(createJsonFragments(count))),
            count: FRAGMENTS,
          },
        ]
      : []),
  ]
  for (const { what, stream, count } of cases) {
    const once = stream(count)
    const twice = stream(2 * count)
    const measured = measureCpuTime([
      { name: 'floor', run: () => decodeBaseline(once, said) },
      { name: 'ours', run: () => read(once) },
      { name: 'double', run: () => read(twice) },
    ])
    const [floor = 0, ours = 0, double = 0] = measured.medianTimes
    rows.push({
      label: what,
      figures: `${ours.toFixed(1)} ms against ${floor.toFixed(1)} ms`,
      ratio: measured.ratio(1, 0),
      maxRatio: 2,
    })
    rows.push({
      label: `… twice as many`,
      figures: `${double.toFixed(1)} ms against ${ours.toFixed(1)} ms`,
      ratio: measured.ratio(2, 1),
      maxRatio: 2.2,
    })
  }
}
reportTable(
  'decode',
  `Decoding a stream into a turn, compared with a minimal decoder: an SSE parser, \`JSON.parse\` for each event, and concatenation. Node ${process.version}.`,
  rows,
)

/** The floor: what nobody can do without. */
function decodeBaseline(pieces: readonly Uint8Array[], said: (event: StreamedEvent) => string | undefined): string {
  let text = ''
  const parser = createParser({
    onEvent: ({ data }) => {
      if (data === '[DONE]') return
      const event = JSON.parse(data) as StreamedEvent
      if (typeof event.delta === 'object') event.delta_ = event.delta
      text += said(event) ?? ''
    },
  })
  const decoder = new TextDecoder()
  for (const piece of pieces) parser.feed(decoder.decode(piece, { stream: true }))
  return text
}

/** The shapes in which the floor looks for text. */
interface StreamedEvent {
  choices?: { delta?: { content?: string; tool_calls?: { function?: { arguments?: string } }[] } }[]
  candidates?: { content?: { parts?: { text?: string }[] } }[]
  response?: StreamedEvent
  delta?: string | { text?: string; partial_json?: string }
  delta_?: { text?: string; partial_json?: string; arguments?: string }
}

function createWords(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `word${at} `)
}

function createJsonFragments(count: number): string[] {
  return ['{"content":"', ...Array.from({ length: count - 2 }, (_, at) => `line ${at}\\n`), '"}']
}

function chatCall(call: object): object {
  return { id: 'x', choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] }
}

function interactions(step: object, deltas: readonly object[]): object[] {
  return [
    { interaction: { id: '', status: 'in_progress' }, event_type: 'interaction.created' },
    { index: 0, step, event_type: 'step.start' },
    ...deltas.map((delta) => ({ index: 0, delta, event_type: 'step.delta' })),
    { index: 0, event_type: 'step.stop' },
    { interaction: { id: '', status: 'completed' }, event_type: 'interaction.completed' },
  ]
}

function anthropic(block: object, deltas: readonly object[], reason: string): object[] {
  return [
    {
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]
}

function responses(item: object, deltas: readonly string[], type: string, done: object): object[] {
  const events = [
    { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item },
    ...deltas.map((delta) => ({ type, output_index: 0, content_index: 0, item_id: 'i', delta })),
    { type: 'response.output_item.done', output_index: 0, item: done },
    {
      type: 'response.completed',
      response: { id: 'r', status: 'completed', output: [done], usage: { input_tokens: 1, output_tokens: 1 } },
    },
  ]
  return events.map((event, sequence_number) => ({ ...event, sequence_number }))
}

function gemini(pieces: readonly string[]): object[] {
  return [
    ...pieces.map((text) => ({
      candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0 }],
      modelVersion: 'm',
      responseId: 'r',
    })),
    {
      candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1 },
    },
  ]
}

/** The events as a server writes them, in network chunks of 16 kB. */
function sse(events: readonly unknown[]): Uint8Array[] {
  const named = (event: unknown) => {
    const type = (event as { type?: string }).type
    return `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`
  }
  const bytes = Buffer.from(events.map(named).join(''))
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += 16_384) pieces.push(bytes.subarray(at, at + 16_384))
  return pieces
}
