import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createSandboxLayout } from '../../src/host/sandbox/layout.ts'
import { connect } from '../../src/server/client/connect.ts'
import { hashToken } from '../../src/server/http/tenants.ts'
import { findWorkspaceProblem } from '../../src/server/workspace-url.ts'
import { skipWithoutBox } from '../host/box.ts'
import { stage } from '../support/command.ts'
import { ISOLATION } from '../support/environment.ts'
import { startCommand } from './start-command.ts'
import { place, until } from './support.ts'

const TOKEN = 'the-token-of-acme'
const isSandboxed = (await skipWithoutBox()) === false

test('a repository that does all it can: nothing of it runs, and nothing outside of it is read', async () => {
  const here = await stage({
    start: 'prompt',
    steps: [{ call: [{ name: 'read_file', args: { absolute_path: 'README.md' } }] }, { say: 'Read.' }],
  })
  const env = { ...ISOLATION, ...here.env }
  const repository = join(here.work, 'repository')
  mkdirSync(join(repository, 'sub'), { recursive: true })
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, env, stdio: 'pipe' })
  const mark = join(here.work, 'owned')
  git('init', '-q', '-b', 'main')
  // Each of these would leave a mark.
  writeFileSync(join(repository, '.git/hooks/post-checkout'), `#!/bin/sh\ntouch ${mark}-hook\n`, { mode: 0o755 })
  git('config', 'uploadpack.packObjectsHook', `touch ${mark}-pack; `)
  writeFileSync(join(repository, '.gitattributes'), '* filter=owned diff=owned\n')
  git('config', 'filter.owned.smudge', `touch ${mark}-smudge; cat`)
  writeFileSync(
    join(repository, '.gitmodules'),
    `[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% ${mark}-module\n\tupdate = !touch ${mark}-update\n`,
  )
  writeFileSync(join(repository, '.lfsconfig'), '[lfs]\n\turl = http://127.0.0.1:1/\n')
  writeFileSync(join(repository, 'README.md'), '# The readme\n')
  writeFileSync(join(repository, 'sub/AGENTS.md'), 'Instructions of a folder.')
  const settings = join(here.home, '.config/dragoman/config.json')
  symlinkSync(settings, join(repository, 'AGENTS.md'))
  symlinkSync(settings, join(repository, 'GEMINI.md'))
  symlinkSync('/etc', join(repository, 'etc'))
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'One')
  git('config', 'core.fsmonitor', `touch ${mark}-monitor`)

  // A git that says where it runs: a home folder that can be written is not that of a sandbox.
  const programs = join(here.work, 'programs')
  mkdirSync(programs)
  const real = execFileSync('sh', ['-c', 'command -v git']).toString().trim()
  writeFileSync(join(programs, 'git'), `#!/bin/sh\ntouch ${here.home}/outside-$$\nexec ${real} "$@"\n`, { mode: 0o755 })
  mkdirSync(join(here.home, '.config/dragoman'), { recursive: true })
  const tenants = {
    acme: { tokens: [{ hash: hashToken(TOKEN), scopes: ['admin'] }], git: [`file://${here.work}`] },
  }
  writeFileSync(settings, JSON.stringify({ server: { tenants } }))
  const server = await startCommand({ ...here, env: { ...here.env, PATH: `${programs}:${here.env['PATH']}` } })
  const { url } = JSON.parse(server.first) as { url: string }
  const connection = connect({ url, token: TOKEN })
  const get = async (path: string) => {
    const response = await fetch(`${url}/v1/sessions/${path}`, { headers: { authorization: `Bearer ${TOKEN}` } })
    return { status: response.status, text: await response.text() }
  }

  const agent = await connection.create({ id: 'w', workspace: { git: `file://${repository}`, ref: 'main' } })
  const ended = await agent.run('Read it.')
  assert.equal(ended.text, 'Read.', JSON.stringify(ended.fault))
  assert.equal((await get('w/files/content?path=README.md')).text, '# The readme\n')
  assert.deepEqual(
    readdirSync(here.work).filter((name) => name.startsWith('owned')),
    [],
  )
  for (const path of ['AGENTS.md', 'GEMINI.md', 'etc/passwd', '../origin.json', '..'])
    assert.equal((await get(`w/files/content?path=${encodeURIComponent(path)}`)).status, 404, path)
  const requests = here.server.requests.map(({ body }) => JSON.stringify(body)).join('\n')
  assert.ok(!requests.includes(hashToken(TOKEN)), 'the model read the settings through a link')
  assert.match(requests, /The readme/)
  const outside = readdirSync(here.home).filter((name) => name.startsWith('outside'))
  if (isSandboxed) assert.deepEqual(outside, [], 'git ran outside of the sandbox')
  else assert.notDeepEqual(outside, [])

  // A folder that is left over from a removed session of the same name is not used.
  await until('it is removed', () =>
    connection.remove('w').then(
      () => true,
      () => false,
    ),
  )
  const left = join(here.home, '.local/state/dragoman/workspaces/acme/w')
  assert.ok(!existsSync(left))
  mkdirSync(join(left, 'files'), { recursive: true })
  writeFileSync(join(left, 'files/stale.txt'), 'stale')
  const again = await connection.create({ id: 'w', workspace: { git: `file://${repository}` } })
  await again.run('Read it.')
  assert.doesNotMatch((await get('w/files')).text, /stale/)
  // Names that look like those of other files of ours are sessions like others.
  const dotted = await connection.create({ id: 'w.partial', workspace: { git: `file://${repository}` } })
  await dotted.run('Read it.')
  assert.match((await get('w/files')).text, /README/)

  // What cannot be checked out ends the prompt with a reason.
  for (const [id, workspace] of Object.entries({
    missing: { git: `file://${here.work}/none` },
    'no-ref': { git: `file://${repository}`, ref: 'nothing-like-this' },
    'no-repository': { git: `file://${programs}` },
  })) {
    const failing = await connection.create({ id, workspace })
    const { finish, fault } = await failing.run('Read it.')
    assert.equal(finish, 'fault', id)
    assert.match(fault?.message ?? '', /cannot be checked out/, id)
    assert.equal((await get(`${id}/files`)).status, 404, id)
  }
  assert.equal(await server.stop(), 0)
})

test('git URLs: what a tenant may name', () => {
  const allowed = ['https://git.example/acme', 'ssh://git@git.example/acme', 'file:///srv/acme']
  const check = (git: string, prefixes = allowed) => findWorkspaceProblem({ git }, prefixes) === undefined
  for (const git of [
    'https://git.example/acme',
    'https://git.example/acme/app.git',
    'ssh://git@git.example/acme/app',
    'file:///srv/acme/app',
  ])
    assert.ok(check(git), git)
  for (const git of [
    '--upload-pack=touch x',
    '-oProxyCommand=x',
    'ext::sh -c touch% x',
    'fd::3',
    'transport::https://git.example/acme',
    'git@git.example:acme/app',
    '/srv/acme',
    '../acme',
    'http://git.example/acme',
    'git://git.example/acme',
    'ftp://git.example/acme',
    'file:///srv/acme/../other',
    'file:///srv/acme2',
    'file://host/srv/acme',
    'https://git.example/acme/../other',
    'https://git.example/acme/%2e%2e/other',
    'https://git.example/acme/%2E%2E%2Fother',
    'https://git.example/acme\\..\\other',
    'https://git.example/acmeother',
    'https://git.example.evil.example/acme',
    'https://git.example@evil.example/acme',
    'https://user:password@git.example/acme',
    'https://token@git.example/acme',
    'https://git.example:8443/acme',
    'HTTPS://git.example/acme',
    'https://GIT.example/acme',
    'https://git.example/acme?x=1',
    'https://git.example/acme#x',
    'https://git.example/acme app',
    'https://git.example/acme\n--upload-pack=x',
    'ssh://git.example/acme',
    'ssh://root@git.example/acme',
    'ssh://-oProxyCommand=x@git.example/acme',
    'ssh://git@-oProxyCommand=x/acme',
    'ssh://git:password@git.example/acme',
  ])
    assert.ok(!check(git), git)
  // A prefix without a host does not open the own network; an explicit host does, and `*` all hosts, but no disk.
  for (const host of [
    'localhost',
    '127.0.0.1',
    '10.0.0.1',
    '[::1]',
    '169.254.169.254',
    'git',
    'git.internal',
    'x.local',
  ])
    assert.ok(!check(`https://${host}/x`, ['https://']), host)
  assert.ok(check('https://github.com/x/y', ['https://']))
  assert.ok(!check('ssh://git@github.com/x/y', ['https://']))
  assert.ok(check('https://git.internal/x', ['https://git.internal']))
  assert.ok(check('https://git.internal/x', ['*']) && check('ssh://git@10.0.0.1/x', ['*']))
  assert.ok(!check('file:///srv/acme', ['*']) && !check('ext::sh', ['*']))
})

test('a command in the sandbox sees one workspace, wherever the workspaces are', () => {
  const root = mkdtempSync(join(place, 'workspaces-'))
  for (const name of ['acme/s/files', 'evil/s/files']) mkdirSync(join(root, name), { recursive: true })
  const layout = createSandboxLayout({
    folders: [join(root, 'evil/s/files')],
    home: join(root, 'no-home'),
    secretFolders: [],
    emptyFolders: [root],
    path: '',
    network: false,
    cache: { realPaths: new Map(), secrets: new Set() },
  })
  assert.ok(layout.hidden.includes(root))
  assert.deepEqual(layout.writable, [join(root, 'evil/s/files')])
})
