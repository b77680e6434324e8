import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { CommandRequest, CommandResult } from '../../src/host/host.ts'
import { noneAliveIn } from '../support/alive.ts'
import { clearAway } from '../support/clear.ts'
import { skipWithoutBox } from './box.ts'
import { place, type Place } from './place.ts'

const skip = existsSync('/proc/loadavg') ? await skipWithoutBox() : 'the system does not say how many tasks it has'

for (const mode of ['on', 'off'] as const) {
  describe(`processes of one command, sandbox ${mode}`, { skip: mode === 'on' ? skip : !existsSync('/proc') }, () => {
    test('too many of them end the command, with all that it started', async () => {
      using at = limited(mode)
      const end = await run(at, `echo begun; ${forks(200)}; echo all`)
      assert.match(end.error ?? '', /the process limit was reached \(40 at a time\)/)
      assert.deepEqual([end.output, end.background, end.timedOut], ['begun\n', [], undefined])
      await noneAliveIn(at.ws)
    })

    test('a number below the limit does not, nor do many that come and go', async () => {
      using at = limited(mode)
      const end = await run(at, `${forks(25, 1)}; wait; for i in {1..80}; do sleep 0; done; echo all`)
      assert.deepEqual([end.output, end.exitCode, end.error], ['all\n', 0, undefined])
    })

    test('what grows on after the shell has ended is waited for, and stopped', async () => {
      using at = limited(mode)
      // The shell ends when there are some already, however slow the machine is.
      const end = await run(
        at,
        `(${forks(15)}; touch some; ${forks(200)}) & until [ -e some ]; do sleep 0.01; done; echo over`,
      )
      assert.match(end.error ?? '', /the process limit was reached/)
      await noneAliveIn(at.ws)
    })

    test('what grows later in the background is stopped, and the next command says so', async () => {
      using at = limited(mode)
      const first = await run(at, `(sleep 0.5; ${forks(200)}) & echo over`)
      assert.deepEqual([first.output, first.error], ['over\n', undefined])
      assert.ok(first.background.length > 0)
      await noneAliveIn(at.ws)
      await wait(50)
      const next = await run(at, 'echo next')
      assert.match(next.notes?.join() ?? '', /earlier command.*the process limit was reached/)
      assert.equal((await run(at, 'echo next')).notes, undefined, 'once is enough')
    })
  })
}

test('a sandbox that is started a second time loses nothing that is to be said', { skip }, async () => {
  const before = process.env['PATH'] ?? ''
  const real = before
    .split(':')
    .map((folder) => join(folder, 'bwrap'))
    .find(existsSync)
  const bin = mkdtempSync(join(tmpdir(), 'dragoman-bin-'))
  const failOnce = join(bin, 'fail-once')
  const script = `#!/bin/sh\nif rm ${failOnce} 2>/dev/null; then echo "bwrap: no such file" >&2; exit 1; fi\nexec ${real} "$@"\n`
  writeFileSync(join(bin, 'bwrap'), script, { mode: 0o755 })
  process.env['PATH'] = `${bin}:${before}`
  try {
    using at = limited('on')
    await run(at, `(sleep 0.5; ${forks(200)}) & echo over`)
    await noneAliveIn(at.ws)
    writeFileSync(failOnce, '')
    const next = await run(at, 'echo next')
    assert.deepEqual([next.output, existsSync(failOnce)], ['next\n', false])
    assert.match(next.notes?.join() ?? '', /earlier command.*the process limit was reached/)
  } finally {
    process.env['PATH'] = before
    clearAway(bin)
  }
})

/** Starts processes one after the other; it is slow enough to do no harm to a machine, whatever we do. */
function forks(number: number, seconds = 30): string {
  return `for i in {1..${number}}; do sleep ${seconds} & sleep 0.01; done`
}

function limited(mode: 'on' | 'off'): Place {
  return place((base) => ({ sandbox: { mode, home: base }, processLimit: 40 }))
}

function run(at: Place, command: string, more: Partial<CommandRequest> = {}): Promise<CommandResult> {
  return at.host.processes.run({ command, folder: at.ws, ...more })
}
