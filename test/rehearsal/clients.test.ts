import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { CLIENTS, findGatewayClient } from '../../scripts/clients/all-clients.ts'
import { checkTools } from '../../scripts/clients/check-tools.ts'
import { callFirst, type Client } from '../../scripts/clients/client.ts'
import type { InstalledClient } from '../../scripts/clients/install-client.ts'
import { runClient, SECRET } from '../../scripts/clients/run-client.ts'
import type { GatewayClient } from '../../src/gateway/clients/client.ts'
import type { ModelRequest, ToolSpec } from '../../src/model/request.ts'
import { loadWire } from '../../src/wire/wires.ts'
import { compareTools, countDeclaredTools } from '../support/tool-survival.ts'

/** A client that asks for a title, makes the call that it is told to make, and tries to reach another host. */
const PROGRAM = `
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
const { URL_OF_MODEL: url, HTTP_PROXY: proxy } = process.env
const ask = async (body) => {
  const answer = await fetch(url + '/v1/chat/completions', { method: 'POST', headers: { 'x-client': 'fake' }, body: JSON.stringify({ model: 'm', ...body }) })
  return (await answer.json()).choices[0].message
}
const tools = [{ type: 'function', function: { name: 'show', description: 'Shows a file.', parameters: { type: 'object', properties: { path: { type: 'string' } } } } }]
const messages = [{ role: 'user', content: process.argv.at(-1) }]
await ask({ messages })
const call = await ask({ messages, tools })
const [{ id, function: { arguments: text } }] = call.tool_calls
const content = readFileSync(JSON.parse(text).path, 'utf8')
const last = await ask({ messages: [...messages, call, { role: 'tool', tool_call_id: id, content }], tools })
await new Promise((done) => request(proxy, { path: 'http://telemetry.invalid/v1' }, done).end())
console.log(JSON.stringify({ said: last.content, names: Object.keys(process.env), config: readFileSync(process.env.HOME + '/.fake/config', 'utf8'), token: readFileSync(process.env.TOKEN_FILE, 'utf8') }))
process.exit(0)
`

const FAKE: Client = {
  id: 'fake',
  package: 'fake',
  program: 'fake.mjs',
  node: 20,
  quietEnv: { FAKE_QUIET: '1' },
  quietFiles: { '.fake/config': 'quiet' },
  runPrompt: (prompt) => ['-p', prompt],
  models: [
    {
      wire: 'openai-chat',
      model: 'm',
      args: ['--model', 'm'],
      readFile: callFirst('show', { path: '{cwd}/a.txt' }),
    },
  ],
  tools: [],
}

const FAKE_SETUP: GatewayClient = {
  id: 'fake',
  title: 'Fake',
  wires: ['openai-chat'],
  setUp: ({ url, token, folder }) => ({
    env: { URL_OF_MODEL: url, TOKEN_FILE: join(folder, 'token') },
    args: [],
    files: { token },
  }),
}

describe('npm run clients', () => {
  const place = mkdtempSync(join(tmpdir(), 'dragoman-clients-'))
  after(() => rmSync(place, { recursive: true, force: true }))

  test('a client runs its tool on loopback, and all that it sends is kept', async () => {
    const program = join(place, 'fake.mjs')
    writeFileSync(program, PROGRAM)
    const [model] = FAKE.models
    assert.ok(model)
    process.env['DRAGOMAN_TEST_CANARY_KEY'] = 'secret'
    const installed: InstalledClient = { version: '1', command: [process.execPath, program] }
    const run = await runClient(FAKE, model, installed, { gatewayClient: FAKE_SETUP })
    assert.equal(run.exitCode, 0, run.output)
    const { said, names, config, token } = JSON.parse(run.output) as Record<string, string> & { names: string[] }
    assert.equal(said, 'I have read it.')
    assert.equal(config, 'quiet')
    assert.equal(token, 'sk-dummy')
    assert.ok(names.includes('FAKE_QUIET') && !names.includes('DRAGOMAN_TEST_CANARY_KEY'), names.join(' '))
    assert.deepEqual(run.refusedHosts, ['telemetry.invalid'])
    assert.deepEqual(
      run.requests.map(({ method, path, status, headers }) => [method, path, status, headers['x-client']]),
      Array.from({ length: 3 }, () => ['POST', '/v1/chat/completions', 200, 'fake']),
    )
    const reports = await Promise.all(run.requests.map(checkTools))
    assert.deepEqual(
      reports.map((report) => [report?.declared, report?.read, report?.losses.length]),
      [
        [0, 0, 0],
        [1, 1, 0],
        [1, 1, 0],
      ],
    )
    assert.ok(reports.at(-1)?.results.includes(SECRET))
  })

  test('declared tools are counted in every form, whatever our readers make of them', () => {
    const tool = { type: 'function', name: 'a' }
    const bodies = [
      { tools: [tool, { type: 'namespace', name: 'n', tools: [tool, tool] }, { type: 'web_search' }], input: [] },
      { input: [{ type: 'additional_tools', tools: [{ type: 'namespace', tools: [tool, tool, tool] }, tool] }] },
      { tools: [{ functionDeclarations: [{ name: 'a' }, { name: 'b' }], googleSearch: {} }, { urlContext: {} }] },
      { request: { tools: [{ functionDeclarations: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] }, { x: {} }] } },
    ]
    assert.deepEqual(bodies.map(countDeclaredTools), [4, 4, 4, 4])
    assert.equal(countDeclaredTools('text'), 0)
  })

  test('a tool that comes back changed is a loss', async () => {
    const wire = await loadWire('anthropic')
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], $schema: 'x' }
    const tool = { name: 'a', description: 'A.', schema }
    const request = (...tools: ToolSpec[]): ModelRequest => ({ model: 'm', tools, turns: [] })
    const outcome = (found: ModelRequest) => compareTools(request(tool), found, wire)[0]?.outcome
    assert.equal(outcome(request(tool)), 'same')
    assert.equal(outcome(request({ ...tool, schema: { ...schema, $schema: 'y' } })), 'equivalent')
    assert.equal(outcome(request({ ...tool, schema: { ...schema, required: [] } })), 'other-schema')
    assert.equal(outcome(request({ ...tool, description: 'B.' })), 'other-description')
    assert.equal(outcome(request()), 'missing')
  })

  test('the rows of the clients say what the command needs', () => {
    assert.equal(new Set(CLIENTS.map(({ id }) => id)).size, CLIENTS.length)
    for (const client of CLIENTS) {
      const { id, models, tools, runPrompt, quietFiles = {} } = client
      assert.ok(runPrompt('What?').includes('What?'), id)
      assert.ok(models.length > 0 && tools.length > 0, id)
      for (const path of Object.keys(quietFiles)) assert.ok(!isAbsolute(path) && !path.includes('..'), path)
      const { wires, setUp } = findGatewayClient(client)
      for (const { wire, readFile } of models) {
        assert.ok(wires.includes(wire), id)
        assert.equal(readFile.call?.length, 1, id)
        const address = { url: 'http://127.0.0.1:1', token: 'the-token', models: ['the-model'], folder: '/f', wire }
        const { env, args, files = {}, overlay } = setUp(address)
        const all = JSON.stringify([env, args, files, overlay?.changes ?? {}])
        for (const value of ['http://127.0.0.1:1', 'the-token']) assert.ok(all.includes(value), `${id}: ${value}`)
      }
    }
  })
})
