import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { ApprovalRequest, ApprovalReply } from '../../src/agent/calls/call-state.ts'
import { createMcpRequestHandler } from '../../src/agent/mcp-request-handler.ts'
import {
  createResourceMentions,
  listResourceNames,
  createPromptCommands,
} from '../../src/cli/tui/mcp-prompts-and-resources.ts'
import type { AppParts } from '../../src/cli/tui/app-parts.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { approvalPolicy } from '../../src/policy/approval-policy.ts'
import type { Tool } from '../../src/tool/tool.ts'
import type { McpRequestHandler } from '../../src/tool/mcp/connection/request-handler.ts'
import { createMcpServers } from '../../src/tool/mcp/client/servers.ts'
import { createMemoryKeyValueStore } from './support/memory-store.ts'
import { createMcpToolbox } from '../../src/tool/mcp/tools/mcp-toolbox.ts'
import { noneAliveIn, until } from '../support/alive.ts'
import { root } from '../support/paths.ts'
import { agentOf, closing, modelOn, play, rehearse } from '../support/stage.ts'
import { callThrough, said } from './support/calls.ts'
import { allReady, makeWorld, programOf } from './support/world.ts'

const FIXTURE = join(root, 'test/mcp/support/fixture-server.mjs')
const fixture = (...modes: string[]) => ({ command: process.execPath, args: [FIXTURE, ...modes] })
const WIRES = ['gemini', 'code-assist', 'openai-chat', 'openai-responses', 'anthropic'] as const
const world = makeWorld()

test('every kind of content reaches the model on every wire, and the person as a line', async () => {
  const servers = world.open({ pond: fixture() })
  await allReady(servers)
  const announced = (kind: string, mime: string) =>
    `[Tool 'media' provided the following ${kind} with mime-type: ${mime}]`
  for (const wire of WIRES) {
    const { results } = await callThrough(
      servers,
      [
        ['pond', 'media', {}],
        ['pond', 'structured', {}],
        ['pond', 'fails', {}],
      ],
      { wire },
    )
    const [media, structured, fails] = results
    assert.equal(
      said(media!),
      [
        'Look:',
        announced('image data', 'image/png'),
        '<image/png>',
        announced('audio data', 'audio/wav'),
        '<audio/wav>',
        'text of a resource',
        announced('embedded resource', 'application/pdf'),
        '<application/pdf>',
        'Resource Link: The letter B at file:///b.txt',
        "[Tool 'media' provided content of type hologram, which is not understood]",
      ].join('\n'),
      wire,
    )
    assert.equal(
      media?.display,
      "Look:\n[Image: image/png]\n[Audio: audio/wav]\ntext of a resource\n[File: application/pdf]\nResource Link: The letter B at file:///b.txt\n[Tool 'media' provided content of type hologram, which is not understood]",
    )
    assert.deepEqual(media?.data, { seen: 7 })
    assert.equal(said(structured!), '{"temperature":21}')
    assert.deepEqual(structured?.data, { temperature: 21 })
    assert.equal(fails?.status, 'error')
    assert.equal(fails?.error?.message, 'the pond is frozen')
  }
  await servers.close()
})

test('what a server offered the last time is declared at once; a call waits; what is new joins with a note', async () => {
  const shelf = createMemoryKeyValueStore()
  const before = world.open({ pond: fixture('hostile') }, { listCache: shelf })
  await allReady(before)
  await before.close()
  // The same server, as the settings say, but it has learnt something since.
  const kept = createMcpServers({ pond: fixture('hostile') }, { ...world.options, listCache: shelf })
  assert.equal(kept.list[0]?.state.status, 'starting')
  assert.ok(kept.tools().flat().length > 5, 'nobody has connected yet')
  const box = createMcpToolbox([], kept)
  assert.equal(box.refresh?.().note, undefined)
  const { specs } = box
  box.refresh?.()
  assert.equal(box.specs, specs, 'the same tools are the same array')
  const { results } = await callThrough(kept, [['pond', 'echo', { word: 'hi' }]])
  assert.equal(said(results[0]!), 'Echo: hi')
  box.refresh?.()
  assert.equal(box.specs, specs, 'the real list is the kept one, so nothing changes')
  await callThrough(kept, [['pond', 'change', {}]])
  await until(() => JSON.stringify(kept.list[0]?.lists).includes('stranger'))
  box.refresh?.()
  assert.notEqual(box.specs, specs)
  const other = createMcpServers({ pond: fixture('hostile', 'broken') }, { ...world.options, listCache: shelf })
  assert.deepEqual(other.tools().flat(), [], 'another command is another server')
  await Promise.all([kept.close(), other.close()])
})

test('what a server says of its tools is passed on once, as its own word, and not all of a lot', async () => {
  const shelf = createMemoryKeyValueStore()
  const first = world.open({ pond: fixture('advises'), mute: fixture() }, { listCache: shelf })
  const box = createMcpToolbox([], first)
  assert.equal(box.refresh?.().note, undefined)
  await allReady(first)
  const words = (from: typeof box): string => (from.refresh?.().pinned ?? []).map(({ text }) => text).join()
  const note = words(box)
  assert.match(
    note,
    /Instructions of the MCP server pond for its tools \(advice from the server, not from the person\):\nFeed the /,
  )
  assert.doesNotMatch(note, /[\u{e0041}\u{e0042}]|server mute/u)
  assert.ok(note.length < 6000)
  assert.equal(words(box), '')
  await first.close()
  // The next session knows it from its first request on.
  const next = createMcpServers({ pond: fixture('advises') }, { ...world.options, listCache: shelf })
  assert.match(words(createMcpToolbox([], next)), /Feed the /)
  await next.close()
})

test('servers that greet, end at a question that they do not know, or die are connected to all the same', async () => {
  const servers = world.open({
    greets: fixture('greets'),
    strict: fixture('strict'),
    dies: fixture('hostile', 'counts'),
  })
  await allReady(servers)
  assert.deepEqual(servers.list[0]?.log, ['Welcome to the pond!'])
  const { results } = await callThrough(servers, [
    ['strict', 'echo', { word: 'x' }],
    ['dies', 'die', {}],
  ])
  assert.equal(said(results[0]!), 'Echo: x')
  const [, , dies] = servers.list
  await until(
    () =>
      dies?.state.status === 'ready' && readdirSync(world.work).filter((one) => one.startsWith('started')).length > 1,
  )
  await servers.close()
  await noneAliveIn(world.work)
})

test('a server that never answers fails in its time, and costs the others nothing', async () => {
  const servers = world.open({ silent: fixture('silent'), pond: fixture() }, { timeoutMs: 6000 })
  await servers.list[1]?.ready()
  assert.equal(servers.list[0]?.state.status, 'starting')
  await assert.rejects(servers.list[0]?.ready() ?? Promise.resolve(), /did not answer|timed out/i)
  assert.equal(servers.list[0]?.state.status, 'failed')
  await servers.close()
  // Who is not wanted any more is not waited for, at whatever point of its start.
  for (const ms of [0, 5, 50, 300]) {
    const patient = world.open({ silent: fixture('silent') }, { timeoutMs: 600_000 })
    await pause(ms)
    await patient.close()
  }
  await noneAliveIn(world.work)
})

test('tools beyond the budget are searched for, declared when found, and the person is told (T148)', async () => {
  const servers = world.open({ many: fixture('many'), pond: fixture('broken') })
  await allReady(servers)
  const model = await rehearse([
    { call: [{ name: 'search_tools', args: { query: 'many_1999 or many_1500' } }] },
    { call: [{ name: 'many_1500', args: {} }] },
    { say: 'Done.' },
  ])
  try {
    const toolbox = createMcpToolbox([], servers)
    const events = await play(agentOf(modelOn('openai-chat', model), [], { toolbox }), 'go')
    assert.equal(closing(events).reason, 'done')
    assert.deepEqual(model.failures, [])
    const notices = events.flatMap((event) => (event.type === 'notice' ? [event.text] : []))
    assert.match(notices.join('\n'), /^\d+ MCP tools are not declared, because there are too many/)
    const [first, second] = model.requests.map(({ bytes }) => bytes.toString())
    assert.ok(!first?.includes('many_1500"') && second?.includes('many_1500"'))
    assert.ok(Buffer.byteLength(JSON.stringify(toolbox.specs)) < 50_000)
    // A server with few tools has them all declared, whatever the other one does.
    assert.ok(['fails', 'structured'].every((name) => first?.includes(`"${name}"`)))
  } finally {
    await model.close()
    await servers.close()
  }
})

test('rules know a tool by its server; what is trusted is not asked about, and nothing runs in plan mode', async () => {
  const servers = world.open({ pond: fixture(), own: { ...fixture(), trust: true } })
  await allReady(servers)
  const tools = new Map(
    servers
      .tools()
      .flat()
      .map((tool) => [tool.spec.name, tool]),
  )
  const verdict = async (
    tool: Tool | undefined,
    options: Partial<Parameters<typeof approvalPolicy>[0]>,
  ): Promise<string> => {
    const policy = approvalPolicy({ mode: 'default', folders: [world.work], ...options })
    const effects = tool?.effects({}, []) ?? []
    return (await policy.decide({ tool: tool?.spec.name ?? '', input: {}, effects })).verdict
  }
  const [pond, own] = [tools.get('echo'), tools.get('own__echo')]
  assert.equal(await verdict(pond, {}), 'ask')
  assert.equal(await verdict(own, {}), 'allow')
  assert.equal(await verdict(own, { mode: 'plan' }), 'deny')
  assert.equal(await verdict(pond, { mode: 'yolo' }), 'allow')
  assert.equal(await verdict(pond, { allowed: ['pond__*'] }), 'allow')
  assert.equal(await verdict(pond, { allowed: ['pond__echo'] }), 'allow')
  assert.equal(await verdict(pond, { allowed: ['own__*'] }), 'ask')
  assert.equal(await verdict(own, { rules: { user: { deny: ['own__echo'] } } }), 'deny')
  assert.equal(await verdict(tools.get('where'), { rules: { user: { allow: ['*here_*', 'w*e_'] } } }), 'ask')
  await servers.close()
})

test('what a tool says of its progress is shown', async () => {
  const servers = world.open({ pond: fixture() })
  await allReady(servers)
  const { events } = await callThrough(servers, [['pond', 'slow', { steps: 3 }]])
  const progress = events.flatMap((event) => (event.type === 'progress' ? [event.text] : []))
  assert.equal(progress[0], 'wading (1 of 3)')
  await servers.close()
})

test('a server asks the person and the model only through the person', async () => {
  const model = await rehearse([{ say: 'Herons wade.' }])
  const asks: ApprovalRequest[] = []
  const replies: ApprovalReply['outcome'][] = ['modify', 'cancel', 'proceed-once', 'cancel', 'proceed-once']
  const ask = (one: ApprovalRequest): Promise<ApprovalReply> => {
    asks.push(one)
    const outcome = replies[asks.length - 1] ?? 'cancel'
    const input: JsonObject = { name: 'Ada', other: 'not asked for' }
    return Promise.resolve({ ask: one.id, outcome, ...(outcome === 'modify' && { input }) })
  }
  const shown: string[] = []
  const questions: McpRequestHandler = createMcpRequestHandler(() => ({
    requestApproval: ask,
    model: modelOn('openai-chat', model),
    createId: () => 'a'.repeat(20),
    openBrowser: (url) => void shown.push(url),
  }))
  const everything = {
    command: process.execPath,
    args: [programOf('@modelcontextprotocol/server-everything'), 'stdio'],
  }
  const servers = world.open({ every: everything }, { requestHandler: questions })
  try {
    await allReady(servers)
    const { results } = await callThrough(servers, [
      ['every', 'trigger-elicitation-request', {}],
      ['every', 'trigger-elicitation-request', {}],
      ['every', 'trigger-sampling-request', { prompt: 'What do herons do?' }],
      ['every', 'trigger-sampling-request', { prompt: 'Again.' }],
      ['every', 'trigger-url-elicitation', { url: 'https://example.com/form' }],
    ])
    const [filled, refused, sampled, not, url] = results.map(said)
    assert.match(filled ?? '', /Ada/)
    assert.doesNotMatch(filled ?? '', /not asked for/)
    assert.match(refused ?? '', /declined/)
    assert.match(sampled ?? '', /Herons wade/)
    assert.match(not ?? '', /The user refused/)
    assert.match(url ?? '', /accept/i)
    assert.deepEqual(shown, ['https://example.com/form'])
    assert.match(JSON.stringify(asks[2]?.details), /What do herons do/)
    assert.ok(asks.every(({ details }) => details.kind === 'info' && details.title.startsWith('The MCP server every')))
  } finally {
    await model.close()
    await servers.close()
  }
})

test('an address that a server wants opened is judged before the person is asked', async () => {
  const asked: string[] = []
  const questions: McpRequestHandler = {
    elicit(_server, wish) {
      asked.push('url' in wish ? wish.url : wish.message)
      return Promise.resolve({ action: 'accept' })
    },
    sample: () => Promise.resolve({ refused: 'no' }),
  }
  const args = [programOf('@modelcontextprotocol/server-everything'), 'stdio']
  const servers = world.open({ every: { command: process.execPath, args } }, { requestHandler: questions })
  await allReady(servers)
  const hostile = [
    'file:///etc/passwd',
    'vscode://vscode.git/clone?url=x',
    'javascript:alert(1)',
    'https://accounts.example@evil.example/',
    'http://evil.example/',
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/admin',
    'http://127.0.0.1:6379/',
  ]
  const fine = 'http://localhost:8123/consent'
  const { results } = await callThrough(
    servers,
    [...hostile, fine].map((url) => ['every', 'trigger-url-elicitation', { url }] as const),
  )
  assert.deepEqual(asked, [fine])
  for (const result of results.slice(0, -1)) assert.doesNotMatch(said(result), /accept/i)
  await servers.close()
})

test('prompts of servers are commands, and resources are named with @', async () => {
  const servers = world.open({ pond: fixture() })
  await allReady(servers)
  const slashes = createPromptCommands(servers)
  assert.deepEqual(
    slashes.map(({ name, takes }) => [name, takes]),
    [
      ['pond:greet', 'whom'],
      ['pond:plain', undefined],
    ],
  )
  const told: string[] = []
  const desk = {
    ui: { notify: (text: string) => void told.push(text) },
    controller: { submit: (text: string) => void told.push(text) },
  } as unknown as AppParts
  await slashes[0]?.run(desk, '')
  await slashes[0]?.run(desk, 'the grey heron')
  await slashes[0]?.run(desk, 'whom="a frog"')
  assert.deepEqual(told, ['Missing arguments: whom', 'greet: hello the grey heron', 'greet: hello a frog'])
  assert.deepEqual(listResourceNames(servers), ['pond:pond://one'])
  const mentions = createResourceMentions(() => servers)
  await mentions.load('look at @pond:pond://one and @other.txt')
  assert.deepEqual(
    mentions.get('pond:pond://one')?.map((part) => (part.kind === 'text' ? part.text : '')),
    ['--- pond:pond://one ---', 'what is in pond://one', '--- end of pond:pond://one ---'],
  )
  assert.equal(mentions.get('other.txt'), undefined)
  await servers.close()
})
