import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type FoldedTurn, splitRunnableCalls } from '../../src/model/fold.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { ToolSpec } from '../../src/model/request.ts'
import { decodeResponse } from '../../src/wire/decode-response.ts'
import { gemini } from '../../src/wire/gemini/wire.ts'
import type { DecodeContext } from '../../src/wire/wire.ts'
import { testCorpus } from '../support/gemini-corpus.ts'
import { skipWithoutShared } from '../support/paths.ts'

describe('the corpus on the Gemini wire', { skip: skipWithoutShared }, () => testCorpus(gemini))

const tools: ToolSpec[] = [
  { name: 'read_file', description: 'Reads.', schema: { type: 'object', properties: { path: { type: 'string' } } } },
  { name: 'ping', description: 'Pings.', schema: { type: 'object', properties: {} } },
]

type Fields = Record<string, unknown>

/** A chunk with these parts. */
function chunk(parts: Fields[], finishReason?: string, more: Fields = {}): Fields {
  return { candidates: [{ content: { role: 'model', parts }, ...(finishReason && { finishReason }), ...more }] }
}

const named = (name: string, args?: unknown, more: Fields = {}): Fields => ({ functionCall: { name, args, ...more } })

function sse(chunks: unknown[]): string {
  return chunks.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\r\n\r\n`).join('')
}

function read(
  body: string,
  type = 'text/event-stream',
  reading: Partial<DecodeContext> & { flags?: Partial<Profile> } = {},
): FoldedTurn {
  const { flags, ...rest } = reading
  const profile = { ...gemini.profile, ...flags }
  return decodeResponse(gemini, { turnKey: 'k'.repeat(20), profile, tools, ...rest }, [Buffer.from(body)], type)
}

const answer = (...chunks: unknown[]) => read(sse(chunks))

/** What would run: name and arguments. */
function ran({ turn }: FoldedTurn): unknown[] {
  return splitRunnableCalls(turn).calls.map(({ name, input }) => [name, input])
}

function shape({ turn }: FoldedTurn): unknown[] {
  return turn.parts.map((part) => {
    const data = part.native?.data as Fields | undefined
    const mark = data?.['thoughtSignature'] ?? data?.['type']
    const what = part.kind === 'call' ? part.name : part.kind === 'media' ? part.mime : part.text
    return mark === undefined ? [part.kind, what] : [part.kind, what, mark]
  })
}

describe('what the Gemini wire reads', () => {
  test('a stream, a JSON array and a whole body give the same turn (T113)', () => {
    const usage = {
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4 },
      modelVersion: 'g',
      responseId: 'r',
    }
    const thoughts = [
      { text: 'hm', thought: true },
      { text: ', well', thought: true },
    ]
    const said = [{ text: 'a' }, { text: 'b' }, named('ping', {}), { text: '', thoughtSignature: 's' }]
    const chunks = [...thoughts, ...said].map((part, at) => ({
      ...chunk([part], at === 5 ? 'STOP' : undefined),
      ...usage,
    }))
    const whole = { ...chunk([...thoughts, ...said], 'STOP'), ...usage }
    const streamed = read(sse(chunks))
    assert.deepEqual(read(JSON.stringify(chunks, null, 2), 'application/json'), streamed)
    assert.deepEqual(read(JSON.stringify(whole), 'application/json'), streamed)
    assert.deepEqual(shape(streamed), [
      ['reasoning', 'hm, well'],
      ['text', 'ab'],
      ['call', 'ping'],
      ['text', '', 's'],
    ])
    assert.equal(streamed.id, 'r')
    assert.equal(streamed.turn.origin.model, 'g')
  })

  test('T117 a signature stays with the call that carried it', () => {
    const folded = answer(chunk([{ ...named('ping', {}), thoughtSignature: 'sig' }], 'STOP'))
    assert.deepEqual(shape(folded), [['call', 'ping', 'sig']])
    assert.equal(folded.turn.finish.reason, 'calls')
  })

  test('T118 the signature of the first parallel call is not copied to the others', () => {
    const folded = answer(
      chunk([{ ...named('ping', {}), thoughtSignature: 'sig' }, named('read_file', { path: 'a' })], 'STOP'),
    )
    assert.deepEqual(shape(folded), [
      ['call', 'ping', 'sig'],
      ['call', 'read_file'],
    ])
  })

  test('T119 a signed text is a part of its own, even if it is empty; only `thought: true` makes a thought', () => {
    const folded = answer(
      chunk([{ text: 'a' }]),
      chunk([{ text: 'b', thoughtSignature: 's1' }]),
      chunk([{ text: 'c', thought: false }]),
      chunk([{ text: 'd', thought: true, thoughtSignature: 's2' }]),
      chunk([{ text: '', thoughtSignature: 's3' }, { thoughtSignature: 's4' }, { text: '' }], 'STOP'),
    )
    assert.deepEqual(shape(folded), [
      ['text', 'a'],
      ['text', 'b', 's1'],
      ['text', 'c'],
      ['reasoning', 'd', 's2'],
      ['text', '', 's3'],
      ['text', '', 's4'],
    ])
  })

  test('T123 candidates, content and parts may all be missing', () => {
    const folded = answer({}, { candidates: [] }, { candidates: [{}] }, chunk([]), {
      candidates: [{ content: {}, finishReason: 'STOP' }],
    })
    assert.deepEqual(folded.turn.parts, [])
    assert.deepEqual(folded.turn.finish, { reason: 'stop', raw: 'STOP' })
  })

  test('T123 a blocked prompt is a refusal with its reason', () => {
    const { turn } = answer({
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
      usageMetadata: { promptTokenCount: 3 },
    })
    assert.deepEqual(turn.finish, { reason: 'filter', raw: 'PROHIBITED_CONTENT' })
  })

  test('T124 a malformed call never runs, though the parts hold one; its message is kept', () => {
    const folded = answer(
      chunk([named('ping', {})], 'MALFORMED_FUNCTION_CALL', { finishMessage: 'print(default_api.ping())' }),
    )
    assert.equal(folded.turn.finish.reason, 'malformed-call')
    assert.deepEqual(ran(folded), [])
    assert.match(folded.warnings[0]?.message ?? '', /default_api/)
  })

  test('T125 the other ends: none lets a call run', () => {
    const ends = {
      UNEXPECTED_TOOL_CALL: 'malformed-call',
      TOO_MANY_TOOL_CALLS: 'malformed-call',
      MAX_TOKENS: 'length',
      SAFETY: 'filter',
      RECITATION: 'filter',
      LANGUAGE: 'filter',
      BLOCKLIST: 'filter',
      SPII: 'filter',
      MODEL_ARMOR: 'filter',
      IMAGE_SAFETY: 'filter',
      OTHER: 'fault',
      SOMETHING_NEW: 'fault',
      constructor: 'fault',
    }
    for (const [word, reason] of Object.entries(ends)) {
      const folded = answer(chunk([named('ping', {})], word))
      assert.equal(folded.turn.finish.reason, reason, word)
      assert.equal(folded.turn.finish.raw, word)
      assert.deepEqual(ran(folded), [], word)
    }
  })

  test('test servers end a call with FUNCTION_CALL', () => {
    assert.deepEqual(ran(answer(chunk([named('ping', {})], 'FUNCTION_CALL'))), [['ping', {}]])
  })

  test('T53 without an end nothing runs', () => {
    const folded = answer(chunk([named('ping', {})]))
    assert.equal(folded.turn.finish.reason, 'fault')
    assert.deepEqual(ran(folded), [])
  })

  test('T56 parts may follow the end, and the first end counts; but a bad end overrules a good one', () => {
    const late = answer(chunk([{ text: 'a' }], 'STOP'), chunk([named('ping', {})], 'STOP'))
    assert.deepEqual(ran(late), [['ping', {}]])
    const bad = answer(chunk([named('ping', {})], 'STOP'), chunk([], 'SAFETY'))
    assert.equal(bad.turn.finish.reason, 'filter')
  })

  test('T126 an id is kept for the echo; an empty one is none', () => {
    const { turn } = answer(chunk([named('ping', {}, { id: 'x1' }), named('ping', {}, { id: '' })], 'STOP'))
    assert.deepEqual(
      turn.parts.map((part) => part.native?.id),
      ['x1', undefined],
    )
    assert.equal(new Set(turn.parts.map((part) => part.kind === 'call' && part.id)).size, 2)
  })

  test('T128 arguments may be absent, null, or a string', () => {
    const calls = [named('ping'), named('ping', null), named('read_file', '{"path":"a"}'), named('ping', [1, 2])]
    const folded = answer(chunk(calls, 'STOP'))
    assert.deepEqual(ran(folded), [
      ['ping', {}],
      ['ping', {}],
      ['read_file', { path: 'a' }],
    ])
    assert.equal(splitRunnableCalls(folded.turn).rejected.length, 1)
  })

  test('T128 a call that is sent again under its id is one call, and its last arguments count', () => {
    const folded = answer(
      chunk([{ ...named('read_file', { path: 'a' }, { id: '1' }), thoughtSignature: 's' }]),
      chunk([named('read_file', { path: 'ab' }, { id: '1' })], 'STOP'),
    )
    assert.deepEqual(ran(folded), [['read_file', { path: 'ab' }]])
    assert.deepEqual(shape(folded), [['call', 'read_file', 's']])
    assert.equal(folded.warnings[0]?.code, 'repeated-call')
  })

  test('T10 two calls under one id in one frame are two calls', () => {
    const two = [named('read_file', { path: 'a' }, { id: '0' }), named('read_file', { path: 'b' }, { id: '0' })]
    assert.equal(ran(answer(chunk(two, 'STOP'))).length, 2)
  })

  test('T128 without ids only a frame that is repeated whole is a repeat', () => {
    const one = { ...chunk([named('ping', {})]), usageMetadata: { candidatesTokenCount: 5 } }
    const other = { ...one, usageMetadata: { candidatesTokenCount: 9 } }
    const end = chunk([], 'STOP')
    const again = answer(one, one, end)
    assert.equal(ran(again).length, 1)
    assert.equal(again.warnings[0]?.code, 'repeated-call')
    assert.equal(ran(answer(one, other, end)).length, 2)
    assert.equal(ran(answer(chunk([named('ping', {}), named('ping', {})], 'STOP'))).length, 2)
  })

  test('T128 arguments in pieces: closed by an empty part, by the last piece, by the next call, by text, or by the end', () => {
    const piece = (value: Fields, willContinue?: boolean) =>
      chunk([{ functionCall: { partialArgs: [{ jsonPath: '$.path', ...value }], willContinue } }])
    const begin = chunk([{ functionCall: { name: 'read_file', willContinue: true }, thoughtSignature: 's' }])
    const body = [begin, piece({ stringValue: 'a/', willContinue: true }, true), piece({ stringValue: 'b' }, true)]
    const ends = [
      [chunk([{ functionCall: {} }], 'STOP')],
      [chunk([named('ping')], 'STOP')],
      [chunk([{ text: 'done' }], 'STOP')],
      [chunk([{ text: '' }]), chunk([], 'STOP')],
    ]
    for (const end of ends) assert.deepEqual(ran(answer(...body, ...end))[0], ['read_file', { path: 'a/b' }])
    const last = piece({ stringValue: 'b' })
    assert.deepEqual(shape(answer(begin, last, chunk([], 'STOP'))), [['call', 'read_file', 's']])
    assert.deepEqual(ran(answer(begin, last, chunk([{ functionCall: {} }], 'STOP'))), [['read_file', { path: 'b' }]])
  })

  test('T128 T37 arguments in pieces that were cut off never run', () => {
    const begin = chunk([{ functionCall: { name: 'read_file', willContinue: true } }])
    const half = chunk([
      {
        functionCall: {
          partialArgs: [{ jsonPath: '$.path', stringValue: '/etc', willContinue: true }],
          willContinue: true,
        },
      },
    ])
    for (const end of ['STOP', 'MAX_TOKENS']) {
      const folded = answer(begin, half, chunk([], end))
      assert.deepEqual(ran(folded), [], end)
      assert.equal(folded.turn.finish.reason, 'length', end)
    }
    const odd = chunk([{ functionCall: { partialArgs: [{ jsonPath: 'path', stringValue: 'x' }] } }])
    assert.deepEqual(ran(answer(begin, odd, chunk([], 'STOP'))), [], 'a path that is not understood')
  })

  test('a call that the vendor answered itself is kept, but not ours to run', () => {
    const response = { functionResponse: { name: 'ping', response: { result: 'pong' } } }
    const folded = answer(
      chunk([named('ping', {}), named('ping', {})], 'STOP'),
      chunk([response]),
      chunk([{ text: 'pong' }], 'STOP'),
    )
    assert.equal(ran(folded).length, 1)
    assert.deepEqual(shape(folded), [
      ['text', '', 'functionCall'],
      ['call', 'ping'],
      ['text', '', 'functionResponse'],
      ['text', 'pong'],
    ])
    const all = answer(chunk([named('ping', {}), response], 'STOP'))
    assert.equal(all.turn.finish.reason, 'stop')
  })

  test('code that the vendor ran, media and unknown parts are kept', () => {
    const folded = answer(
      chunk([{ executableCode: { code: '1+1', language: 'PYTHON' } }, { codeExecutionResult: { output: '2' } }]),
      chunk([{ inlineData: { mimeType: 'image/png', data: 'AAAA' }, thoughtSignature: 's' }]),
      chunk([{ fileData: { mimeType: 'video/mp4', fileUri: 'gs://x' } }, { hologram: {} }], 'STOP'),
    )
    assert.deepEqual(shape(folded), [
      ['text', '', 'executableCode'],
      ['text', '', 'codeExecutionResult'],
      ['media', 'image/png', 's'],
      ['media', 'video/mp4'],
      ['text', '', 'hologram'],
    ])
    assert.deepEqual(
      folded.warnings.map(({ code }) => code),
      ['unknown-part'],
    )
  })

  test('a history of automatic calls makes no calls', () => {
    const folded = answer(
      chunk([named('ping', {}, { id: 'fc1' })]),
      { automaticFunctionCallingHistory: [{ role: 'model', parts: [named('ping', {}, { id: 'fc1' })] }] },
      chunk([{ text: 'next' }], 'STOP'),
    )
    assert.equal(ran(folded).length, 1)
    assert.deepEqual(folded.warnings, [])
  })

  test('only the first candidate is read', () => {
    const second = { content: { parts: [named('ping', {})] }, finishReason: 'STOP', index: 1 }
    const folded = answer(
      { candidates: [{ content: { parts: [{ text: 'a' }] }, index: 0 }, second] },
      { candidates: [second] },
      chunk([], 'STOP'),
    )
    assert.deepEqual(shape(folded), [['text', 'a']])
    assert.deepEqual(
      folded.warnings.map(({ code }) => code),
      ['other-candidates'],
    )
  })

  test('T107 an error inside a 200 is a fault, and the text before it is kept', () => {
    const error = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }
    const folded = answer(chunk([{ text: 'a' }, named('ping', {})]), error)
    assert.equal(folded.turn.finish.fault?.kind, 'server')
    assert.deepEqual(ran(folded), [])
    assert.deepEqual(shape(folded)[0], ['text', 'a'])
    assert.equal(read(JSON.stringify([error]), 'application/json').turn.finish.fault?.status, 503)
  })

  test('T112 a bad status with a body that is no JSON is a fault of that status', () => {
    assert.equal(read('<html>nope</html>', 'text/html', { status: 502 }).turn.finish.fault?.status, 502)
    assert.equal(read('', 'text/html', { status: 429 }).turn.finish.fault?.kind, 'rate')
  })

  test('T114 after a frame that cannot be read no call runs', () => {
    const folded = answer(chunk([named('ping', {})]), '{"candidates": [', chunk([], 'STOP'))
    assert.deepEqual(ran(folded), [])
    assert.equal(folded.turn.finish.fault?.kind, 'decode')
  })

  test('T116 the counts do not overlap, and gaps are filled from earlier chunks', () => {
    const first = {
      promptTokenCount: 100,
      cachedContentTokenCount: 40,
      toolUsePromptTokenCount: 7,
      thoughtsTokenCount: 5,
    }
    const usage = (counts: Fields, end?: string) => ({ ...chunk([{ text: 'a' }], end), usageMetadata: counts })
    const { turn } = answer(
      usage(first),
      usage({ promptTokenCount: 100, candidatesTokenCount: 3, thoughtsTokenCount: null }, 'STOP'),
    )
    assert.deepEqual(turn.usage, { input: 67, cacheRead: 40, cacheWrite: 0, output: 3, reasoning: 5 })
  })

  test('T153 a call against `none` does not run', () => {
    assert.deepEqual(ran(read(sse([chunk([named('ping', {})], 'STOP')]), undefined, { toolChoice: 'none' })), [])
  })

  test('a model without native calls writes them as text', () => {
    const text = '<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>'
    const folded = read(sse([chunk([{ text }], 'STOP')]), undefined, { flags: { tools: 'text' } })
    assert.deepEqual(ran(folded), [['read_file', { path: 'a' }]])
  })
})
