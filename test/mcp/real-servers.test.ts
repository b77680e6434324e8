import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocket } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { McpServerConfig } from '../../src/tool/mcp/client/server-config.ts'
import { noneAliveIn, until } from '../support/alive.ts'
import { callThrough, said, toolsOf } from './support/calls.ts'
import { browserCalls, everythingCalls, filesystemCalls, memoryCalls, PAGE, type Row } from './support/tables.ts'
import { allReady, makeWorld, programOf, type World } from './support/world.ts'

const NODE = process.execPath
const EVERYTHING = programOf('@modelcontextprotocol/server-everything')
const CHROMIUM = '/usr/bin/chromium'
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

const started: ChildProcess[] = []
after(() => {
  for (const child of started) child.kill('SIGKILL')
})

/** Connects to one server, has a model call every one of its tools, and sees that nothing is left. */
async function callAll(world: World, config: McpServerConfig, rows: readonly Row[], title: string): Promise<void> {
  const servers = world.open({ it: config })
  await allReady(servers)
  assert.deepEqual(toolsOf(servers, 'it'), [...new Set(rows.map(([tool]) => tool))].sort(), title)
  assert.deepEqual(servers.skippedTools('it'), [], title)
  const { results } = await callThrough(
    servers,
    rows.map(([tool, args]) => ['it', tool, args]),
  )
  for (const [at, [tool, , says]] of rows.entries()) {
    const result = results[at]
    assert.ok(result)
    assert.match(said(result), says, `${title}: ${tool}`)
    const fails = tool === 'trigger-sampling-request'
    assert.equal(result.status, fails ? 'error' : 'ok', `${title}: ${tool}: ${said(result)}`)
    assert.equal(typeof result.display, 'string', `${title}: ${tool}`)
  }
  await servers.close()
}

/** A port that nobody else has now. */
async function freePort(): Promise<number> {
  const server = createSocket().listen(0, '127.0.0.1')
  await new Promise((done) => void server.once('listening', done))
  const { port } = server.address() as AddressInfo
  await new Promise((done) => void server.close(done))
  return port
}

/** Starts server-everything behind an address, and waits until it listens. */
async function everythingAt(kind: 'streamableHttp' | 'sse'): Promise<string> {
  const port = await freePort()
  const child = spawn(NODE, [EVERYTHING, kind], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  started.push(child)
  let words = ''
  child.stderr.on('data', (text: Buffer) => (words += text.toString()))
  await until(() => /listening|running/i.test(words))
  return `http://127.0.0.1:${port}/${kind === 'sse' ? 'sse' : 'mcp'}`
}

test('server-everything over stdio, Streamable HTTP and SSE: every tool, through the agent', async () => {
  const world = makeWorld()
  const [http, sse] = await Promise.all([everythingAt('streamableHttp'), everythingAt('sse')])
  await Promise.all([
    callAll(world, { command: NODE, args: [EVERYTHING, 'stdio'] }, everythingCalls, 'stdio'),
    callAll(world, { type: 'http', url: http }, everythingCalls, 'http'),
    // Nobody says that it is of the older kind: that must be found out.
    callAll(world, { url: sse }, everythingCalls, 'sse'),
  ])
  await noneAliveIn(world.work)
})

test('server-filesystem and server-memory over stdio: every tool, through the agent', async () => {
  const world = makeWorld()
  writeFileSync(join(world.work, 'dot.png'), Buffer.from(DOT, 'base64'))
  const filesystem = { command: NODE, args: [programOf('@modelcontextprotocol/server-filesystem'), world.work] }
  const memory = {
    command: NODE,
    args: [programOf('@modelcontextprotocol/server-memory')],
    env: { MEMORY_FILE_PATH: join(world.work, 'memory.jsonl') },
  }
  await callAll(world, filesystem, filesystemCalls(world.work), 'filesystem')
  await callAll(world, memory, memoryCalls, 'memory')
  assert.ok(existsSync(join(world.work, 'memory.jsonl')))
  await noneAliveIn(world.work)
})

const skip = existsSync(CHROMIUM) ? false : `${CHROMIUM} is not installed`

test('@playwright/mcp over stdio: every tool, through the agent', { skip }, async () => {
  const world = makeWorld()
  const site = createServer((_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE))
  await new Promise<void>((done) => void site.listen(0, '127.0.0.1', done))
  try {
    const { port } = site.address() as AddressInfo
    const flags = ['--headless', '--executable-path', CHROMIUM, '--no-sandbox', '--isolated']
    writeFileSync(join(world.work, 'notes.txt'), 'notes')
    const rows = browserCalls(`http://127.0.0.1:${port}/`, join(world.work, 'notes.txt'))
    await callAll(world, { command: NODE, args: [programOf('@playwright/mcp'), ...flags] }, rows, 'playwright')
  } finally {
    site.closeAllConnections()
    site.close()
  }
  await noneAliveIn(world.work)
})
