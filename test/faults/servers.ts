import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { ApprovalRequest, ApprovalReply } from '../../src/agent/calls/call-state.ts'
import { createMcpRequestHandler } from '../../src/agent/mcp-request-handler.ts'
import { approvalPolicy } from '../../src/policy/approval-policy.ts'
import type { McpServerConfig } from '../../src/tool/mcp/client/server-config.ts'
import { createMcpToolbox } from '../../src/tool/mcp/tools/mcp-toolbox.ts'
import { callThrough, said } from '../mcp/support/calls.ts'
import { allReady, makeWorld } from '../mcp/support/world.ts'
import { noneAliveIn, until } from '../support/alive.ts'
import type { Plays } from '../support/faults.ts'
import { root } from '../support/paths.ts'
import { modelOn, rehearse } from '../support/stage.ts'

/** Servers of tools that do what they should not. */
export const serverPlays: Plays = {
  'fa-109': async () => {
    const world = makeWorld()
    // Long enough for a server that does answer, on a busy machine too.
    const servers = world.open({ mute: fixture('silent'), good: fixture() }, { timeoutMs: 10_000 })
    const { results } = await callThrough(await ready(servers, 'good'), [['good', 'echo', HELLO]])
    assert.equal(said(results[0]!), 'Echo: hello')
    const [mute] = servers.list
    await until(() => mute?.state.status === 'failed')
    assert.match(JSON.stringify(mute?.state), /did not answer|timed out/i)
    await servers.close()
    await noneAliveIn(world.work)
  },
  'fa-110': async () => {
    const servers = makeWorld().open({ loud: fixture('hostile', 'greets') })
    const { results } = await callThrough(await ready(servers), [
      ['loud', 'flood', {}],
      ['loud', 'echo', HELLO],
    ])
    assert.deepEqual(results.map(said), ['flooded', 'Echo: hello'])
    const log = servers.list[0]?.log ?? []
    assert.ok(log.length > 0 && log.length <= 200, `${log.length} lines are kept`)
    await servers.close()
  },
  'fa-111': async () => {
    const world = makeWorld()
    const servers = world.open({ pond: odd() })
    await ready(servers)
    const asks: string[] = []
    const ask = (one: ApprovalRequest): Promise<ApprovalReply> => {
      asks.push(one.tool)
      return Promise.resolve({ ask: one.id, outcome: 'proceed-always' })
    }
    const agent = { requestApproval: ask, policy: approvalPolicy({ mode: 'default', folders: [world.work] }) }
    const call = (tool: string) => callThrough(servers, [['pond', tool, {}]], { agent })
    await call('grow')
    await call('grow')
    assert.deepEqual(asks, ['grow'], 'always is always')
    await until(() => JSON.stringify(servers.list[0]?.lists.tools).includes('"grown"'))
    const { events } = await call('grown')
    assert.deepEqual(asks, ['grow', 'grown'])
    assert.ok(events.some((event) => event.type === 'ask' && event.ask.tool === 'grown'))
    await servers.close()
  },
  'fa-112': async () => {
    const servers = makeWorld().open({ first: fixture(), second: fixture() })
    const { results } = await callThrough(await ready(servers), [
      ['first', 'echo', { word: 'one' }],
      ['second', 'echo', { word: 'two' }],
    ])
    assert.deepEqual(results.map(said), ['Echo: one', 'Echo: two'])
    const names = ['first', 'second'].map((server) => servers.names.nameFor({ server, tool: 'echo' }))
    assert.equal(new Set(names).size, 2)
    for (const name of names) assert.ok(declared(servers).includes(name), name)
    await servers.close()
  },
  'fa-113': async () => {
    const { answers, asks, requests } = await questioned('ask_model')
    assert.match(asks[0]?.details.title ?? '', /The MCP server pond wants to use the model/)
    assert.match(answers[0] ?? '', /The user refused/)
    assert.match(answers[1] ?? '', /Herons wade/)
    assert.equal(requests, 1, 'only what the person allowed was paid for')
  },
  'fa-114': async () => {
    const { answers, asks, shown } = await questioned('ask_page')
    assert.match(JSON.stringify(asks[0]?.details), /https:\/\/example\.com\/form/)
    assert.match(answers[0] ?? '', /decline/)
    assert.match(answers[1] ?? '', /accept/)
    assert.deepEqual(shown, ['https://example.com/form'])
  },
  'fa-115': async () => {
    const world = makeWorld()
    const servers = world.open({ messy: fixture('leaves', 'deaf') })
    await ready(servers)
    await servers.close()
    await noneAliveIn(world.work)
  },
  'fa-116': async () => {
    const servers = makeWorld().open({ bad: fixture('broken') })
    await ready(servers)
    const names = declared(servers)
    assert.ok(names.includes('cyclic') && names.includes('echo') && !names.includes('deep'))
    const reason = servers.skippedTools('bad').find(({ name }) => name === 'deep')?.reason
    assert.match(reason ?? '', /deep/)
    await servers.close()
  },
  'fa-117': async () => {
    const servers = makeWorld().open({ pond: odd() })
    const { results } = await callThrough(await ready(servers), [['pond', 'match', { word: `${'a'.repeat(60)}!` }]])
    // A pattern that could take for ever is left to the server, which knows what it means by it.
    assert.equal(results[0] && said(results[0]), 'matched')
    await servers.close()
  },
}

const HELLO = { word: 'hello' }
const FIXTURE = join(root, 'test/mcp/support/fixture-server.mjs')

function fixture(...modes: string[]): McpServerConfig {
  return { command: process.execPath, args: [FIXTURE, ...modes] }
}

type Opened = ReturnType<ReturnType<typeof makeWorld>['open']>

async function ready(servers: Opened, ...names: string[]): Promise<Opened> {
  const list = servers.list.filter(({ name }) => names.length === 0 || names.includes(name))
  await allReady({ ...servers, list })
  return servers
}

/** The names under which a model sees the tools. */
function declared(servers: Opened): string[] {
  const box = createMcpToolbox([], servers)
  box.refresh?.()
  return box.specs.map(({ name }) => name)
}

/** A server that grows a tool, asks questions of its own, and has a pattern that takes for ever to match. */
function odd(): McpServerConfig {
  return { command: process.execPath, args: ['-e', ODD] }
}

const ODD = `
const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
const tool = (name, properties = {}) => ({ name, description: name, inputSchema: { type: 'object', properties } })
const tools = [tool('grow'), tool('ask_model'), tool('ask_page'), tool('match', { word: { type: 'string', pattern: '^(a+)+$' } })]
let asking
const ask = (method, params) => new Promise((resolve) => {
  asking = resolve
  send({ id: 'question', method, params })
})
const question = { role: 'user', content: { type: 'text', text: 'What do herons do?' } }
const run = {
  grow: () => {
    if (tools.length < 5) tools.push(tool('grown'))
    send({ method: 'notifications/tools/list_changed' })
    return 'grew'
  },
  grown: () => 'ran',
  match: () => 'matched',
  ask_model: () => ask('sampling/createMessage', { messages: [question], maxTokens: 50 }),
  ask_page: () => ask('elicitation/create', { mode: 'url', message: 'Sign here.', elicitationId: 'e', url: 'https://example.com/form' }),
}
require('readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params = {}, ...answer } = JSON.parse(line)
  if (id === 'question') return asking(JSON.stringify(answer))
  if (id === undefined) return
  if (method === 'initialize') {
    const capabilities = { tools: { listChanged: true } }
    return send({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo: { name: 'odd', version: '1' } } })
  }
  if (method === 'tools/list') return send({ id, result: { tools } })
  if (method === 'tools/call') return send({ id, result: { content: [{ type: 'text', text: await run[params.name]() }] } })
  if (method === 'ping') return send({ id, result: {} })
  send({ id, error: { code: -32601, message: 'no such method' } })
})`

/** Calls a tool twice that asks a question; the person refuses, and then agrees. */
async function questioned(tool: string) {
  const model = await rehearse([{ say: 'Herons wade.' }])
  const asks: ApprovalRequest[] = []
  const shown: string[] = []
  const questions = createMcpRequestHandler(() => ({
    requestApproval(one: ApprovalRequest): Promise<ApprovalReply> {
      asks.push(one)
      return Promise.resolve({ ask: one.id, outcome: asks.length === 1 ? 'cancel' : 'proceed-once' })
    },
    model: modelOn('openai-chat', model),
    createId: () => 'a'.repeat(20),
    openBrowser: (url) => void shown.push(url),
  }))
  const servers = makeWorld().open({ pond: odd() }, { requestHandler: questions })
  try {
    const { results } = await callThrough(await ready(servers), [
      ['pond', tool, {}],
      ['pond', tool, {}],
    ])
    return { answers: results.map(said), asks, shown, requests: model.requests.length }
  } finally {
    await model.close()
    await servers.close()
  }
}
