import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { ServerResponse } from 'node:http'
import type { TurnEvent } from '../../src/model/event.ts'
import { createModel, createHttpClient } from '../../src/provider/http/node-http-client.ts'
import type { HttpClient } from '../../src/provider/http/http-client.ts'
import { withRetry } from '../../src/provider/middleware/retry.ts'
import { answers } from './support/answers.ts'
import { aimed, eventsOf, KEY, question } from './support/ask.ts'
import { fakeClock, type FakeClock } from './support/clock.ts'
import { serve, stream } from './support/server.ts'

const chat = answers['openai-chat']
const SECOND = 1000
const MINUTE = 60 * SECOND

function messageOf(events: readonly TurnEvent[]): string {
  const last = events.at(-1)
  assert.ok(last?.type === 'finish' && last.fault, JSON.stringify(last))
  return last.fault.message
}

/** Lets the time of a request pass, ten seconds in a few milliseconds, until it is over. */
async function passing<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  const state = { isOver: false }
  void work.finally(() => (state.isOver = true)).catch(() => undefined)
  for (let n = 0; !state.isOver && n < 3000; n++) {
    await pause(3)
    if (!state.isOver) clock.advance(10 * SECOND)
  }
  return work
}

describe('a request ends, whatever the server does', () => {
  const begun = (response: ServerResponse): void => stream(response, chat.text('Yes.').events.slice(0, 1), false)
  const drip = (piece: string) => (response: ServerResponse) => {
    begun(response)
    const timer = setInterval(() => response.write(piece), 1)
    response.on('close', () => clearInterval(timer))
  }
  const silences: readonly [name: string, serve: (response: ServerResponse) => void, minutes: number][] = [
    ['never begins', () => undefined, 8],
    ['stalls in the middle', begun, 8],
    [
      'closes after a while',
      (response) => {
        begun(response)
        setTimeout(() => response.socket?.destroy(), 40)
      },
      8,
    ],
    ['sends blanks', drip(' '), 14],
    ['sends line ends', drip('\n'), 14],
    ['sends comments', drip(': hm\n\n'), 14],
    ['sends pings', drip('event: ping\ndata: {"type":"ping"}\n\n'), 14],
  ]
  for (const [name, silent, minutes] of silences)
    test(`${name}: all attempts together are bounded`, async (t) => {
      const clock = fakeClock()
      const { url } = await serve(t, silent)
      const inner = createModel(aimed('openai-chat/m', url), { httpClient: createHttpClient({}), clock })
      const asked = eventsOf(withRetry(inner, { clock, random: () => 0.5 }))
      const events = await passing(clock, asked)
      assert.match(messageOf(events), /silent|nothing|begin to answer|broke off/)
      assert.ok(clock.now() <= minutes * MINUTE, `${clock.now() / MINUTE} minutes`)
      assert.equal(clock.pending, 0)
    })

  test('words are progress: an answer that takes long is not given up', async (t) => {
    const clock = fakeClock()
    const { url } = await serve(t, async (response) => {
      begun(response)
      for (let n = 0; n < 20; n++) {
        response.write(`data: {"choices":[{"index":0,"delta":{"content":"and ${n} "}}]}\n\n`)
        await pause(10)
        clock.advance(MINUTE)
      }
      response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
    })
    const events = await eventsOf(
      withRetry(createModel(aimed('openai-chat/m', url), { httpClient: createHttpClient({}), clock }), { clock }),
    )
    const last = events.at(-1)
    assert.equal(last?.type === 'finish' && last.reason, 'stop')
  })

  test('a stall is told of: who is waited for, how long already, and for how long at most', async (t) => {
    const clock = fakeClock()
    const { url } = await serve(t, () => undefined)
    const asked = eventsOf(createModel(aimed('openai-chat/m', url), { httpClient: createHttpClient({}), clock }))
    const waits = (await passing(clock, asked)).filter((event) => event.type === 'wait')
    assert.ok(waits.length >= 4 && waits.length <= 6, `${waits.length}`)
    for (const [at, { host, stage, waited, limit }] of waits.entries()) {
      assert.deepEqual([host, stage, limit], [new URL(url).host, 'answer', 5 * MINUTE])
      assert.ok(waited >= 10 * SECOND * 2 ** at, `${waited}`)
    }
  })

  test('101 Switching Protocols', async (t) => {
    const { url, heard } = await serve(t, (response) => {
      response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
    })
    const events = await eventsOf(
      withRetry(createModel(aimed('openai-chat/m', url), { httpClient: createHttpClient({}) })),
    )
    assert.match(messageOf(events), /answered 101 \(Switching Protocols\).*Check the address/)
    assert.equal(heard.length, 1)
  })

  test('a client that neither answers nor ends when it is stopped', async () => {
    const dead: HttpClient = () => new Promise(() => undefined)
    const model = createModel(aimed('openai-chat/m', 'http://127.0.0.1:9'), { httpClient: dead })
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 20)
    const events: TurnEvent[] = []
    for await (const event of model.stream(question(), { turnKey: KEY, signal: stop.signal })) events.push(event)
    assert.deepEqual(events.at(-1), { type: 'finish', reason: 'aborted' })
  })

  test('a body that neither goes on nor ends when it is stopped', async () => {
    const [first = ''] = chat.text('Yes.').events
    const dead: HttpClient = async () => ({
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: (async function* () {
        yield Buffer.from(first)
        await new Promise(() => undefined)
      })(),
    })
    const clock = fakeClock()
    const model = createModel(aimed('openai-chat/m', 'http://127.0.0.1:9'), { httpClient: dead, clock })
    assert.match(messageOf(await passing(clock, eventsOf(model))), /went silent for 2 minutes/)
  })
})
