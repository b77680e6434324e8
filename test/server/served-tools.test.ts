import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { listAllBuiltins } from '../../src/tool/builtin/index.ts'
import { connect } from '../../src/server/client/connect.ts'
import { hashToken } from '../../src/server/http/tenants.ts'
import { stage } from '../support/command.ts'
import { startCommand } from './start-command.ts'
import { until } from './support.ts'

/** An MCP server: each call leaves a line in a file. The first call of each tool never ends. */
const MCP_SERVER = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
const file = process.argv[2]
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n')
const schema = { type: 'object', properties: {} }
const tools = [
  { name: 'look_up', description: 'Looks up.', inputSchema: schema, annotations: { readOnlyHint: true } },
  { name: 'set_state', description: 'Sets.', inputSchema: schema, annotations: { idempotentHint: true } },
  { name: 'send_mail', description: 'Sends.', inputSchema: schema },
]
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize')
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'm', version: '1' } } })
  else if (method === 'tools/list') send({ id, result: { tools } })
  else if (method === 'tools/call') {
    const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
    appendFileSync(file, params.name + '\\n')
    if (before.includes(params.name)) send({ id, result: { content: [{ type: 'text', text: 'Did ' + params.name + '.' }] } })
  } else if (id !== undefined) send({ id, result: {} })
})
`

type Stage = Awaited<ReturnType<typeof stage>>

function writeSettings({ home, work }: Stage, server: object, trust: boolean): { calls: string } {
  const [script, calls] = [join(work, 'server.mjs'), join(work, 'calls')]
  writeFileSync(script, MCP_SERVER)
  mkdirSync(join(home, '.config/dragoman'), { recursive: true })
  const mcpServers = { office: { command: process.execPath, args: [script, calls], trust } }
  writeFileSync(join(home, '.config/dragoman/config.json'), JSON.stringify({ mcpServers, server }))
  return { calls }
}

const listTools = ({ server }: Stage, at: number): string[] => {
  const body = server.requests[at]?.body as { tools?: { function: { name: string } }[] } | undefined
  return (body?.tools ?? []).map((one) => one.function.name)
}

const countCalls = (file: string, name: string): number =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line === name).length
    : 0

for (const name of ['look_up', 'set_state', 'send_mail'] as const) {
  const isSafe = name !== 'send_mail'
  test(`kill -9 while a tool of a trusted MCP server runs: ${name} ${isSafe ? 'runs again' : 'does not'}`, async () => {
    const here = await stage({ start: 'prompt', steps: [{ call: [{ name, args: {} }] }, { say: 'Done.' }] })
    const { calls } = writeSettings(here, {}, true)
    const first = await startCommand(here, ['--token', 'a-token-of-16-chars-or-more'])
    const { url, token } = JSON.parse(first.first) as { url: string; token: string }
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const post = (path: string, body: object) =>
      fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    assert.equal((await post('/v1/sessions', { id: 's' })).status, 201)
    assert.equal((await post('/v1/sessions/s/prompts', { input: 'Go.' })).status, 202)
    await until('the tool runs', () => countCalls(calls, name) === 1)
    assert.ok(listTools(here, 0).includes(name), 'the first request has the tools of the server')
    await first.stop('SIGKILL')

    const second = await startCommand(here, ['--token', 'a-token-of-16-chars-or-more'])
    const agent = connect(JSON.parse(second.first) as { url: string; token: string }).open('s')
    await until('it ends by itself', async () => (await agent.info).state === 'idle')
    const results = (await agent.history).flatMap((turn) => (turn.role === 'results' ? turn.parts : []))
    assert.deepEqual([results.length, results[0]?.status], [1, isSafe ? 'ok' : 'interrupted'])
    assert.equal(countCalls(calls, name), isSafe ? 2 : 1)
    assert.equal(await second.stop(), 0)
  })
}

test('served sessions have what their tenant may use, and nothing else of who runs the server', async () => {
  const here = await stage({ start: 'prompt', steps: [{ say: 'Hello.' }] })
  const token = (name: string) => ({ tokens: [{ hash: hashToken(`the-token-of-${name}`), scopes: ['admin'] }] })
  const tenants = {
    plain: token('plain'),
    rich: { ...token('rich'), web: true, memory: true, mcpServers: ['office'] },
    other: { ...token('other'), mcpServers: ['none'], memory: true },
  }
  writeSettings(here, { tenants, instructions: 'Be brief.' }, false)
  writeFileSync(join(here.home, '.config/dragoman/AGENTS.md'), 'The instructions of the operator.')
  writeFileSync(join(here.home, '.config/dragoman/memory.md'), '## Memories\n- The memory of the operator.\n')
  mkdirSync(join(here.home, '.local/state/dragoman/memory'), { recursive: true })
  writeFileSync(join(here.home, '.local/state/dragoman/memory/rich.md'), '## Memories\n- The memory of rich.\n')
  const server = await startCommand(here, ['--token', 'the-token-of-the-operator'])
  const { url } = JSON.parse(server.first) as { url: string }
  const ask = async (name: string) => {
    const at = here.server.requests.length
    const agent = await connect({ url, token: `the-token-of-${name}` }).create()
    assert.equal((await agent.run('Hi.')).text, 'Hello.')
    return { tools: listTools(here, at), text: JSON.stringify(here.server.requests[at]?.body) }
  }
  const mcpTools = ['look_up', 'set_state', 'send_mail']

  const plain = await ask('plain')
  assert.deepEqual(plain.tools, [])
  assert.match(plain.text, /Be brief\./)
  assert.doesNotMatch(plain.text, /operator|memory of/)

  const rich = await ask('rich')
  for (const name of ['web_fetch', 'save_memory', ...mcpTools]) assert.ok(rich.tools.includes(name), name)
  assert.match(rich.text, /The memory of rich/)
  assert.doesNotMatch(rich.text, /operator/)

  const other = await ask('other')
  assert.deepEqual(other.tools, ['save_memory'])
  assert.doesNotMatch(other.text, /operator|memory of/)

  const operator = await ask('the-operator')
  for (const name of ['web_fetch', 'save_memory', ...mcpTools]) assert.ok(operator.tools.includes(name), name)
  assert.match(operator.text, /The instructions of the operator/)
  assert.match(operator.text, /The memory of the operator/)
  assert.doesNotMatch(operator.text, /memory of rich/)
  assert.equal(await server.stop(), 0)
})

test('the built-in tools that run again after a crash change nothing', () => {
  const safe = listAllBuiltins().filter(({ safeToRetry }) => safeToRetry)
  assert.ok(safe.length >= 7)
  for (const { spec, kind, effects } of safe) {
    assert.ok(['read', 'search', 'fetch'].includes(kind), spec.name)
    const found = effects(
      { path: '/a', absolute_path: '/a', paths: ['/a'], pattern: 'a', prompt: 'https://a.example' },
      ['/'],
    )
    for (const effect of found)
      assert.ok(effect.kind === 'read' || effect.kind === 'net', `${spec.name}: ${effect.kind}`)
  }
  for (const name of ['write_file', 'replace', 'run_shell_command', 'save_memory'])
    assert.ok(!safe.some(({ spec }) => spec.name === name), name)
})
