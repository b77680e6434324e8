import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { after, before, describe, test } from 'node:test'
import type { Gateway } from '../../src/gateway/gateway.ts'
import type { RehearsalServer } from '../../src/rehearsal/server.ts'
import { BODIES, pathOf, rehearse } from '../rehearsal/support.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { askGateway, gatewayTo, TOKEN } from './support.ts'

let rehearsal: RehearsalServer
let gateway: Gateway
before(async () => {
  rehearsal = await rehearse([{ say: 'Hello <script>alert(1)</script>.' }])
  gateway = await gatewayTo(rehearsal, ['openai-chat'], {
    routes: [
      { match: 'claude-*', client: 'claude', to: 'up-openai-chat/script' },
      { match: 'fast', to: ['up-openai-chat/script'] },
    ],
    hasNoDefault: true,
  })
})
after(async () => {
  await gateway.close()
  await rehearsal.close()
})

function get(
  path: string,
  headers: Record<string, string> = {},
  more: { method?: string; body?: unknown } = {},
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  return new Promise((done, fail) => {
    const request = httpRequest(gateway.url + path, { method: more.method ?? 'GET', headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.on('end', () => done({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    request.on('error', fail)
    request.end(more.body === undefined ? undefined : JSON.stringify(more.body))
  })
}

const bearer = { authorization: `Bearer ${TOKEN}` }

describe('access', () => {
  for (const wire of wireIds)
    test(`${wire}: without the token, the client’s own form of a 401`, async () => {
      const path = pathOf(wire, 'fast', true)
      for (const headers of [{}, { authorization: 'Bearer wrong' }, { 'x-api-key': `${TOKEN}x` }]) {
        const { status, text } = await get(path, headers, { method: 'POST', body: BODIES[wire] })
        assert.equal(status, 401)
        assert.match(text, /"error"/)
        assert.ok(!text.includes(TOKEN))
      }
    })

  test('the token counts in each place where clients put keys', async () => {
    const headers = [bearer, { 'x-api-key': TOKEN }, { 'x-goog-api-key': TOKEN }, { 'x-dragoman-token': TOKEN }]
    for (const one of headers) assert.equal((await get('/v1/models', one)).status, 200)
    assert.equal((await get(`/v1/models?key=${TOKEN}`)).status, 200)
  })

  test('a foreign origin and a rebinding host are refused, also for /healthz', async () => {
    const port = new URL(gateway.url).port
    const foreign = [
      { host: `evil.example:${port}` },
      { host: `127.0.0.1.evil.example:${port}` },
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: `http://localhost.evil.example:${port}` },
    ]
    for (const headers of foreign)
      for (const path of ['/v1/models', '/healthz', '/inspector/'])
        assert.equal((await get(path, { ...bearer, ...headers })).status, 403, JSON.stringify([path, headers]))
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
      assert.equal((await get('/healthz', { host })).status, 200, host)
    assert.equal((await get('/healthz', { origin: gateway.url })).status, 200)
  })

  test('the WebSocket of Codex is refused at once, with a status that makes it use HTTP', async () => {
    const headers = { ...bearer, connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
    assert.equal((await get('/v1/responses', headers)).status, 426)
  })

  test('wrong methods, paths and bodies', async () => {
    assert.equal((await get('/v1/messages', bearer)).status, 405)
    assert.equal((await get('/nowhere', bearer)).status, 404)
    const { status, text } = await get('/v1/messages', bearer, { method: 'POST', body: ['no object'] })
    assert.equal(status, 400)
    assert.match(text, /invalid_request_error/)
    const compressed = { ...bearer, 'content-encoding': 'lzma' }
    assert.equal((await get('/v1/messages', compressed, { method: 'POST', body: {} })).status, 415)
  })
})

describe('models', () => {
  test('the lists have the forms of the vendors', async () => {
    const openai = JSON.parse((await get('/v1/models', bearer)).text) as { data: { id: string }[] }
    assert.deepEqual(
      openai.data.map(({ id }) => id),
      ['fast', 'up-openai-chat/script'],
    )
    const anthropic = JSON.parse((await get('/v1/models', { ...bearer, 'anthropic-version': '2023-06-01' })).text) as {
      data: { id: string; display_name: string }[]
    }
    assert.equal(anthropic.data[0]?.display_name, 'fast')
    const gemini = JSON.parse((await get('/v1beta/models', bearer)).text) as { models: { name: string }[] }
    assert.equal(gemini.models[0]?.name, 'models/fast')
    const codex = JSON.parse((await get('/v1/models?client_version=0.169.0', bearer)).text) as {
      models: { slug: string; base_instructions: string; context_window: number; visibility: string }[]
    }
    assert.deepEqual(
      codex.models.map(({ slug, visibility }) => [slug, visibility]),
      [
        ['fast', 'list'],
        ['up-openai-chat/script', 'list'],
      ],
    )
    assert.ok(codex.models.every((model) => model.base_instructions !== '' && model.context_window > 0))
    assert.equal((await get('/v1/models/fast', bearer)).status, 200)
    const unknown = await get('/v1/models/slow', bearer)
    assert.equal(unknown.status, 404)
    assert.match(unknown.text, /slow.*claude-\* \(claude\), fast/)
    // A name that only a pattern has is known, too, for the client of the route.
    const claude = { ...bearer, 'anthropic-version': '2023-06-01', 'user-agent': 'claude-cli/2.1.325 (external, cli)' }
    assert.equal((JSON.parse((await get('/v1/models/claude-x', claude)).text) as { id: string }).id, 'claude-x')
    assert.equal((await get('/v1/models/claude-x', bearer)).status, 404)
  })

  test('an unknown model: an error in the client’s form that names what there is', async () => {
    for (const wire of wireIds) {
      const { turn, answered } = await askGateway(gateway, wire, { model: 'gpt-9' })
      assert.equal(answered.status, 404, answered.text)
      assert.match(turn.finish.fault?.message ?? '', /gpt-9.*claude-\* \(claude\), fast/)
    }
  })

  test('routes are by model and by client; a literal name needs none', async () => {
    const headers = { 'user-agent': 'claude-cli/2.1.325 (external, cli)' }
    assert.equal((await askGateway(gateway, 'anthropic', { model: 'claude-x', headers })).answered.status, 200)
    assert.equal((await askGateway(gateway, 'anthropic', { model: 'claude-x' })).answered.status, 404)
    assert.equal((await askGateway(gateway, 'gemini', { model: 'up-openai-chat/script' })).answered.status, 200)
    assert.equal((await askGateway(gateway, 'anthropic', { model: 'nobody/x' })).answered.status, 404)
  })

  test('tokens are counted', async () => {
    const anthropic = await get('/v1/messages/count_tokens', bearer, {
      method: 'POST',
      body: { ...BODIES.anthropic, model: 'fast' },
    })
    assert.ok((JSON.parse(anthropic.text) as { input_tokens: number }).input_tokens > 0, anthropic.text)
    const gemini = await get('/v1beta/models/fast:countTokens', bearer, { method: 'POST', body: BODIES.gemini })
    assert.ok((JSON.parse(gemini.text) as { totalTokens: number }).totalTokens > 0, gemini.text)
  })
})

test('the log keeps the exchanges of both sides without secrets; the page itself contains none', async () => {
  const seen: string[] = []
  const stop = gateway.log.subscribe(({ model, totalMs }) => seen.push(`${model} ${totalMs !== undefined}`))
  const message = `My token is ${TOKEN}.`
  await askGateway(gateway, 'anthropic', {
    model: 'fast',
    turns: [{ role: 'user', parts: [{ kind: 'text', text: message }] }],
    headers: { 'user-agent': '<img src=x>/1' },
  })
  stop()
  assert.deepEqual(seen, ['fast false', 'fast true'])
  const exchange = gateway.log.list().at(-1)
  assert.equal(exchange?.mode, 'translated')
  assert.equal(exchange?.status, 200)
  assert.ok((exchange?.usage?.output ?? 0) > 0)
  const bodies = gateway.log.readBodies(exchange?.id ?? 0)
  assert.match(bodies?.request ?? '', /My token is \[/)
  assert.match(bodies?.response ?? '', /message_stop/)
  assert.ok(!JSON.stringify(bodies).includes(TOKEN))
  const upstream = bodies?.upstream[0]
  assert.match(upstream?.url ?? '', /\/v1\/chat\/completions$/)
  assert.match(upstream?.request ?? '', /My token is \[/)
  assert.match(upstream?.response ?? '', /\[DONE\]/)
  assert.ok(!JSON.stringify(bodies).includes('upstream-key-123'))
  await askGateway(gateway, 'anthropic', { model: '<script>alert(1)</script>' })
  const page = await get('/inspector/')
  assert.equal(page.status, 200)
  assert.ok(!page.text.includes('alert'))
  assert.ok(!page.text.includes(TOKEN))
})
