import type { TurnEvent } from '../../src/model/event.ts'
import type { CallPart, WireId } from '../../src/model/turn.ts'
import { decodeResponse } from '../../src/wire/decode-response.ts'
import { formatSseFrame } from '../../src/wire/framing/write-frames.ts'
import type { ResponseMetadata } from '../../src/wire/response-writer.ts'
import { loadWire, wireIds } from '../../src/wire/wires.ts'
import type { GrowthCase } from '../support/growth.ts'
import { createCall, createResponse } from './history.ts'

const CALLS = [500, 2000, 8000] as const
const FRAGMENTS_EACH = 3

const head: ResponseMetadata = { id: 'r', model: 'm', created: 0, request: {} }

const tools = [
  { name: 'read_file', description: 'Reads.', schema: { type: 'object', properties: { path: { type: 'string' } } } },
]

/** Responses with many calls, and responses that come in many pieces. */
export async function listDecodeCases(): Promise<GrowthCase[]> {
  const cases: GrowthCase[] = []
  for (const id of wireIds) {
    const { responseWriter } = await loadWire(id)
    const write = (count: number): string => {
      const stream = responseWriter.startStream(head)
      return listEvents(count)
        .flatMap((event) => stream.write(event))
        .map(formatSseFrame)
        .join('')
    }
    const writeWhole = (count: number) =>
      JSON.stringify(responseWriter.writeWhole(createResponse(listCalls(count)), head))
    cases.push(await createDecodeCase(`${id}: calls in a stream`, id, CALLS, write))
    cases.push(await createDecodeCase(`${id}: calls in a whole body`, id, CALLS, writeWhole, 'application/json'))
    const interleaved = INTERLEAVED[id]
    if (!interleaved) continue
    const writeInterleaved = (count: number) =>
      interleaved(count)
        .map((event) => formatSseFrame({ data: event as never }))
        .join('')
    cases.push(await createDecodeCase(`${id}: calls whose fragments alternate`, id, CALLS, writeInterleaved))
  }
  for (const [what, chunks] of Object.entries(UNLABELLED))
    cases.push(
      await createDecodeCase(`openai-chat: ${what}`, 'openai-chat', CALLS, (count) =>
        chunks(count)
          .map((event) => formatSseFrame({ data: event as never }))
          .join(''),
      ),
    )
  const writeText = (text: string) =>
    [chat({ content: text }), chat({}, 'stop')].map((event) => formatSseFrame({ data: event as never })).join('')
  const textSizes = [250, 1000, 4000] as const
  for (const [what, write] of Object.entries(TEXT_CALLS))
    cases.push(
      await createDecodeCase(`calls as text, ${what}`, 'openai-chat', textSizes, (count) =>
        writeText(Array.from({ length: count }, (_, at) => write(at)).join('\n')),
      ),
    )
  // One long line in many chunks.
  const longText = (count: number) => writeText('a few words of a long text, '.repeat(count * 40))
  cases.push(await createDecodeCase('one event of so many kB', 'openai-chat', [500, 2000, 8000], longText))
  const longArguments = (count: number) => {
    const pieces = Array.from({ length: count }, (_, at) => `line ${at} of a file\\n`)
    const events = ['{"path":"', ...pieces, '"}'].map((args) => chatCall({ index: 0, function: { arguments: args } }))
    const open = chatCall({ index: 0, id: 'c', function: { name: 'read_file', arguments: '' } })
    return [open, ...events, chat({}, 'tool_calls')].map((event) => formatSseFrame({ data: event as never })).join('')
  }
  cases.push(
    await createDecodeCase('one call in so many fragments', 'openai-chat', [2000, 8000, 32_000], longArguments),
  )
  return cases
}

async function createDecodeCase(
  label: string,
  id: WireId,
  sizes: GrowthCase['sizes'],
  write: (count: number) => string,
  contentType = 'text/event-stream',
): Promise<GrowthCase> {
  const wire = await loadWire(id)
  return {
    label,
    sizes,
    prepare(count) {
      const chunks = splitBytes(Buffer.from(write(count)))
      return () => decodeResponse(wire, { turnKey: 'k'.repeat(20), profile: wire.profile, tools }, chunks, contentType)
    },
  }
}

function listCalls(count: number): CallPart[] {
  return Array.from({ length: count }, (_, at) => createCall(at))
}

function listEvents(count: number): TurnEvent[] {
  const calls = listCalls(count)
  return [
    { type: 'open', id: 'r', model: 'm' },
    ...calls.flatMap((part, index): TurnEvent[] => [
      { type: 'part-open', index, kind: 'call', id: part.id, name: part.name },
      ...splitText(part.raw).map((text): TurnEvent => ({ type: 'part-delta', index, kind: 'call', text })),
      { type: 'part-close', index, part },
    ]),
    { type: 'finish', reason: 'calls' },
  ]
}

function splitText(text: string): string[] {
  const length = Math.ceil(text.length / FRAGMENTS_EACH)
  return Array.from({ length: FRAGMENTS_EACH }, (_, at) => text.slice(at * length, (at + 1) * length))
}

type Chunks = (count: number) => unknown[]

function chat(delta: object, finish: string | null = null): object {
  return { id: 'x', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] }
}

function chatCall(call: object): object {
  return chat({ tool_calls: [call] })
}

/** All calls are open before the first of them gets its arguments, and these come in turns. */
function alternate<Event>(
  count: number,
  open: (at: number) => Event,
  add: (at: number, text: string) => Event,
): Event[] {
  const calls = Array.from({ length: count }, (_, at) => splitText(createCall(at).raw))
  const rounds = Array.from({ length: FRAGMENTS_EACH }, (_, round) => round)
  return [
    ...calls.map((_, at) => open(at)),
    ...rounds.flatMap((round) => calls.map((pieces, at) => add(at, pieces[round] ?? ''))),
  ]
}

const INTERLEAVED: Partial<Record<WireId, Chunks>> = {
  'openai-chat': (count) => [
    ...alternate(
      count,
      (index) => chatCall({ index, id: `c${index}`, function: { name: 'read_file', arguments: '' } }),
      (index, text) => chatCall({ index, function: { arguments: text } }),
    ),
    chat({}, 'tool_calls'),
  ],
  anthropic: (count) => [
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
    ...alternate<object>(
      count,
      (index) => ({
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: `c${index}`, name: 'read_file', input: {} },
      }),
      (index, text) => ({
        type: 'content_block_delta',
        index,
        delta: { type: 'input_json_delta', partial_json: text },
      }),
    ),
    ...Array.from({ length: count }, (_, index) => ({ type: 'content_block_stop', index })),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ],
  'openai-responses': (count) => {
    const item = (at: number, args: string) => ({
      type: 'function_call',
      id: `f${at}`,
      call_id: `c${at}`,
      name: 'read_file',
      arguments: args,
    })
    const done = Array.from({ length: count }, (_, at) => item(at, createCall(at).raw))
    return [
      { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
      ...alternate<object>(
        count,
        (at) => ({ type: 'response.output_item.added', output_index: at, item: item(at, '') }),
        (at, delta) => ({
          type: 'response.function_call_arguments.delta',
          output_index: at,
          item_id: `f${at}`,
          delta,
        }),
      ),
      ...done.map((one, at) => ({ type: 'response.output_item.done', output_index: at, item: one })),
      {
        type: 'response.completed',
        response: { id: 'r', status: 'completed', output: done, usage: { input_tokens: 1, output_tokens: 1 } },
      },
    ]
  },
  interactions: (count) => [
    { interaction: { id: '', status: 'in_progress' }, event_type: 'interaction.created' },
    ...alternate<object>(
      count,
      (index) => ({
        index,
        step: { type: 'function_call', id: `c${index}`, name: 'read_file', arguments: {} },
        event_type: 'step.start',
      }),
      (index, text) => ({ index, delta: { type: 'arguments_delta', arguments: text }, event_type: 'step.delta' }),
    ),
    ...Array.from({ length: count }, (_, index) => ({ index, event_type: 'step.stop' })),
    { interaction: { id: '', status: 'completed' }, event_type: 'interaction.completed' },
  ],
}

/** What servers send that leave out an index, an id, or both. */
const UNLABELLED: Readonly<Record<string, Chunks>> = {
  'alternating fragments with an id only': (count) => [
    ...alternate(
      count,
      (at) => chatCall({ id: `c${at}`, function: { name: 'read_file', arguments: '' } }),
      (at, text) => chatCall({ id: `c${at}`, function: { arguments: text } }),
    ),
    chat({}, 'tool_calls'),
  ],
  'alternating fragments without index and id': (count) => [
    ...alternate(
      count,
      () => chatCall({ function: { name: 'read_file', arguments: '' } }),
      (_, text) => chatCall({ function: { arguments: text } }),
    ),
    chat({}, 'tool_calls'),
  ],
  'calls with index 0 each': (count) => [
    ...Array.from({ length: count }, (_, at) =>
      chatCall({ index: 0, id: `c${at}`, function: { name: 'read_file', arguments: createCall(at).raw } }),
    ),
    chat({}, 'tool_calls'),
  ],
  'calls with the same id each': (count) => [
    ...Array.from({ length: count }, (_, index) =>
      chatCall({ index, id: 'same', function: { name: 'read_file', arguments: createCall(index).raw } }),
    ),
    chat({}, 'tool_calls'),
  ],
  'all calls in one list, whose arguments follow in another': (count) => [
    chat({
      tool_calls: Array.from({ length: count }, () => ({ function: { name: 'read_file', arguments: '' } })),
    }),
    chat({ tool_calls: Array.from({ length: count }, (_, at) => ({ function: { arguments: createCall(at).raw } })) }),
    chat({}, 'tool_calls'),
  ],
}

const TEXT_CALLS: Readonly<Record<string, (at: number) => string>> = {
  'as JSON in tags': (at) => `<tool_call>\n{"name": "read_file", "arguments": ${createCall(at).raw}}\n</tool_call>`,
  'in an XML dialect': (at) =>
    `<tool_call>\n<function=read_file>\n<parameter=path>\nfile-${at}.ts\n</parameter>\n</function>\n</tool_call>`,
  'in tags that are never closed': (at) => `<tool_call>\n{"name": "read_file", "arguments": {"path": "file-${at}`,
}

/** Network chunks of 16 kB. */
function splitBytes(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += 16_384) pieces.push(bytes.subarray(at, at + 16_384))
  return pieces
}
