import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { clearAway } from '../support/clear.ts'
import { attempt, closeAbstractSockets, python } from './escapes/attempt.ts'
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

const ALL = Object.values(FAMILIES).flat()

const base = process.env['DRAGOMAN_ESCAPES']
if (base !== undefined) process.stdout.write(JSON.stringify([...(await attemptAll(ALL, base)).values()].flat()))
else tests(await skipWithoutBox())

function tests(skip: false | string): void {
  describe('ways out of the sandbox', { skip }, () => {
    // Most of the time is spent waiting, so both users try theirs side by side.
    const own = once(attemptAsOneself)
    const others = once(attemptAsAnother)

    for (const [family, escapes] of Object.entries(FAMILIES)) {
      test(`${family}: none of ${escapes.length} works`, { timeout: 900_000 }, async (context) => {
        void others()
        const broken = await own()
        assert.deepEqual(
          escapes.flatMap((escape) => broken.get(escape) ?? []),
          [],
        )
        const skipped = escapes.filter((one) => !canTry(one)).length
        if (skipped > 0) context.diagnostic(`${skipped} were not tried, because there is no Python here`)
      })
    }

    test('none works for another user', { timeout: 900_000 }, async (context) => {
      if (process.getuid?.() !== 0) return context.skip('only the superuser can become somebody else')
      const { status, out, err } = await others()
      if (status === null || /EACCES|Cannot find module|not found/.test(err))
        return context.skip(`another user cannot run Node here: ${err.slice(0, 200)}`)
      assert.deepEqual(JSON.parse(out), [], err.slice(0, 2000))
    })

    test('there are at least 120', () => {
      assert.ok(ALL.length >= 120)
    })
  })
}

async function attemptAsOneself(): Promise<Map<Escape, readonly string[]>> {
  const place = newPlace()
  const broken = await attemptAll(ALL, place)
  clearAway(place)
  return broken
}

/** In a process of another user; only the superuser can start one. */
async function attemptAsAnother(): Promise<{ status: number | null; out: string; err: string }> {
  if (process.getuid?.() !== 0) return { status: null, out: '', err: '' }
  const place = newPlace()
  chownSync(place, 65_534, 65_534)
  const as = ['--reuid', '65534', '--regid', '65534', '--clear-groups', process.execPath]
  const env = { PATH: process.env['PATH'], HOME: place, DRAGOMAN_ESCAPES: place }
  const child = spawn('setpriv', [...as, fileURLToPath(import.meta.url)], { env, cwd: '/' })
  let [out, err] = ['', '']
  child.stdout.on('data', (text: Buffer) => (out += text.toString()))
  child.stderr.on('data', (text: Buffer) => (err += text.toString()))
  const status = await new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      err += error.message
      resolve(null)
    })
    child.once('close', resolve)
  })
  clearAway(place)
  return { status, out, err }
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined
  return () => (started ??= work())
}

/** Tries several at a time; gives those that worked, each with what happened. */
async function attemptAll(escapes: readonly Escape[], place: string): Promise<Map<Escape, readonly string[]>> {
  const broken = new Map<Escape, readonly string[]>()
  const todo = [...escapes.filter(canTry).entries()]
  const work = async (queue: typeof todo): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, escape] = next
      const problems = await attempt(escape, join(place, String(index)))
      if (problems.length > 0) broken.set(escape, [`${escape.name}: ${problems.join('; ')}`])
    }
  }
  // One that changes the search path of this process is tried alone.
  await work(todo.filter(([, { onPath }]) => onPath !== undefined))
  const others = todo.filter(([, { onPath }]) => onPath === undefined)
  const brief = others.filter(([, { lingers }]) => lingers === undefined)
  // These do nothing but wait.
  const lingering = others.filter(([, { lingers }]) => lingers !== undefined)
  await Promise.all([brief, brief, brief, lingering, lingering, lingering, lingering].map(work))
  closeAbstractSockets()
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
