import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { ApprovedFile } from '../../src/model/security/approved-file.ts'
import { type Place, place } from './place.ts'

const bytes = Buffer.from('new\n')

/** A host that may also open this. */
function granted(at: Place, given: string, more: Partial<ApprovedFile> = {}) {
  const access = { requestedPath: given, realPath: given, need: 'read', isOutside: true, ...more } as const
  const host = at.host.withAccess?.([access])
  assert.ok(host)
  return host
}

const refused = (work: Promise<unknown>) =>
  assert.rejects(work, /is outside the workspace|Only reading|changed after it was checked|No longer a folder/)

describe('a path outside that was approved', () => {
  test('a file is read, and neither written nor are its neighbours read', async () => {
    using at = place()
    writeFileSync(join(at.outside, 'other.txt'), 'OTHER\n')
    const path = join(at.outside, 'secret.txt')
    const { files } = granted(at, path)
    assert.equal(Buffer.from(await files.read(path)).toString(), 'OUTSIDE\n')
    await refused(files.read(join(at.outside, 'other.txt')))
    await refused(files.list(at.outside))
    await refused(files.write(path, bytes))
    await refused(at.host.files.read(path))
    assert.equal(Buffer.from(await files.read(join(at.ws, 'README.md'))).toString(), '# demo\n')
  })

  test('a folder is read with all below it, but what its links lead to is not', async () => {
    using at = place()
    mkdirSync(join(at.base, 'more'))
    writeFileSync(join(at.base, 'more/x'), 'MORE\n')
    symlinkSync(join(at.base, 'more'), join(at.outside, 'link'))
    const { files, search } = granted(at, at.outside)
    assert.equal((await files.list(at.outside)).length, 2)
    assert.equal(Buffer.from(await files.read(join(at.outside, 'secret.txt'))).toString(), 'OUTSIDE\n')
    await refused(files.read(join(at.outside, 'link/x')))
    await refused(files.list(at.base))
    const found = await search?.({ pattern: 'OUT|MORE', path: at.outside, excludedFolders: [], limit: 10 })
    if (found && 'hits' in found)
      assert.deepEqual(
        found.hits.map(({ text }) => text.trim()),
        ['OUTSIDE'],
      )
  })

  test('a file is made, with the folders that are missing, and nothing beside it', async () => {
    using at = place()
    const path = join(at.outside, 'a/b/new.txt')
    const { files } = granted(at, path, { need: 'write' })
    await refused(files.write(join(at.outside, 'a/b/other.txt'), bytes))
    await files.write(path, bytes)
    assert.equal(readFileSync(path, 'utf8'), 'new\n')
    await refused(files.write(join(at.outside, 'a/b/other.txt'), bytes))
  })

  test('by a link it is what the link led to, and stays that', async () => {
    using at = place()
    const link = join(at.ws, 'link')
    symlinkSync(join(at.outside, 'secret.txt'), link)
    writeFileSync(join(at.base, 'key'), 'KEY\n')
    const { files } = granted(at, link, { realPath: join(at.outside, 'secret.txt') })
    rmSync(link)
    symlinkSync(join(at.base, 'key'), link)
    assert.equal(Buffer.from(await files.read(link)).toString(), 'OUTSIDE\n')
  })

  for (const [name, swap] of [
    ['the file', (at: Place) => [join(at.outside, 'd/f'), join(at.base, 'home/f')]],
    ['its folder', (at: Place) => [join(at.outside, 'd'), join(at.base, 'home')]],
    ['a folder above', (at: Place) => [at.outside, join(at.base, 'deep')]],
  ] as const)
    for (const need of ['read', 'write'] as const)
      test(`a link in the place of ${name} is not followed to ${need}`, async () => {
        using at = place()
        for (const folder of [join(at.outside, 'd'), join(at.base, 'home'), join(at.base, 'deep/d')]) {
          mkdirSync(folder, { recursive: true })
          writeFileSync(join(folder, 'f'), 'KEY\n')
        }
        const path = join(at.outside, 'd/f')
        const { files } = granted(at, path, { need })
        const [old = '', target = ''] = swap(at)
        rmSync(old, { recursive: true })
        symlinkSync(target, old)
        await refused(need === 'read' ? files.read(path) : files.write(path, bytes))
        for (const folder of ['home', 'deep/d']) assert.equal(readFileSync(join(at.base, folder, 'f'), 'utf8'), 'KEY\n')
      })
})

describe('a path inside that was judged', () => {
  test('is bound to what it was, and gets no more rights by that', async () => {
    using at = place()
    mkdirSync(join(at.ws, 'd'))
    mkdirSync(join(at.ws, '.git'))
    const path = join(at.ws, 'd/new.txt')
    const { files } = granted(at, path, { need: 'write', isOutside: false })
    rmSync(join(at.ws, 'd'), { recursive: true })
    symlinkSync(join(at.ws, '.git'), join(at.ws, 'd'))
    await refused(files.write(path, bytes))
    assert.equal(existsSync(join(at.ws, '.git/new.txt')), false)
    mkdirSync(at.scratch, { recursive: true })
    const scratch = join(at.scratch, 'x')
    await refused(granted(at, scratch, { need: 'write', isOutside: false }).files.write(scratch, bytes))
  })

  test('a name with characters that nobody can see is not written, and can be removed', async () => {
    using at = place()
    for (const char of ['\u200b', '\u00ad', '\u2060', '\u{E0067}', '\u00a0', '\u202e', '\ufe0f', '\ue000']) {
      const path = join(at.ws, `a${char}b/x.txt`)
      await assert.rejects(at.host.files.write(path, bytes), /contains the character U\+/)
      assert.equal(existsSync(join(at.ws, `a${char}b`)), false)
    }
    writeFileSync(join(at.ws, 'a\u200bb'), '')
    await at.host.files.remove(join(at.ws, 'a\u200bb'))
    await at.host.files.write(join(at.ws, 'ünï 你好 👨‍👩‍👧.txt'), bytes)
  })
})
