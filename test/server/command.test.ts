import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect } from '../../src/server/client/connect.ts'
import { dragoman, stage } from '../support/command.ts'
import { ISOLATION } from '../support/environment.ts'
import { startCommand } from './start-command.ts'
import { until } from './support.ts'

test('dragoman serve on a fresh machine: one command, a token, and it goes on after kill -9', async () => {
  const here = await stage({ start: 'prompt', steps: [{ say: 'Hello.', delay: 300 }] })
  const first = await startCommand(here)
  const { url, token } = JSON.parse(first.first) as { url: string; token: string }
  assert.match(first.first, /^\{"url":"http:\/\/127\.0\.0\.1:\d+","token":"[\w-]{32}"\}$/)
  const agent = await connect({ url, token }).create({ id: 's' })
  assert.equal((await agent.run('Hi.')).text, 'Hello.')
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/sessions/s/prompts`, { method: 'POST', headers, body: '{"input":"Again."}' })
  assert.equal(response.status, 202)
  await response.text()
  await first.stop('SIGKILL')

  const second = await startCommand(here, ['--token', 'a-token-of-16-chars-or-more'])
  const next = JSON.parse(second.first) as { url: string; token: string }
  assert.equal(next.token, 'a-token-of-16-chars-or-more')
  const again = connect(next).open('s')
  await until('it ends by itself', async () => (await again.info).state === 'idle')
  // If the request to the model was on its way, a note says that it was interrupted.
  const roles = (await again.history).map(({ role }) => role).filter((role) => role !== 'note')
  assert.deepEqual(roles, ['user', 'assistant', 'user', 'assistant'])
  const other = await dragoman(['serve'], here)
  assert.deepEqual([other.code, /another dragoman serve/.test(other.err)], [1, true], other.err)
  assert.equal(await second.stop(), 0)
})

test('dragoman serve: a workspace from git, its files, and a tool that waits for approval', async () => {
  const here = await stage({
    start: 'prompt',
    steps: [
      { call: [{ name: 'write_file', args: { file_path: 'note.txt', content: 'A note.\n' } }] },
      { say: 'Written.' },
    ],
  })
  const repository = join(here.work, 'repository')
  mkdirSync(repository)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, env: { ...ISOLATION, ...here.env } })
  git('init', '-q')
  writeFileSync(join(repository, 'README.md'), '# Hello\n')
  writeFileSync(join(repository, '.git/hooks/post-checkout'), `#!/bin/sh\ntouch ${here.work}/hooked\n`, { mode: 0o755 })
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'One')
  mkdirSync(join(here.home, '.config/dragoman'), { recursive: true })
  const hash = execFileSync('sha256sum', { input: 'the-token-of-acme' }).toString().slice(0, 64)
  const tenants = { acme: { tokens: [{ hash: `sha256:${hash}`, scopes: ['admin'] }], git: [`file://${here.work}`] } }
  writeFileSync(join(here.home, '.config/dragoman/config.json'), JSON.stringify({ server: { tenants } }))
  const server = await startCommand(here)
  const { url, token } = JSON.parse(server.first) as { url: string; token?: string }
  assert.equal(token, undefined)
  const connection = connect({ url, token: 'the-token-of-acme' })
  await assert.rejects(connection.create({ workspace: { git: 'file:///etc' } }), { code: 'forbidden' })
  const agent = await connection.create({ id: 'w', workspace: { git: `file://${repository}` } })
  assert.equal((await agent.run('Write a note.')).finish, 'awaiting-approval')
  const [pending] = await agent.pending
  await agent.reply(pending?.id ?? '', true)
  assert.equal((await agent.resume()).text, 'Written.')
  const get = async (path: string) =>
    (await fetch(`${url}/v1/sessions/w/${path}`, { headers: { authorization: 'Bearer the-token-of-acme' } })).text()
  assert.equal(await get('files/content?path=note.txt'), 'A note.\n')
  assert.match(await get('files'), /"README\.md"/)
  assert.throws(() => readFileSync(join(here.work, 'hooked')), { code: 'ENOENT' })
  await connection.remove('w')
  assert.equal(await server.stop(), 0)
})

test('dragoman serve and worker: what cannot be used is one sentence', async () => {
  const here = await stage([])
  const cases: readonly (readonly [args: string[], code: number, text: RegExp])[] = [
    [['serve', '--port', 'x'], 42, /--port/],
    [['serve', '--token', 'short'], 42, /at least 16 characters/],
    [['serve', '--database', 'mysql://x'], 42, /postgres:\/\//],
    [['worker'], 42, /needs --database/],
    [['worker', '--database', 'postgres://127.0.0.1:1/none'], 42, /the database cannot be used/],
    [['serve', 'now'], 42, /now/],
  ]
  for (const [args, code, text] of cases) {
    const ended = await dragoman(args, here)
    assert.deepEqual([ended.code, text.test(ended.err)], [code, true], `${args.join(' ')}: ${ended.code} ${ended.err}`)
  }
  const taken = createServer().listen(0, '127.0.0.1')
  await until('it listens', () => taken.address() !== null)
  const { port } = taken.address() as { port: number }
  const busy = await dragoman(['serve', '--port', String(port)], here)
  assert.deepEqual([busy.code, /cannot start/.test(busy.err)], [1, true], busy.err)
  taken.close()
})
