import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { localHost } from '../../src/host/local-host.ts'
import { noneAliveIn } from '../support/alive.ts'
import { dragoman, stage } from '../support/command.ts'
import { root } from '../support/paths.ts'

const FIXTURE = join(root, 'test/mcp/support/fixture-server.mjs')

interface Listed {
  readonly name: string
  readonly status: string
  readonly why?: string
  readonly tools: readonly { readonly name: string }[]
  readonly setAside: readonly { readonly name: string; readonly reason: string }[]
}

test('dragoman mcp: add, list, test, remove; a session has the tools from its first request on', async () => {
  const world = await stage([{ call: [{ name: 'echo', args: { word: 'hello' } }] }, { say: 'Done.' }])
  const { work, home, server } = world

  const added = await dragoman(['mcp', 'add', 'pond', '--', process.execPath, FIXTURE], world)
  assert.equal(added.code, 0, added.err)
  assert.match(added.out, /pond: ready \(fixture 1, 2025-11-25\)/)
  assert.match(added.out, /tools: echo, where, media/)
  await dragoman(['mcp', 'add', 'gone', 'no-such-program'], world)
  await dragoman(['mcp', 'add', 'odd', '--exclude', 'media,slow', '--', process.execPath, FIXTURE, 'broken'], world)

  const listed = await dragoman(['mcp', 'list', '--json'], world)
  assert.equal(listed.code, 1, 'one of them is not there')
  const [pond, gone, odd] = JSON.parse(listed.out) as Listed[]
  assert.equal(pond?.status, 'ready')
  assert.equal(gone?.why, 'The program no-such-program was not found')
  assert.ok(odd?.tools.some(({ name }) => name === 'odd__echo'))
  assert.equal(odd?.setAside.find(({ name }) => name === 'media')?.reason, 'the settings exclude it')

  const called = await dragoman(['mcp', 'test', 'pond', 'echo', '{"word":"again"}'], world)
  assert.equal(called.out, 'Echo: again\n')
  assert.equal((await dragoman(['mcp', 'test', 'pond', 'fails'], world)).code, 1)
  assert.equal((await dragoman(['mcp', 'test', 'nowhere'], world)).code, 42)
  assert.equal((await dragoman(['mcp', 'remove', 'gone'], world)).code, 0)
  assert.equal((await dragoman(['mcp', 'remove', 'odd'], world)).code, 0)

  const run = await dragoman(['-p', 'go', '--allowed-tools', 'pond__echo', '-o', 'stream-json'], world)
  assert.equal(run.code, 0, run.err)
  assert.match(run.out, /Echo: hello/)
  const [first, second] = server.requests.map(({ bytes }) => JSON.parse(bytes.toString()) as { tools: unknown })
  assert.match(JSON.stringify(first?.tools), /"echo"/, 'declared before anybody has connected')
  assert.deepEqual(second?.tools, first?.tools)
  await noneAliveIn(work)

  // Without a rule nobody is there to be asked.
  const refused = await dragoman(['-p', 'go', '-o', 'stream-json'], world)
  assert.match(refused.out, /There is no user to ask/)
  assert.equal(statSync(join(home, '.local/share/dragoman/mcp')).mode & 0o77, 0)
})

test('dragoman mcp add is written as in the instructions of servers for Claude Code and Gemini CLI', async () => {
  const world = await stage([])
  const read = (path: string) =>
    (JSON.parse(readFileSync(path, 'utf8')) as { mcpServers: Record<string, unknown> }).mcpServers
  const [own, ofProject] = [join(world.home, '.config/dragoman/config.json'), join(world.work, '.dragoman/config.json')]
  const mcp = async (...words: string[]) => await dragoman(['mcp', ...words], world)
  await mcp('add', 'one', '-s', 'user', '-e', 'A=1', '-e', 'B=2', '--', process.execPath, FIXTURE)
  await mcp('add', '--transport', 'http', 'two', 'http://127.0.0.1:9/mcp', '-H', 'X-Word: y')
  await mcp('add', '-t', 'sse', 'three', 'http://127.0.0.1:9/sse')
  await mcp('add', '--scope', 'project', 'four', '--', process.execPath, FIXTURE)
  await mcp('add-json', 'five', JSON.stringify({ type: 'stdio', command: process.execPath, args: [FIXTURE] }))
  const stdio = { command: process.execPath, args: [FIXTURE] }
  assert.deepEqual(read(own), {
    one: { ...stdio, env: { A: '1', B: '2' } },
    two: { url: 'http://127.0.0.1:9/mcp', type: 'http', headers: { 'X-Word': 'y' } },
    three: { url: 'http://127.0.0.1:9/sse', type: 'sse' },
    five: stdio,
  })
  assert.deepEqual(read(ofProject), { four: stdio })
  assert.match((await mcp('get', 'one')).out, /one: ready/)
  assert.equal((await mcp('rm', 'five')).code, 0)
  assert.equal((await mcp('remove', '-s', 'project', 'four')).code, 0)
  assert.equal((await mcp('add-json', 'six', '[]')).code, 42)
  assert.match((await mcp('add', '-s', 'local', 'six', 'x')).err, /--scope must be one of user, project/)
})

test('a server gets a clean environment, its own variables and folder, and is shut in', async () => {
  const world = await stage([])
  const { work, env, home } = world
  const secret = 'a-value-that-stays-here'
  mkdirSync(join(work, 'inner'))
  mkdirSync(join(home, '.config/dragoman'), { recursive: true })
  writeFileSync(join(home, 'diary.txt'), 'dear diary')
  const pond = {
    command: process.execPath,
    args: [FIXTURE],
    cwd: join(work, 'inner'),
    env: { POND: '$DEPTH', PLAIN: 'plain' },
  }
  writeFileSync(join(home, '.config/dragoman/config.json'), JSON.stringify({ mcpServers: { pond } }))
  const where = await dragoman(['mcp', 'test', 'pond', 'where'], {
    work,
    env: { ...env, DEPTH: '7 fathoms', SECRET_TOKEN: secret },
  })
  assert.equal(where.code, 0, where.err + where.out)
  const seen = JSON.parse(where.out) as { cwd: string; env: Record<string, string>; home: string[] }
  assert.equal(seen.cwd, join(work, 'inner'))
  assert.equal(seen.env['POND'], '7 fathoms')
  assert.equal(seen.env['PLAIN'], 'plain')
  assert.ok(!JSON.stringify(seen).includes(secret) && seen.env['OPENAI_API_KEY'] === undefined)
  const host = localHost({ folders: [work], scratch: join(work, 'scratch'), sandbox: { mode: 'auto' } })
  const { isActive } = await host.sandbox()
  assert.equal(seen.home.includes('diary.txt'), !isActive, 'in the sandbox the home folder is not to be seen')
  host.close()

  const missing = await dragoman(['mcp', 'test', 'pond'], world)
  assert.match(missing.out, /the variable DEPTH is not set/)
})

test('dragoman mcp import: from files of other programs, on the person’s word only', async () => {
  const world = await stage([])
  const { work, home } = world
  mkdirSync(join(work, '.vscode'))
  mkdirSync(join(home, '.gemini'))
  const gemini = { mcpServers: { lake: { command: 'lake', args: ['-v'], trust: true, env: { KEY: '$KEY' } } } }
  writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(gemini))
  writeFileSync(
    join(work, '.vscode/mcp.json'),
    `{ // servers
      "servers": { "sea": { "type": "http", "url": "https://sea.example/mcp", "headers": { "K": "\${input:key}" }, },
      "bay": { "command": "bay", "env": { "A": "\${env:A}", "B": "\${B:-b}" } }, } }`,
  )
  const settings = join(home, '.config/dragoman/config.json')
  mkdirSync(dirname(settings), { recursive: true })
  writeFileSync(settings, '{"$schema":"https://example.com/schema.json","model":"a/b"}')
  const asked = await dragoman(['mcp', 'import', '--from', 'gemini'], world)
  assert.equal(asked.code, 42, 'nobody said yes')
  const done = await dragoman(['mcp', 'import', '--yes'], world)
  assert.equal(done.code, 0, done.err)
  assert.match(done.out, /sea was skipped: .* can replace the input “key”\. Write \$NAME there/)
  const kept = JSON.parse(readFileSync(settings, 'utf8')) as Record<string, unknown>
  assert.deepEqual(kept['mcpServers'], {
    // Trust does not come along.
    lake: { command: 'lake', args: ['-v'], env: { KEY: '$KEY' } },
    bay: { command: 'bay', env: { A: '${A}', B: '${B:-b}' } },
  })
  assert.equal(kept['$schema'], 'https://example.com/schema.json')
  assert.equal(kept['model'], 'a/b')
})
