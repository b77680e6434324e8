import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { place } from './place.ts'

const SECONDS = Number(process.env['DRAGOMAN_RACE_SECONDS'] ?? 4)

/** Exchanges a folder and a file of the workspace for links to the outside, and back, as fast as it can. */
const SWAPPER = `
const fs = require('node:fs')
const [ws, out] = process.argv.slice(1)
const d = ws + '/d', f = ws + '/f'
const quietly = (work) => { try { work() } catch {} }
const pause = () => { const until = process.hrtime.bigint() + 50000n; while (process.hrtime.bigint() < until); }
for (let round = 0; ; round++) {
  const away = ws + '/away-' + round
  quietly(() => fs.renameSync(d, away))
  quietly(() => fs.symlinkSync(out, d))
  pause()
  quietly(() => fs.unlinkSync(d))
  quietly(() => fs.renameSync(away, d))
  // Whoever writes meanwhile may have made a new folder of that name.
  quietly(() => fs.rmSync(away, { recursive: true }))
  quietly(() => fs.writeFileSync(d + '/secret.txt', 'INSIDE\\n', { flag: 'wx' }))
  pause()
  quietly(() => fs.unlinkSync(f))
  quietly(() => fs.symlinkSync(out + '/secret.txt', f))
  pause()
  quietly(() => fs.unlinkSync(f))
  quietly(() => fs.writeFileSync(f, 'INSIDE\\n', { flag: 'wx' }))
}`

test(
  `links that are exchanged for ${SECONDS} s while files are used: nothing outside is read or changed`,
  { timeout: 120_000 + SECONDS * 1000 },
  async (t) => {
    using at = place()
    mkdirSync(join(at.ws, 'd'))
    writeFileSync(join(at.ws, 'd/secret.txt'), 'INSIDE\n')
    writeFileSync(join(at.ws, 'f'), 'INSIDE\n')
    const before = readdirSync(at.outside)
    const swapper: ChildProcess = spawn(process.execPath, ['-e', SWAPPER, at.ws, at.outside], { stdio: 'ignore' })
    const { files, search } = at.host
    const counts = { done: 0, refused: 0, naive: 0 }
    const seen: string[] = []
    const attempt = async (work: Promise<unknown>): Promise<void> => {
      try {
        const value = await work
        counts.done++
        if (value instanceof Uint8Array) seen.push(Buffer.from(value).toString())
        else if (value !== undefined) seen.push(JSON.stringify(value))
      } catch {
        counts.refused++
      }
    }
    const until = Date.now() + SECONDS * 1000
    // On a busy machine it takes longer until links have been met.
    const isGoingOn = () =>
      Date.now() < until ||
      ((counts.naive === 0 || counts.refused === 0 || counts.done <= 100) && Date.now() < until + 90_000)
    try {
      for (let round = 0; isGoingOn(); round++) {
        await attempt(files.read(join(at.ws, 'd/secret.txt')))
        await attempt(files.read(join(at.ws, 'f')))
        if (naive(join(at.ws, 'd/secret.txt')) === 'OUTSIDE\n') counts.naive++
        await attempt(files.write(join(at.ws, `d/new-${round % 5}.txt`), Buffer.from('INSIDE\n')))
        await attempt(files.write(join(at.ws, 'd/deep/er/new.txt'), Buffer.from('INSIDE\n')))
        await attempt(files.write(join(at.ws, 'f'), Buffer.from('INSIDE\n')))
        await attempt(files.list(join(at.ws, 'd')).then((entries) => entries.map(({ name }) => name)))
        await attempt(files.remove(join(at.ws, `d/new-${round % 5}.txt`)))
        if (round % 10 === 0) {
          const found: string[] = []
          await attempt(
            files
              .walk(at.ws, ({ entries }) =>
                entries.map(({ name }) => {
                  found.push(name)
                  return name
                }),
              )
              .then(() => found),
          )
          await attempt(
            search?.({ pattern: 'SIDE', path: at.ws, excludedFolders: [], limit: 100 }) ?? Promise.resolve(),
          )
        }
      }
    } finally {
      swapper.kill('SIGKILL')
    }
    const { done, refused, naive: astray } = counts
    t.diagnostic(`${done} done, ${refused} refused; whoever just opens the path was led outside ${astray} times`)
    assert.equal(seen.filter((text) => text.includes('OUTSIDE')).length, 0, 'something outside was read')
    assert.deepEqual(readdirSync(at.outside), before, 'something outside was made or removed')
    assert.equal(readFileSync(join(at.outside, 'secret.txt'), 'utf8'), 'OUTSIDE\n')
    assert.equal(existsSync(join(at.outside, 'deep')), false)
    assert.ok(counts.naive > 0, 'whoever just opens the path is led outside, or this test proves nothing')
    assert.ok(counts.done > 100 && counts.refused > 0, JSON.stringify(counts))
  },
)

test('a folder that is moved away between the look and the use is not written to', async () => {
  using at = place()
  mkdirSync(join(at.ws, 'a/b/c'), { recursive: true })
  const mover = spawn(
    process.execPath,
    [
      '-e',
      `const fs = require('node:fs'); const [ws, out] = process.argv.slice(1)
for (;;) {
  try { fs.renameSync(ws + '/a/b', out + '/b'); fs.renameSync(out + '/b', ws + '/a/b') }
  catch { /* The folder was made anew meanwhile. */ fs.rmSync(out + '/b', { recursive: true, force: true }) }
}`,
      at.ws,
      at.outside,
    ],
    { stdio: 'ignore' },
  )
  // A second of swapping; on a busy machine, as much longer as it takes for one swap to be met.
  const [enough, tooLong] = [Date.now() + 1000, Date.now() + 60_000]
  let problems = 0
  try {
    while (Date.now() < enough || (problems === 0 && Date.now() < tooLong)) {
      try {
        await at.host.files.write(join(at.ws, 'a/b/c/new.txt'), Buffer.from('INSIDE\n'))
      } catch {
        problems++
      }
    }
  } finally {
    mover.kill('SIGKILL')
  }
  // Whoever may move folders out may write there too; what counts is that we notice, and leave no half files.
  assert.ok(problems > 0)
  const left = existsSync(join(at.ws, 'a/b/c')) ? join(at.ws, 'a/b/c') : join(at.outside, 'b/c')
  assert.deepEqual(
    readdirSync(left).filter((name) => name.includes('.tmp')),
    [],
  )
})

function naive(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
