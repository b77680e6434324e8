import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createStream,
  GeminiStream,
  GeminiStreamError,
  type CompletionChunk,
  type GeminiStreamOptions,
} from '../../src/embed/index.ts'

const KEY = 'AAAAAAAAAAAAAAAAAAAA'

const TEXT = { candidates: [{ content: { role: 'model', parts: [{ text: 'Grüße 👋 ' }] } }] }
const CALLS = {
  candidates: [
    {
      content: {
        role: 'model',
        parts: [
          { functionCall: { name: 'add', args: { a: 1 } }, thoughtSignature: 'sig' },
          { functionCall: { id: 'g2', name: 'now' } },
        ],
      },
    },
  ],
}
const END = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Done.' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 },
}
const ALL = [TEXT, CALLS, END]

const FRAMINGS: Record<string, (chunks: readonly unknown[]) => string> = {
  events: (chunks) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(''),
  'events with CRLF and comments': (chunks) =>
    chunks.map((chunk) => `: ping\r\ndata:${JSON.stringify(chunk)}\r\n\r\n`).join(''),
  'an array': (chunks) => JSON.stringify(chunks, null, 2),
  lines: (chunks) => chunks.map((chunk) => `${JSON.stringify(chunk)}\n`).join('\n'),
  'lines without a last end': (chunks) => chunks.map((chunk) => JSON.stringify(chunk)).join('\n'),
  'Code Assist’s envelope': (chunks) => chunks.map((response) => `data: ${JSON.stringify({ response })}\n\n`).join(''),
}

async function* pieces(text: string, size: number, error?: Error): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  if (error) throw error
}

async function read(
  bytes: AsyncIterable<Uint8Array>,
  options: GeminiStreamOptions = { key: KEY },
): Promise<CompletionChunk[]> {
  const chunks: CompletionChunk[] = []
  for await (const chunk of createStream(bytes, options)) chunks.push(chunk)
  return chunks
}

function events(...chunks: unknown[]): AsyncGenerator<Uint8Array> {
  return pieces(FRAMINGS['events']?.(chunks) ?? '', 1000)
}

describe('createStream', () => {
  for (const [name, write] of Object.entries(FRAMINGS)) {
    test(`reads ${name}, however they are cut`, async () => {
      for (const size of [1, 2, 3, 7, 64, 100_000]) {
        const chunks = await read(pieces(write(ALL), size))
        assert.equal(chunks.map(({ delta }) => delta).join(''), 'Grüße 👋 Done.')
        const last = chunks.at(-1)
        assert.deepEqual(last, {
          delta: '',
          toolCalls: [
            { index: 0, id: `${KEY}0000`, name: 'add', argumentsDelta: '{"a":1}', thoughtSignature: 'sig' },
            { index: 1, id: `${KEY}0001`, name: 'now', argumentsDelta: '{}', wireId: 'g2' },
          ],
          isFinal: true,
          usage: { input: 10, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 },
          finishReason: 'stop',
          rawFinishReason: 'STOP',
        })
        assert.ok(chunks.slice(0, -1).every(({ isFinal, toolCalls }) => !isFinal && toolCalls.length === 0))
      }
    })
  }

  test('shows text while it comes', async () => {
    const chunks = await read(events(TEXT, END))
    assert.deepEqual(
      chunks.map(({ delta }) => delta),
      ['Grüße 👋 Done.', ''],
    )
    const slow = await read(pieces(FRAMINGS['events']?.([TEXT, END]) ?? '', 60))
    assert.ok(slow.length > 2)
  })

  test('thoughts are not text', async () => {
    const thought = { candidates: [{ content: { parts: [{ text: 'Hm.', thought: true }] } }] }
    const chunks = await read(events(thought, END))
    assert.equal(chunks.map(({ delta }) => delta).join(''), 'Done.')
    assert.equal(chunks.map((chunk) => chunk.thought ?? '').join(''), 'Hm.')
  })

  test('parts after the first end count', async () => {
    const chunks = await read(events(END, CALLS, { candidates: [{ finishReason: 'STOP' }] }))
    assert.equal(chunks.at(-1)?.toolCalls.length, 2)
  })

  test('ids differ from response to response', async () => {
    const [one, two] = [await read(events(CALLS, END), {}), await read(events(CALLS, END), {})]
    assert.notEqual(one.at(-1)?.toolCalls[0]?.id, two.at(-1)?.toolCalls[0]?.id)
  })

  test('with the tools, a call comes back in their spelling', async () => {
    const parameters = { type: 'object', properties: { level: { type: 'integer', enum: [1, 2] } } }
    const tools = [{ name: 'set', description: 'Sets.', parameters }]
    const call = { candidates: [{ content: { parts: [{ functionCall: { name: 'set', args: { level: '2' } } }] } }] }
    const chunks = await read(events(call, END), { tools, key: KEY })
    assert.equal(chunks.at(-1)?.toolCalls[0]?.argumentsDelta, '{"level":2}')
  })
})

describe('what must not run', () => {
  test('a cut answer, a filtered one, a malformed call', async () => {
    const ends = { MAX_TOKENS: 'length', SAFETY: 'content_filter', MALFORMED_FUNCTION_CALL: 'malformed_call' }
    for (const [finishReason, ours] of Object.entries(ends)) {
      const last = (await read(events(CALLS, { candidates: [{ finishReason }] }))).at(-1)
      assert.deepEqual([last?.finishReason, last?.toolCalls.length, last?.rejected?.length], [ours, 0, 2], finishReason)
    }
  })

  test('the bytes end before the answer: an error, no success', async () => {
    const fault = async (bytes: AsyncIterable<Uint8Array>, options?: GeminiStreamOptions) => {
      try {
        await read(bytes, options)
      } catch (error) {
        assert.ok(error instanceof GeminiStreamError)
        return error.fault.kind
      }
      return 'none'
    }
    assert.equal(await fault(events(TEXT, CALLS)), 'transport')
    assert.equal(await fault(events()), 'transport')
    assert.equal(await fault(pieces(FRAMINGS['an array']?.(ALL).slice(0, -40) ?? '', 9)), 'decode')
    assert.equal(await fault(pieces(`data: ${JSON.stringify(TEXT)}\n\n`, 5, new Error('reset'))), 'transport')
    const quota = '{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}'
    assert.match(await fault(pieces(quota, 50), { status: 429 }), /rate|quota/)
  })

  test('a finish reason that is not known ends the response, but no call runs', async () => {
    const last = (await read(events(TEXT, CALLS, { candidates: [{ finishReason: 'SOMETHING_NEW' }] }))).at(-1)
    assert.deepEqual([last?.isFinal, last?.finishReason, last?.rawFinishReason], [true, 'stop', 'SOMETHING_NEW'])
    assert.deepEqual([last?.toolCalls.length, last?.rejected?.length], [0, 2])
  })

  test('a line that cannot be parsed is dropped and named, and the rest counts', async () => {
    const lines = (...between: string[]) =>
      [TEXT, CALLS].map((chunk) => JSON.stringify(chunk)).concat(between, JSON.stringify(END))
    for (const framed of [
      lines('{"candidates": [oops').join('\n'),
      lines('oops')
        .map((line) => `data: ${line}\n\n`)
        .join(''),
    ]) {
      const chunks = await read(pieces(framed, 7), {
        key: KEY,
        contentType: framed.startsWith('data') ? '' : 'application/x-ndjson',
      })
      const last = chunks.at(-1)
      assert.deepEqual([last?.finishReason, last?.toolCalls.length], ['stop', 2], framed)
      assert.deepEqual(
        last?.warnings?.map(({ code }) => code),
        ['bad-line'],
      )
      assert.equal(chunks.map(({ delta }) => delta).join(''), 'Grüße 👋 Done.')
    }
  })

  test('but not within a call that comes in pieces', async () => {
    const piece = (partialArgs: unknown[], willContinue: boolean) => ({
      candidates: [{ content: { parts: [{ functionCall: { name: 'add', partialArgs, willContinue } }] } }],
    })
    const chunks = [piece([{ jsonPath: '$.a', numberValue: 1 }], true), piece([], false), END].map((one) =>
      JSON.stringify(one),
    )
    const framed = [chunks[0], 'oops', chunks[1], chunks[2]].map((line) => `data: ${line}\n\n`).join('')
    await assert.rejects(read(pieces(framed, 50)), GeminiStreamError)
  })

  test('the text before a fault is not lost, and the cause is kept', async () => {
    const seen: string[] = []
    const broken = createStream(pieces(`data: ${JSON.stringify(TEXT)}\n\n`, 5, new Error('reset')))
    await assert.rejects(
      async () => {
        for await (const { delta } of broken) seen.push(delta)
      },
      (error: Error) => (error.cause as Error).message === 'reset',
    )
    assert.equal(seen.join(''), 'Grüße 👋 ')
  })

  test('a reader who leaves closes the bytes', async () => {
    let closed = false
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield new TextEncoder().encode(`data: ${JSON.stringify(TEXT)}\n\n`)
      } finally {
        closed = true
      }
    }
    for await (const _chunk of new GeminiStream(endless())) break
    assert.equal(closed, true)
  })
})
