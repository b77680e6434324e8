import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { LLMock } from '@copilotkit/aimock'
import { type MockLlmBehavior, startMockLlmServer } from '@deepseek-ai/dsh-llm-mock-server'
import type { Model } from '../../src/provider/model.ts'
import { createModel, createHttpClient } from '../../src/provider/http/node-http-client.ts'
import { withRetry } from '../../src/provider/middleware/retry.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { createIncrementalBodyWriter } from '../../src/wire/history/incremental-body-writer.ts'
import { aimed } from '../provider/support/ask.ts'
import { fakeClock, hastyClock } from '../provider/support/clock.ts'
import { agentOf, closing, play } from '../support/stage.ts'

/** A tool that counts how often it ran. */
function weather() {
  const ran: string[] = []
  const one = tool({
    name: 'get_weather',
    description: 'Tells the weather in a city.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    effects: () => [],
    execute: ({ city }) => {
      ran.push(city)
      return `7 degrees in ${city}`
    },
  })
  return { one, ran }
}

function modelAt(name: string, url: string, stream = true): Model {
  const target = aimed(name, url, { GOOGLE_CLOUD_PROJECT: 'p', GOOGLE_CLOUD_LOCATION: 'us-central1' })
  const whole = stream ? {} : { profile: { ...target.profile, stream: false as const } }
  return createModel(
    { ...target, ...whole },
    { createBodyWriter: createIncrementalBodyWriter, httpClient: createHttpClient({}) },
  )
}

describe('aimock', () => {
  const DOORS: readonly [name: string, below: string][] = [
    ['openai-chat/gpt-4o', '/v1'],
    ['openrouter/openai/gpt-4o', '/v1'],
    ['openai/gpt-4o', '/v1'],
    ['anthropic/claude-sonnet-4-5', ''],
    ['gemini/gemini-2.5-flash', ''],
  ]

  async function mocked(t: TestContext, options: ConstructorParameters<typeof LLMock>[0] = {}): Promise<LLMock> {
    const mock = new LLMock({ port: 0, logLevel: 'silent', ...options })
    const call = { name: 'get_weather', arguments: JSON.stringify({ city: 'Oslo' }) }
    mock.on(
      { userMessage: 'two cities', hasToolResult: false },
      {
        content: 'Both.',
        toolCalls: [call, { name: 'get_weather', arguments: JSON.stringify({ city: 'Lima' }) }],
      },
    )
    mock.on({ userMessage: 'weather', hasToolResult: false }, { toolCalls: [call] })
    mock.on({ hasToolResult: true }, { content: 'It is cold in Oslo: 7 degrees.' })
    await mock.start()
    t.after(() => mock.stop())
    return mock
  }

  for (const [name, below] of DOORS) {
    for (const stream of [true, false]) {
      test(`${name}: a tool round trip, ${stream ? 'streaming' : 'whole'}`, async (t) => {
        const mock = await mocked(t)
        const { one, ran } = weather()
        const agent = agentOf(modelAt(name, `${mock.url}${below}`, stream), [one])
        const events = await play(agent, 'How is the weather in Oslo?')
        assert.equal(closing(events).text, 'It is cold in Oslo: 7 degrees.', JSON.stringify(closing(events)))
        assert.deepEqual(ran, ['Oslo'])
        assert.equal(mock.getRequests().length, 2)
      })
    }

    test(`${name}: two calls at once`, async (t) => {
      const mock = await mocked(t)
      const { one, ran } = weather()
      const agent = agentOf(modelAt(name, `${mock.url}${below}`), [one])
      assert.match(closing(await play(agent, 'two cities, please')).text, /7 degrees/)
      assert.deepEqual(ran.sort(), ['Lima', 'Oslo'])
    })

    test(`${name}: through its chaos, nothing is lost and nothing runs twice`, async (t) => {
      const mock = await mocked(t, {
        chaos: { dropRate: 0.2, malformedRate: 0.2, disconnectRate: 0.2, rateLimitRate: 0.2 },
      })
      for (let round = 0; round < 10; round++) {
        const { one, ran } = weather()
        const model = withRetry(modelAt(name, `${mock.url}${below}`), {
          clock: hastyClock(),
          attempts: 100,
          total: Infinity,
        })
        const end = closing(await play(agentOf(model, [one]), 'How is the weather in Oslo?'))
        assert.equal(end.text, 'It is cold in Oslo: 7 degrees.', JSON.stringify(end))
        assert.deepEqual(ran, ['Oslo'])
      }
      assert.ok(mock.getRequests().length > 20, 'there was chaos')
    })
  }
})

describe('dsh-llm-mock-server', () => {
  async function mocked(t: TestContext, ...sequence: MockLlmBehavior[]) {
    const server = await startMockLlmServer({
      sequence,
      toolName: 'get_weather',
      toolArguments: '{"city":"Oslo"}',
      successText: 'It is cold in Oslo: 7 degrees.',
      chunkSize: 3,
      retryAfterMs: 2000,
    })
    t.after(() => server.close())
    const time = fakeClock()
    const waiting = hastyClock()
    const target = aimed('deepseek/deepseek-chat', server.baseURL)
    const inner = createModel(target, {
      createBodyWriter: createIncrementalBodyWriter,
      httpClient: createHttpClient({}),
      clock: time,
    })
    const { one, ran } = weather()
    const agent = agentOf(withRetry(inner, { clock: waiting, random: () => 0.5 }), [one])
    return { server, time, waiting, agent, ran }
  }

  test('a tool round trip', async (t) => {
    const { server, agent, ran } = await mocked(t, 'tool_call_success', 'success')
    assert.equal(closing(await play(agent, 'weather')).text, 'It is cold in Oslo: 7 degrees.')
    assert.deepEqual(ran, ['Oslo'])
    const [, second] = server.requests
    assert.match(JSON.stringify(second?.body), /"role":"tool".*7 degrees in Oslo/)
  })

  test('slow, and with reasoning', async (t) => {
    const { agent, ran } = await mocked(t, 'tool_call_success', 'reasoning_success', 'slow_success')
    assert.match(closing(await play(agent, 'weather')).text, /7 degrees/)
    assert.match(closing(await play(agent, 'again')).text, /7 degrees/)
    assert.deepEqual(ran, ['Oslo'])
  })

  const HEALED: readonly MockLlmBehavior[] = [
    'connection_reset',
    'stream_disconnect',
    'partial_disconnect',
    'partial_eof',
    'stream_eof',
    'empty_body',
    'malformed_json',
    'malformed_event',
    'rate_limit',
    'server_error',
    'service_unavailable',
  ]
  for (const fault of HEALED) {
    test(`${fault}, before the call and after it`, async (t) => {
      const { server, agent, ran, waiting } = await mocked(t, fault, 'tool_call_success', fault, fault, 'success')
      const end = closing(await play(agent, 'weather'))
      assert.equal(end.text, 'It is cold in Oslo: 7 degrees.', JSON.stringify(end))
      assert.deepEqual(ran, ['Oslo'])
      assert.equal(server.requests.length, 5)
      if (fault === 'rate_limit')
        assert.ok(
          waiting.waits.every((ms) => ms >= 2000),
          String(waiting.waits),
        )
    })
  }

  test('an empty answer: asked again, in words', async (t) => {
    const { agent, ran } = await mocked(t, 'empty', 'tool_call_success', 'empty', 'success')
    assert.match(closing(await play(agent, 'weather')).text, /7 degrees/)
    assert.deepEqual(ran, ['Oslo'])
  })

  test('a valid stream under a wrong name is read', async (t) => {
    const { agent, server } = await mocked(t, 'wrong_content_type')
    assert.match(closing(await play(agent, 'weather')).text, /7 degrees/)
    assert.equal(server.requests.length, 1)
  })

  test('a stall ends when the clock says so', async (t) => {
    const { server, agent, ran, time, waiting } = await mocked(t, 'stall', 'tool_call_success', 'success')
    const over = play(agent, 'weather')
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    // Its head is sent together with its silence; a moment lets it come. The next attempt has its own time.
    const timer = setInterval(() => waiting.waits.length === 0 && time.advance(6 * 60_000), 20)
    assert.match(closing(await over).text, /7 degrees/)
    clearInterval(timer)
    assert.deepEqual(ran, ['Oslo'])
  })

  test('what does not heal is asked once, and is what it is', async (t) => {
    const cases = [
      ['auth_error', 'auth'],
      ['invalid_request', 'invalid'],
      ['quota_exceeded', 'quota'],
      ['context_overflow', 'overflow'],
    ] as const
    for (const [behaviour, kind] of cases) {
      const { agent, server } = await mocked(t, behaviour)
      const end = closing(await play(agent, 'weather'))
      assert.deepEqual([end.reason, end.fault?.kind], ['fault', kind], JSON.stringify(end))
      assert.equal(server.requests.length, 1)
    }
  })

  test('cut off at its length: what it said stays', async (t) => {
    const { agent } = await mocked(t, 'max_tokens')
    assert.equal(closing(await play(agent, 'weather')).reason, 'length')
  })
})
