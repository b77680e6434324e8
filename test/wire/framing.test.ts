import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Frame } from '../../src/wire/framing/frame.ts'
import { createFramer } from '../../src/wire/framing/framer.ts'
import { recordings } from '../support/corpus.ts'
import { skipWithoutShared } from '../support/paths.ts'
import { assertCpuTime } from '../support/cpu-time.ts'

const encoder = new TextEncoder()
const SSE = 'text/event-stream'

/** All frames of a body that comes in chunks which end at the given offsets. */
function framesOf(type: string | undefined, body: string | Uint8Array, cuts: readonly number[] = []): Frame[] {
  const bytes = typeof body === 'string' ? encoder.encode(body) : body
  const reader = createFramer(type)
  const frames: Frame[] = []
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    frames.push(...reader.push(bytes.subarray(from, cut)))
    from = cut
  }
  return [...frames, ...reader.end()]
}

function json(value: unknown, event?: string): Frame {
  return event === undefined ? { kind: 'json', value } : { kind: 'json', value, event }
}

const comment = (text: string): Frame => ({ kind: 'comment', text })
const bad = (text: string): Frame => ({ kind: 'bad', text })
const done: Frame = { kind: 'done' }
/** The body was one JSON object (T198). */
const complete: Frame = { kind: 'complete' }

interface Case {
  readonly name: string
  readonly type: string | undefined
  readonly body: string
  readonly frames: readonly Frame[]
}

const cases: readonly Case[] = [
  {
    name: 'T106 line feeds',
    type: SSE,
    body: 'data: {"a":1}\n\ndata: {"a":2}\n\n',
    frames: [json({ a: 1 }), json({ a: 2 })],
  },
  {
    name: 'T106 CRLF',
    type: SSE,
    body: 'data: {"a":1}\r\n\r\ndata: {"a":2}\r\n\r\n',
    frames: [json({ a: 1 }), json({ a: 2 })],
  },
  {
    name: 'T106 lone CR',
    type: SSE,
    body: 'data: {"a":1}\r\rdata: {"a":2}\r\r',
    frames: [json({ a: 1 }), json({ a: 2 })],
  },
  {
    name: 'T106 mixed line ends',
    type: SSE,
    body: 'data: {"a":1}\r\n\ndata: {"a":2}\n\r\n',
    frames: [json({ a: 1 }), json({ a: 2 })],
  },
  { name: 'T106 byte order mark', type: SSE, body: '\uFEFFdata: {"a":1}\n\n', frames: [json({ a: 1 })] },
  { name: 'T106 no space after data:', type: SSE, body: 'data:{"a":1}\n\n', frames: [json({ a: 1 })] },
  { name: 'T106 two spaces after data:', type: SSE, body: 'data:  {"a":1}\n\n', frames: [json({ a: 1 })] },
  { name: 'T106 several data lines', type: SSE, body: 'data: {"a":\ndata: 1}\n\n', frames: [json({ a: 1 })] },
  {
    name: 'T106 comments',
    type: SSE,
    body: ': OPENROUTER PROCESSING\n\n:keep-alive\ndata: {"a":1}\n:\n\n',
    frames: [comment('OPENROUTER PROCESSING'), comment('keep-alive'), comment(''), json({ a: 1 })],
  },
  {
    name: 'T106 event, id and retry lines',
    type: SSE,
    body: 'event: ping\nid: 7\nretry: 3000\ndata: {"a":1}\n\nretry: soon\ndata: {"a":2}\n\n',
    frames: [json({ a: 1 }, 'ping'), json({ a: 2 })],
  },
  {
    name: 'T106 fields without colon',
    type: SSE,
    body: 'id\nevent\ndata: {"a":1}\ndata\n\n',
    frames: [json({ a: 1 })],
  },
  {
    name: 'T106 last event without blank line',
    type: SSE,
    body: 'data: {"a":1}\n\ndata: {"a":2}\n',
    frames: [json({ a: 1 }), json({ a: 2 })],
  },
  {
    name: 'T106 last event without line end',
    type: SSE,
    body: 'event: x\ndata: {"a":2}',
    frames: [json({ a: 2 }, 'x')],
  },
  { name: 'T106 last event ends in half a CRLF', type: SSE, body: 'data: {"a":1}\r\n\r', frames: [json({ a: 1 })] },
  {
    name: 'T106 last event is cut',
    type: SSE,
    body: 'data: {"a":1}\n\ndata: {"a',
    frames: [json({ a: 1 }), bad('{"a')],
  },
  { name: 'T106 event without data', type: SSE, body: 'event: ping\ndata:\n\nevent: pong\n\n', frames: [comment('')] },
  {
    name: 'T106 bare JSON between events',
    type: SSE,
    body: 'data: {"a":1}\n\n{"error":"x"}\n\n',
    frames: [json({ a: 1 }), json({ error: 'x' })],
  },
  {
    name: 'T106 stray field',
    type: SSE,
    body: 'foo: bar\ndata: {"a":1}\n\n',
    frames: [comment('foo: bar'), json({ a: 1 })],
  },
  {
    name: 'T106 array in an event',
    type: SSE,
    body: 'data: [{"error":{"code":429}}]\n\n',
    frames: [json({ error: { code: 429 } })],
  },
  {
    name: 'T107 status in a comment',
    type: SSE,
    body: ':HTTP_STATUS/429\ndata: {"a":1}\n\n',
    frames: [comment('HTTP_STATUS/429'), json({ a: 1 })],
  },
  { name: 'T111 [DONE] without space', type: SSE, body: 'data:[DONE]\n\n', frames: [done] },
  { name: 'T111 [DONE] with trailing spaces', type: SSE, body: 'data: [DONE]  \n\n', frames: [done] },
  { name: 'T111 [DONE] with spaces inside', type: SSE, body: 'data:  [ DONE ]\r\n\r\n', frames: [done] },
  {
    name: 'T111 data after [DONE]',
    type: SSE,
    body: 'data: [DONE]\n\ndata: {"a":1}\n\n',
    frames: [done, json({ a: 1 })],
  },
  { name: 'T111 no [DONE]', type: SSE, body: 'data: {"a":1}\n\n', frames: [json({ a: 1 })] },
  {
    name: 'T111 [DONE] as last line without end',
    type: SSE,
    body: 'data: {"a":1}\n\ndata: [DONE]',
    frames: [json({ a: 1 }), done],
  },
  {
    name: 'T111 [DONE] between JSON lines',
    type: 'application/json',
    body: '{"a":1}\n[DONE]\n',
    frames: [json({ a: 1 }), done],
  },
  { name: 'T112 HTML as SSE', type: SSE, body: '\n <html><b>x</b></html>\n', frames: [bad('<html><b>x</b></html>\n')] },
  {
    name: 'T112 HTML as JSON',
    type: 'application/json',
    body: '<!DOCTYPE html>\n<p>',
    frames: [bad('<!DOCTYPE html>\n<p>')],
  },
  {
    name: 'T112 HTML as NDJSON',
    type: 'application/x-ndjson',
    body: '<html>\n</html>',
    frames: [bad('<html>\n</html>')],
  },
  { name: 'T112 HTML as HTML', type: 'text/html; charset=utf-8', body: '<html>', frames: [bad('<html>')] },
  {
    name: 'T112 plain text',
    type: 'text/plain',
    body: 'upstream connect error\nreset',
    frames: [bad('upstream connect error\nreset')],
  },
  { name: 'T112 plain text as JSON', type: 'application/json', body: 'no such route', frames: [bad('no such route')] },
  {
    name: 'T112 plain text as SSE',
    type: SSE,
    body: 'upstream error\nreset: yes\n',
    frames: [comment('upstream error'), comment('reset: yes'), bad('upstream error\nreset: yes')],
  },
  { name: 'T112 text that begins like a field', type: 'text/plain', body: 'date', frames: [bad('date')] },
  { name: 'T112 JSON as SSE', type: SSE, body: '{"choices":[]}', frames: [json({ choices: [] }), complete] },
  {
    name: 'T112 SSE as JSON',
    type: 'application/json',
    body: 'event: x\ndata: {"a":1}\n\n',
    frames: [json({ a: 1 }, 'x')],
  },
  {
    name: 'T112 SSE without a type',
    type: undefined,
    body: ': hi\n\ndata: {"a":1}\n\n',
    frames: [comment('hi'), json({ a: 1 })],
  },
  { name: 'T26 JSON as plain text', type: 'text/plain', body: ' {"a":1}', frames: [json({ a: 1 }), complete] },
  {
    name: 'T26 pretty-printed JSON',
    type: 'application/json',
    body: '\n\n  {\n  "a": "}\\"{"\n}\n',
    frames: [json({ a: '}"{' }), complete],
  },
  { name: 'T198 one element of an array', type: undefined, body: '[{"a":1}]', frames: [json({ a: 1 })] },
  { name: 'T198 a line of JSON', type: 'application/x-ndjson', body: '{"a":1}\n', frames: [json({ a: 1 })] },
  { name: 'T198 a body that was cut', type: 'application/json', body: '{"a":1', frames: [bad('{"a":1')] },
  { name: 'T26 a JSON string', type: 'application/json', body: '"sorry"', frames: [json('sorry')] },
  {
    name: 'T113 array',
    type: 'application/json',
    body: '[{"a":[1]}\n,\r\n{"a":"]"}]\n',
    frames: [json({ a: [1] }), json({ a: ']' })],
  },
  { name: 'T113 array as SSE', type: SSE, body: '[{"a":1},{"a":2}]', frames: [json({ a: 1 }), json({ a: 2 })] },
  {
    name: 'T113 array of one error',
    type: 'application/json',
    body: '[{"error":{"code":429}}]',
    frames: [json({ error: { code: 429 } })],
  },
  {
    name: 'T113 array that breaks off between elements',
    type: 'application/json',
    body: '[{"a":1},\n',
    frames: [json({ a: 1 })],
  },
  {
    name: 'T113 array that breaks off in an element',
    type: 'application/json',
    body: '[{"a":1},{"a"',
    frames: [json({ a: 1 }), bad('{"a"')],
  },
  {
    name: 'T113 array of other things',
    type: 'application/json',
    body: '["a,b",1,null,[2]]',
    frames: [json('a,b'), json(1), json(null), json(2)],
  },
  { name: 'T113 empty array', type: 'application/json', body: '[]', frames: [] },
  {
    name: 'T113 NDJSON',
    type: 'application/x-ndjson',
    body: '{"a":1}\n\n{"a":2}\r\n{"a":3}',
    frames: [json({ a: 1 }), json({ a: 2 }), json({ a: 3 })],
  },
  {
    name: 'T113 JSON lines',
    type: 'application/jsonl',
    body: '{"a":1}\n{"a":2}\n',
    frames: [json({ a: 1 }), json({ a: 2 })],
  },
  {
    name: 'T113 NDJSON as JSON',
    type: 'application/json',
    body: '{"a":1}\n{"a":2}\n',
    frames: [json({ a: 1 }), json({ a: 2 })],
  },
  {
    name: 'T113 values in a row',
    type: 'application/json',
    body: '{"a":1}{"a":2} {"a":3}',
    frames: [json({ a: 1 }), json({ a: 2 }), json({ a: 3 })],
  },
  {
    name: 'T114 corrupt event',
    type: SSE,
    body: 'data: {"a":}\n\ndata: {"a":1}\n\n',
    frames: [bad('{"a":}'), json({ a: 1 })],
  },
  {
    name: 'T114 corrupt event with a name',
    type: SSE,
    body: 'event: error\ndata: overloaded\n\n',
    frames: [{ kind: 'bad', text: 'overloaded', event: 'error' }],
  },
  {
    name: 'T114 corrupt NDJSON line',
    type: 'application/x-ndjson',
    body: '{"a":1}\n{"a\n{"a":3}\n',
    frames: [json({ a: 1 }), bad('{"a'), json({ a: 3 })],
  },
  {
    name: 'T114 corrupt line between values',
    type: 'application/json',
    body: '{"a":1}\noops, {\n{"a":2}',
    frames: [json({ a: 1 }), bad('oops, {'), json({ a: 2 })],
  },
  {
    name: 'T114 wrong closer',
    type: 'application/json',
    body: '{"a":1]{"a":2}',
    frames: [bad('{"a":1]'), json({ a: 2 })],
  },
  { name: 'empty SSE', type: SSE, body: '', frames: [] },
  { name: 'empty JSON', type: 'application/json', body: ' \n', frames: [] },
  { name: 'empty NDJSON', type: 'application/x-ndjson', body: '', frames: [] },
  {
    name: 'T105 characters of two, three and four bytes',
    type: SSE,
    body: 'data: {"p":"é邀🙂"}\n\n',
    frames: [json({ p: 'é邀🙂' })],
  },
  {
    name: 'T105 in a JSON body',
    type: 'application/json',
    body: '{"p":"é邀🙂"}',
    frames: [json({ p: 'é邀🙂' }), complete],
  },
]

for (const { name, type, body, frames } of cases) {
  test(`${name}, whole, byte by byte and cut at every offset`, () => {
    const length = encoder.encode(body).length
    assert.deepEqual(framesOf(type, body), frames)
    assert.deepEqual(framesOf(type, body, every(length)), frames, 'byte by byte')
    for (let cut = 0; cut <= length; cut++) assert.deepEqual(framesOf(type, body, [cut]), frames, `cut at ${cut}`)
  })
}

test('T105 a character that is cut off at the end is flushed', () => {
  const bytes = encoder.encode('data: {"p":"邀').subarray(0, -1)
  assert.deepEqual(framesOf(SSE, bytes), [bad('{"p":"\uFFFD')])
})

test('T106 a frame is out as soon as its last byte is in', () => {
  const events = createFramer(SSE)
  assert.deepEqual(events.push(encoder.encode('data: {"a":1}\n')), [])
  assert.deepEqual(events.push(encoder.encode('\n')), [json({ a: 1 })])
  const array = createFramer('application/json')
  assert.deepEqual(array.push(encoder.encode('[{"a":1')), [])
  assert.deepEqual(array.push(encoder.encode('}')), [json({ a: 1 })])
})

test('T112 the text of an unreadable body is bounded, wherever it is cut', () => {
  const body = `<html>${'🙂'.repeat(5000)}`
  const [frame, ...rest] = framesOf('text/html', body)
  assert.ok(frame?.kind === 'bad')
  assert.equal(frame.text.length, 2000)
  assert.ok(frame.text.endsWith('🙂'))
  assert.deepEqual(rest, [])
  assert.deepEqual(framesOf('text/html', body, every(9000)), [frame])
  assert.equal((framesOf(SSE, `data: x${'🙂'.repeat(5000)}\n\n`)[0] as { text: string }).text.length, 1999)
})

test('T115 compressed bytes give one bad frame that says so', () => {
  const bytes = new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 0x49, 0x2c])
  for (const type of [SSE, 'application/json', undefined]) {
    for (const cuts of [[], [1], every(bytes.length)]) {
      const frames = framesOf(type, bytes, cuts)
      assert.equal(frames.length, 1)
      assert.ok(frames[0]?.kind === 'bad' && frames[0].text.includes('compressed'))
    }
  }
})

test('T106 CRLF, a byte order mark and comments between lines do not change the JSON frames', () => {
  const body = cases
    .filter(({ type, name }) => type === SSE && name.startsWith('T106 ') && !/CR|last|mark|bare/.test(name))
    .map((one) => one.body)
    .join('')
  const expected = onlyJson(framesOf(SSE, body))
  assert.ok(expected.length > 10)
  const variants = {
    crlf: body.replaceAll('\n', '\r\n'),
    cr: body.replaceAll('\n', '\r'),
    mark: `\uFEFF${body}`,
    comments: body.replaceAll('\n', '\n: hello\n'),
    all: `\uFEFF${body.replaceAll('\n', '\n:x\n').replaceAll('\n', '\r\n')}`,
  }
  for (const [name, variant] of Object.entries(variants)) {
    const length = encoder.encode(variant).length
    for (let cut = 0; cut <= length; cut++)
      assert.deepEqual(onlyJson(framesOf(SSE, variant, [cut])), expected, `${name} cut at ${cut}`)
  }
})

test('a long line in tiny chunks costs time linear in its length', async () => {
  const text = 'x'.repeat(2_000_000)
  const bodies = [
    [SSE, `data: {"t":"${text}"}\n\n`],
    ['application/json', `[{"t":"${text}"}]`],
    ['application/x-ndjson', `{"t":"${text}"}\n`],
  ] as const
  for (const [type, body] of bodies) {
    for (const step of [1, 100]) {
      const work = () => assert.deepEqual(framesOf(type, body, every(body.length, step)), [json({ t: text })])
      await assertCpuTime(work, 20)
    }
  }
})

test('one big chunk with both kinds of line end costs time linear in its length', () =>
  assertCpuTime(() => {
    assert.equal(framesOf(SSE, `${'data: 1\n\n'.repeat(100_000)}\r\n`).length, 100_000)
  }, 10))

test(
  'every recording gives the same frames whole, in its own chunks and in odd ones',
  { skip: skipWithoutShared },
  () => {
    for (const wire of ['gemini', 'code-assist', 'openai-chat', 'openai-responses', 'anthropic'] as const) {
      for (const { file, response } of recordings(wire)) {
        const length = encoder.encode(response.body).length
        const whole = framesOf(response.contentType, response.body)
        assert.ok(whole.some((frame) => frame.kind === 'json') && whole.every((frame) => frame.kind !== 'bad'), file)
        const own = (response.chunkBytes ?? []).map((_size, at, sizes) =>
          sizes.slice(0, at + 1).reduce((a, b) => a + b, 0),
        )
        for (const cuts of [own, every(length, 7), every(length, 1021)]) {
          assert.deepEqual(
            framesOf(
              response.contentType,
              response.body,
              cuts.filter((cut) => cut <= length),
            ),
            whole,
            file,
          )
        }
      }
    }
  },
)

function every(length: number, step = 1): number[] {
  return Array.from({ length: Math.ceil(length / step) }, (_, at) => at * step)
}

function onlyJson(frames: readonly Frame[]): Frame[] {
  return frames.filter((frame) => frame.kind === 'json')
}

test('JSON that nests absurdly deep is a bad frame, not a crash', () => {
  const deep = `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
  const reader = createFramer('text/event-stream')
  const frames = [...reader.push(Buffer.from(`data: ${deep}\n\n`)), ...reader.end()]
  assert.deepEqual(
    frames.map(({ kind }) => kind),
    ['bad'],
  )
})
