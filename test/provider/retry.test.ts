import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, test, type TestContext } from 'node:test'
import type { TurnEvent } from '../../src/model/event.ts'
import type { FaultKind } from '../../src/model/fault.ts'
import { fold } from '../../src/model/fold.ts'
import type { Model } from '../../src/provider/model.ts'
import { createModel, createHttpClient } from '../../src/provider/http/node-http-client.ts'
import { type RetryOptions, withRetry } from '../../src/provider/middleware/retry.ts'
import { answers } from './support/answers.ts'
import { aimed, eventsOf, KEY, question } from './support/ask.ts'
import { fakeClock, hastyClock } from './support/clock.ts'
import { type Heard, reply, type Script, serve, stream } from './support/server.ts'

const chat = answers['openai-chat']
const good = (response: ServerResponse): void => stream(response, chat.text('Yes.').events)
const overloaded = (response: ServerResponse): void => reply(response, { error: { message: 'Overloaded' } }, 503)

async function patient(t: TestContext, script: Script, patience: RetryOptions = {}) {
  const { url, heard } = await serve(t, script)
  const clock = hastyClock()
  const inner = createModel(aimed('openai-chat/gpt-4.1', url), { httpClient: createHttpClient({}) })
  return { model: withRetry(inner, { clock, random: () => 0.5, ...patience }), heard, waits: clock.waits }
}

function reasonOf(events: readonly TurnEvent[]): string {
  const last = events.at(-1)
  assert.ok(last?.type === 'finish')
  return last.fault ? `${last.reason}: ${last.fault.message}` : last.reason
}

/** A port that fails in these ways, one after the other, and then answers. */
function failing(...kinds: FaultKind[]): Model & { asked: number } {
  const self = {
    origin: { provider: 'p', wire: 'openai-chat', model: 'm' } as const,
    asked: 0,
    async *stream(): AsyncGenerator<TurnEvent> {
      const kind = kinds[self.asked++]
      yield { type: 'open', id: `r${self.asked}` }
      yield { type: 'part-open', index: 0, kind: 'text' }
      yield { type: 'part-close', index: 0, part: { kind: 'text', text: `attempt ${self.asked}` } }
      yield { type: 'usage', usage: { input: 10, cacheRead: 0, cacheWrite: 0, output: self.asked, reasoning: 0 } }
      yield kind
        ? { type: 'finish', reason: 'fault', fault: { kind, message: 'It failed.' } }
        : { type: 'finish', reason: 'stop' }
    },
  }
  return self
}

test('an answer that failed is dropped and asked for again; what it used is still counted', async () => {
  const inner = failing('server', 'decode')
  const events = await eventsOf(withRetry(inner, { clock: hastyClock(), random: () => 0.5 }))
  const { turn, attempts, warnings, id } = fold(events, inner.origin)
  assert.equal(turn.finish.reason, 'stop')
  assert.deepEqual(turn.parts, [{ kind: 'text', text: 'attempt 3' }])
  assert.equal(id, 'r3')
  assert.equal(turn.usage?.output, 3)
  assert.deepEqual(
    attempts?.map(({ fault, usage }) => [fault?.kind, usage?.output]),
    [
      ['server', 1],
      ['decode', 2],
    ],
  )
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['retry', 'retry'],
  )
  const anew = events.filter((event) => event.type === 'open' && event.anew)
  assert.deepEqual(anew, [
    { type: 'open', anew: true, attempt: 2, wait: 1000, fault: { kind: 'server', message: 'It failed.' } },
    { type: 'open', anew: true, attempt: 3, wait: 2000, fault: { kind: 'decode', message: 'It failed.' } },
  ])
})

test('only what may pass by itself is tried again', async () => {
  for (const kind of ['quota', 'auth', 'invalid', 'policy', 'overflow'] as const) {
    const inner = failing(kind, kind)
    const events = await eventsOf(withRetry(inner, { clock: hastyClock() }))
    assert.equal(reasonOf(events), 'fault: It failed.', kind)
    assert.equal(inner.asked, 1, kind)
  }
  for (const kind of ['rate', 'server', 'transport', 'decode'] as const) {
    const inner = failing(kind)
    assert.equal(reasonOf(await eventsOf(withRetry(inner, { clock: hastyClock() }))), 'stop', kind)
  }
})

test('five attempts, each wait at least as long as the one before, two minutes in all', async () => {
  for (const random of [() => 0, () => 0.5, () => 0.999, Math.random]) {
    const clock = hastyClock()
    const inner = failing(...Array.from({ length: 9 }, () => 'server' as const))
    const events = await eventsOf(withRetry(inner, { clock, random }))
    assert.equal(inner.asked, 5)
    assert.match(reasonOf(events), /It failed\. Gave up after 5 attempts\./)
    assert.equal(clock.waits.length, 4)
    for (const [at, ms] of clock.waits.entries()) assert.ok(ms >= (clock.waits[at - 1] ?? 0), String(clock.waits))
    assert.ok(clock.waits.reduce((sum, ms) => sum + ms, 0) <= 120_000)
  }
})

test('each attempt has ids of its own', async (t) => {
  const { model } = await patient(t, (response, _heard, turn) => {
    stream(response, chat.call('get_weather', { city: 'Oslo' }).events.slice(0, turn === 0 ? 2 : 9))
  })
  const ids = new Set<string>()
  for (const event of await eventsOf(model))
    if (event.type === 'part-close' && event.part.kind === 'call') ids.add(event.part.id)
  assert.equal(ids.size, 2)
})

test('abort while waiting', async () => {
  const clock = fakeClock()
  const abort = new AbortController()
  const inner = failing('server', 'server')
  const events: TurnEvent[] = []
  for await (const event of withRetry(inner, { clock }).stream(question(), { turnKey: KEY, signal: abort.signal })) {
    events.push(event)
    if (event.type === 'open' && event.anew) setImmediate(() => abort.abort())
  }
  assert.deepEqual(events.at(-1), { type: 'finish', reason: 'aborted' })
  assert.equal(inner.asked, 1)
  assert.equal(clock.pending, 0)
})

describe('hints (T157)', () => {
  const now = 'Wed, 21 Oct 2026 07:28:00 GMT'
  const google = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '17s' }
  const hints: readonly [name: string, ms: number, headers: Record<string, string>, error: object][] = [
    ['seconds', 7000, { 'retry-after': '7' }, {}],
    ['a fraction', 1500, { 'retry-after': '1.5' }, {}],
    ['a date', 9000, { 'retry-after': 'Wed, 21 Oct 2026 07:28:09 GMT', date: now }, {}],
    ['milliseconds', 2850, { 'retry-after-ms': '2850' }, {}],
    ['a reset in words', 6000, { 'x-ratelimit-reset-requests': '6s' }, {}],
    ['a reset in pieces', 89_560, { 'x-ratelimit-reset-tokens': '1m29.56s' }, {}],
    ['a reset as a time', 20_000, { 'anthropic-ratelimit-requests-reset': '2026-10-21T07:28:20Z', date: now }, {}],
    ['Google', 17_000, {}, { code: 429, status: 'RESOURCE_EXHAUSTED', details: [google] }],
    ['prose, milliseconds', 2850, {}, { message: 'Please retry in 2850ms.' }],
    ['prose, seconds', 11_054, {}, { message: 'Rate limit reached. Please try again in 11.054s.' }],
    ['prose, reset', 39_000, {}, { message: 'Your quota will reset after 39s.' }],
    ['a field', 12_000, {}, { message: 'Slow down', retry_after: 12 }],
  ]
  for (const [name, ms, headers, error] of hints) {
    test(name, async (t) => {
      const { model, heard, waits } = await patient(t, (response, _heard, turn) =>
        turn === 0
          ? reply(response, { error: { message: 'Too many requests', ...error } }, 429, headers)
          : good(response),
      )
      assert.equal(reasonOf(await eventsOf(model)), 'stop')
      assert.equal(heard.length, 2)
      assert.equal(waits.length, 1)
      assert.ok((waits[0] ?? 0) >= ms && (waits[0] ?? 0) <= ms * 1.1, `${waits[0]}`)
    })
  }

  test('none: our own', async (t) => {
    const { model, waits } = await patient(t, (response, _heard, turn) =>
      turn < 2 ? reply(response, { error: { message: 'Too many requests' } }, 429) : good(response),
    )
    assert.equal(reasonOf(await eventsOf(model)), 'stop')
    assert.deepEqual(waits, [1000, 2000])
  })

  test('over five minutes: we say so and do not sleep', async (t) => {
    const { model, heard, waits } = await patient(t, (response) =>
      reply(response, { error: { message: 'Too many requests' } }, 429, { 'retry-after': '3600' }),
    )
    assert.match(
      reasonOf(await eventsOf(model)),
      /Too many requests\. The server asks to wait 60 minutes, which is longer than/,
    )
    assert.equal(heard.length, 1)
    assert.deepEqual(waits, [])
  })

  test('three minutes: once', async (t) => {
    const { model, heard, waits } = await patient(t, (response) =>
      reply(response, { error: { message: 'Too many requests' } }, 429, { 'retry-after': '180' }),
    )
    assert.match(reasonOf(await eventsOf(model)), /Gave up after 2 attempts/)
    assert.equal(heard.length, 2)
    assert.equal(waits.length, 1)
  })

  test('quota is not rate (T158)', async (t) => {
    const { model, heard } = await patient(t, (response) =>
      reply(response, { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } }, 429),
    )
    assert.match(reasonOf(await eventsOf(model)), /exceeded your current quota/)
    assert.equal(heard.length, 1)
  })
})

test('nobody there: one more try, and no more', async () => {
  const clock = hastyClock()
  const model = withRetry(
    createModel(aimed('lmstudio/x', 'http://127.0.0.1:9/v1'), { httpClient: createHttpClient({}) }),
    { clock },
  )
  assert.match(reasonOf(await eventsOf(model)), /Nothing answers at 127\.0\.0\.1:9.*Gave up after 2 attempts/)
  assert.equal(clock.waits.length, 1)
})

/** Ways to fail, of which some heal and some do not. */
const TROUBLES: Readonly<
  Record<string, (response: ServerResponse, heard: Heard, advance: (ms: number) => void) => void>
> = {
  'rate 429': (response) => reply(response, { error: { message: 'Too many requests' } }, 429, { 'retry-after': '2' }),
  'server 500': (response) => reply(response, { error: { message: 'Internal' } }, 500),
  'server 503': overloaded,
  'overloaded 529': (response) =>
    reply(response, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 529),
  'error inside 200': (response) =>
    stream(response, ['data: {"error":{"message":"Overloaded","code":503},"choices":[]}\n\n']),
  'cut before the head': (response) => void response.socket?.destroy(),
  'cut in the middle': (response) => {
    stream(response, chat.call('get_weather', { city: 'Oslo' }).events.slice(0, 2), false)
    setTimeout(() => response.socket?.destroy(), 2)
  },
  'no end': (response) => stream(response, chat.call('get_weather', { city: 'Oslo' }).events.slice(0, 2)),
  stall: (response, _heard, advance) => {
    stream(response, chat.text('Yes.').events.slice(0, 1), false)
    setTimeout(() => advance(6 * 60_000), 20)
  },
  drip: (response, _heard, advance) => {
    stream(response, [...chat.text('Yes.').events.slice(0, 1), ': ping\n\n', ': ping\n\n'], false)
    setTimeout(() => advance(6 * 60_000), 20)
  },
  corrupt: (response) => stream(response, ['data: {"choi\n\n', ...chat.call('get_weather', { city: 'Oslo' }).events]),
  redirect: (response) => void response.writeHead(302, { location: 'https://elsewhere.example/' }).end(),
  html: (response) => reply(response, '<html>Bad gateway</html>', 502, { 'content-type': 'text/html' }),
  'html with 200': (response) => reply(response, '<html>Sign in</html>', 200, { 'content-type': 'text/html' }),
  'half JSON': (response) => reply(response, '{"choices":[{"message":{"content":"Ye'),
  'empty body': (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
}

describe('storms', () => {
  for (const [name, trouble] of Object.entries(TROUBLES)) {
    test(`${name}, for ever: bounded attempts and bounded time`, async (t) => {
      const clock = fakeClock()
      const { url, heard } = await serve(t, (response, one) => trouble(response, one, clock.advance))
      const waiting = hastyClock()
      const inner = createModel(aimed('openai-chat/gpt-4.1', url), { httpClient: createHttpClient({}), clock })
      const events = await eventsOf(withRetry(inner, { clock: waiting, random: () => 0.5 }))
      assert.match(reasonOf(events), /^fault: /)
      assert.ok(heard.length <= 5, `${heard.length} attempts`)
      assert.equal(waiting.waits.length, heard.length - 1)
      assert.ok(waiting.waits.reduce((sum, ms) => sum + ms, 0) <= 120_000)
    })
  }

  const turns = Number(process.env['DRAGOMAN_STORM'] ?? 400)
  test(`${turns} turns through every trouble: no call is lost, doubled or half`, async (t) => {
    const clock = fakeClock()
    const random = seeded(7)
    const kinds = Object.keys(TROUBLES).filter((name) => !/stall|drip|redirect|html with 200/.test(name))
    let troubled = 0
    const { url, heard } = await serve(t, (response, one) => {
      const bad = troubled < 4 && random() < 0.5
      troubled = bad ? troubled + 1 : 0
      if (bad) TROUBLES[kinds[Math.floor(random() * kinds.length)] ?? '']?.(response, one, clock.advance)
      else stream(response, chat.call('get_weather', { city: 'Oslo' }).events)
    })
    const model = withRetry(
      createModel(aimed('openai-chat/gpt-4.1', url), { httpClient: createHttpClient({}), clock }),
      {
        clock: hastyClock(),
        random,
      },
    )
    const ids = new Set<string>()
    for (let n = 0; n < turns; n++) {
      const { turn } = fold(
        await eventsOf(model, question(), { turnKey: `k${String(n).padStart(19, '0')}` }),
        model.origin,
      )
      assert.equal(turn.finish.reason, 'calls')
      assert.equal(turn.parts.length, 1)
      const [call] = turn.parts
      assert.ok(call?.kind === 'call' && !call.flaw)
      assert.deepEqual(call.input, { city: 'Oslo' })
      assert.ok(!ids.has(call.id))
      ids.add(call.id)
    }
    assert.ok(heard.length > turns)
    assert.equal(clock.pending, 0)
  })
})

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}
