import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { CommandRequest, CommandResult } from '../../src/host/host.ts'
import { until } from '../support/alive.ts'
import { place, type Place } from './place.ts'

function run(at: Place, command: string, more: Partial<CommandRequest> = {}): Promise<CommandResult> {
  return at.host.processes.run({ command, folder: at.ws, ...more })
}

function isAlive(pid: number): boolean {
  try {
    // A process that has ended but was not collected by its parent is not alive.
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

describe('commands', () => {
  test('output, error output, exit code and folder', async () => {
    using at = place()
    const end = await run(at, 'echo out; echo err >&2; pwd; exit 3')
    assert.deepEqual(
      { ...end, group: 0 },
      { output: `out\nerr\n${at.ws}\n`, exitCode: 3, signal: null, background: [], group: 0 },
    )
    assert.ok((end.group ?? 0) > 0)
    at.host.close()
    assert.deepEqual(readdirSync(at.scratch), [], 'an output that was given whole leaves no file')
  })

  test('a signal', async () => {
    using at = place()
    const end = await run(at, 'kill -KILL $$')
    assert.deepEqual([end.exitCode, end.signal], [null, 'SIGKILL'])
  })

  test('the environment is clean: no key, no token, and nothing that asks', async () => {
    using at = place()
    process.env['FAKE_API_KEY'] = 'canary-1'
    process.env['BASH_ENV'] = '/nonexistent'
    process.env['LC_FAKE'] = 'yes'
    try {
      const { output } = await run(at, 'env', { env: { MINE: 'given' } })
      const names = output
        .trim()
        .split('\n')
        .map((line) => line.slice(0, line.indexOf('=')))
      const allowed =
        /^(?:PATH|HOME|LANG|LC_\w+|TMPDIR|USER|LOGNAME|SHELL|TZ|TERM|PAGER|GIT_PAGER|GIT_TERMINAL_PROMPT|MINE|DRAGOMAN_COMMAND|PWD|SHLVL|OLDPWD|_)$/
      assert.deepEqual(
        names.filter((name) => !allowed.test(name)),
        [],
      )
      assert.match(output, /^TERM=dumb$/m)
      assert.match(output, /^PAGER=cat$/m)
      assert.match(output, /^GIT_TERMINAL_PROMPT=0$/m)
      assert.match(output, /^LC_FAKE=yes$/m)
      assert.match(output, /^MINE=given$/m)
      assert.doesNotMatch(output, /canary-1|^CI=/m)
    } finally {
      for (const name of ['FAKE_API_KEY', 'BASH_ENV', 'LC_FAKE']) delete process.env[name]
    }
  })

  test('a prompt gets the end of its input, and there is no terminal to ask on', async () => {
    using at = place()
    const end = await run(
      at,
      'read -p "Sure? " answer; echo "read: $?"; cat; (exec 3</dev/tty) 2>&1 || echo no terminal',
      { timeout: 60_000 },
    )
    assert.match(end.output, /read: 1\n[^]*no terminal/)
    assert.equal(end.timedOut, undefined)
  })

  test('a folder outside is no place to run in', async () => {
    using at = place()
    symlinkSync('../outside', join(at.ws, 'dir'))
    await assert.rejects(at.host.processes.run({ command: 'pwd', folder: at.outside }), { code: 'outside' })
    await assert.rejects(at.host.processes.run({ command: 'pwd', folder: join(at.ws, 'dir') }), { code: 'outside' })
    await assert.rejects(at.host.processes.run({ command: 'pwd', folder: join(at.ws, 'nosuch') }), {
      code: 'not-found',
    })
    await assert.rejects(at.host.processes.run({ command: 'pwd', folder: join(at.ws, 'README.md') }), {
      code: 'not-folder',
    })
  })

  test('what it prints comes while it runs', async () => {
    using at = place()
    let printed = ''
    // It goes on only after its first line has come.
    const end = await run(at, 'echo one; until [ -e heard ]; do sleep 0.05; done; echo zwölf', {
      timeout: 60_000,
      onOutput(text) {
        printed += text
        writeFileSync(join(at.ws, 'heard'), '')
      },
    })
    assert.equal(end.timedOut, undefined)
    assert.equal(printed, 'one\nzwölf\n')
  })
})

describe('ends', () => {
  test('a server in the background: the command is over when the shell is, and the server goes on', async () => {
    using at = place()
    const end = await run(at, 'while :; do echo tick; sleep 0.1; done & echo started', { timeout: 60_000 })
    assert.equal(end.timedOut, undefined)
    assert.equal(end.exitCode, 0)
    assert.match(end.output, /started/)
    assert.equal(end.background.length >= 1, true)
    const [pid = 0] = end.background
    const file = end.outputFile ?? ''
    const size = statSync(file).size
    await until(() => isAlive(pid) && statSync(file).size > size)
    at.host.close()
    await until(() => !isAlive(pid))
  })

  test('one that left the group and the session is found too', async () => {
    using at = place()
    const end = await run(at, 'setsid sleep 60 >/dev/null 2>&1 & disown; sleep 0.2; echo started')
    assert.equal(end.background.length, 1)
    const [pid = 0] = end.background
    at.host.close()
    await until(() => !isAlive(pid))
  })

  test('the timeout ends children and grandchildren, also those that do not listen', async () => {
    using at = place()
    const script = `trap '' TERM; (trap '' TERM; (trap '' TERM; echo $BASHPID > grand; sleep 60; sleep 60) & sleep 60) & (setsid sleep 61 & echo $! > other); sleep 60; sleep 60`
    const end = await run(at, script, { timeout: 3000 })
    assert.equal(end.timedOut, true)
    assert.match(end.error ?? '', /stopped after 3 s/)
    assert.deepEqual(end.background, [])
    for (const name of ['grand', 'other'])
      assert.equal(isAlive(Number(readFileSync(join(at.ws, name), 'utf8'))), false, name)
  })

  test('a command that ends when asked is not killed', async () => {
    using at = place()
    const end = await run(at, `trap 'echo bye; exit 7' TERM; while :; do sleep 0.05; done`, { timeout: 3000 })
    assert.equal(end.exitCode, 7)
    assert.match(end.output, /bye/)
  })

  test('silence ends a command that does not end, talking does not', async () => {
    using at = place()
    const silent = await run(at, 'echo begun; sleep 60', { idleTimeout: 2000 })
    assert.equal(silent.timedOut, true)
    assert.equal(silent.output, 'begun\n')
    assert.match(silent.error ?? '', /printed nothing for 2 s/)
    const talking = await run(at, 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.5; done', { idleTimeout: 2000 })
    assert.equal(talking.exitCode, 0)
  })

  test('cancelling ends it at once, and what was cancelled before never begins', async () => {
    using at = place()
    const stop = new AbortController()
    const onOutput = () => stop.abort()
    const end = await run(at, 'sleep 600 & echo $! > child; echo begun; wait', { signal: stop.signal, onOutput })
    assert.equal(end.cancelled, true)
    assert.equal(isAlive(Number(readFileSync(join(at.ws, 'child'), 'utf8'))), false)
    const never = await run(at, 'touch began', { signal: stop.signal })
    assert.equal(never.cancelled, true)
    assert.equal(existsSync(join(at.ws, 'began')), false)
  })

  test('nothing is left after a hundred commands: no process, no descriptor, no file', async () => {
    using at = place()
    await run(at, 'true')
    const descriptors = () => readdirSync('/proc/self/fd').length
    const before = descriptors()
    await Promise.all(Array.from({ length: 20 }, () => run(at, 'echo x | cat')))
    for (let round = 0; round < 80; round++) await run(at, 'echo x')
    assert.ok(descriptors() <= before + 2, `${before} -> ${descriptors()}`)
    assert.ok(readdirSync(at.scratch).length <= 1, 'only the shell that waits for the next command has a file')
    at.host.close()
    assert.deepEqual(readdirSync(at.scratch), [])
    const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === process.pid)
    const zombies = children.filter((name) => !isAlive(Number(name)))
    assert.deepEqual(zombies, [])
  })
})

function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return 0
  }
}

describe('much output', () => {
  test('200 MB: the beginning, the end, a file with all of it, and little memory', { timeout: 60_000 }, async () => {
    using at = place()
    const before = process.memoryUsage().rss
    let shown = 0
    const end = await run(at, `echo FIRST; head -c 200000000 /dev/zero | tr '\\0' 'x' | fold -w 99; echo LAST`, {
      onOutput: (text) => (shown += text.length),
    })
    const grown = process.memoryUsage().rss - before
    assert.ok(grown < 100 * 2 ** 20, `grew by ${grown} bytes`)
    assert.ok(end.output.length < 40_000)
    assert.equal(end.output.slice(0, 7), 'FIRST\nx')
    assert.equal(end.output.slice(-6), 'xLAST\n')
    const gap = end.output.split('\n').find((line) => line.startsWith('[...')) ?? ''
    assert.match(gap, /\[\.\.\. \d+ bytes omitted; the whole output is in .*\.txt \.\.\.\]/)
    assert.ok(statSync(end.outputFile ?? '').size > 200_000_000)
    assert.ok(shown > 0)
  })

  test('a character is never cut in two', async () => {
    using at = place()
    const { output } = await run(at, `for i in $(seq 4000); do printf 'ä€𝄞%d' $i; done`)
    assert.doesNotMatch(output, /\uFFFD/)
  })

  test('the output can be read by the tools, not written', async () => {
    using at = place()
    const { outputFile = '' } = await run(at, 'seq 100000')
    assert.match(String(Buffer.from(await at.host.files.read(outputFile, { from: 0, bytes: 4 }))), /^1\n2\n$/)
    await assert.rejects(at.host.files.write(outputFile, Buffer.from('x')), { code: 'read-only' })
    mkdirSync(join(at.ws, 'x'))
  })
})
