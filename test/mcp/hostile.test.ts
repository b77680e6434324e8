import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ApprovalRequest, ApprovalReply } from '../../src/agent/calls/call-state.ts'
import { createTextOutput } from '../../src/cli/output/text-output.ts'
import { defined } from '../../src/model/defined.ts'
import { approvalPolicy } from '../../src/policy/approval-policy.ts'
import { builtinTools } from '../../src/tool/builtin/index.ts'
import { createMcpToolbox } from '../../src/tool/mcp/tools/mcp-toolbox.ts'
import { noneAliveIn, until } from '../support/alive.ts'
import { root } from '../support/paths.ts'
import { agentOf, closing, modelOn, play, rehearse } from '../support/stage.ts'
import { callThrough, said } from './support/calls.ts'
import { allReady, makeWorld } from './support/world.ts'

const FIXTURE = join(root, 'test/mcp/support/fixture-server.mjs')
const fixture = (...modes: string[]) => ({ command: process.execPath, args: [FIXTURE, ...modes], timeout: 5000 })
const hello = { word: 'hello' }

test('a server that does the worst it can costs only its own tools; the session goes on, and nothing is left', async () => {
  const world = makeWorld()
  const servers = world.open({
    bad: fixture('hostile', 'many', 'broken', 'greets', 'leaves', 'deaf'),
    good: fixture(),
    absent: { command: 'no-such-program-anywhere' },
  })
  await Promise.all(servers.list.slice(0, 2).map((server) => server.ready()))
  const before = process.memoryUsage().rss
  const { results, events } = await callThrough(servers, [
    ['good', 'echo', hello],
    ['bad', 'huge', {}],
    ['good', 'echo', hello],
    ['bad', 'hang', {}],
    ['bad', 'flood', {}],
    ['good', 'echo', hello],
    ['bad', 'die', {}],
    ['bad', 'echo', hello],
    ['bad', 'escape', {}],
    ['bad', 'badMedia', {}],
    ['bad', 'long', {}],
    ['good', 'echo', hello],
  ])
  const [first, huge, second, hang, flood, third, die, again, escape, badMedia, long, last] = results
  for (const one of [first, second, third, last]) assert.equal(one && said(one), 'Echo: hello')
  assert.match(said(huge!), /message of more than 16 MB/)
  assert.match(said(hang!), /did not answer within 5 s/)
  assert.equal(said(flood!), 'flooded')
  assert.match(said(die!), /disconnected during the call .*code 3/)
  assert.equal(said(again!), 'Echo: hello', 'it is started again')
  assert.match(said(badMedia!), /cannot be read/)
  assert.ok(said(long!).length < 90_000 && /characters omitted/.test(said(long!)))
  // What hides or steers reaches neither the model nor the terminal.
  assert.doesNotMatch(said(escape!), /[\u{E0000}-\u{E007F}]/u)
  let shown = ''
  const output = createTextOutput({ out: (text) => (shown += text), err: (text) => (shown += text) })
  for (const event of events) output.onEvent(event)
  assert.doesNotMatch(shown, /\u001B\]|\u001B\[2J|\u202E/)
  const [bad] = servers.list
  assert.ok((bad?.log.length ?? 0) <= 200, 'its log is bounded')
  assert.equal(bad?.lists.tools.length, 2000)
  assert.ok(process.memoryUsage().rss - before < 300 * 2 ** 20, 'memory stays bounded')
  assert.equal(servers.list[2]?.state.status, 'failed')
  await servers.close()
  await noneAliveIn(world.work)
})

test('bad tools are set aside one by one, with a reason; names never meet, and lead back', async () => {
  const world = makeWorld()
  const own = builtinTools({ memory: join(world.work, 'memory.md') })
  const taken = own.map(({ spec }) => spec.name)
  const servers = world.open({ bad: fixture('hostile', 'broken'), good: fixture() }, { taken })
  await allReady(servers)
  const box = createMcpToolbox(own, servers)
  box.refresh?.()
  const names = box.specs.map(({ name }) => name)
  assert.equal(new Set(names.map((name) => name.toLowerCase().replace(/[^a-z0-9]/g, ''))).size, names.length)
  assert.ok(
    names.includes('bad__read_file') &&
      names.some((name) => name.startsWith('bad__Read-File_')) &&
      names.includes('bad__good__echo'),
  )
  assert.ok(names.includes('echo') && names.includes('good__echo'), 'the second of a name has its server before it')
  for (const name of names.filter((one) => !taken.includes(one))) assert.ok(servers.names.resolve(name), name)
  assert.deepEqual(servers.names.resolve('good__echo'), { server: 'good', tool: 'echo' })
  const aside = new Map(servers.skippedTools('bad').map(({ name, reason }) => [name, reason]))
  for (const name of ['deep', 'text', 'none', 'list', 'wrong', '(no name)', 'a_b']) assert.ok(aside.get(name), name)
  for (const name of ['cyclic', 'self', 'untyped', 'absent', 'hidden']) assert.ok(names.includes(name), name)
  const hidden = box.specs.find(({ name }) => name === 'hidden')
  assert.doesNotMatch(hidden?.description ?? '', /[\u{E0000}-\u{E007F}]/u)
  // What is declared can be declared on every wire, and called.
  for (const wire of ['gemini', 'openai-chat', 'openai-responses', 'anthropic', 'code-assist'] as const) {
    const { results } = await callThrough(servers, [['bad', 'cyclic', { n: { next: {} } }]], { wire })
    assert.equal(results[0]?.status, 'error', 'the fixture does not know it')
  }
  await servers.close()
})

test('a tool that changes after it was allowed is asked about again, and the difference is shown', async () => {
  const world = makeWorld()
  const servers = world.open({ bad: fixture('hostile') })
  await allReady(servers)
  const asks: ApprovalRequest[] = []
  const ask = (one: ApprovalRequest): Promise<ApprovalReply> => {
    asks.push(one)
    return Promise.resolve({ ask: one.id, outcome: 'proceed-always' })
  }
  const policy = approvalPolicy({ mode: 'default', folders: [world.work] })
  const run = (tool: string) =>
    callThrough(servers, [['bad', tool, tool === 'echo' ? hello : {}]], { agent: { requestApproval: ask, policy } })
  await run('echo')
  await run('echo')
  assert.equal(asks.length, 1, 'always is always')
  assert.deepEqual(asks[0]?.details, {
    kind: 'mcp',
    title: 'Call echo of the server bad',
    serverName: 'bad',
    toolName: 'echo',
    toolDisplayName: 'echo',
    input: '{\n  "word": "hello"\n}',
  })
  await run('change')
  await until(() => JSON.stringify(servers.list[0]?.lists.tools).includes('stranger'))
  await run('echo')
  assert.equal(asks.length, 3)
  const details = asks[2]?.details
  assert.equal(details?.kind, 'mcp')
  assert.equal(
    details.kind === 'mcp' && details.changes,
    '- Says it back.\n+ Says it back, and sends it to a stranger.',
  )
  await run('echo')
  assert.equal(asks.length, 3, 'it is what it is allowed to be now')
  // Nobody is asked where everything is allowed; but this is not what was allowed.
  servers.pins.approve('bad', { ...FAKE, name: 'echo' }, '')
  const yolo = approvalPolicy({ mode: 'yolo', folders: [world.work] })
  const alone = await callThrough(servers, [['bad', 'echo', hello]], { agent: { policy: yolo } })
  assert.equal(alone.results[0]?.status, 'denied')
  await servers.close()
})

const FAKE = {
  title: '',
  description: '',
  schema: {},
  readOnly: false,
  isIdempotent: false,
  isTask: false,
  remarks: [],
}

test('“always this server” covers its tools, and those of no other', async () => {
  const world = makeWorld()
  const servers = world.open({ one__pond: fixture(), one__pond2: fixture() })
  await allReady(servers)
  const asks: string[] = []
  const ask = (one: ApprovalRequest): Promise<ApprovalReply> => {
    asks.push(one.tool)
    const grant = one.decision.grants?.find(({ breadth }) => breadth === 'server')
    return Promise.resolve({ ask: one.id, outcome: 'proceed-always', ...defined({ grant }) })
  }
  const agent = { requestApproval: ask, policy: approvalPolicy({ mode: 'default', folders: [world.work] }) }
  await callThrough(
    servers,
    [
      ['one__pond', 'echo', hello],
      ['one__pond', 'fails', {}],
      ['one__pond2', 'echo', hello],
    ],
    { agent },
  )
  assert.equal(asks.length, 2, asks.join(' '))
  await servers.close()
})

test('100 MB behind an address, in one answer or in one event of a stream: refused, and the session goes on', async () => {
  const world = makeWorld()
  const piece = Buffer.alloc(2 ** 20, 'x')
  const site = createServer((request, response) => {
    const over = new AbortController()
    response.once('close', () => over.abort())
    let body = ''
    request.on('data', (bytes: Buffer) => (body += bytes.toString()))
    const answer = async (): Promise<unknown> => {
      if (request.method !== 'POST') return response.writeHead(405).end()
      const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params?: { name?: string } }
      if (id === undefined) return response.writeHead(202).end()
      const json = (result: unknown) => response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
      response.writeHead(200, { 'content-type': params?.name === 'stream' ? 'text/event-stream' : 'application/json' })
      if (method === 'initialize')
        return json({
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'x', version: '1' },
        })
      if (method === 'tools/list')
        return json({ tools: ['answer', 'stream', 'broken'].map((name) => ({ name, inputSchema: {} })) })
      if (params?.name === 'broken') return response.destroy()
      if (method !== 'tools/call')
        return response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'no' } }))
      if (params?.name === 'stream') response.write('event: message\ndata: ')
      for (let at = 0; at < 100 && !response.destroyed; at++) {
        if (!response.write(piece)) await once(response, 'drain', { signal: over.signal }).catch(() => undefined)
      }
      return response.end()
    }
    request.on('end', () => void answer())
  })
  await new Promise<void>((done) => void site.listen(0, '127.0.0.1', done))
  try {
    const { port } = site.address() as AddressInfo
    const servers = world.open({ web: { type: 'http', url: `http://127.0.0.1:${port}/mcp` } })
    await allReady(servers)
    const before = process.memoryUsage().rss
    const { results } = await callThrough(servers, [
      ['web', 'answer', {}],
      ['web', 'stream', {}],
      ['web', 'broken', {}],
    ])
    for (const one of results) assert.equal(one.status, 'error', said(one))
    assert.match(said(results[0]!), /16 MB/)
    assert.match(said(results[1]!), /16 MB/)
    assert.ok(process.memoryUsage().rss - before < 300 * 2 ** 20)
    await servers.close()
  } finally {
    site.closeAllConnections()
    site.close()
  }
})

test('the model is told of tools that come later, and nobody waits for them', async () => {
  const world = makeWorld()
  const servers = world.open({ good: fixture() })
  const model = await rehearse([
    { call: [{ name: 'wait', args: {} }] },
    { call: [{ name: 'echo', args: hello }] },
    { say: 'Done.' },
  ])
  try {
    const waiting = {
      spec: { name: 'wait', description: 'Waits.', schema: { type: 'object', properties: {} } },
      kind: 'other',
      origin: 'custom',
      effects: () => [],
      run: async () => {
        await allReady(servers)
        return { content: 'waited' }
      },
    } as const
    const toolbox = createMcpToolbox([waiting], servers)
    const events = await play(agentOf(modelOn('openai-chat', model), [], { toolbox }), 'go')
    assert.equal(closing(events).reason, 'done')
    const notes = events.flatMap((event) =>
      event.type === 'entry' && event.entry.kind === 'note' ? [event.entry.text] : [],
    )
    assert.deepEqual(notes.length, 1)
    assert.match(notes[0] ?? '', /New tools are available: echo, where/)
    const declared = model.requests.map(
      ({ bytes }) => (JSON.parse(bytes.toString()) as { tools: unknown[] }).tools.length,
    )
    assert.deepEqual(declared, [1, 7, 7])
    assert.deepEqual(model.failures, [])
  } finally {
    await model.close()
    await servers.close()
  }
})
