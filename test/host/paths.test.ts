import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { HostError } from '../../src/host/host-error.ts'
import { place, type Place } from './place.ts'

type Operation = 'read' | 'write' | 'list' | 'remove' | 'info' | 'walk'

/** A path, the disk it meets, and what must come of it: 'in', or the code of the problem. */
type Case = readonly [name: string, operation: Operation, path: string, expected: string, setup?: (at: Place) => void]

const link = (from: string, to: string) => (at: Place) =>
  symlinkSync(to.replace('{OUT}', at.outside), join(at.ws, from))
const many =
  (...steps: ((at: Place) => void)[]) =>
  (at: Place) =>
    steps.forEach((step) => step(at))
const file =
  (path: string, text = 'x\n') =>
  (at: Place) =>
    writeFileSync(join(at.base, path), text)
const folder = (path: string) => (at: Place) => void mkdirSync(join(at.base, path), { recursive: true })

const chain = (count: number, last: string) => (at: Place) => {
  for (let step = 1; step < count; step++) symlinkSync(`l${step + 1}`, join(at.ws, `l${step}`))
  symlinkSync(last, join(at.ws, `l${count}`))
}

const CASES: readonly Case[] = [
  ['a file at the top', 'read', '{WS}/README.md', 'in'],
  ['a file below', 'read', '{WS}/src/a.ts', 'in'],
  ['slashes twice', 'read', '{WS}//src///a.ts', 'in'],
  ['a dot in the path', 'read', '{WS}/./src/./a.ts', 'in'],
  ['up and down again', 'read', '{WS}/src/../src/a.ts', 'in'],
  ['new file in new folders', 'write', '{WS}/n/e/w/file.ts', 'in'],
  ['the workspace itself', 'list', '{WS}', 'in'],
  ['the workspace with a slash', 'list', '{WS}/', 'in'],
  ['a name that begins with two dots', 'read', '{WS}/..hidden', 'in', file('ws/..hidden')],
  ['three dots', 'read', '{WS}/...', 'in', file('ws/...')],
  ['a folder really named ~', 'read', '{WS}/~/x', 'in', many(folder('ws/~'), file('ws/~/x'))],
  ['a folder really named $HOME', 'read', '{WS}/$HOME/x', 'in', many(folder('ws/$HOME'), file('ws/$HOME/x'))],
  ['a blank in the name', 'read', '{WS}/a b', 'in', file('ws/a b')],
  ['a backslash in the name', 'read', '{WS}/a\\b', 'in', file('ws/a\\b')],
  ['not there', 'read', '{WS}/nosuch', 'not-found'],
  ['nothing is known of what is not there', 'info', '{WS}/nosuch', 'in'],
  ['climbs out', 'read', '{WS}/../outside/secret.txt', 'outside'],
  ['climbs out and in again', 'read', '{WS}/../ws/README.md', 'in'],
  ['the parent', 'list', '{WS}/..', 'outside'],
  ['full path outside', 'read', '{OUT}/secret.txt', 'outside'],
  ['what is known outside', 'info', '{OUT}/secret.txt', 'outside'],
  ['a sibling with the same beginning', 'read', '{WS}-evil/x', 'outside', many(folder('ws-evil'), file('ws-evil/x'))],
  ['a sibling in other case', 'read', '{BASE}/WS/x', 'outside', many(folder('WS'), file('WS/x'))],
  ['a system file', 'read', '/etc/passwd', 'outside'],
  ['two slashes before a system file', 'read', '//etc/passwd', 'outside'],
  ['climbs to the root', 'read', '{WS}/src/../../../../../../../../../../etc/passwd', 'outside'],
  ['through what is not there', 'write', '{WS}/nosuch/../../outside/new.txt', 'not-found'],
  ['the root', 'list', '/', 'outside'],
  ['remove outside', 'remove', '{WS}/../outside/secret.txt', 'outside'],
  ['shared memory', 'write', '/dev/shm/x', 'outside'],
  ['a descriptor of ours', 'read', '/dev/fd/0', 'outside'],
  ['a descriptor by the process', 'read', '/proc/self/fd/0', 'outside'],
  ['a link to a file outside', 'read', '{WS}/link', 'outside', link('link', '../outside/secret.txt')],
  ['a link with a full path', 'read', '{WS}/link', 'outside', link('link', '{OUT}/secret.txt')],
  ['a linked folder', 'read', '{WS}/dir/secret.txt', 'outside', link('dir', '../outside')],
  ['list a linked folder', 'list', '{WS}/dir', 'outside', link('dir', '../outside')],
  ['walk a linked folder', 'walk', '{WS}/dir', 'outside', link('dir', '../outside')],
  ['new folders through a linked one', 'write', '{WS}/dir/sub/new.txt', 'outside', link('dir', '../outside')],
  ['a link to what is not there yet', 'write', '{WS}/dangling', 'outside', link('dangling', '../outside/new.txt')],
  ['write through a link', 'write', '{WS}/link', 'outside', link('link', '../outside/secret.txt')],
  ['a chain of two', 'read', '{WS}/l1', 'outside', chain(2, '../outside/secret.txt')],
  ['a chain of twenty', 'read', '{WS}/l1', 'outside', chain(20, '../outside/secret.txt')],
  ['a chain of twenty that stays inside', 'read', '{WS}/l1', 'in', chain(20, 'README.md')],
  ['a chain of fifty', 'read', '{WS}/l1', 'link-loop', chain(50, 'README.md')],
  ['a link upwards', 'read', '{WS}/src/up/outside/secret.txt', 'outside', link('src/up', '../..')],
  [
    'the text says inside, the disk says outside',
    'read',
    '{WS}/dir/../README.md',
    'outside',
    many(folder('outside/inner'), file('outside/README.md'), link('dir', '../outside/inner')),
  ],
  [
    'a link out and in again',
    'read',
    '{WS}/dir/back/README.md',
    'outside',
    many(link('dir', '../outside'), (at) => symlinkSync(at.ws, join(at.outside, 'back'))),
  ],
  ['a link to the system', 'read', '{WS}/p', 'outside', link('p', '/proc/self/environ')],
  ['a link to the root', 'read', '{WS}/r/etc/passwd', 'outside', link('r', '/')],
  ['a link inside', 'read', '{WS}/link', 'in', link('link', 'src/a.ts')],
  [
    'a link inside, by its full path',
    'read',
    '{WS}/link',
    'in',
    (at) => symlinkSync(join(at.ws, 'src/a.ts'), join(at.ws, 'link')),
  ],
  ['a linked folder inside', 'read', '{WS}/d/a.ts', 'in', link('d', 'src')],
  ['up from a linked folder inside', 'read', '{WS}/d/../README.md', 'in', link('d', 'src')],
  ['a link to itself', 'read', '{WS}/loop', 'link-loop', link('loop', 'loop')],
  ['two links in a circle', 'read', '{WS}/l1', 'link-loop', many(link('l1', 'l2'), link('l2', 'l1'))],
  [
    'the workspace by a link',
    'read',
    '{BASE}/wslink/src/a.ts',
    'outside',
    (at) => symlinkSync('ws', join(at.base, 'wslink')),
  ],
  ['remove a link, not what it leads to', 'remove', '{WS}/link', 'in', link('link', '../outside/secret.txt')],
  ['remove the workspace', 'remove', '{WS}', 'outside'],
  ['a zero byte', 'read', '{WS}/src/a.ts\0.png', 'bad-path'],
  ['only a zero byte', 'read', '\0', 'bad-path'],
  ['a relative path', 'read', 'README.md', 'bad-path'],
  ['no path', 'read', '', 'bad-path'],
  ['a terminal command in a new name', 'write', '{WS}/a\u001b[2Jb.txt', 'bad-path'],
  ['a line end in a new name', 'write', '{WS}/a\nb.txt', 'bad-path'],
  ['a direction mark in a new name', 'write', '{WS}/a\u202etxt.exe', 'bad-path'],
  ['a direction mark in a new folder', 'write', '{WS}/a\u2066/b.txt', 'bad-path'],
  ['longer than any disk allows', 'read', `{WS}/${'x'.repeat(5000)}`, 'bad-path'],
  ['a name longer than any disk allows', 'read', `{WS}/${'x'.repeat(300)}`, 'bad-path'],
  ['percent signs', 'read', '{WS}/..%2foutside%2fsecret.txt', 'not-found'],
  ['full-width dots', 'read', '{WS}/\uff0e\uff0e/outside/secret.txt', 'not-found'],
  ['something that looks like a slash', 'read', '{WS}/..\u2215outside\u2215secret.txt', 'not-found'],
  ['a folder where a file is expected', 'read', '{WS}/src', 'is-folder'],
  ['write where a folder is', 'write', '{WS}/src', 'is-folder'],
  ['write the workspace itself', 'write', '{WS}', 'is-folder'],
  ['a file where a folder is expected', 'read', '{WS}/README.md/x', 'not-folder'],
  ['list a file', 'list', '{WS}/README.md', 'not-folder'],
  ['write below a file', 'write', '{WS}/README.md/x', 'not-folder'],
  ['a pipe', 'read', '{WS}/pipe', 'not-file', (at) => void execFileSync('mkfifo', [join(at.ws, 'pipe')])],
  ['write to a pipe', 'write', '{WS}/pipe', 'not-file', (at) => void execFileSync('mkfifo', [join(at.ws, 'pipe')])],
  ['a read-only file', 'write', '{WS}/README.md', 'read-only', (at) => chmodSync(join(at.ws, 'README.md'), 0o444)],
  ['letters that must not be folded', 'write', '{WS}/stra\u00dfe.txt', 'in'],
  ['a capital that grows when made small', 'write', '{WS}/\u0130.txt', 'in'],
]

async function attempt({ host }: Place, operation: Operation, path: string): Promise<unknown> {
  if (operation === 'write') return host.files.write(path, Buffer.from('NEW\n'))
  if (operation === 'walk') return host.files.walk(path, () => [])
  return host.files[operation](path)
}

describe('paths', () => {
  for (const [name, operation, path, expected, setup] of CASES) {
    test(`${operation}: ${name}`, async () => {
      using at = place()
      setup?.(at)
      const full = path.replace('{WS}', at.ws).replace('{OUT}', at.outside).replace('{BASE}', at.base)
      const outcome = await attempt(at, operation, full).then(
        () => 'in',
        (error: unknown) => (error instanceof HostError ? error.code : String(error)),
      )
      assert.equal(outcome, expected)
      assert.equal(readFileSync(join(at.outside, 'secret.txt'), 'utf8'), 'OUTSIDE\n')
      assert.equal(existsSync(join(at.outside, 'new.txt')) || existsSync(join(at.outside, 'sub')), false)
    })
  }

  test('there are enough of them', () => assert.ok(CASES.length >= 60))

  test('a second name of a file outside: its content can be read, but a write leaves it alone', async () => {
    using at = place()
    linkSync(join(at.outside, 'secret.txt'), join(at.ws, 'hard'))
    await at.host.files.write(join(at.ws, 'hard'), Buffer.from('NEW\n'))
    assert.equal(readFileSync(join(at.outside, 'secret.txt'), 'utf8'), 'OUTSIDE\n')
  })
})

describe('several folders', () => {
  test('a second folder, one only for reading, and a file of our own', async () => {
    using at = place((base) => ({
      folders: [join(base, 'ws'), join(base, 'extra')],
      readFolders: [join(base, 'docs')],
      extraFiles: [join(base, 'home/deep/MEMORY.md')],
    }))
    for (const [path, text] of [
      ['extra', 'e'],
      ['extra2', 'no'],
      ['docs', 'd'],
    ] as const) {
      mkdirSync(join(at.base, path))
      writeFileSync(join(at.base, path, 'x'), text)
    }
    const { files } = at.host
    const code = (work: Promise<unknown>) =>
      work.then(
        () => 'in',
        (error: HostError) => error.code,
      )
    assert.equal(await code(files.read(join(at.base, 'extra/x'))), 'in')
    assert.equal(await code(files.write(join(at.base, 'extra/y'), Buffer.from('y'))), 'in')
    assert.equal(await code(files.read(`${at.base}/extra/../outside/secret.txt`)), 'outside')
    assert.equal(await code(files.read(join(at.base, 'extra2/x'))), 'outside')
    assert.equal(await code(files.read(join(at.base, 'docs/x'))), 'in')
    assert.equal(await code(files.write(join(at.base, 'docs/x'), Buffer.from('y'))), 'read-only')
    symlinkSync('../docs/x', join(at.ws, 'doc'))
    assert.equal(await code(files.read(join(at.ws, 'doc'))), 'in')
    assert.equal(await code(files.write(join(at.ws, 'doc'), Buffer.from('y'))), 'read-only')

    const own = join(at.base, 'home/deep/MEMORY.md')
    assert.equal(await code(files.write(own, Buffer.from('m'))), 'in')
    assert.equal(readFileSync(own, 'utf8'), 'm')
    assert.equal(await code(files.read(join(at.base, 'home/deep/other'))), 'outside')
    assert.equal(await code(files.list(join(at.base, 'home/deep'))), 'outside')
    assert.equal(await code(files.read(`${own}/../other`)), 'outside')
  })

  test('a folder that is taken out of the list is out at once', async () => {
    const folders: string[] = []
    using at = place((base) => {
      folders.push(join(base, 'ws'))
      return { folders }
    })
    assert.ok(await at.host.files.info(join(at.ws, 'README.md')))
    folders.pop()
    await assert.rejects(at.host.files.info(join(at.ws, 'README.md')), { code: 'outside' })
  })

  test('a folder that was opened by a link is the same by both names, and stays the same when the link moves', async () => {
    using at = place((base) => {
      symlinkSync('ws', join(base, 'wslink'))
      return { folders: [join(base, 'wslink')] }
    })
    assert.equal(String(Buffer.from(await at.host.files.read(join(at.base, 'wslink/README.md')))), '# demo\n')
    assert.equal(String(Buffer.from(await at.host.files.read(join(at.ws, 'README.md')))), '# demo\n')
    execFileSync('ln', ['-sfn', 'outside', join(at.base, 'wslink')])
    await assert.rejects(at.host.files.read(join(at.base, 'wslink/secret.txt')), { code: 'not-found' })
  })
})

describe('resolve', () => {
  test('tells what a path really means, also outside, and of what is not there', async () => {
    using at = place()
    symlinkSync('../outside', join(at.ws, 'dir'))
    symlinkSync('../outside/new.txt', join(at.ws, 'dangling'))
    symlinkSync('loop', join(at.ws, 'loop'))
    const { files } = at.host
    assert.equal(await files.resolve(join(at.ws, 'dir/secret.txt')), join(at.outside, 'secret.txt'))
    assert.equal(await files.resolve(join(at.ws, 'dir/x/y')), join(at.outside, 'x/y'))
    assert.equal(await files.resolve(join(at.ws, 'dangling')), join(at.outside, 'new.txt'))
    assert.equal(await files.resolve(`${at.ws}/dir/../README.md`), join(at.base, 'README.md'))
    assert.equal(await files.resolve(join(at.ws, 'n/e/w')), join(at.ws, 'n/e/w'))
    await assert.rejects(files.resolve(join(at.ws, 'loop')), { code: 'link-loop' })
    assert.ok(lstatSync(join(at.ws, 'dangling')).isSymbolicLink())
  })
})

test('a file of more bytes than the caller accepts is not read', async () => {
  using at = place()
  const path = join(at.ws, 'ten')
  writeFileSync(path, '0123456789')
  assert.equal((await at.host.files.read(path, undefined, 10)).length, 10)
  await assert.rejects(
    at.host.files.read(path, undefined, 9),
    (error) => error instanceof HostError && error.code === 'too-large',
  )
})
