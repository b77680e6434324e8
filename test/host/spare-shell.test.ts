import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { CommandRequest } from '../../src/host/host.ts'
import { localHost } from '../../src/host/local-host.ts'
import { until } from '../support/alive.ts'
import { boxedPlace, type BoxedPlace, skipWithoutBox } from './box.ts'
import { place, type Place } from './place.ts'

const KILLED = process.env['DRAGOMAN_SPARE_SHELL']
if (KILLED === undefined) tests()
else await waitForKill(JSON.parse(KILLED) as KilledWork)

interface KilledWork {
  readonly base: string
}

/** The shells of this process that wait for a command, the youngest first: the first process of each, outside of its sandbox. */
function listWaiting(parent = process.pid): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isWaiting(pid, parent))
    .sort((one, other) => other - one)
}

function isWaiting(pid: number, parent: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, parentPid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const isShell = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('read -r -d')
    return isShell && state !== 'Z' && Number(parentPid) === parent
  } catch {
    return false
  }
}

type Runner = Pick<BoxedPlace, 'run'>

/**
 * Waits until so many shells wait; returns the one that waits longest, which is the next one. A sandbox cannot be started while
 * something that it must cover disappears; then another command runs.
 */
async function awaitSpare(at: Runner, expected = 1): Promise<number> {
  for (let attempt = 0; attempt < 30; attempt++) {
    await wait(100)
    for (let count = 0; count < 50 && listWaiting().length !== expected; count++) await wait(10)
    const waiting = listWaiting()
    const oldest = waiting.at(-1)
    if (oldest !== undefined && waiting.length === expected) return oldest
    await at.run('true')
  }
  return assert.fail('no shell waits')
}

/** Runs a command; was it run by the shell that waited? */
async function usesSpare(at: BoxedPlace, command = 'true', more = {}): Promise<boolean> {
  const waiting = await awaitSpare(at)
  const { group } = await at.run(command, more)
  return group === waiting
}

/** Is it used as soon as nothing else happens on the machine? */
async function usesSpareAtLast(at: BoxedPlace): Promise<boolean> {
  for (let attempt = 0; attempt < 10; attempt++) if (await usesSpare(at)) return true
  return false
}

function tests(): void {
  describe('the shell that waits for the next command', async () => {
    const skip = await skipWithoutBox()

    test('is used once, and ends with the host', { skip }, async () => {
      using at = boxedPlace()
      await at.run('true')
      assert.equal(await usesSpareAtLast(at), true)
      assert.equal(await usesSpareAtLast(at), true)
      await awaitSpare(at)
      at.host.close()
      await until(() => listWaiting().length === 0)
      assert.deepEqual(
        readdirSync(at.scratch).filter((name) => name.endsWith('.txt')),
        [],
      )
    })

    test('is like any other: text, variables, arguments, input, exit code', { skip }, async () => {
      using at = boxedPlace()
      const text = `printf '%s|%s' "$MINE" $'a\\tb'; cat <<'END'\nlast  line\\\nEND\nexit 7\n`
      const about = 'echo "$#$0"; read -r line; echo "<$line>"'
      const long = `${'x=1; '.repeat(2000)}echo "$x $MINE"`
      const results: unknown[] = []
      for (let round = 0; round < 2; round++) {
        const first = await at.run(text, { env: { MINE: 'a b\nc=d' } })
        const second = await at.run(about)
        const third = await at.run(long, { env: { MINE: 'm' } })
        results.push([first.output, first.exitCode, second.output, third.output])
      }
      assert.deepEqual(results[0], results[1])
      assert.deepEqual(results[1], ['a b\nc=d|a\tblast  line\\\n', 7, '0/bin/bash\n<>\n', '1 m\n'])
    })

    test('is not used on other terms', { skip }, async () => {
      using at = boxedPlace()
      await at.run('true')
      assert.equal(await usesSpare(at, 'true', { folder: join(at.ws, 'src') }), false)
      assert.equal(await usesSpare(at), false, 'it waits in the folder of the last command')
      process.env['LC_SPARE'] = 'x'
      assert.equal(await usesSpare(at), false, 'the environment has changed')
      delete process.env['LC_SPARE']
      await at.run('true')
      assert.equal(await usesSpare(at, 'true', { hasInput: true }), false)
    })

    test('is not used if another folder has taken the name of its folder', { skip }, async () => {
      using at = boxedPlace()
      await at.run('true')
      await awaitSpare(at)
      renameSync(at.ws, `${at.ws}-moved`)
      mkdirSync(at.ws)
      const waiting = await awaitSpare(at)
      const { output, group } = await at.run('ls; echo new > made')
      assert.deepEqual([output, group === waiting], ['', false])
      assert.equal(readFileSync(join(at.ws, 'made'), 'utf8'), 'new\n')
    })

    test('ends if we are killed, without running anything', { skip }, async () => {
      using at = boxedPlace()
      const env = { ...process.env, DRAGOMAN_SPARE_SHELL: JSON.stringify({ base: at.base }) }
      const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], { env, stdio: 'ignore' })
      await until(() => existsSync(join(at.base, 'ready')) && listWaiting(child.pid).length === 1)
      const [waiting = 0] = listWaiting(child.pid)
      child.kill('SIGKILL')
      await until(() => !isWaiting(waiting, 1) && !isWaiting(waiting, child.pid ?? 0))
    })
  })

  describe('the shell that waits without a sandbox', () => {
    const runIn = (at: Place, command: string, more: Partial<CommandRequest> = {}) =>
      at.host.processes.run({ command, folder: at.ws, ...more })
    const runner = (at: Place): Runner => ({ run: (command, more) => runIn(at, command, more) })
    const skip = existsSync('/proc/self/stat') ? false : 'the system does not list processes'

    test('is used once for a command in the same folder, and ends with the host', { skip }, async () => {
      using at = place()
      await runIn(at, 'true')
      const first = await awaitSpare(runner(at), 2)
      const one = await runIn(at, 'echo "$0 $# $- $SHLVL $PWD"; kill -TERM $$')
      assert.equal(one.group, first)
      assert.deepEqual([one.output, one.signal], [`/bin/bash 0 hBc 1 ${at.ws}\n`, 'SIGTERM'])
      const second = await awaitSpare(runner(at), 2)
      assert.notEqual(second, first)
      assert.equal((await runIn(at, 'true')).group, second)
      const third = await awaitSpare(runner(at), 2)
      assert.notEqual((await runIn(at, 'true', { folder: join(at.ws, 'src') })).group, third)
      await awaitSpare(runner(at), 2)
      at.host.close()
      await until(() => listWaiting().length === 0)
      assert.deepEqual(readdirSync(at.scratch), [])
    })

    test('is not used if another folder has taken the name of its folder', { skip }, async () => {
      using at = place()
      await runIn(at, 'true')
      const waiting = await awaitSpare(runner(at), 2)
      renameSync(at.ws, `${at.ws}-moved`)
      mkdirSync(at.ws)
      const { output, group } = await runIn(at, 'ls; pwd; echo new > made')
      assert.deepEqual([output, group === waiting], [`${at.ws}\n`, false])
      assert.equal(readFileSync(join(at.ws, 'made'), 'utf8'), 'new\n')
    })

    test('runs no start-up file of the user for itself', { skip }, async () => {
      using at = place((base) => ({ variables: ['BASH_ENV'], scratch: join(base, 'scratch') }))
      writeFileSync(join(at.base, 'startup'), `echo once >> '${at.base}/starts'\n`)
      process.env['BASH_ENV'] = join(at.base, 'startup')
      try {
        await runIn(at, 'true')
        await awaitSpare(runner(at), 2)
        await runIn(at, 'true')
        await awaitSpare(runner(at), 2)
      } finally {
        delete process.env['BASH_ENV']
      }
      const starts = readFileSync(join(at.base, 'starts'), 'utf8').split('\n').length - 1
      assert.equal(starts, 2)
    })
  })

  describe('the sandbox of a command that is proved harmless', async () => {
    const skip = await skipWithoutBox()

    test('is closed and checked before the next command starts, which reports what was found', { skip }, async () => {
      using at = boxedPlace()
      const end = await at.run('mkdir .vscode; echo bad > .vscode/tasks.json', { isHarmless: true })
      assert.equal(end.exitCode, 0)
      const next = await at.run('ls -A')
      assert.match(next.output, /^\.vscode\.set-aside$/m)
      assert.doesNotMatch(next.output, /^\.vscode$/m)
      assert.match((next.notes ?? []).join(), /An earlier command: .*\.vscode is protected/)
    })

    test('what it leaves in the background against all proof is stopped', { skip }, async () => {
      for (const sandbox of ['on', 'off'] as const) {
        using at = place((base) => ({ sandbox: { mode: sandbox, home: join(base, 'home') } }))
        const run = (command: string, more = {}) => at.host.processes.run({ command, folder: at.ws, ...more })
        const end = await run('(sleep 1; echo late > late.txt) & echo started', { isHarmless: true })
        assert.deepEqual([end.output, end.background], ['started\n', []])
        await run('true')
        await wait(1200)
        assert.equal(existsSync(join(at.ws, 'late.txt')), false, sandbox)
      }
    })

    test('ends with the host, which reports what was found', { skip }, async () => {
      for (const pauseMs of [0, 300]) {
        const notes: string[] = []
        using at = place((base) => ({
          sandbox: { mode: 'on', home: join(base, 'home') },
          onLateNote: (note) => notes.push(note),
        }))
        await at.host.processes.run({ command: 'mkdir .vscode', folder: at.ws, isHarmless: true })
        await wait(pauseMs)
        at.host.close()
        assert.deepEqual(
          readdirSync(at.ws).filter((name) => name.startsWith('.vscode')),
          ['.vscode.set-aside'],
        )
        assert.equal(notes.length, 1, notes.join('\n'))
        assert.match(notes[0] ?? '', /\.vscode is protected.* renamed to \.vscode\.set-aside/)
        at.host.close()
        assert.equal(notes.length, 1)
      }
    })
  })

  describe('the sandbox that waits for the next command', async () => {
    const skip = await skipWithoutBox()
    const settings = '.vscode/tasks.json'

    test('protects what is protected when the command comes', { skip }, async () => {
      using at = boxedPlace()
      await at.run('true')
      await awaitSpare(at)
      // Somebody else creates it while the sandbox waits, then replaces it.
      mkdirSync(join(at.ws, '.vscode'))
      writeFileSync(join(at.ws, settings), 'mine\n')
      for (const content of ['mine\n', 'replaced\n']) {
        await awaitSpare(at)
        writeFileSync(join(at.ws, '.vscode/draft'), content)
        renameSync(join(at.ws, '.vscode/draft'), join(at.ws, settings))
        const end = await at.run(`echo bad > ${settings}`)
        assert.notEqual(end.exitCode, 0)
        assert.equal(readFileSync(join(at.ws, settings), 'utf8'), content)
      }
    })

    test('mounts the same files as any other in a git repository', { skip }, async () => {
      using at = boxedPlace()
      execFileSync('git', ['init', '-q'], { cwd: at.ws })
      const look =
        'git config --get core.bare; ls .git | wc -l; echo x > .git/hooks/pre-commit; echo x >> .git/config; ls .git/hooks | wc -l'
      const first = (await at.run(look)).output
      assert.equal(await usesSpareAtLast(at), true)
      await awaitSpare(at)
      assert.equal((await at.run(look)).output, first)
      // What goes on in the background keeps its own sandbox.
      await at.run('sleep 2 & echo started')
      for (let round = 0; round < 3; round++) assert.equal((await at.run(look)).output, first)
      await wait(2500)
      for (let round = 0; round < 3; round++) assert.equal((await at.run(look)).output, first)
      assert.doesNotMatch(readFileSync(join(at.ws, '.git/config'), 'utf8'), /^x$/m)
    })

    test('hides secrets that appeared or were replaced while it waited', { skip }, async () => {
      using at = boxedPlace()
      // The home folder is the workspace, so its secrets are covered one by one.
      const host = localHost({ folders: [at.ws], scratch: at.scratch, sandbox: { mode: 'on', home: at.ws } })
      const run = (command: string) => host.processes.run({ command, folder: at.ws })
      try {
        await run('true')
        await awaitSpare({ run })
        mkdirSync(join(at.ws, '.ssh'))
        writeFileSync(join(at.ws, '.ssh/id_rsa'), 'canary-new\n')
        writeFileSync(join(at.ws, '.netrc'), 'canary-netrc\n')
        assert.doesNotMatch((await run('cat .ssh/id_rsa .netrc')).output, /canary/)
        await awaitSpare({ run })
        writeFileSync(join(at.ws, 'draft'), 'canary-netrc-2\n')
        renameSync(join(at.ws, 'draft'), join(at.ws, '.netrc'))
        assert.doesNotMatch((await run('cat .netrc')).output, /canary/)
      } finally {
        host.close()
      }
    })

    test('has no network after one that had it, and the other way round', { skip }, async () => {
      using at = boxedPlace()
      const interfaces = 'ls /sys/class/net | wc -l; cat /proc/net/dev | wc -l'
      const offline = (await at.run(interfaces)).output
      const online = (await at.run(interfaces, { access: 'network' })).output
      assert.equal((await at.run(interfaces)).output, offline)
      assert.equal((await at.run(interfaces, { access: 'network' })).output, online)
    })

    test('a path that the last process of a command creates is renamed before the next command', { skip }, async () => {
      using at = boxedPlace()
      for (let round = 0; round < 5; round++) {
        const end = await at.run('(sleep 0.05; mkdir -p .vscode; echo bad > .vscode/tasks.json) & wait')
        assert.deepEqual(
          readdirSync(at.ws).includes('.vscode') && readdirSync(join(at.ws, '.vscode')).includes('tasks.json'),
          false,
        )
        assert.match((end.notes ?? []).join(), /set-aside/)
      }
    })
  })
}

/** A process whose host has a shell that waits. */
async function waitForKill({ base }: KilledWork): Promise<void> {
  const home = join(base, 'home')
  const host = localHost({ folders: [join(base, 'ws')], scratch: join(base, 'killed'), sandbox: { mode: 'on', home } })
  await host.processes.run({ command: 'true', folder: join(base, 'ws') })
  writeFileSync(join(base, 'ready'), '')
  await wait(60_000)
}
