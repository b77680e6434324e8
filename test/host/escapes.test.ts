import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { clearAway } from '../support/clear.ts'
import { attempt, python } from './escapes/attempt.ts'
import { APPEARING } from './escapes/appearing.ts'
import { AUTHORSHIP } from './escapes/authorship.ts'
import { BACKGROUND } from './escapes/background.ts'
import type { Escape } from './escapes/escape.ts'
import { HOME } from './escapes/home.ts'
import { LINKS } from './escapes/links.ts'
import { MACHINE } from './escapes/machine.ts'
import { INNER } from './escapes/inner.ts'
import { PROTECTED } from './escapes/protected.ts'
import { SCRATCH } from './escapes/scratch.ts'
import { skipWithoutBox } from './box.ts'

const FAMILIES: Readonly<Record<string, readonly Escape[]>> = {
  'our own folders': SCRATCH,
  links: LINKS,
  'protected files': PROTECTED,
  'repositories in the workspace': INNER,
  'protected files that appear in other ways': APPEARING,
  'who made a protected file': AUTHORSHIP,
  'what goes on in the background': BACKGROUND,
  'keys and places outside': HOME,
  'the machine': MACHINE,
}

const base = process.env['DRAGOMAN_ESCAPES']
if (base !== undefined) process.stdout.write(JSON.stringify(await attemptAll(Object.values(FAMILIES).flat(), base)))
else tests(await skipWithoutBox())

function tests(skip: false | string): void {
  describe('ways out of the sandbox', { skip }, () => {
    for (const [family, escapes] of Object.entries(FAMILIES)) {
      test(`${family}: none of ${escapes.length} works`, { timeout: 600_000 }, async (context) => {
        const place = newPlace()
        const broken = await attemptAll(escapes, place)
        clearAway(place)
        assert.deepEqual(broken, [])
        const skipped = escapes.filter((one) => !canTry(one)).length
        if (skipped > 0) context.diagnostic(`${skipped} were not tried, because there is no Python here`)
      })
    }

    test('none works for another user', { timeout: 900_000 }, (context) => {
      if (process.getuid?.() !== 0) return context.skip('only the superuser can become somebody else')
      const place = newPlace()
      chownSync(place, 65_534, 65_534)
      const as = ['--reuid', '65534', '--regid', '65534', '--clear-groups', process.execPath]
      const env = { PATH: process.env['PATH'], HOME: place, DRAGOMAN_ESCAPES: place }
      const child = spawnSync('setpriv', [...as, fileURLToPath(import.meta.url)], { env, encoding: 'utf8', cwd: '/' })
      clearAway(place)
      if (child.status === null || /EACCES|Cannot find module|not found/.test(child.stderr))
        return context.skip(`another user cannot run Node here: ${child.stderr.slice(0, 200)}`)
      assert.deepEqual(JSON.parse(child.stdout), [], child.stderr.slice(0, 2000))
    })

    test('there are at least 120', () => {
      assert.ok(Object.values(FAMILIES).flat().length >= 120)
    })
  })
}

/** Tries several at a time; gives those that worked. */
async function attemptAll(escapes: readonly Escape[], place: string): Promise<string[]> {
  const broken: string[] = []
  const todo = [...escapes.filter(canTry).entries()]
  // One that changes the search path of this process is tried alone.
  const alone = todo.filter(([, { onPath }]) => onPath !== undefined)
  const others = todo.filter(([, { onPath }]) => onPath === undefined)
  const work = async (queue: typeof todo): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, escape] = next
      const problems = await attempt(escape, join(place, String(index)))
      if (problems.length > 0) broken.push(`${escape.name}: ${problems.join('; ')}`)
    }
  }
  await Promise.all([work(others), work(others), work(others)])
  await work(alone)
  return broken
}

function canTry({ commands }: Escape): boolean {
  return python !== undefined || !commands.some((command) => command.includes('$PYTHON'))
}

/** Where nothing is hidden from commands by the name of the folder alone; only the superuser can make one there. */
function newPlace(): string {
  const parent = process.getuid?.() === 0 ? '/var/lib' : tmpdir()
  const place = realpathSync(mkdtempSync(join(parent, 'dragoman-escapes-')))
  chmodSync(place, 0o755)
  return place
}
