import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { resolveModel } from '../../src/provider/index.ts'
import { type Gateway, startGateway } from '../../src/gateway/gateway.ts'
import { findField, replaceStringField } from '../../src/wire/json/find-field.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { pathOf, post } from '../rehearsal/support.ts'
import { startRandom } from '../support/mutate-random.ts'
import { KEY, providerAt, TOKEN } from './support.ts'

const seed = Number(process.env['DRAGOMAN_SEED'] ?? 1)

interface Seen {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

interface Reply {
  readonly status: number
  readonly headers: Record<string, string>
  readonly chunks: readonly Buffer[]
  readonly isCut?: boolean
}

const open: (Server | Gateway)[] = []
after(() => {
  for (const one of open) void one.close()
})

/** A server that gives these replies, and a gateway to it. */
async function stage(wire: (typeof wireIds)[number], reply: Reply, asked = 'm1') {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      seen.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) })
      response.writeHead(reply.status, reply.headers)
      void (async () => {
        for (const chunk of reply.chunks) {
          response.write(chunk)
          await new Promise((resolve) => setImmediate(resolve))
        }
        if (reply.isCut) response.destroy()
        else response.end()
      })()
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const rows = [providerAt('up', wire, url)]
  const gateway = await startGateway({
    token: TOKEN,
    envelopeKey: KEY,
    model: `up/${asked}`,
    resolveModel: (name) => resolveModel(name, { TEST_KEY: 'upstream-key-123', GOOGLE_CLOUD_PROJECT: 'p' }, rows),
  })
  open.push(server, gateway)
  return { seen, gateway }
}

/** A body with everything that a serialiser would change. */
const BODY = `{ "model" :"m1",\n  "messages":[ {"role":"user","content":"\\u0041 Grüße 🌍 {\\"model\\":\\"x\\"}"}],"n":1.0e2, "big":12345678901234567890,"stream" : true ,"k":1,"k":2 }`

describe('the same wire in and out', () => {
  for (const wire of wireIds)
    test(`${wire}: bytes and headers pass unchanged, however they are split (DRAGOMAN_SEED=${seed})`, async () => {
      const dice = startRandom(seed)
      const bytes = Buffer.from(`data: {"a": 1.0}\r\n\r\n: comment 🌍\n\ndata: not json at all\n\n${'x'.repeat(5000)}`)
      const chunks: Buffer[] = []
      for (let at = 0; at < bytes.length;) {
        const size = dice.range(1, 700)
        chunks.push(bytes.subarray(at, at + size))
        at += size
      }
      const headers = { 'content-type': 'text/event-stream', 'request-id': 'req_1', 'anthropic-ratelimit-x': '5' }
      const { seen, gateway } = await stage(wire, { status: 200, headers, chunks })
      const answered = await post(gateway.url + pathOf(wire, 'm1', true), BODY, {
        headers: {
          'x-api-key': TOKEN,
          'anthropic-beta': 'a-1,b-2',
          'anthropic-version': '2099-01-01',
          'user-agent': 'claude-cli/2.1',
          'x-stainless-lang': 'js',
          cookie: 'a=b',
        },
      })
      assert.equal(answered.status, 200)
      assert.deepEqual(Buffer.concat(answered.chunks), bytes)
      for (const [name, value] of Object.entries(headers)) assert.equal(answered.headers[name], value)
      const [request] = seen
      assert.ok(request)
      assert.equal(request.body.toString(), BODY)
      assert.equal(request.headers['anthropic-beta'], 'a-1,b-2')
      assert.equal(request.headers['anthropic-version'], '2099-01-01')
      assert.equal(request.headers['user-agent'], 'claude-cli/2.1')
      assert.equal(request.headers['x-stainless-lang'], 'js')
      assert.equal(request.headers['cookie'], undefined)
      assert.ok(!JSON.stringify(request.headers).includes(TOKEN), 'the token stays here')
      assert.ok(JSON.stringify(request.headers).includes('upstream-key-123'))
      assert.equal(gateway.log.list()[0]?.mode, 'pass-through')
    })

  test('a renamed model changes only its name', async () => {
    const reply = { status: 200, headers: { 'content-type': 'application/json' }, chunks: [Buffer.from('{}')] }
    const { seen, gateway } = await stage('anthropic', reply, 'other "model"')
    await post(`${gateway.url}/v1/messages?beta=true`, BODY, { headers: { authorization: `Bearer ${TOKEN}` } })
    assert.equal(seen[0]?.body.toString(), BODY.replace('"m1"', '"other \\"model\\""'))
    assert.equal(seen[0]?.path, '/v1/messages?beta=true')
  })

  test('a path of Gemini with provider/model instead of models/model', async () => {
    const reply = { status: 200, headers: { 'content-type': 'application/json' }, chunks: [Buffer.from('{}')] }
    const { seen, gateway } = await stage('gemini', reply)
    const path = '/v1beta/up/m1:streamGenerateContent?alt=sse'
    const answered = await post(gateway.url + path, '{"contents":[]}', { headers: { 'x-goog-api-key': TOKEN } })
    assert.equal(answered.status, 200, answered.text)
    assert.equal(seen[0]?.path, '/v1beta/models/m1:streamGenerateContent?alt=sse')
  })

  test('an unknown path gets the error of the API that it looks like', async () => {
    const { gateway } = await stage('gemini', { status: 200, headers: {}, chunks: [] })
    const ask = async (path: string, headers: Record<string, string>): Promise<unknown> => {
      const { status, text } = await post(gateway.url + path, '{}', { headers: { 'x-api-key': TOKEN, ...headers } })
      assert.equal(status, 404)
      return JSON.parse(text)
    }
    const gemini = (await ask('/v1beta/models/m1:embedContent', {})) as { error: { code: number } }
    assert.equal(gemini.error.code, 404)
    const anthropic = (await ask('/v1/files', { 'anthropic-version': '2023-06-01' })) as { type: string }
    assert.equal(anthropic.type, 'error')
  })

  test('an error of the vendor passes as it is', async () => {
    const body = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"x":1.0}'
    const headers = { 'content-type': 'application/json', 'retry-after': '7', 'x-should-retry': 'true' }
    const { gateway } = await stage('anthropic', { status: 529, headers, chunks: [Buffer.from(body)] })
    const answered = await post(`${gateway.url}/v1/messages`, BODY, { headers: { 'x-api-key': TOKEN } })
    assert.equal(answered.status, 529)
    assert.equal(answered.text, body)
    assert.equal(answered.headers['retry-after'], '7')
  })

  test('a connection that breaks is seen as one', async () => {
    const chunks = [Buffer.from('event: message_start\ndata: {"type":"message_start"}\n\n')]
    const headers = { 'content-type': 'text/event-stream' }
    const { gateway } = await stage('anthropic', { status: 200, headers, chunks, isCut: true })
    const answered = await post(`${gateway.url}/v1/messages`, BODY, { headers: { 'x-api-key': TOKEN } })
    assert.equal(answered.broke, true)
  })
})

describe('a field of a JSON text', () => {
  const cases: [text: string, value: string | undefined][] = [
    ['{"model":"a"}', '"a"'],
    ['{"x":{"model":"no"},"y":["model","b"],"model" : "a\\"}" }', '"a\\"}"'],
    ['{"model":"first","model":"last"}', '"last"'],
    ['{"mod\\u0065l":1.5 ,"z":0}', '1.5'],
    ['{"model":{"a":[1,2]},"z":0}', '{"a":[1,2]}'],
    ['{"models":"a"}', undefined],
    ['["model","a"]', undefined],
    ['{"model":"cut', undefined],
  ]
  for (const [text, value] of cases)
    test(text, () => {
      const found = findField(text, 'model')
      assert.equal(found && text.slice(found.start, found.end), value)
    })

  test(`the value that a parser finds, in random texts (DRAGOMAN_SEED=${seed})`, () => {
    const dice = startRandom(seed)
    const words = ['model', 'a', '\\', '"', '{', '}', ',', ':', '[', ']', ' ', 'é', '\n']
    const word = () => Array.from({ length: dice.below(5) }, () => dice.pick(words)).join('')
    const value = (depth: number): unknown => {
      const kind = dice.below(depth > 3 ? 3 : 5)
      if (kind < 2) return word()
      if (kind === 2) return dice.pick([null, true, 1.5, -3])
      if (kind === 3) return Array.from({ length: dice.below(3) }, () => value(depth + 1))
      return Object.fromEntries(
        Array.from({ length: dice.below(4) }, () => [dice.pick(['model', word()]), value(depth + 1)]),
      )
    }
    for (let round = 0; round < 2000; round++) {
      const fields = { [word()]: value(1), model: word(), [`x${word()}`]: value(1) }
      const text = JSON.stringify(fields, undefined, dice.pick([undefined, 1, 2]))
      const replaced = replaceStringField(text, 'model', 'n"\\ew')
      assert.deepEqual(JSON.parse(replaced), { ...fields, model: 'n"\\ew' }, text)
    }
  })
})
