import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { startRehearsalServer } from '../../src/rehearsal/server.ts'
import { clearAway } from '../support/clear.ts'
import { root } from '../support/paths.ts'

const place = mkdtempSync(join(tmpdir(), 'dragoman-compiled-'))
after(() => clearAway(place))

const NOBODY = 65_534

describe('compiled code is kept between runs', () => {
  const at = install('own')

  test('not of a run that compiled too little', () => {
    assert.equal(run(at, ['--version']), '0.1.0\n')
    assert.deepEqual(kept(at.chunks), [])
  })

  test('beside the package, and used the next time', () => {
    assert.match(run(at), /Hello/)
    const names = kept(at.chunks)
    assert.ok(
      names.some((name) => /^dragoman-start-[0-9a-f]{16}-v[\d.]+-\w+-\d+-script\.compiled$/.test(name)),
      names.join(),
    )
    const before = names.map((name) => identity(at, name))
    assert.match(run(at), /Hello/)
    assert.deepEqual(kept(at.chunks), names)
    assert.deepEqual(
      names.map((name) => identity(at, name)),
      before,
      'it was refused, and made again',
    )
  })

  const damages: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
    ['one bit turned over', (bytes) => changed(bytes, bytes.length >> 2)],
    ['a block of zeros', (bytes) => Buffer.from(bytes).fill(0, 100_000, 104_096)],
    ['cut off', (bytes) => bytes.subarray(0, 70_001)],
    ['empty', () => Buffer.alloc(0)],
    ['half of it', (bytes) => bytes.subarray(0, bytes.length >> 1)],
    ['of another version of V8', (bytes) => changed(changed(bytes, 5), (bytes.length >> 1) + 5)],
  ]
  for (const [what, damage] of damages)
    test(`damaged (${what}), it is made again`, () => {
      const name = keptStart(at.chunks)
      const file = join(at.chunks, name)
      writeFileSync(file, damage(readFileSync(file)))
      const before = identity(at, name)
      assert.match(run(at), /Hello/)
      assert.notEqual(identity(at, name), before)
    })

  test('in the cache of the person where the package cannot be written to', (t) => {
    if (!canBeNobody()) return t.skip('nobody else can start Node here')
    const other = install('read-only')
    chmodSync(other.chunks, 0o555)
    const user = process.getuid?.() === 0 ? { uid: NOBODY } : {}
    if (user.uid !== undefined) chownSync(other.home, NOBODY, NOBODY)
    assert.match(run(other, undefined, user), /Hello/)
    assert.deepEqual(kept(other.chunks), [])
    const cache = join(other.home, '.cache/dragoman')
    const name = keptStart(cache)
    const { ino } = statSync(join(cache, name))
    assert.match(run(other, undefined, user), /Hello/)
    assert.equal(statSync(join(cache, name)).ino, ino)
    chmodSync(other.chunks, 0o755)
  })

  test('never taken from the folder that is worked in', () => {
    const other = install('hostile')
    assert.match(run(other), /Hello/)
    const names = kept(other.chunks)
    const name = keptStart(other.chunks)
    const bytes = readFileSync(join(other.chunks, name))
    rmSync(join(other.chunks, name))
    const bait = join(other.work, '.cache/dragoman')
    mkdirSync(bait, { recursive: true })
    for (const env of [{ HOME: '' }, { XDG_CACHE_HOME: '.cache', HOME: '' }]) {
      writeFileSync(join(bait, name), bytes)
      run(other, ['--version'], { env })
      // Had it been read and taken, nothing would be made anew beside the package.
      run(other, undefined, { env: { ...env, XDG_DATA_HOME: other.home } })
      assert.deepEqual(kept(other.chunks), names)
      rmSync(join(other.chunks, name))
    }
  })

  test('old ones go when a new one is made', () => {
    const old = join(at.chunks, 'dragoman-start-0000000000000000-v1.0.0-x64-1-script.compiled')
    const names = kept(at.chunks)
    rmSync(join(at.chunks, keptStart(at.chunks)))
    writeFileSync(old, 'old')
    utimesSync(old, 1, 1)
    run(at)
    assert.deepEqual(kept(at.chunks), names)
  })

  test('flags of the engine have each their own', () => {
    run(at, undefined, { env: { NODE_OPTIONS: '--max-old-space-size=512' } })
    const before = kept(at.chunks)
    run(at)
    assert.deepEqual(kept(at.chunks), before)
    assert.equal(before.filter(isOfStart).length, 2)
  })

  // The shell parser needs flags of the engine, which must not be those of the compiled code.
  test('made by a run with a shell command, it is used as well', async () => {
    const other = install('shell')
    const call = { name: 'run_shell_command', args: { command: 'ls' } }
    const server = await startRehearsalServer({ scripts: { script: { steps: [{ call: [call] }, { say: 'Hello.' }] } } })
    const env = { PATH: process.env['PATH'], HOME: other.home, OPENAI_API_KEY: 'k' }
    const options = { cwd: other.work, env: { ...env, DRAGOMAN_OPENAI_CHAT_BASE_URL: `${server.url}/v1` } }
    const args = [other.bin, '-p', 'hi', '-m', 'openai-chat/script', '--yolo']
    const identities: string[][] = []
    for (const _ of ['first', 'second']) {
      const running = promisify(execFile)(process.execPath, args, options)
      running.child.stdin?.end()
      assert.match((await running).stdout, /Hello/)
      identities.push(kept(other.chunks).map((name) => `${name} ${identity(other, name)}`))
    }
    await server.close()
    assert.ok(identities[0]?.some((name) => name.startsWith('dragoman-calls-')))
    assert.deepEqual(identities[1], identities[0])
  })

  test('nowhere, if there is no place; the run does not mind', (t) => {
    if (!canBeNobody()) return t.skip('nobody else can start Node here')
    const other = install('nowhere')
    chmodSync(other.chunks, 0o555)
    const user = process.getuid?.() === 0 ? { uid: NOBODY } : {}
    const data = mkdtempSync(join(place, 'data-'))
    if (user.uid !== undefined) chownSync(data, NOBODY, NOBODY)
    writeFileSync(join(other.home, '.cache'), 'in the way')
    assert.match(run(other, undefined, { ...user, env: { XDG_DATA_HOME: data } }), /Hello/)
    assert.deepEqual(kept(other.chunks), [])
    chmodSync(other.chunks, 0o755)
  })
})

/** The superuser can write everywhere, so another must try; whoever is none is that other already. */
function canBeNobody(): boolean {
  chmodSync(place, 0o755)
  return process.getuid?.() !== 0 || spawnSync(process.execPath, ['-e', '0'], { cwd: place, uid: NOBODY }).status === 0
}

interface Installed {
  readonly bin: string
  readonly chunks: string
  readonly home: string
  readonly work: string
}

/** The package without what it has kept. */
function install(name: string): Installed {
  const folder = join(place, name)
  const [home, work] = [join(place, `${name}-home`), join(place, `${name}-work`)]
  for (const one of [folder, home, work]) mkdirSync(one)
  for (const part of ['bin', 'dist', 'package.json'])
    cpSync(join(root, part), join(folder, part), {
      recursive: true,
      filter: (path) => !path.endsWith('.compiled') && !path.endsWith('.map'),
    })
  return { bin: join(folder, 'bin/dragoman'), chunks: join(folder, 'dist/chunks'), home, work }
}

function run(
  { bin, home, work }: Installed,
  args: readonly string[] = ['-p', 'hi', '-m', 'rehearsal/hello'],
  { env = {}, ...user }: { readonly uid?: number; readonly env?: Record<string, string> } = {},
): string {
  const ended = spawnSync(process.execPath, [bin, ...args], {
    cwd: work,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...env },
    encoding: 'utf8',
    timeout: 60_000,
    ...user,
  })
  assert.equal(ended.status, 0, `${ended.signal ?? ''} ${ended.stderr}`)
  return ended.stdout
}

function kept(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.includes('.compiled'))
}

/** That of the first file that a run loads. */
function keptStart(folder: string): string {
  return kept(folder).find(isOfStart) ?? ''
}

function isOfStart(name: string): boolean {
  return name.startsWith('dragoman-start-')
}

/** A file that is written anew is another one. */
function identity({ chunks }: Installed, name: string): string {
  const { ino, mtimeMs } = statSync(join(chunks, name))
  return `${ino} ${mtimeMs}`
}

function changed(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}
