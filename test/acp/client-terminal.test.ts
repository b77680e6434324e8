import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { client, type CreateTerminalRequest, ndJsonStream } from '@agentclientprotocol/sdk'
import { withClientTerminal } from '../../src/acp/client-terminal.ts'
import { type Connection, createConnection } from '../../src/acp/connection.ts'
import type { CommandRequest, CommandResult, Host } from '../../src/host/host.ts'
import { stage } from '../support/command.ts'
import { choose, type EditorTerminal, never, openEditor } from './support/editor.ts'
import { poll } from './support/killed-states.ts'

const LIMIT = { timeout: 300_000 }
const FREE = ['--sandbox', 'off', '--yolo']
const command = (text: string) => ({ call: [{ name: 'run_shell_command', args: { command: text } }] })

test('a cancelled command is killed and released in the terminal of the editor', LIMIT, async () => {
  const place = await stage([command('make all'), { say: 'Done.' }])
  const editor = await openEditor(place, {
    capabilities: { terminal: true },
    args: FREE,
    terminal: () => ({ output: 'half of it\n' }),
  })
  const { sessionId } = await editor.newSession()
  const ended = editor.prompt(sessionId, 'Build.')
  await editor.until(() =>
    editor.updatesOf('tool_call_update').find(({ content }) => content?.some(({ type }) => type === 'terminal')),
  )
  await editor.agent.notify('session/cancel', { sessionId })
  assert.equal(await ended, 'cancelled')
  await editor.until(() => editor.terminalEnds[1])
  assert.deepEqual(editor.terminalEnds, ['kill terminal-1', 'release terminal-1'])
  assert.equal(editor.updatesOf('tool_call_update').at(-1)?.status, 'failed')
  await editor.close()
})

test('an editor that does not answer after a kill does not keep the prompt from its end', LIMIT, async () => {
  const place = await stage([command('make all'), { say: 'Done.' }])
  const editor = await openEditor(place, {
    capabilities: { terminal: true },
    args: FREE,
    terminal: (): EditorTerminal => ({ output: 'half of it\n', ignoresKill: true }),
  })
  const { sessionId } = await editor.newSession()
  const ended = editor.prompt(sessionId, 'Build.')
  await editor.until(() =>
    editor.updatesOf('tool_call_update').find(({ content }) => content?.some(({ type }) => type === 'terminal')),
  )
  await editor.agent.notify('session/cancel', { sessionId })
  assert.equal(await ended, 'cancelled')
  await editor.close()
})

test('a terminal that comes after the cancellation is killed and released', LIMIT, async () => {
  const place = await stage([command('make all'), { say: 'Done.' }])
  let isCreating = false
  let create: (terminal: EditorTerminal) => void = () => undefined
  const late = new Promise<EditorTerminal>((resolve) => (create = resolve))
  const editor = await openEditor(place, {
    capabilities: { terminal: true },
    args: FREE,
    terminal: () => {
      isCreating = true
      return late
    },
  })
  const { sessionId } = await editor.newSession()
  const ended = editor.prompt(sessionId, 'Build.')
  await poll(() => isCreating)
  await editor.agent.notify('session/cancel', { sessionId })
  assert.equal(await ended, 'cancelled')
  assert.deepEqual(editor.terminalEnds, [])
  create({ output: '' })
  await editor.until(() => editor.terminalEnds[1])
  assert.deepEqual(editor.terminalEnds, ['kill terminal-1', 'release terminal-1'])
  await editor.close()
})

test('a command runs here, once, if the editor makes no terminal', LIMIT, async () => {
  const place = await stage([
    command('echo from here >> out.txt; cat out.txt'),
    { expect: { results: 'from here' }, say: 'Done.' },
  ])
  const editor = await openEditor(place, {
    capabilities: { terminal: true },
    args: ['--sandbox', 'off'],
    permit: () => choose('once'),
    terminal: () => {
      throw new Error('no terminals today')
    },
  })
  const { sessionId } = await editor.newSession()
  assert.equal(await editor.prompt(sessionId, 'Say it.'), 'end_turn')
  assert.equal(readFileSync(join(place.work, 'out.txt'), 'utf8'), 'from here\n')
  assert.deepEqual(editor.terminalEnds, [])
  await editor.close()
})

/** Runs a command in a terminal of the SDK's client, in this process, because the command has no short time limits. */
function openTerminalHost(output: () => string) {
  const ends: string[] = []
  const created: CreateTerminalRequest[] = []
  let kill: () => void = () => undefined
  const killed = new Promise<void>((resolve) => (kill = resolve))
  const toClient = new TransformStream<Uint8Array, Uint8Array>()
  const toAgent = new TransformStream<Uint8Array, Uint8Array>()
  client()
    .onRequest('terminal/create', ({ params }) => {
      created.push(params)
      return { terminalId: 'one' }
    })
    .onRequest('terminal/output', () => ({ output: output(), truncated: false }))
    .onRequest('terminal/wait_for_exit', async () => {
      await killed
      return { signal: 'SIGKILL' }
    })
    .onRequest('terminal/kill', () => {
      ends.push('kill')
      kill()
      return {}
    })
    .onRequest('terminal/release', () => {
      ends.push('release')
      return {}
    })
    .connect(ndJsonStream(toAgent.writable, toClient.readable))
  const writer = toClient.writable.getWriter()
  const connection: Connection = createConnection({
    send: (line) => void writer.write(new TextEncoder().encode(line)),
    onRequest: () => never(),
    onNotification: () => undefined,
    log: () => undefined,
  })
  void toAgent.readable.pipeTo(new WritableStream({ write: (bytes: Uint8Array) => connection.receive(bytes) }))
  const local = { processes: { run: () => assert.fail('it ran here') } } as unknown as Host
  const { processes } = withClientTerminal(local, {
    connection,
    sessionId: () => 'session',
    onTerminal: () => undefined,
    isSandboxed: () => Promise.resolve(false),
    scratch: '/nowhere',
  })
  const run = (limits: Partial<CommandRequest>): Promise<CommandResult> =>
    processes.run({ command: 'sleep 1000', folder: '/', ...limits })
  return { run, ends, created }
}

test('the time limit of a command holds in the terminal of the editor', LIMIT, async () => {
  const { run, ends, created } = openTerminalHost(() => 'so far\n')
  const end = await run({ timeout: 300 })
  assert.equal(end.error, 'The command timed out after 0.3 s.')
  assert.equal(end.timedOut, true)
  assert.deepEqual([end.output, end.exitCode, end.signal], ['so far\n', null, 'SIGKILL'])
  assert.equal(ends[0], 'kill')
  assert.deepEqual(created[0]?.args, ['-c', 'sleep 1000'])
})

test('the limit without output holds there too, and output puts it off', LIMIT, async () => {
  let lines = 0
  const seen: string[] = []
  // It prints for a while, and then no more.
  const { run, ends } = openTerminalHost(() => 'line\n'.repeat((lines = Math.min(lines + 1, 4))))
  const end = await run({ idleTimeout: 1200, onOutput: (text) => void seen.push(text) })
  assert.equal(end.error, 'The command printed nothing for 1.2 s and was stopped.')
  assert.equal(end.timedOut, true)
  assert.equal(end.output, 'line\n'.repeat(4))
  assert.equal(seen.join(''), 'line\n'.repeat(4))
  assert.equal(ends[0], 'kill')
})
