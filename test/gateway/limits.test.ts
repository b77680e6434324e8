import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { startGateway } from '../../src/gateway/gateway.ts'
import { resolveModel } from '../../src/provider/index.ts'
import { startRehearsalServer } from '../../src/rehearsal/server.ts'
import { rehearse } from '../rehearsal/support.ts'
import { askGateway, gatewayTo, KEY, providerAt, TOKEN } from './support.ts'

const usage = { input: 1000, cacheRead: 0, cacheWrite: 0, output: 500, reasoning: 0 }

for (const client of ['openai-chat', 'anthropic'] as const)
  test(`${client}: a budget per day and client is checked before the request`, async () => {
    const rehearsal = await rehearse([{ say: 'Hello.', usage }])
    const gateway = await gatewayTo(rehearsal, ['openai-chat'], {
      routes: [{ match: '*', to: 'up-openai-chat/script', maxCostPerDay: 2 }],
      // A dollar for a thousand tokens.
      price: (_origin, { input, output }) => (input + output) / 1000,
    })
    const ask = (agent: string) =>
      askGateway(gateway, client, { headers: { 'user-agent': agent }, body: (body) => ({ ...body, max_tokens: 500 }) })
    try {
      assert.equal((await ask('one/1')).answered.status, 200)
      const { answered, turn } = await ask('one/1')
      assert.equal(answered.status, 429, answered.text)
      assert.match(turn.finish.fault?.message ?? '', /budget is not sufficient/)
      assert.equal(answered.headers['x-should-retry'], 'false')
      assert.equal((await ask('two/1')).answered.status, 200, 'another client has its own budget')
      assert.equal(rehearsal.requests.length, 2)
      assert.equal(gateway.log.list()[0]?.cost, 1.5)
    } finally {
      await gateway.close()
      await rehearsal.close()
    }
  })

test('at most so many requests at the same time; others wait', async () => {
  let [running, most] = [0, 0]
  const rehearsal = await startRehearsalServer({
    scripts: { script: { steps: [{ say: 'Hello.', delay: 30 }] } },
    onTraffic(moment) {
      running += moment === 'asked' ? 1 : -1
      most = Math.max(most, running)
    },
  })
  const gateway = await gatewayTo(rehearsal, ['openai-chat'], {
    routes: [{ match: '*', to: 'up-openai-chat/script', concurrency: 2 }],
  })
  try {
    const all = await Promise.all(Array.from({ length: 8 }, () => askGateway(gateway, 'anthropic')))
    assert.deepEqual(
      all.map(({ answered }) => answered.status),
      Array.from({ length: 8 }, () => 200),
    )
    assert.equal(most, 2)
  } finally {
    await gateway.close()
    await rehearsal.close()
  }
})

for (const client of ['openai-chat', 'anthropic'] as const)
  test(`${client}: the next model answers if the first cannot`, async () => {
    const down = await rehearse([{ misbehave: [{ kind: 'status', status: 503, hint: 'none' }] }])
    const up = await rehearse([{ say: 'Here.' }])
    const rows = [
      providerAt('down', 'openai-chat', down.url),
      providerAt('up', 'openai-chat', up.url),
      providerAt('also', 'openai-responses', up.url),
    ]
    for (const to of [
      ['down/script', 'up/script'],
      ['down/script', 'also/script'],
    ]) {
      const gateway = await startGateway({
        token: TOKEN,
        envelopeKey: KEY,
        retry: { attempts: 1, longest: 100 },
        routes: [{ match: '*', to }],
        resolveModel: (name) => resolveModel(name, { TEST_KEY: 'k' }, rows),
      })
      const { answered, turn } = await askGateway(gateway, client)
      await gateway.close()
      assert.equal(answered.status, 200, answered.text)
      assert.equal(turn.parts.find((part) => part.kind === 'text')?.text, 'Here.')
      assert.equal(
        gateway.log.list()[0]?.warnings.some(({ code }) => code === 'fallback'),
        true,
      )
    }
    await down.close()
    await up.close()
  })

test('the client’s own key passes where it is configured, and only there', async () => {
  const rehearsal = await rehearse([{ say: 'Hello.' }])
  for (const passKeys of [[], ['up-anthropic'], ['up-openai-chat']]) {
    const gateway = await gatewayTo(rehearsal, ['anthropic', 'openai-chat'], { passKeys, hasNoDefault: true })
    for (const wire of ['anthropic', 'openai-chat'] as const) {
      const { answered } = await askGateway(gateway, 'anthropic', {
        model: `up-${wire}/script`,
        headers: { 'x-api-key': 'own-key-of-the-client-1' },
      })
      assert.equal(answered.status, 200, answered.text)
      const isPassed = JSON.stringify(rehearsal.requests.at(-1)?.headers).includes('own-key-of-the-client-1')
      assert.equal(isPassed, passKeys.includes(`up-${wire}`), `${wire} ${passKeys.join()}`)
    }
    await gateway.close()
  }
  await rehearsal.close()
})

test('a vendor that forbids another attempt is obeyed, and the client is told so', async () => {
  let requests = 0
  const server = createServer((_request, response) => {
    requests++
    const headers = { 'content-type': 'application/json', 'x-should-retry': 'false', 'retry-after': '9' }
    response.writeHead(503, headers).end('{"error":{"message":"Down for good.","type":"server_error"}}')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const gateway = await startGateway({
    token: TOKEN,
    envelopeKey: KEY,
    model: 'up/m',
    resolveModel: (name) => resolveModel(name, { TEST_KEY: 'k' }, [providerAt('up', 'openai-chat', url)]),
  })
  try {
    for (const client of ['anthropic', 'openai-chat'] as const) {
      requests = 0
      const { answered } = await askGateway(gateway, client)
      assert.equal(requests, 1)
      assert.equal(answered.status, 503, answered.text)
      assert.equal(answered.headers['x-should-retry'], 'false')
      assert.equal(answered.headers['retry-after'], '9')
      assert.match(answered.text, /Down for good/)
    }
  } finally {
    await gateway.close()
    server.close()
    server.closeAllConnections()
  }
})

test('requests that do not say who sends them are those of the client that was started', async () => {
  const rehearsal = await rehearse([{ say: 'Hello.' }])
  const gateway = await gatewayTo(rehearsal, ['openai-chat'], { client: 'goose' })
  await askGateway(gateway, 'openai-chat')
  await askGateway(gateway, 'openai-chat', { headers: { 'user-agent': 'curl/8' } })
  await gateway.close()
  await rehearsal.close()
  assert.deepEqual(
    gateway.log.list().map(({ client }) => client),
    ['goose', 'curl'],
  )
})

test('a retry happens as long as nothing was sent', async () => {
  const rehearsal = await rehearse([
    { say: 'At last.', misbehave: [{ kind: 'status', status: 429, hint: 'milliseconds', wait: 5, times: 1 }] },
  ])
  const gateway = await gatewayTo(rehearsal, ['openai-chat'], { retry: { attempts: 2, longest: 5000 } })
  const { answered, turn } = await askGateway(gateway, 'anthropic')
  await gateway.close()
  await rehearsal.close()
  assert.equal(answered.status, 200, answered.text)
  assert.deepEqual(
    turn.parts.map((part) => (part.kind === 'text' ? part.text : part.kind)),
    ['At last.'],
  )
})
