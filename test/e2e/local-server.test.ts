import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, request as ask, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { agent, provider } from '../../src/index.ts'
import type { Json } from '../../src/model/json.ts'
import { dragoman, stage } from '../support/command.ts'
import { noTmux, openTerminal } from '../support/tmux.ts'

const servers: Server[] = []
after(() => {
  for (const server of servers) server.close().closeAllConnections()
})

/** What each kind of server answers beside the questions to its model. */
const KINDS: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  llamacpp: {
    '/props': { default_generation_settings: { n_ctx: 4096 } },
    '/v1/models': { data: [{ id: 'script', meta: { n_ctx_train: 131_072 } }] },
  },
  lmstudio: {
    '/api/v0/models': {
      data: [
        { id: 'other', loaded_context_length: 99_999 },
        { id: 'script', state: 'loaded', loaded_context_length: 4096, max_context_length: 131_072 },
      ],
    },
    '/v1/models': { data: [{ id: 'other' }, { id: 'script' }] },
  },
  ollama: {
    '/api/ps': { models: [{ name: 'script', context_length: 4096 }] },
    '/api/show': { parameters: 'stop "x"\nnum_ctx 32768', model_info: { 'qwen3.context_length': 131_072 } },
  },
  vllm: { '/v1/models': { data: [{ id: 'script', max_model_len: 4096 }] } },
}

/** Servers that say less. */
const LESSER: Readonly<Record<string, { row: string; answers: Readonly<Record<string, Json>> }>> = {
  'llama.cpp, by its list': {
    row: 'llamacpp',
    answers: { '/v1/models': { data: [{ id: 'x', meta: { n_ctx: 4096 } }] } },
  },
  'LM Studio, before the model is loaded': {
    row: 'lmstudio',
    answers: { '/api/v0/models': { data: [{ id: 'script', max_context_length: 4096 }] } },
  },
  'Ollama, by the model file': { row: 'ollama', answers: { '/api/show': { parameters: 'num_ctx   4096' } } },
  'Ollama, by the model': { row: 'ollama', answers: { '/api/show': { model_info: { 'qwen3.context_length': 4096 } } } },
}

const CASES = [
  ...Object.entries(KINDS).map(([row, answers]) => ({ name: row, row, answers })),
  ...Object.entries(LESSER).map(([name, one]) => ({ name, ...one })),
]

describe('the context window of a server of one’s own', () => {
  for (const { name, row, answers } of CASES)
    test(`${name}: it is read after the first request, and used`, async () => {
      const { here, paths, env } = await local(row, answers)
      writeFileSync(join(here.work, 'long.txt'), 'word '.repeat(2000))
      const { code, err } = await dragoman(['-p', 'read it'], { ...here, env })
      assert.equal(code, 0, err)
      assert.equal(paths[0], '/v1/chat/completions', 'nothing stands before the first request')
      assert.match(err, /the conversation was summarised/)
    })

  test('what the settings say goes before what the server says', async () => {
    const { here, paths, env } = await local('llamacpp', KINDS['llamacpp'] ?? {})
    mkdirSync(join(here.home, '.config/dragoman'), { recursive: true })
    const catalog = { 'llamacpp/script': { window: 1_000_000 } }
    writeFileSync(join(here.home, '.config/dragoman/config.json'), JSON.stringify({ catalog }))
    writeFileSync(join(here.work, 'long.txt'), 'word '.repeat(2000))
    const { err } = await dragoman(['-p', 'read it'], { ...here, env })
    assert.doesNotMatch(err, /summarised/)
    assert.ok(paths.every((path) => path === '/v1/chat/completions'))
  })

  test('many sessions of one process ask the server once', async () => {
    const { paths, url } = await local('llamacpp', KINDS['llamacpp'] ?? {}, [{ loop: [{ say: 'Done.' }] }])
    const model = () => provider('llamacpp', { baseUrl: `${url}/v1` })('script')
    const ends = await Promise.all(Array.from({ length: 10 }, () => agent({ model: model() }).run('go')))
    assert.deepEqual([...new Set(ends.map((end) => end.finish))], ['done'])
    const asked = paths.filter((path) => path !== '/v1/chat/completions').toSorted()
    assert.deepEqual(asked, [...new Set(asked)], 'each path once')
    assert.ok(asked.includes('/props'))
  })
})

describe('the start page', { skip: noTmux }, () => {
  test('does not come back once a local model was chosen', async () => {
    const { here, url } = await local('llamacpp', { '/v1/models': { data: [{ id: 'script' }] } })
    const { OPENAI_API_KEY: _key, DRAGOMAN_MODEL: _model, ...bare } = here.env
    // Only this server answers; those of the machine are elsewhere.
    const nowhere = 'http://127.0.0.1:9/v1'
    const env = { ...bare, HOME: here.home }
    const config = join(here.home, '.config/dragoman/config.json')
    mkdirSync(join(here.home, '.config/dragoman'), { recursive: true })
    const providers = Object.fromEntries(
      ['lmstudio', 'ollama', 'vllm'].map((id) => [id, { url: nowhere }]).concat([['llamacpp', { url: `${url}/v1` }]]),
    )
    writeFileSync(config, JSON.stringify({ providers }))
    const first = openTerminal([], { ...here, env, columns: 110 })
    await first.shows('Use llamacpp/script')
    first.press('Enter')
    await first.shows(/Dragoman · llamacpp\/script/)
    first.type('/quit')
    first.press('Enter')
    await first.shows('ended with 0')
    assert.equal((JSON.parse(readFileSync(config, 'utf8')) as { model?: string }).model, 'llamacpp/script')
    const second = openTerminal([], { ...here, env, columns: 110 })
    const screen = await second.shows(/Dragoman · llamacpp\/script/)
    assert.doesNotMatch(screen, /No API key found/)
    assert.ok(existsSync(config))
  })
})

/** A server of a kind, which passes on to the scripted model what is for a model; and the paths that were asked for. */
async function local(
  row: string,
  answers: Readonly<Record<string, Json>>,
  script?: Extract<Parameters<typeof stage>[0], readonly unknown[]>,
) {
  const big = { usage: { input: 2500, output: 10 } }
  const here = await stage({
    steps: script ?? [
      { when: { user: 'about to be replaced' }, say: 'Short.' },
      { when: { user: 'summary of the conversation' }, say: 'Done.', usage: { input: 100, output: 10 } },
      { call: [{ name: 'read_file', args: { absolute_path: '{cwd}/long.txt' } }], ...big },
      { call: [{ name: 'list_directory', args: { path: '{cwd}' } }], delay: 2000, ...big },
      { loop: [{ say: 'Done.', usage: { input: 100, output: 10 } }] },
    ],
  })
  const paths: string[] = []
  const target = new URL(here.server.url)
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? ''
    paths.push(path)
    if (path === '/v1/chat/completions') {
      const { method, headers } = incoming
      const forward = ask({ host: target.hostname, port: target.port, path, method, headers }, (reply) => {
        outgoing.writeHead(reply.statusCode ?? 500, reply.headers)
        reply.pipe(outgoing)
      })
      forward.on('error', () => outgoing.destroy())
      incoming.pipe(forward)
      return
    }
    const answer = answers[path]
    incoming.resume()
    outgoing.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
    outgoing.end(JSON.stringify(answer ?? { error: 'no such path' }))
  })
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const variable = `DRAGOMAN_${row.toUpperCase()}_BASE_URL`
  const env = { ...here.env, [variable]: `${url}/v1`, DRAGOMAN_MODEL: `${row}/script` }
  return { here, paths, env, url }
}
