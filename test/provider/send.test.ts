import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { TurnEvent } from '../../src/model/event.ts'
import type { Fault } from '../../src/model/fault.ts'
import { fold } from '../../src/model/fold.ts'
import type { Model } from '../../src/provider/model.ts'
import { resolveModel } from '../../src/provider/resolve-model.ts'
import type { ProviderDefinition } from '../../src/provider/provider-definition.ts'
import { createModel, createHttpClient } from '../../src/provider/http/node-http-client.ts'
import { providers } from '../../src/provider/providers.ts'
import { answers } from './support/answers.ts'
import { aimed, answerOf, eventsOf, KEY, question, SECRET } from './support/ask.ts'
import { fakeClock } from './support/clock.ts'
import { reply, serve, stream } from './support/server.ts'

const chat = answers['openai-chat']
const MINUTE = 60_000

function faultOf(events: readonly TurnEvent[]): Fault {
  const last = events.at(-1)
  assert.ok(last?.type === 'finish' && last.fault, JSON.stringify(last))
  return last.fault
}

/** A port to a chat server on loopback. */
function chatPort(url: string, options: Parameters<typeof createModel>[1] = {}): Model {
  return createModel(aimed('openai-chat/gpt-4.1', url), { httpClient: createHttpClient({}), ...options })
}

describe('connections', () => {
  test('stopped when the whole answer is here, but not yet read: nobody hears of it twice', async (t) => {
    const { url } = await serve(t, (response) => stream(response, chat.text('Yes, '.repeat(200)).events))
    const model = chatPort(url)
    for (let n = 0; n < 5; n++) {
      const stop = new AbortController()
      const events: TurnEvent[] = []
      for await (const event of model.stream(question(), { turnKey: KEY, signal: stop.signal })) {
        events.push(event)
        stop.abort()
      }
      assert.deepEqual(events.at(-1), { type: 'finish', reason: 'aborted' })
    }
    // An exception that nobody catches would end the test here.
    await pause(20)
  })

  test('one connection serves one request after the other', async (t) => {
    const { url, heard } = await serve(t, (response) => stream(response, chat.text('Yes.').events))
    const model = chatPort(url)
    for (let n = 0; n < 5; n++) await answerOf(model)
    assert.deepEqual(
      heard.map(({ connection }) => connection),
      [1, 1, 1, 1, 1],
    )
  })

  test('ports share the connections of their client', async (t) => {
    const { url, heard } = await serve(t, (response) => stream(response, chat.text('Yes.').events))
    const post = createHttpClient({})
    await answerOf(chatPort(url, { httpClient: post }))
    await answerOf(createModel(aimed('groq/x', url), { httpClient: post }))
    assert.deepEqual(
      heard.map(({ connection }) => connection),
      [1, 1],
    )
  })

  test('a connection that the server closed in the meantime is no fault', async (t) => {
    const { url, heard } = await serve(t, (response, _heard, turn) => {
      // The second request dies on the connection of the first.
      if (turn === 1) response.socket?.destroy()
      else stream(response, chat.text('Yes.').events)
    })
    const model = chatPort(url)
    await answerOf(model)
    const { turn } = await answerOf(model)
    assert.equal(turn.finish.reason, 'stop')
    assert.deepEqual(
      heard.map(({ connection }) => connection),
      [1, 1, 2],
    )
  })

  test('who stops listening closes the connection', async (t) => {
    const seen = { closed: false }
    const { url } = await serve(t, (response) => {
      response.on('close', () => (seen.closed = true))
      stream(response, chat.text('Yes.').events.slice(0, 1), false)
    })
    for await (const event of chatPort(url).stream(question(), { turnKey: KEY })) if (event.type === 'part-delta') break
    for (let n = 0; n < 6000 && !seen.closed; n++) await pause(5)
    assert.ok(seen.closed)
  })
})

describe('the end', () => {
  test('abort before the request: nothing is sent', async (t) => {
    const { url, heard } = await serve(t, (response) => stream(response, chat.text('Yes.').events))
    const events = await eventsOf(chatPort(url), question(), { signal: AbortSignal.abort() })
    assert.deepEqual(events, [{ type: 'finish', reason: 'aborted' }])
    assert.equal(heard.length, 0)
  })

  test('abort before the headers', async (t) => {
    const abort = new AbortController()
    const { url } = await serve(t, () => abort.abort())
    const events = await eventsOf(chatPort(url), question(), { signal: abort.signal })
    assert.deepEqual(events.at(-1), { type: 'finish', reason: 'aborted' })
  })

  test('abort in the middle: what was said stays, the call is not whole', async (t) => {
    const abort = new AbortController()
    const { url } = await serve(t, (response) => {
      const text = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'I look.' } }] })}\n\n`
      stream(response, [text, ...chat.call('get_weather', { city: 'Oslo' }).events.slice(0, 1)], false)
    })
    const model = chatPort(url)
    const events: TurnEvent[] = []
    for await (const event of model.stream(question(), { turnKey: KEY, signal: abort.signal })) {
      events.push(event)
      if (event.type === 'part-open' && event.kind === 'call') abort.abort()
    }
    assert.deepEqual(events.at(-1), { type: 'finish', reason: 'aborted' })
    const { turn } = fold(events, model.origin)
    assert.deepEqual(
      turn.parts.map((part) => (part.kind === 'text' ? part.text : part.kind)),
      ['I look.', 'call'],
    )
    assert.ok(turn.parts.some((part) => part.kind === 'call' && part.flaw?.code === 'unfinished'))
  })

  for (const [wire, name] of [
    ['openai-chat', 'openai-chat/gpt-4.1'],
    ['openai-responses', 'openai/gpt-5.4'],
    ['anthropic', 'anthropic/claude-sonnet-5-5'],
    ['gemini', 'gemini/gemini-2.5-pro'],
  ] as const) {
    test(`${wire}: cut at any point, an answer is a fault or whole, and never half`, async (t) => {
      const bytes = Buffer.from(answers[wire].call('get_weather', { city: 'Oslo' }).events.join(''))
      let length = 0
      const { url } = await serve(t, (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(bytes.subarray(0, length), () => setImmediate(() => response.socket?.destroy()))
      })
      const model = createModel(aimed(name, url), { httpClient: createHttpClient({}) })
      const ends: string[] = []
      for (length = 1; length <= bytes.length; length += 7) {
        const { turn } = await answerOf(model)
        const fault = turn.finish.fault
        if (fault) assert.equal(fault.kind, 'transport', fault.message)
        if (fault) assert.match(fault.message, /broke off.*Try again/)
        else assert.deepEqual(turn.parts.find((part) => part.kind === 'call')?.input, { city: 'Oslo' })
        ends.push(turn.finish.reason)
      }
      assert.equal(ends[0], 'fault')
    })
  }

  test('a connection that stays open after the last word is closed', async (t) => {
    const clock = fakeClock()
    const { url } = await serve(t, (response) => stream(response, chat.text('Yes.').events, false))
    const events: TurnEvent[] = []
    for await (const event of chatPort(url, { clock }).stream(question(), { turnKey: KEY })) {
      events.push(event)
      if (event.type === 'usage') setTimeout(() => clock.advance(3000), 30)
    }
    assert.deepEqual(events.at(-1), { type: 'finish', reason: 'stop', raw: 'stop' })
    assert.equal(clock.pending, 0)
  })
})

describe('three clocks (T109)', () => {
  test('the first byte', async (t) => {
    const clock = fakeClock()
    const { url } = await serve(t, () => {
      clock.advance(4 * MINUTE)
      clock.advance(2 * MINUTE)
    })
    const fault = faultOf(await eventsOf(chatPort(url, { clock })))
    assert.equal(fault.kind, 'transport')
    assert.match(fault.message, /openai-chat did not begin to answer within 5 minutes/)
    assert.equal(clock.pending, 0)
  })

  test('an answer that is not streamed may take longer to begin', async (t) => {
    const clock = fakeClock()
    const { url } = await serve(t, (response) => {
      clock.advance(9 * MINUTE)
      reply(response, chat.text('Yes.').whole)
    })
    const { turn } = await answerOf(chatPort(url, { clock }), question('', { params: { stream: false } }))
    assert.equal(turn.finish.reason, 'stop')
  })

  const drips: readonly [name: string, drip: string, told?: RegExp][] = [
    ['nothing at all', '', /went silent for 2 minutes/],
    ['comments', ': OPENROUTER PROCESSING\n\n'],
    ['pings', 'event: ping\ndata: {"type":"ping"}\n\n'],
    ['blanks', ' '],
    ['empty chunks', 'data: {"id":"c1","created":%,"choices":[{"index":0,"delta":{}}]}\n\n'],
    ['long comments', `: ${'PROCESSING '.repeat(3000)}\n\n`],
    ['long empty chunks', `data: {"id":"c1","created":%,"choices":[],"echo":"${'again '.repeat(5000)}"}\n\n`],
    ['an event of an odd type', 'data: {"type":{"toString":1,"valueOf":1},"choices":[]}\n\n'],
  ]
  for (const [name, drip, told = /said nothing for 5 minutes/] of drips) {
    test(`a stall: ${name}`, async (t) => {
      const clock = fakeClock()
      const seen = { over: false }
      const { url } = await serve(t, async (response) => {
        response.on('close', () => (seen.over = true))
        stream(response, chat.text('Yes.').events.slice(0, 1), false)
        for (let n = 0; n < 40 && !seen.over; n++) {
          if (drip !== '') response.write(drip.replace('%', String(1000 + n)))
          await pause(15)
          clock.advance(MINUTE)
        }
      })
      const events = await eventsOf(chatPort(url, { clock }))
      assert.match(faultOf(events).message, told)
      assert.ok(clock.now() <= 11 * MINUTE, String(clock.now()))
    })
  }

  test('words keep the connection alive, but not for ever', async (t) => {
    const clock = fakeClock()
    const seen = { over: false }
    const { url } = await serve(t, async (response) => {
      response.on('close', () => (seen.over = true))
      stream(response, chat.text('Yes.').events.slice(0, 1), false)
      for (let n = 0; n < 100 && !seen.over; n++) {
        response.write(`data: {"choices":[{"index":0,"delta":{"content":"and ${n} "}}]}\n\n`)
        await pause(10)
        clock.advance(1.5 * MINUTE)
      }
    })
    const events = await eventsOf(chatPort(url, { clock }))
    assert.match(faultOf(events).message, /did not finish its response within 60 minutes/)
    assert.ok(clock.now() >= 60 * MINUTE)
  })
})

describe('what servers send instead of an answer', () => {
  test('a redirect is not followed', async (t) => {
    const { url, heard } = await serve(t, (response) => {
      response.writeHead(307, { location: 'https://elsewhere.example/v1/chat/completions' }).end()
    })
    const fault = faultOf(await eventsOf(chatPort(url)))
    assert.equal(fault.kind, 'invalid')
    assert.match(fault.message, /redirects to elsewhere\.example/)
    assert.equal(heard.length, 1)
  })

  test('a page of HTML', async (t) => {
    const { url } = await serve(t, (response, _heard, turn) => {
      reply(response, '<html><body>Sign in to the café network</body></html>', turn === 0 ? 200 : 502, {
        'content-type': 'text/html',
      })
    })
    const model = chatPort(url)
    const page = faultOf(await eventsOf(model))
    assert.equal(page.kind, 'invalid')
    assert.match(page.message, /answered with a web page \(“.*Sign in/)
    const fault = faultOf(await eventsOf(model))
    assert.equal(fault.kind, 'server')
    assert.equal(fault.status, 502)
  })

  test('half a JSON body', async (t) => {
    const { url } = await serve(t, (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('{"choices":[{"index":0,"message":{"content":"It')
    })
    const kinds = ['decode', 'transport']
    assert.ok(kinds.includes(faultOf(await eventsOf(chatPort(url), question('', { params: { stream: false } }))).kind))
  })

  test('a corrupt frame: no call runs, and it may be asked again', async (t) => {
    const { url } = await serve(t, (response) => {
      const [first = '', ...rest] = chat.call('get_weather', { city: 'Oslo' }).events
      stream(response, [first, 'data: {"choices":[{"ind\n\n', ...rest])
    })
    const fault = faultOf(await eventsOf(chatPort(url)))
    assert.equal(fault.kind, 'decode')
  })

  test('compressed bytes, though none were asked for (T115)', async (t) => {
    const { url } = await serve(t, (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
      response.end(gzipSync(chat.text('Yes.').events.join('')))
    })
    const { turn } = await answerOf(chatPort(url))
    assert.equal(turn.finish.reason, 'stop')
  })

  test('something that is no HTTP', async (t) => {
    const { url } = await serve(t, (response) => {
      response.socket?.end('SSH-2.0-OpenSSH_9.2\r\n')
    })
    assert.equal(faultOf(await eventsOf(chatPort(url))).kind, 'decode')
  })

  test('a JSON error with its status and its hint', async (t) => {
    const { url } = await serve(t, (response) =>
      reply(response, { error: { message: 'Slow down', type: 'rate_limit_error' } }, 429, { 'Retry-After': '7' }),
    )
    const fault = faultOf(await eventsOf(chatPort(url)))
    assert.deepEqual([fault.kind, fault.retryAfter, fault.status], ['rate', 7000, 429])
  })
})

describe('faults are sentences', () => {
  test('nobody listens: a local server', async () => {
    const target = aimed('lmstudio/qwen3-8b', 'http://127.0.0.1:9/v1')
    const fault = faultOf(await eventsOf(createModel(target, { httpClient: createHttpClient({}) })))
    assert.deepEqual([fault.kind, fault.code], ['transport', 'ECONNREFUSED'])
    assert.equal(
      fault.message,
      'Nothing answers at 127.0.0.1:9. Start the lmstudio server, or set DRAGOMAN_LMSTUDIO_BASE_URL.',
    )
  })

  test('the address to check is named by what it was read from', async () => {
    const row: ProviderDefinition = {
      id: 'mine',
      wire: 'openai-chat',
      url: 'http://127.0.0.1:9/v1',
      auth: 'none',
      keys: [],
    }
    const dead = 'http://127.0.0.1:9/v1'
    for (const [name, env, source] of [
      ['openai-chat/x', { OPENAI_BASE_URL: dead }, 'OPENAI_BASE_URL'],
      ['anthropic/x', { ANTHROPIC_BASE_URL: dead }, 'ANTHROPIC_BASE_URL'],
      ['openai-chat/x', { DRAGOMAN_OPENAI_CHAT_BASE_URL: dead }, 'DRAGOMAN_OPENAI_CHAT_BASE_URL'],
      ['mine/x', {}, 'providers.mine.url of the settings'],
    ] as const) {
      const target = resolveModel(name, { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', ...env }, [...providers, row])
      assert.ok('provider' in target, JSON.stringify(target))
      const fault = faultOf(await eventsOf(createModel(target, { httpClient: createHttpClient({}) })))
      assert.match(fault.message, new RegExp(`check the address in ${source.replaceAll('.', '\\.')}\\.$`))
    }
  })

  test('a name that does not resolve', async () => {
    const target = aimed('groq/x', 'http://no-such-host.invalid/v1')
    const fault = faultOf(await eventsOf(createModel(target, { httpClient: createHttpClient({}) })))
    assert.equal(fault.kind, 'transport')
    assert.match(fault.message, /groq \(no-such-host\.invalid\).*Check the network.*DRAGOMAN_GROQ_BASE_URL/)
  })

  test('a key that a server repeats goes no further', async (t) => {
    const { url } = await serve(t, (response, heard) =>
      reply(
        response,
        { error: { message: `Invalid key ${heard.headers.authorization}`, code: 'invalid_api_key' } },
        401,
      ),
    )
    const fault = faultOf(await eventsOf(chatPort(url)))
    assert.equal(fault.kind, 'auth')
    assert.match(fault.message, /: Invalid key Bearer \[key\]\. /)
  })

  test('a target shows no key when it is written down', () => {
    assert.ok(!JSON.stringify(aimed('groq/x', 'http://127.0.0.1:9')).includes(SECRET))
  })

  test('a sign-in that fails', async () => {
    const target = {
      ...aimed('groq/x', 'http://127.0.0.1:9'),
      credential: { style: 'bearer', read: () => Promise.reject(new Error('no token')) },
    } as const
    const fault = faultOf(await eventsOf(createModel(target, { httpClient: createHttpClient({}) })))
    assert.deepEqual(fault, { kind: 'auth', message: 'The sign-in to groq failed: no token' })
  })

  test('an exception of our own is a fault too', async () => {
    const model = createModel(aimed('groq/x', 'http://127.0.0.1:9'), {
      createBodyWriter: () => () => {
        throw new Error('a bug')
      },
    })
    assert.match(faultOf(await eventsOf(model)).message, /a bug/)
  })
})

test('a profile that does not stream asks for whole answers', async (t) => {
  const { url, heard } = await serve(t, (response) => reply(response, chat.text('Yes.').whole))
  const target = aimed('openai-chat/gpt-4.1', url)
  const model = createModel(
    { ...target, profile: { ...target.profile, stream: false } },
    { httpClient: createHttpClient({}) },
  )
  const { turn } = await answerOf(model)
  assert.equal(turn.finish.reason, 'stop')
  assert.equal(heard[0]?.body['stream'], false)
})

test('what comes together is told together, in order, and a request is told of before its answer', async (t) => {
  const words = Array.from({ length: 50 }, (_, n) => `word ${n} `)
  const frames = words.map((content) => ({ choices: [{ index: 0, delta: { content } }] }))
  const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
  const text = [...frames, end].map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')
  const { url } = await serve(t, (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${text}data: [DONE]\n\n`)
  })
  const order: string[] = []
  const deltas: string[] = []
  for await (const event of chatPort(url).stream(question(), { turnKey: KEY, onSent: () => order.push('sent') })) {
    order.push(event.type)
    if (event.type === 'part-delta') deltas.push(event.text)
  }
  assert.equal(order[0], 'sent')
  assert.equal(order.filter((one) => one === 'sent').length, 1)
  assert.equal(deltas.join(''), words.join(''))
  assert.ok(deltas.length < 10, `${deltas.length} pieces`)
})

test('what the encoder had to leave out is told', async (t) => {
  const { url } = await serve(t, (response) => stream(response, chat.text('Yes.').events))
  const { warnings } = await answerOf(chatPort(url), question('', { params: { effort: 1000 } }))
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ['effort'],
  )
})
