import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createRedactor } from '../../src/model/security/redactor.ts'
import { createModel, createHttpClient } from '../../src/provider/http/node-http-client.ts'
import type { HttpClient } from '../../src/provider/http/http-client.ts'
import type { RequestDifference } from '../../src/provider/middleware/recording/request-difference.ts'
import { createReplayClient } from '../../src/provider/middleware/recording/replay-client.ts'
import {
  toChunkBytes,
  type RecordedExchange,
  recordExchanges,
  type OmittedExchange,
} from '../../src/provider/middleware/recording/record-exchanges.ts'
import { type ExchangeTraceEvent, traceExchanges } from '../../src/provider/middleware/trace-exchanges.ts'
import { canaries, leaks } from '../support/canaries.ts'
import { answers } from './support/answers.ts'
import { aimed, answerOf, eventsOf, question, SECRET } from './support/ask.ts'
import { reply, serve, type Script, stream } from './support/server.ts'

interface Tape {
  readonly post: HttpClient
  readonly kept: (RecordedExchange | OmittedExchange)[]
  readonly told: string[]
}

function tape(inner: HttpClient = createHttpClient({}), secrets = createRedactor()): Tape {
  const kept: (RecordedExchange | OmittedExchange)[] = []
  const told: string[] = []
  const post = recordExchanges(
    inner,
    secrets,
    (one) => (kept[one.number - 1] = one),
    (sentence) => told.push(sentence),
  )
  return { post, kept, told }
}

function whole(one: RecordedExchange | OmittedExchange | undefined): RecordedExchange {
  assert.ok(one && 'request' in one, JSON.stringify(one))
  return one
}

const text = (cassette: RecordedExchange): string =>
  Buffer.concat((cassette.response?.chunks ?? []).map(toChunkBytes)).toString('utf8')

const chat = answers['openai-chat']

/** Sends pieces one after the other, each in a packet of its own. */
function pieces(...parts: readonly (string | Buffer)[]): Script {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const part of parts) {
      response.write(part)
      await new Promise((resolve) => setTimeout(resolve, 15))
    }
    response.end()
  }
}

describe('what is recorded', () => {
  test('all of it, as it came, but not the key', async (t) => {
    const events = chat.text('Größe: 3 €.').events
    const bytes = Buffer.from(events.join(''))
    const cut = bytes.indexOf(0xc3) + 1
    const { url } = await serve(t, pieces(bytes.subarray(0, cut), bytes.subarray(cut)))
    const { post, kept, told } = tape()
    await answerOf(createModel(aimed('groq/x', url), { httpClient: post }))
    const cassette = whole(kept[0])
    assert.deepEqual([cassette.request.method, cassette.request.url], ['POST', `${url}/chat/completions`])
    assert.equal(cassette.request.headers['authorization'], '[key]')
    assert.match(cassette.request.headers['user-agent'] ?? '', /^dragoman\//)
    assert.equal((JSON.parse(cassette.request.body) as { model: string }).model, 'x')
    assert.equal(cassette.response?.status, 200)
    assert.equal(text(cassette), bytes.toString())
    const chunks = cassette.response?.chunks ?? []
    assert.ok(chunks.length >= 2, 'the pieces are kept')
    assert.ok(
      chunks.some(({ base64 }) => base64 !== undefined),
      'half a letter is no text',
    )
    assert.ok(chunks.every(({ ms }, at) => ms >= (chunks[at - 1]?.ms ?? 0)))
    assert.deepEqual(told, [])
    assert.ok(!JSON.stringify(kept).includes(SECRET))
  })

  test('a request is kept before its answer comes, and stays if none does', async (t) => {
    const { url } = await serve(t, (response) => void response.socket?.destroy())
    const { post, kept } = tape()
    await eventsOf(createModel(aimed('groq/x', url), { httpClient: post }))
    const { response, error } = whole(kept[0])
    assert.deepEqual([response, error?.code], [undefined, 'ECONNRESET'])
  })

  test('an answer that breaks off, and one that nobody wants to hear to its end', async (t) => {
    const { url } = await serve(t, async (response, _heard, turn) => {
      stream(response, chat.text('Hello').events.slice(0, 1), false)
      await new Promise((resolve) => setTimeout(resolve, 30))
      if (turn === 0) response.socket?.destroy()
    })
    const { post, kept } = tape()
    const model = createModel(aimed('groq/x', url), { httpClient: post })
    await eventsOf(model)
    assert.equal(whole(kept[0]).error?.code, 'ECONNRESET')
    assert.match(text(whole(kept[0])), /"Hel"/)
    for await (const event of model.stream(question(), { turnKey: 'abcdefghij0123456789' }))
      if (event.type === 'part-delta') break
    assert.match(text(whole(kept[1])), /"Hel"/)
  })
})

describe('secrets in a recording', () => {
  test('a key that a server repeats, in a header, in an error, across two packets', async (t) => {
    const half = SECRET.length / 2
    const body = `data: {"error":{"message":"bad key ${SECRET} and its base64 ${Buffer.from(`Bearer ${SECRET}`).toString('base64')}"}}\n\n`
    const at = body.indexOf(SECRET) + half
    const { url } = await serve(t, async (response) => {
      response.writeHead(401, { 'content-type': 'text/event-stream', 'x-echo': SECRET, 'set-cookie': 'a=b' })
      response.write(body.slice(0, at))
      await new Promise((resolve) => setTimeout(resolve, 20))
      response.end(body.slice(at))
    })
    const { post, kept, told } = tape()
    await eventsOf(createModel(aimed('groq/x', url), { httpClient: post }))
    const cassette = whole(kept[0])
    assert.deepEqual(leaks(JSON.stringify(kept), [{ kind: 'key', value: SECRET }]), [])
    assert.equal(cassette.response?.headers['x-echo'], '[key]')
    assert.equal(cassette.response.headers['set-cookie'], '[key]')
    assert.match(text(cassette), /^data: \{"error":\{"message":"bad key \[key\] and its base64 \S+"\}\}\n\n$/)
    assert.deepEqual(told, [])
  })

  test('in what was said: of every form', async (t) => {
    const { url } = await serve(t, (response) => stream(response, chat.text('Noted.').events))
    for (const canary of canaries(3)) {
      if (canary.formless) continue
      const { post, kept, told } = tape()
      const request = question(`Put ${canary.value} into .env`, { system: `Never say ${canary.value}.` })
      await eventsOf(createModel(aimed('groq/x', url), { httpClient: post }), request)
      assert.deepEqual(leaks(JSON.stringify(kept), [canary]), [], canary.kind)
      assert.doesNotThrow(() => void JSON.parse(whole(kept[0]).request.body))
      assert.deepEqual(told, [])
    }
  })

  test('one that is spelt out over the events of a stream is not kept at all, and that is told', async (t) => {
    for (const wire of ['openai-chat', 'gemini', 'anthropic', 'openai-responses'] as const) {
      const name = { 'openai-chat': 'groq', gemini: 'gemini', anthropic: 'anthropic', 'openai-responses': 'openai' }[
        wire
      ]
      const canary = canaries(5)[1]
      assert.ok(canary)
      const parts = canary.value.match(/.{1,9}/g) ?? []
      const { url } = await serve(t, (response) => stream(response, spelt(wire, parts)))
      const { post, kept, told } = tape()
      await eventsOf(createModel(aimed(`${name}/x`, url), { httpClient: post }))
      assert.ok(kept[0] && 'refused' in kept[0], `${wire}: ${JSON.stringify(kept).slice(0, 2000)}`)
      assert.deepEqual(told, ['Exchange 1 is not recorded: its response contains a secret, [secret], in pieces.'])
      for (const part of parts) assert.ok(!JSON.stringify(kept).includes(part), `${wire}: ${part}`)
    }
  })

  test('one that is still there after all were taken out is refused', async (t) => {
    const { url } = await serve(t, (response) => stream(response, chat.text('Yes.').events))
    const blind = { ...createRedactor(), redact: (plain: string) => plain }
    const { post, kept, told } = tape(createHttpClient({}), blind)
    await eventsOf(
      createModel(aimed('groq/x', url), { httpClient: post }),
      question(`This is ${canaries(1)[0]?.value}.`),
    )
    assert.ok(kept[0] && 'refused' in kept[0])
    assert.match(told[0] ?? '', /^Exchange 1 is not recorded: it still contains a secret, \[secret\], after/)
  })
})

/** The events of an answer that says something in so many pieces. */
function spelt(wire: 'openai-chat' | 'gemini' | 'anthropic' | 'openai-responses', parts: readonly string[]): string[] {
  const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
  if (wire === 'openai-chat')
    return [...parts.map((content) => data({ choices: [{ index: 0, delta: { content } }] })), 'data: [DONE]\n\n']
  if (wire === 'gemini')
    return parts.map((one) => data({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text: one }] } }] }))
  if (wire === 'anthropic')
    return parts.map((one) => data({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: one } }))
  return parts.map((delta) => data({ type: 'response.output_text.delta', item_id: 'm', output_index: 0, delta }))
}

describe('playing it again', () => {
  test('every wire: the same answer with no network, and no difference', async (t) => {
    for (const [wire, name] of [
      ['openai-chat', 'groq/x'],
      ['gemini', 'gemini/gemini-2.5-pro'],
      ['anthropic', 'anthropic/claude-sonnet-5-5'],
      ['openai-responses', 'openai/gpt-5.4'],
      ['code-assist', 'code-assist/gemini-2.5-pro'],
    ] as const) {
      const { url } = await serve(t, (response) =>
        stream(response, answers[wire].call('get_weather', { city: 'Oslo' }).events),
      )
      const env = { GOOGLE_CLOUD_PROJECT: 'p' }
      const { post, kept } = tape()
      const first = await answerOf(createModel(aimed(name, url, env), { httpClient: post }))
      const again = await answerOf(
        createModel(aimed(name, url, env), { httpClient: createReplayClient(kept, createRedactor(), failed) }),
      )
      assert.deepEqual(again.turn, first.turn, wire)
    }
  })

  test('says where a request differs: system, tools, a turn, a field, the address', async (t) => {
    const { url } = await serve(t, (response) => stream(response, chat.text('Yes.').events))
    const { post, kept } = tape()
    const turns = [
      { role: 'user', parts: [{ kind: 'text', text: 'one' }] },
      { role: 'note', text: 'two' },
    ] as const
    const request = question('', { turns })
    await answerOf(createModel(aimed('groq/x', url), { httpClient: post }), request)
    const found = async (
      changed: typeof request,
      target = aimed('groq/x', url),
    ): Promise<RequestDifference | undefined> => {
      let difference: RequestDifference | undefined
      const again = createReplayClient(kept, createRedactor(), (_number, one) => (difference ??= one))
      await eventsOf(createModel(target, { httpClient: again }), changed)
      return difference
    }
    assert.equal(await found(request), undefined)
    assert.deepEqual(await found({ ...request, system: 'Be long.' }), {
      place: 'system',
      recorded: '{"role":"system","content":"Be brief."}',
      now: '{"role":"system","content":"Be long."}',
    })
    assert.equal((await found({ ...request, tools: [] }))?.place, 'tools')
    const second = [turns[0], { role: 'note', text: 'TWO' }] as const
    assert.equal((await found({ ...request, turns: second }))?.place, 'turn 2')
    assert.equal((await found({ ...request, turns: [turns[0]] }))?.place, 'turn 2')
    assert.equal((await found({ ...request, params: { maxTokens: 5 } }))?.place, 'max_completion_tokens')
    assert.equal((await found(request, aimed('groq/x', `${url}/v9`)))?.place, 'url')
  })

  test('failures come again as they were, and beyond the end there is nothing', async (t) => {
    const { url } = await serve(t, (response, _heard, turn) =>
      turn === 0
        ? reply(response, { error: { message: 'slow down', type: 'rate_limit_error' } }, 429, { 'retry-after': '3' })
        : void response.socket?.destroy(),
    )
    const { post, kept } = tape()
    const model = createModel(aimed('groq/x', url), { httpClient: post })
    const last = async (from: typeof model) => (await eventsOf(from)).at(-1)
    const first = [await last(model), await last(model)]
    const ends: string[] = []
    const again = createModel(aimed('groq/x', url), {
      httpClient: createReplayClient(kept, createRedactor(), (_number, { place }) => ends.push(place)),
    })
    assert.deepEqual([await last(again), await last(again)], first)
    assert.deepEqual(ends, [])
    const beyond = await last(again)
    assert.match(beyond?.type === 'finish' ? (beyond.fault?.message ?? '') : '', /The recording ends here/)
    assert.deepEqual(ends, ['end'])
  })
})

function failed(number: number, difference: RequestDifference): void {
  assert.fail(`request ${number}: ${JSON.stringify(difference)}`)
}

test('a trace: a line for every phase, with its time, and nothing of what was said', async (t) => {
  const { url } = await serve(t, (response, _heard, turn) => {
    if (turn > 0) response.socket?.destroy()
    else stream(response, chat.text('Yes.').events)
  })
  const phases: ExchangeTraceEvent[] = []
  const model = createModel(aimed('groq/x', `${url}/v1?key=${SECRET}`), {
    httpClient: traceExchanges(createHttpClient({}), createRedactor([SECRET]), (phase) => phases.push(phase)),
  })
  await eventsOf(model, question('What is my secret?'))
  await eventsOf(model)
  assert.deepEqual(
    phases.map(({ n, phase }) => `${n} ${phase}`),
    ['1 request', '1 head', '1 first-byte', '1 end', '2 request', '2 error'],
  )
  const [request, head, , end] = phases
  assert.equal(request?.url, `${url}/v1/chat/completions?key=[key]`)
  assert.equal(head?.status, 200)
  assert.equal(end?.bytes, Buffer.byteLength(chat.text('Yes.').events.join('')))
  assert.ok(phases.every(({ ms }) => ms >= 0))
  assert.doesNotMatch(JSON.stringify(phases), /secret\?|Yes|weather/)
})
