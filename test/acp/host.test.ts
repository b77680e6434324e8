import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { stage } from '../support/command.ts'
import { root } from '../support/paths.ts'
import { choose, never, openEditor } from './support/editor.ts'
import { poll } from './support/killed-states.ts'

const LIMIT = { timeout: 300_000 }
const FILES = { fs: { readTextFile: true, writeTextFile: true } }

test('what is not saved in the editor is read and edited, not the stale file', LIMIT, async () => {
  const place = await stage([
    { call: [{ name: 'read_file', args: { absolute_path: '{cwd}/a.txt' } }] },
    {
      expect: { results: 'unsaved line' },
      call: [{ name: 'replace', args: { file_path: '{cwd}/a.txt', old_string: 'unsaved', new_string: 'edited' } }],
    },
    { say: 'Done.' },
  ])
  const path = join(place.work, 'a.txt')
  writeFileSync(path, 'saved line\r\n')
  const buffers = new Map([[path, 'unsaved line\n']])
  const editor = await openEditor(place, {
    capabilities: FILES,
    permit: () => choose('once'),
    readFile: (one) => buffers.get(one) ?? assert.fail(`no buffer ${one}`),
    writeFile: (one, content) => buffers.set(one, content),
  })
  const { sessionId } = await editor.newSession()
  assert.equal(await editor.prompt(sessionId, 'Edit it.'), 'end_turn')
  assert.deepEqual(place.server.failures ?? [], [])
  // The line ends of the file are kept, and only the editor wrote it.
  assert.equal(buffers.get(path), 'edited line\r\n')
  assert.equal(readFileSync(path, 'utf8'), 'saved line\r\n')
  assert.equal(editor.questions.length, 1)
  await editor.close()
})

test('files that the editor does not know, binary files and links out of the folder stay local', LIMIT, async () => {
  const place = await stage([
    {
      call: [
        { name: 'write_file', args: { file_path: '{cwd}/deep/new.txt', content: 'made\n' } },
        { name: 'write_file', args: { file_path: '{cwd}/known.txt', content: 'changed\n' } },
      ],
    },
    { call: [{ name: 'read_file', args: { absolute_path: '{cwd}/link/secret.txt' } }] },
    { say: 'Done.' },
  ])
  mkdirSync(join(place.home, 'outside'))
  writeFileSync(join(place.home, 'outside/secret.txt'), 'secret\n')
  symlinkSync(join(place.home, 'outside'), join(place.work, 'link'))
  writeFileSync(join(place.work, 'known.txt'), 'disk\n')
  const asked: string[] = []
  const editor = await openEditor(place, {
    capabilities: FILES,
    args: ['--approval-mode', 'auto_edit'],
    permit: () => choose('no'),
    readFile: (path) => {
      asked.push(path)
      throw new Error('not in this project')
    },
    writeFile: (path) => assert.fail(`wrote ${path}`),
  })
  const { sessionId } = await editor.newSession()
  assert.equal(await editor.prompt(sessionId, 'Go.'), 'end_turn')
  assert.equal(readFileSync(join(place.work, 'deep/new.txt'), 'utf8'), 'made\n')
  assert.equal(readFileSync(join(place.work, 'known.txt'), 'utf8'), 'changed\n')
  assert.deepEqual(
    asked.filter((path) => path.includes('secret')),
    [],
  )
  await editor.close()
})

test('a command runs in a terminal of the editor if there is no sandbox', LIMIT, async () => {
  const place = await stage([
    { call: [{ name: 'run_shell_command', args: { command: 'make all' } }] },
    { expect: { results: ['built it', 'Exit Code: 3'] }, say: 'Done.' },
  ])
  const created: unknown[] = []
  const editor = await openEditor(place, {
    capabilities: { terminal: true },
    args: ['--sandbox', 'off'],
    permit: () => choose('once'),
    terminal: ({ args, cwd }) => {
      created.push([args, cwd])
      return { output: 'built it\n', exitCode: 3 }
    },
  })
  const { sessionId } = await editor.newSession()
  assert.equal(await editor.prompt(sessionId, 'Build.'), 'end_turn')
  assert.match(editor.text(), /Done\./)
  assert.deepEqual(created, [[['-c', 'make all'], place.work]])
  const contents = editor.updatesOf('tool_call_update').flatMap(({ content }) => content ?? [])
  assert.ok(contents.some((one) => one.type === 'terminal' && one.terminalId === 'terminal-1'))
  assert.ok(editor.schema.methods.has('agent terminal/release'))
  await editor.close()
})

test('MCP servers of the client are used, and their questions are shown as forms', LIMIT, async () => {
  const place = await stage([
    { call: [{ name: 'greet', args: {} }] },
    { expect: { results: 'Hi $USER Ada' }, say: 'Greeted.' },
  ])
  const server = join(root, 'test/acp/support/asking-server.mjs')
  const editor = await openEditor(place, {
    capabilities: { elicitation: { form: {} } },
    permit: () => choose('once'),
    elicit: (request) => {
      assert.match(request.message, /asker asks: Who are you\?/)
      return { action: 'accept', content: { name: 'Ada' } }
    },
  })
  const { sessionId } = await editor.agent.request('session/new', {
    cwd: place.work,
    mcpServers: [
      // The client has filled in its variables: a dollar sign is one.
      { name: 'asker', command: process.execPath, args: [server], env: [{ name: 'GREETING', value: 'Hi $USER' }] },
    ],
  })
  // The server needs a moment to connect.
  while (!/asker: ready/.test(editor.text())) {
    assert.doesNotMatch(editor.text(), /asker: failed/)
    assert.equal(await editor.prompt(sessionId, '/mcp'), 'end_turn')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  assert.equal(await editor.prompt(sessionId, 'Greet me.'), 'end_turn')
  assert.match(editor.text(), /Greeted\./)
  assert.ok(editor.schema.methods.has('agent elicitation/create'))
  await editor.close()
})

test('MCP servers of the client over HTTP get the headers of the client', LIMIT, async () => {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await request.toArray()).join('') || '{}'
    const { id, method = '' } = JSON.parse(body) as { id?: number; method?: string }
    const results: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 's', version: '1' },
      },
      'tools/list': { tools: [{ name: 'who', inputSchema: { type: 'object', properties: {} } }] },
      'tools/call': { content: [{ type: 'text', text: `You are ${String(request.headers['x-user'])}.` }] },
    }
    const result = results[method]
    const reply = result ? { result } : { error: { code: -32601, message: 'Method not found' } }
    if (request.method !== 'POST') response.writeHead(405).end()
    else if (id === undefined) response.writeHead(202).end()
    else
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...reply }))
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  const place = await stage([
    { call: [{ name: 'who', args: {} }] },
    { expect: { results: 'You are Ada $HOME.' }, say: 'Known.' },
  ])
  const editor = await openEditor(place, { permit: () => choose('once') })
  const headers = [{ name: 'X-User', value: 'Ada $HOME' }]
  const { sessionId } = await editor.newSession({ mcpServers: [{ type: 'http', name: 'remote', url, headers }] })
  while (!/remote: ready/.test(editor.text())) {
    assert.doesNotMatch(editor.text(), /remote: failed/)
    assert.equal(await editor.prompt(sessionId, '/mcp'), 'end_turn')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  assert.equal(await editor.prompt(sessionId, 'Who am I?'), 'end_turn')
  assert.match(editor.text(), /Known\./)
  assert.deepEqual(place.server.failures, [])
  await editor.close()
})

test(
  'an editor that does not answer about a file does not keep a cancelled prompt, and nothing is written',
  LIMIT,
  async () => {
    const path = (name: string) => ({ file_path: `{cwd}/${name}` })
    const place = await stage([
      { when: { user: 'read' }, call: [{ name: 'read_file', args: { absolute_path: '{cwd}/a.txt' } }] },
      {
        when: { user: 'edit' },
        call: [{ name: 'replace', args: { ...path('a.txt'), old_string: 'disk', new_string: 'edited' } }],
      },
      { when: { user: 'create' }, call: [{ name: 'write_file', args: { ...path('new.txt'), content: 'made\n' } }] },
    ])
    const file = join(place.work, 'a.txt')
    writeFileSync(file, 'disk\n')
    let asked = 0
    const hang = (): Promise<string> => {
      asked++
      return never()
    }
    const editor = await openEditor(place, { capabilities: FILES, args: ['--yolo'], readFile: hang, writeFile: hang })
    for (const word of ['read', 'edit', 'create']) {
      const before = asked
      const { sessionId } = await editor.newSession()
      const ended = editor.prompt(sessionId, word)
      await poll(() => asked > before)
      await editor.agent.notify('session/cancel', { sessionId })
      assert.equal(await ended, 'cancelled', word)
    }
    await editor.close()
    assert.equal(readFileSync(file, 'utf8'), 'disk\n')
    assert.equal(existsSync(join(place.work, 'new.txt')), false)
  },
)
