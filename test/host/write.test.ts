import assert from 'node:assert/strict'
import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { createWriteLocks } from '../../src/host/files/write-lock.ts'
import { place } from './place.ts'

describe('write', () => {
  test('keeps the mode, and leaves nothing else behind', async () => {
    using at = place()
    const path = join(at.ws, 'src/a.ts')
    for (const mode of [0o755, 0o600, 0o640]) {
      chmodSync(path, mode)
      await at.host.files.write(path, Buffer.from('new\n'))
      assert.equal(statSync(path).mode & 0o7777, mode)
    }
    assert.deepEqual(readdirSync(join(at.ws, 'src')), ['a.ts'])
    assert.equal(readFileSync(path, 'utf8'), 'new\n')
  })

  test('any bytes come back as they were', async () => {
    using at = place()
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, at2) => (at2 * 7) % 256))
    await at.host.files.write(join(at.ws, 'bin'), bytes)
    assert.deepEqual(Buffer.from(await at.host.files.read(join(at.ws, 'bin'))), bytes)
    assert.deepEqual(
      Buffer.from(await at.host.files.read(join(at.ws, 'bin'), { from: 255, bytes: 3 })),
      bytes.subarray(255, 258),
    )
    assert.equal((await at.host.files.read(join(at.ws, 'bin'), { from: 80_000, bytes: 3 })).length, 0)
    await at.host.files.write(join(at.ws, 'bin'), Buffer.alloc(0))
    assert.equal(statSync(join(at.ws, 'bin')).size, 0)
  })

  test('a link inside is written through, and stays a link', async () => {
    using at = place()
    symlinkSync('src/a.ts', join(at.ws, 'link'))
    symlinkSync('src/new.ts', join(at.ws, 'dangling'))
    await at.host.files.write(join(at.ws, 'link'), Buffer.from('through\n'))
    await at.host.files.write(join(at.ws, 'dangling'), Buffer.from('made\n'))
    assert.equal(readlinkSync(join(at.ws, 'link')), 'src/a.ts')
    assert.equal(readFileSync(join(at.ws, 'src/a.ts'), 'utf8'), 'through\n')
    assert.ok(lstatSync(join(at.ws, 'dangling')).isSymbolicLink())
    assert.equal(readFileSync(join(at.ws, 'src/new.ts'), 'utf8'), 'made\n')
  })

  test('whoever reads meanwhile sees the old file or the new one, never a part', async () => {
    using at = place()
    const path = join(at.ws, 'big')
    const [a, b] = ['a', 'b'].map((sign) => Buffer.alloc(3_000_000, sign)) as [Buffer, Buffer]
    writeFileSync(path, a)
    let reads = 0
    const writing = { on: true }
    const reader = (async () => {
      while (writing.on) {
        const bytes = Buffer.from(await at.host.files.read(path))
        assert.ok(bytes.equals(a) || bytes.equals(b))
        reads++
      }
    })()
    for (let round = 0; round < 20; round++) {
      await at.host.files.write(path, round % 2 === 0 ? b : a)
      await new Promise((resolve) => setImmediate(resolve))
    }
    writing.on = false
    await reader
    assert.ok(reads > 0)
  })

  test(
    'a lock file that could not be removed holds the next write up only for a moment',
    { timeout: 60_000 },
    async () => {
      using at = place()
      const folder = join(at.base, 'locks')
      const path = join(at.ws, 'src/a.ts')
      const files = new Map<string, Buffer>()
      await createWriteLocks(folder).withLock(path, () => {
        for (const name of readdirSync(folder)) files.set(name, readFileSync(join(folder, name)))
        return Promise.resolve()
      })
      assert.equal(files.size, 1)
      // Its holder, this process, lives.
      for (const [name, mark] of files) writeFileSync(join(folder, name), mark)
      assert.equal(await createWriteLocks(folder).withLock(path, () => Promise.resolve('written')), 'written')
    },
  )

  test('a huge file is refused as a whole, but can be read in parts', async () => {
    using at = place()
    const path = join(at.ws, 'huge')
    writeFileSync(path, 'begin')
    truncateSync(path, 3 * 2 ** 30)
    await assert.rejects(at.host.files.read(path), { code: 'too-large' })
    assert.equal(String(Buffer.from(await at.host.files.read(path, { from: 0, bytes: 5 }))), 'begin')
  })
})
