import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'

interface Offers {
  readonly date: string
  readonly providers: readonly {
    provider: string
    usable: boolean
    why?: string
    models: readonly { id: string; window?: number; output?: number; price?: { input: number }; default?: true }[]
  }[]
}

const asked: { url: string; key: string | undefined }[] = []
const server = createServer((request, response) => {
  asked.push({ url: request.url ?? '', key: request.headers.authorization })
  const models = [{ id: 'qwen3:8b', max_model_len: 32_768 }, { id: 'nomic-embed-text' }, { id: 'openai/gpt-oss-120b' }]
  response.setHeader('content-type', 'application/json')
  if (request.url?.startsWith('/broken')) response.writeHead(500).end('{}')
  else response.end(JSON.stringify({ object: 'list', data: models }))
})
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve)
})
after(() => {
  server.closeAllConnections()
  server.close()
})
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

test('lists what can be used here and now, and why the rest cannot; only this machine is asked', async () => {
  const here = await stage([{ say: 'ok' }])
  const env = {
    ...here.env,
    DRAGOMAN_OLLAMA_BASE_URL: `${url}/v1`,
    DRAGOMAN_VLLM_BASE_URL: 'http://127.0.0.1:9/v1',
    GROQ_API_KEY: 'k',
    DRAGOMAN_GROQ_BASE_URL: `${url}/groq`,
  }
  asked.length = 0
  const { code, out } = await dragoman(['models', '--json'], { ...here, env })
  assert.equal(code, 0)
  assert.deepEqual(
    asked.map((one) => one.url),
    ['/v1/models'],
  )
  const { providers, date } = JSON.parse(out) as Offers
  assert.match(date, /^\d{4}-/)
  const of = (name: string) => providers.find(({ provider }) => provider === name)
  assert.deepEqual(
    of('ollama')?.models.map(({ id, window }) => [id, window]),
    [
      ['qwen3:8b', 32_768],
      ['openai/gpt-oss-120b', undefined],
    ],
  )
  assert.equal(of('groq')?.usable, true)
  const chosen = of('groq')?.models.find((model) => model.default)
  assert.ok(chosen?.price && chosen.window)
  assert.deepEqual([of('anthropic')?.usable, of('vllm')?.usable], [false, false])
  assert.match(of('anthropic')?.why ?? '', /ANTHROPIC_API_KEY/)
  assert.match(of('vllm')?.why ?? '', /vllm does not answer at http:\/\/127\.0\.0\.1:9\/v1/)
  assert.match(of('llamacpp')?.why ?? '', /DRAGOMAN_LOCAL_SERVERS is off/)
  const text = (await dragoman(['models'], { ...here, env })).out
  assert.match(text, /^model\s+context\s+max output\s+\$ in\s+\$ out\s+capabilities\n/)
  assert.match(text, /ollama\/qwen3:8b\s+32.768/)
  assert.match(text, /groq\/…\s+\d+ more: dragoman models groq/)
  assert.match(text, /Not available:\n[^]*anthropic needs a key: set ANTHROPIC_API_KEY/)
})

test('a named provider that can be used is asked, with its key', async () => {
  const here = await stage([{ say: 'ok' }])
  asked.length = 0
  const env = { ...here.env, GROQ_API_KEY: 'secret-key', DRAGOMAN_GROQ_BASE_URL: `${url}/groq` }
  const { code, out } = await dragoman(['models', 'groq', '--json'], { ...here, env })
  assert.equal(code, 0)
  assert.deepEqual(asked, [{ url: '/groq/models', key: 'Bearer secret-key' }])
  const [groq] = (JSON.parse(out) as Offers).providers
  assert.deepEqual(
    groq?.models.map(({ id }) => id),
    ['openai/gpt-oss-120b', 'qwen3:8b'],
  )
  assert.ok(groq?.models[0]?.price, 'with what the catalogue knows')
})

test('on every wire the list of models is where it should be', async () => {
  const here = await stage([{ say: 'ok' }])
  const base = here.server.url
  const env = {
    ...here.env,
    GEMINI_API_KEY: 'k',
    ANTHROPIC_API_KEY: 'k',
    DRAGOMAN_GEMINI_BASE_URL: base,
    DRAGOMAN_ANTHROPIC_BASE_URL: base,
    DRAGOMAN_OPENAI_BASE_URL: `${base}/v1`,
  }
  for (const row of ['gemini', 'anthropic', 'openai', 'openai-chat']) {
    const { code, out } = await dragoman(['models', row], { ...here, env })
    assert.equal(code, 0, row)
    assert.match(out, new RegExp(`${row}/script `), row)
  }
})

test('what goes wrong is said, and the catalogue stands in', async () => {
  const here = await stage([{ say: 'ok' }])
  const env = { ...here.env, GROQ_API_KEY: 'k', DRAGOMAN_GROQ_BASE_URL: `${url}/broken` }
  const broken = await dragoman(['models', 'groq'], { ...here, env })
  assert.equal(broken.code, 1)
  assert.match(broken.err, /it answered 500\. The list is from the built-in catalogue\./)
  assert.match(broken.out, /groq\/openai\/gpt-oss-120b/)
  const adc = join(here.home, 'adc.json')
  const credential = { type: 'authorized_user', client_id: 'c', client_secret: 's', refresh_token: 'r' }
  writeFileSync(adc, JSON.stringify({ ...credential, token_uri: `${url}/broken` }))
  const google = { ...here.env, GOOGLE_APPLICATION_CREDENTIALS: adc, GOOGLE_CLOUD_PROJECT: 'p' }
  const unsigned = await dragoman(['models', 'vertex'], { ...here, env: google })
  assert.match(unsigned.err, /^dragoman: The sign-in to vertex failed: Google answered 500/)
  const keyless = await dragoman(['models', 'anthropic'], here)
  assert.equal(keyless.code, 41)
  assert.match(keyless.err, /set ANTHROPIC_API_KEY/)
  assert.match(keyless.out, /anthropic\/claude-sonnet-4-6\s+1.000.000/)
  for (const [args, sentence] of [
    [['models', 'antropic'], /did you mean anthropic/],
    [['models', 'groq', 'xai'], /unexpected argument “xai”/],
    [['models', '--jason'], /jason/],
  ] as const) {
    const { code, err } = await dragoman(args, here)
    assert.equal(code, 42)
    assert.match(err, sentence)
  }
})

test('where no model can be used, the ways on are named', async () => {
  const here = await stage([])
  const env = { PATH: '/usr/bin', HOME: here.home }
  const { code, out } = await dragoman(['models'], { ...here, env })
  assert.equal(code, 0)
  assert.match(out, /^No model is available: .*\n[^]*dragoman tour\n.*dragoman -m rehearsal\/hello\n/)
})
