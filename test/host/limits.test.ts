import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { localHost } from '../../src/host/local-host.ts'
import { until } from '../support/alive.ts'
import { boxedPlace, skipWithoutBox } from './box.ts'
import { place } from './place.ts'

const work = process.env['DRAGOMAN_WITHOUT_BOX']
if (work !== undefined) await runWithoutBox(JSON.parse(work) as Work)
else tests(await skipWithoutBox())

interface Work {
  readonly base: string
  readonly command: string
  readonly isClosed: boolean
}

function tests(skip: false | string): void {
  describe('limits of one command', { skip }, () => {
    test('a file cannot become larger than the limit', async () => {
      using at = place((base) => ({ sandbox: { mode: 'on', home: base }, fileLimit: 2 ** 20 }))
      const run = (command: string) => at.host.processes.run({ command, folder: at.ws })
      assert.notEqual((await run('head -c 5000000 /dev/zero > large')).exitCode, 0)
      assert.ok(statSync(join(at.ws, 'large')).size <= 2 ** 20)
      assert.equal((await run('head -c 500000 /dev/zero > small')).exitCode, 0)
    })

    for (const mode of ['on', 'off'] as const) {
      test(`what holds too much memory is stopped, and the model is told (sandbox ${mode})`, async () => {
        using at = place((base) => ({ sandbox: { mode, home: base }, memoryLimit: 200 * 2 ** 20 }))
        const fill = `const kept = []; setInterval(() => kept.push(Buffer.alloc(8 * 2 ** 20, 1)), 20)`
        const command = `"${process.execPath}" -e '${fill}'`
        const end = await at.host.processes.run({ command, folder: at.ws, timeout: 60_000 })
        assert.match(end.error ?? '', /the memory limit was reached \(200 MB\)/)
      })
    }

    test('where memory runs out, the system ends a command first', async () => {
      using at = boxedPlace()
      assert.equal((await at.run('cat /proc/self/oom_score_adj')).output, '1000\n')
      assert.notEqual(readFileSync('/proc/self/oom_score_adj', 'utf8'), '1000\n', 'we ourselves are not')
    })
  })

  describe('caches of packages', { skip }, () => {
    test('with the network open, what is fetched stays in the sandbox, from one command to the next', async () => {
      using at = boxedPlace({ network: true })
      await at.run(`echo evil > ${at.home}/.npm/_cacache/package; echo new > ${at.home}/.npm/_cacache/more`)
      assert.equal(readFileSync(join(at.home, '.npm/_cacache/package'), 'utf8'), 'cached\n')
      assert.ok(!existsSync(join(at.home, '.npm/_cacache/more')))
      assert.equal((await at.run(`cat ${at.home}/.npm/_cacache/more`)).output, 'new\n')
    })

    test('a server of tools does not write them either', async () => {
      using at = boxedPlace()
      mkdirSync(join(at.home, '.cache/ms-playwright'), { recursive: true })
      const script = `echo evil > ${at.home}/.cache/ms-playwright/chrome; echo evil > ${at.home}/.npm/_cacache/package; echo done`
      let how = ''
      const program = { command: '/bin/sh', args: ['-c', script], folder: at.ws }
      await at.host.stdioProcesses.open(program, { onOutput: () => undefined, onExit: (words) => (how = words) })
      await until(() => how !== '')
      assert.ok(!existsSync(join(at.home, '.cache/ms-playwright/chrome')))
      assert.equal(readFileSync(join(at.home, '.npm/_cacache/package'), 'utf8'), 'cached\n')
    })

    test('an option of its own opens them', async () => {
      using at = boxedPlace({ network: true, writeCaches: true })
      await at.run(`echo new > ${at.home}/.npm/_cacache/more`)
      assert.equal(readFileSync(join(at.home, '.npm/_cacache/more'), 'utf8'), 'new\n')
    })
  })

  describe('without a sandbox', { skip: existsSync('/proc/self/environ') ? false : 'there is no /proc here' }, () => {
    const daemon = `(setsid bash -c 'trap "" HUP TERM; echo $$ > daemon; while :; do sleep 0.2; done' >/dev/null 2>&1 &)`

    test('a daemon does not outlive a normal end', async () => {
      using at = place()
      const child = startWithoutBox({ base: at.base, command: `${daemon}; sleep 0.5`, isClosed: true })
      await ended(child)
      await until(() => !isAlive(pidIn(at.ws, 'daemon')))
    })

    test('nor an end in which nobody closes anything', async () => {
      using at = place()
      const child = startWithoutBox({ base: at.base, command: `${daemon}; sleep 0.5`, isClosed: false })
      await ended(child)
      await until(() => !isAlive(pidIn(at.ws, 'daemon')))
    })

    test('after kill -9 of us neither the command runs on nor what it started', async () => {
      using at = place()
      const command = `${daemon}; env -i sleep 3600 & echo $! > sleeper; echo $$ > shell; while :; do sleep 0.2; done`
      const child = startWithoutBox({ base: at.base, command, isClosed: true })
      const names = ['daemon', 'sleeper', 'shell']
      await until(() => names.every((name) => pidIn(at.ws, name) > 0), 30_000)
      const pids = names.map((name) => pidIn(at.ws, name))
      assert.ok(pids.every(isAlive))
      child.kill('SIGKILL')
      await until(() => !pids.some(isAlive))
    })
  })
}

function startWithoutBox(order: Work): ChildProcess {
  const env = { ...process.env, DRAGOMAN_WITHOUT_BOX: JSON.stringify(order) }
  return spawn(process.execPath, [fileURLToPath(import.meta.url)], { env, stdio: 'ignore' })
}

async function runWithoutBox({ base, command, isClosed }: Work): Promise<void> {
  const host = localHost({ folders: [join(base, 'ws')], scratch: join(base, 'scratch') })
  await host.processes.run({ command, folder: join(base, 'ws') })
  writeFileSync(join(base, 'over'), '')
  if (isClosed) host.close()
  else process.exit(0)
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once('exit', () => resolve()))
}

function pidIn(folder: string, name: string): number {
  const text = existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : ''
  return text.endsWith('\n') ? Number(text) : 0
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
