import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { localHost } from '../../src/host/local-host.ts'
import { skipWithoutBox } from './box.ts'
import { place } from './place.ts'
import { clearAway } from '../support/clear.ts'

/** With another search path for as long as the work takes. */
async function withPath<T>(path: string, work: () => Promise<T>): Promise<T> {
  const before = process.env['PATH']
  process.env['PATH'] = path
  try {
    return await work()
  } finally {
    process.env['PATH'] = before
  }
}

const onLinux = process.platform === 'linux' ? false : 'bubblewrap is for Linux'

if (process.env['DRAGOMAN_AS_NOBODY'] !== undefined) await asNobody(process.env['DRAGOMAN_AS_NOBODY'])
else if (process.env['DRAGOMAN_TO_BE_KILLED'] !== undefined) await toBeKilled(process.env['DRAGOMAN_TO_BE_KILLED'])
else tests()

function tests(): void {
  describe('without a sandbox', { skip: onLinux }, () => {
    test('bubblewrap is missing: commands run, and the person is told once how to get it', async () => {
      const told: string[] = []
      using at = place(() => ({ sandbox: { mode: 'auto' }, onUnsandboxed: (why) => told.push(why) }))
      await withPath(at.base, async () => {
        for (const word of ['one', 'two']) {
          const end = await at.host.processes.run({ command: `echo ${word}`, folder: at.ws })
          assert.deepEqual([end.output, end.sandboxed], [`${word}\n`, undefined])
        }
      })
      assert.equal(told.length, 1)
      assert.match(told[0] ?? '', /not installed.*apt install bubblewrap/)
    })

    test('bubblewrap does not work here: said with its own words', async () => {
      using at = place(() => ({ sandbox: { mode: 'auto' } }))
      const bin = join(at.base, 'bin')
      mkdirSync(bin)
      writeFileSync(join(bin, 'bwrap'), '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n')
      chmodSync(join(bin, 'bwrap'), 0o755)
      const state = await withPath(bin, () => at.host.sandbox())
      assert.ok(!state.isActive)
      assert.match(state.why, /does not work: bwrap: setting up uid map: Permission denied/)
      assert.match(state.remedy ?? '', /user namespaces/)
    })

    test('a program of that name in the workspace is not used', async () => {
      using at = place(() => ({ sandbox: { mode: 'auto' } }))
      writeFileSync(join(at.ws, 'bwrap'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
      const state = await withPath(at.ws, () => at.host.sandbox())
      assert.ok(!state.isActive)
      assert.match(state.why, /not installed/)
    })

    test('demanded and impossible: nothing runs', async () => {
      using at = place(() => ({ sandbox: { mode: 'on' } }))
      const end = await withPath(at.base, () => at.host.processes.run({ command: 'touch ran', folder: at.ws }))
      assert.match(end.error ?? '', /must run in a sandbox/)
      assert.ok(!existsSync(join(at.ws, 'ran')))
    })

    test('the whole disk as a workspace cannot be shut in', async () => {
      using at = place()
      const host = localHost({ folders: ['/'], scratch: at.scratch, sandbox: { mode: 'auto' } })
      const state = await host.sandbox()
      assert.ok(!state.isActive)
      assert.match(state.why, /whole disk/)
      host.close()
    })

    test('off is off', async () => {
      using at = place(() => ({ sandbox: { mode: 'off' } }))
      assert.equal((await at.host.sandbox()).isActive, false)
      await at.host.processes.run({ command: 'mkdir .vscode', folder: at.ws })
      assert.ok(existsSync(join(at.ws, '.vscode')))
    })
  })

  test('it dies with us, however we die', async (context) => {
    const skip = await skipWithoutBox()
    if (skip !== false) return context.skip(skip)
    using at = place()
    const env = { ...process.env, DRAGOMAN_TO_BE_KILLED: at.base }
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], { env, stdio: 'ignore' })
    const pids = (): number[] => {
      const text = existsSync(join(at.ws, 'pid')) ? readFileSync(join(at.ws, 'pid'), 'utf8') : ''
      return text.endsWith('\n') ? running(`sleep\0${text.trim()}\0`) : []
    }
    while (pids().length === 0) await wait(20)
    child.kill('SIGKILL')
    for (let tries = 0; pids().length > 0 && tries < 3000; tries++) await wait(20)
    assert.deepEqual(pids(), [])
  })

  test('an ordinary user has the same sandbox', async (context) => {
    const skip = (await skipWithoutBox()) || (process.getuid?.() !== 0 && 'only the superuser can become somebody else')
    if (skip) return context.skip(skip)
    const base = mkdtempSync(join(tmpdir(), 'dragoman-nobody-'))
    chmodSync(base, 0o777)
    const as = ['--reuid', '65534', '--regid', '65534', '--clear-groups', process.execPath]
    const env = { PATH: process.env['PATH'], HOME: join(base, 'home'), DRAGOMAN_AS_NOBODY: base }
    const child = spawnSync('setpriv', [...as, fileURLToPath(import.meta.url)], { env, encoding: 'utf8', cwd: '/' })
    clearAway(base)
    if (child.status === null || /EACCES|Cannot find module|not found/.test(child.stderr))
      return context.skip(`nobody cannot run Node here: ${child.stderr.slice(0, 200)}`)
    assert.deepEqual(JSON.parse(child.stdout), {
      kind: 'bubblewrap',
      inside: true,
      outside: false,
      hooks: false,
      key: false,
      code: 7,
    })
  })
}

function running(commandLine: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === commandLine
      } catch {
        return false
      }
    })
    .map(Number)
}

async function toBeKilled(base: string): Promise<void> {
  const seconds = 5000 + (process.pid % 1000)
  const host = localHost({ folders: [join(base, 'ws')], scratch: join(base, 'scratch'), sandbox: { mode: 'on' } })
  const command = `setsid sleep ${seconds} & echo ${seconds} > pid; sleep ${seconds}`
  await host.processes.run({ command, folder: join(base, 'ws') })
}

async function asNobody(base: string): Promise<void> {
  const [ws, home, other] = [join(base, 'ws'), join(base, 'home'), join(base, 'other')]
  for (const folder of [ws, join(home, '.ssh'), other]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(home, '.ssh/id_rsa'), 'canary-key')
  const host = localHost({ folders: [ws], scratch: join(base, 'scratch'), sandbox: { mode: 'on', home } })
  const state = await host.sandbox()
  const command = `touch in; touch ${other}/out; mkdir -p .git/hooks && touch .git/hooks/x; cat ${home}/.ssh/id_rsa; exit 7`
  const end = await host.processes.run({ command, folder: ws })
  const facts = {
    kind: state.isActive ? state.kind : state.why,
    inside: existsSync(join(ws, 'in')),
    outside: existsSync(join(other, 'out')),
    hooks: existsSync(join(ws, '.git/hooks/x')),
    key: end.output.includes('canary-key'),
    code: end.exitCode,
  }
  host.close()
  process.stdout.write(`${JSON.stringify(facts)}\n`)
}
