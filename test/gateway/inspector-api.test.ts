import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { createExchangeLog } from '../../src/gateway/exchange-log.ts'
import type { Gateway } from '../../src/gateway/gateway.ts'
import type { ExchangeDetail } from '../../src/gateway/inspector/inspected-exchange.ts'
import type { WireId } from '../../src/model/turn.ts'
import type { RehearsalServer } from '../../src/rehearsal/server.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { answers, rehearse, said } from '../rehearsal/support.ts'
import {
  gatewayBefore,
  playDemo,
  type ScriptedUpstream,
  sendMessage,
  startScriptedUpstream,
} from './inspector-support.ts'
import { askGateway, gatewayTo } from './support.ts'

interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

function get(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
  return new Promise((done, fail) => {
    const request = httpRequest(url, { method, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.on('end', () => done({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    request.on('error', fail)
    request.end()
  })
}

describe('the data of the inspector', () => {
  let upstream: ScriptedUpstream
  let gateway: Gateway
  let token: Record<string, string>
  before(async () => {
    upstream = await startScriptedUpstream()
    gateway = await gatewayBefore(upstream)
    token = { 'x-dragoman-token': gateway.token }
    await playDemo(gateway, upstream)
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })
  const PATHS = [
    'exchanges',
    'exchanges/1',
    'exchanges/1/growth',
    'exchanges/1/bodies/0',
    'exchanges/1/blocks/0',
    'search?q=x',
    'export?ids=1',
    'events',
  ]

  test('needs the token in a header, which no other page can send', async () => {
    for (const path of PATHS) {
      const url = `${gateway.url}/inspector/api/${path}`
      for (const headers of [{}, { 'x-dragoman-token': 'wrong' }, { cookie: `token=${gateway.token}` }] as Record<
        string,
        string
      >[]) {
        const { status, text } = await get(url, headers)
        assert.equal(status, 401, path)
        assert.ok(!text.includes(gateway.token))
      }
      const query = path.includes('?') ? '&' : '?'
      assert.equal(
        (await get(`${url}${query}key=${gateway.token}`)).status,
        401,
        'a token in the query is in logs and histories',
      )
    }
    assert.equal((await get(`${gateway.url}/inspector/api/exchanges`, token)).status, 200)
    assert.equal((await get(`${gateway.url}/inspector/api/exchanges`, token, 'POST')).status, 405)
  })

  test('a foreign origin and a rebinding host are refused, also with the token', async () => {
    const { port } = new URL(gateway.url)
    const foreign: Record<string, string>[] = [
      { host: `evil.example:${port}` },
      { host: `127.0.0.1.evil.example:${port}` },
      { host: `gateway.local:${port}` },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://localhost.evil.example:${port}` },
      { origin: `http://127.0.0.1:${Number(port) + 1}` },
    ]
    for (const path of ['', 'app.js', 'app.css', ...PATHS.map((one) => `api/${one}`)])
      for (const headers of foreign)
        assert.equal(
          (await get(`${gateway.url}/inspector/${path}`, { ...token, ...headers })).status,
          403,
          `${path} ${JSON.stringify(headers)}`,
        )
  })

  test('every answer has a strict policy, and nothing is inline', async () => {
    const { text: page } = await get(`${gateway.url}/inspector/`)
    assert.doesNotMatch(page, /<script(?![^>]* src=)|<style|\son\w+=|javascript:|https?:/)
    for (const path of ['', 'app.js', 'app.css', 'icon.svg', 'api/exchanges', 'nothing']) {
      const { headers } = await get(`${gateway.url}/inspector/${path}`, token)
      const policy = String(headers['content-security-policy'])
      assert.match(policy, /default-src 'none'/)
      assert.doesNotMatch(policy, /unsafe|\*|data:|https?:/)
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.equal(headers['cache-control'], 'no-store')
      assert.equal(headers['access-control-allow-origin'], undefined)
    }
    for (const path of ['app.js', 'app.css'])
      assert.doesNotMatch((await get(`${gateway.url}/inspector/${path}`)).text, /\beval\(|new Function|@import/)
  })

  test('unknown exchanges and pieces are errors in words', async () => {
    for (const path of [
      'exchanges/99999',
      'exchanges/x',
      'exchanges/1/bodies/99',
      'exchanges/1/blocks/999',
      'exchanges/1/other',
      'nothing',
    ]) {
      const { status, text } = await get(`${gateway.url}/inspector/api/${path}`, token)
      assert.equal(status, 404, path)
      assert.match(text, /"error"/)
    }
  })

  test('slices of a body are those of the body, whatever is asked for', async () => {
    const whole = gateway.log.readBodies(2)?.request ?? ''
    let text = ''
    for (;;) {
      const { text: json } = await get(
        `${gateway.url}/inspector/api/exchanges/2/bodies/0?from=${text.length}&length=777`,
        token,
      )
      const slice = JSON.parse(json) as { text: string; total: number }
      assert.equal(slice.total, whole.length)
      text += slice.text
      if (text.length >= slice.total) break
    }
    assert.equal(text, whole)
    for (const query of ['from=-5', 'from=x&length=y', 'from=1e99', 'length=999999999', 'length=-1'])
      assert.equal((await get(`${gateway.url}/inspector/api/exchanges/2/bodies/0?${query}`, token)).status, 200)
  })

  test('a body that no API would take is shown as it is', async () => {
    await sendMessage(gateway, { messages: [{ role: 'user', content: 5 }], session: 'odd' })
    const id = gateway.log.list().at(-1)?.id
    const { status } = await get(`${gateway.url}/inspector/api/exchanges/${id}`, token)
    assert.equal(status, 200)
  })
})

function headersOf(gateway: Gateway): Record<string, string> {
  return { 'x-dragoman-token': gateway.token }
}

describe('each API is read', () => {
  let rehearsal: RehearsalServer
  before(async () => {
    rehearsal = await rehearse([
      { say: 'I look.', call: [{ name: 'read_file', args: { path: 'a.txt' } }] },
      { say: 'Done.' },
    ])
  })
  after(() => rehearsal.close())
  const wires: readonly WireId[] = wireIds
  for (const wire of wires)
    test(`${wire}: context, conversation and divergence`, async () => {
      const gateway = await gatewayTo(rehearsal, ['openai-chat'])
      try {
        const headers = { 'user-agent': 'tester/1' }
        const { turn } = await askGateway(gateway, wire, { headers, turns: [said('Go.')] })
        await askGateway(gateway, wire, { headers, turns: [said('Go.'), turn, answers(turn, 'The text of a.txt.')] })
        const [first, second] = gateway.log.list()
        assert.ok(first && second)
        assert.equal(second.session, first.session, 'one session')
        assert.equal(second.title, 'Go.')
        const { text } = await get(`${gateway.url}/inspector/api/exchanges/${second.id}`, headersOf(gateway))
        const detail = JSON.parse(text) as ExchangeDetail
        const kinds = new Set(detail.blocks.map(({ kind }) => kind))
        for (const kind of ['tool', 'system', 'user', 'text', 'call', 'file'] as const)
          assert.ok(kinds.has(kind), `${kind} of ${[...kinds].join()}`)
        assert.equal(detail.divergence?.previous, first.id)
        assert.equal(detail.divergence?.isExtended, true, JSON.stringify(detail.divergence))
        assert.ok(detail.blocks.some(({ side }) => side === 'response'))
        const earlier = JSON.parse(
          (await get(`${gateway.url}/inspector/api/exchanges/${first.id}`, headersOf(gateway))).text,
        ) as ExchangeDetail
        assert.deepEqual(
          earlier.calls.map(({ name, state, result }) => [name, state, result]),
          [['read_file', 'ok', 'The text of a.txt.']],
        )
      } finally {
        await gateway.close()
      }
    })
})

describe('the log of exchanges', () => {
  const fields = { client: 'c', wire: 'anthropic', path: '/v1/messages', model: 'm', isStream: true } as const

  test('forgets old exchanges with all their bodies', () => {
    const log = createExchangeLog({ redact: (text) => text, maxBodyChars: 10_000 })
    for (let at = 0; at < 50; at++) {
      const recorder = log.begin(fields, 'x'.repeat(500))
      const attempt = recorder.beginAttempt('http://x/', {}, ['y'.repeat(400)])
      attempt.respond(200, {})
      attempt.push(Buffer.alloc(300, 'z'))
      recorder.addResponse(Buffer.alloc(200, 'w'))
      recorder.end()
    }
    const kept = log.list().map(({ id }) => log.readBodies(id))
    const chars = kept.reduce((sum, bodies) => sum + JSON.stringify(bodies).length, 0)
    assert.ok(kept.length < 10 && chars < 12_000, `${kept.length} ${chars}`)
    assert.equal(log.list().at(-1)?.id, 50)
  })

  test('keeps characters whole that arrive in pieces, and says when a body is cut', () => {
    const log = createExchangeLog({ redact: (text) => text })
    const recorder = log.begin(fields, '{}')
    for (const byte of Buffer.from('grün 😀')) recorder.addResponse(Buffer.from([byte]))
    recorder.end()
    assert.equal(log.readBodies(1)?.response, 'grün 😀')
    assert.equal(log.readBodies(1)?.isCut, false)
    const large = log.begin(fields, '{}')
    large.addResponse(Buffer.alloc(9 * 2 ** 20, 'a'))
    large.end()
    assert.equal(log.readBodies(2)?.isCut, true)
    assert.equal(log.get(2)?.responseBytes, 9 * 2 ** 20)
  })

  test('counts attempts, and keeps the bytes of passed responses once', () => {
    const log = createExchangeLog({ redact: (text) => text.replaceAll('hush', '[secret]') })
    const recorder = log.begin(fields, '{"a":"hush"}', { 'x-api-key': 'k', 'x-note': 'hush' })
    recorder.update({ mode: 'pass-through' })
    recorder.beginAttempt('http://x/?k=hush', { authorization: 'Bearer k' }, ['{"a":"hush"}']).respond(200, {})
    recorder.end()
    const bodies = log.readBodies(1)
    assert.equal(bodies?.upstream[0]?.request, undefined)
    assert.equal(bodies?.upstream[0]?.response, undefined)
    assert.equal(log.get(1)?.attempts, 1)
    assert.deepEqual(bodies?.requestHeaders, { 'x-api-key': '[key]', 'x-note': '[secret]' })
    assert.deepEqual(bodies?.upstream[0]?.requestHeaders, { authorization: '[key]' })
    assert.ok(!JSON.stringify(bodies).includes('hush'))
  })
})
