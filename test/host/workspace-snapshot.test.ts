import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { sha256Hex } from '../../src/host/files/sha256.ts'
import { createWorkspaceSnapshots, type Snapshot } from '../../src/host/files/workspace-snapshot.ts'
import { createHelperlessGitEnvironment } from '../../src/host/process/helperless-git-environment.ts'
import { clearAway } from '../support/clear.ts'
import { type Random, startRandom } from '../support/mutate-random.ts'

const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1)

function createWorkspace(hasGit: boolean) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'dragoman-snapshot-')))
  const [ws, scratch] = [join(base, 'ws'), join(base, 'scratch')]
  mkdirSync(scratch)
  for (const folder of ['a/b', 'c', 'empty', 'build']) mkdirSync(join(ws, folder), { recursive: true })
  for (const path of ['one.txt', 'a/two.txt', 'a/b/three.txt', 'c/four.txt', 'build/out.o'])
    writeFileSync(join(ws, path), `${path}\n`)
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd: ws, stdio: 'ignore' })
  if (hasGit) {
    writeFileSync(join(ws, '.gitignore'), 'build/\n*.log\n')
    git('init', '-q')
    git('add', 'one.txt', 'a')
  }
  const snapshots = createWorkspaceSnapshots(ws, { env: createHelperlessGitEnvironment(scratch), scratch })
  return {
    ws,
    scratch,
    git,
    snapshots,
    [Symbol.dispose]() {
      snapshots.close()
      clearAway(base)
    },
  }
}

async function take(snapshots: { take(): Promise<Snapshot | undefined> }): Promise<Snapshot> {
  const snapshot = await snapshots.take()
  assert.ok(snapshot)
  return snapshot
}

/** The content and mode of every file that counts. */
function readAll(ws: string, isGit: boolean): Map<string, string> {
  const files = new Map<string, string>()
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(ws, folder), { withFileTypes: true })) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      const isIgnored = isGit && (path === '.git' || path === 'build' || path.endsWith('.log'))
      if (entry.isDirectory() && !isIgnored) walk(path)
      if (entry.isFile() && !isIgnored)
        files.set(path, `${lstatSync(join(ws, path)).mode & 0o777} ${readFileSync(join(ws, path), 'utf8')}`)
    }
  }
  walk('')
  return files
}

/** Changes something at random, as a command could. */
function changeSomething(ws: string, random: Random): string {
  const names = ['one.txt', 'a/two.txt', 'a/b/three.txt', 'c/four.txt', 'new.txt', 'empty/five.txt', 'a/x/six.txt']
  const path = random.pick([...names, 'noise.log', 'build/out.o'])
  const folder = random.pick(['a', 'a/b', 'c', 'moved', 'empty'])
  const at = (name: string): string => join(ws, name)
  const actions: Record<string, () => void> = {
    write: () => {
      mkdirSync(dirname(at(path)), { recursive: true })
      rmSync(at(path), { force: true, recursive: true })
      writeFileSync(at(path), `${random.next()}\n`)
    },
    append: () => existsSync(at(path)) && writeFileSync(at(path), 'more\n', { flag: 'a' }),
    replace: () => {
      if (!existsSync(dirname(at(path)))) return
      writeFileSync(at('draft.log'), `${random.next()}\n`)
      rmSync(at(path), { force: true, recursive: true })
      renameSync(at('draft.log'), at(path))
    },
    remove: () => rmSync(at(path), { force: true }),
    mode: () => existsSync(at(path)) && chmodSync(at(path), random.pick([0o600, 0o644, 0o755])),
    removeFolder: () => rmSync(at(folder), { recursive: true, force: true }),
    moveFolder: () => {
      if (existsSync(at(folder)) && !existsSync(at('moved')) && folder !== 'moved') renameSync(at(folder), at('moved'))
    },
    link: () => {
      if (!existsSync(dirname(at(path)))) return
      rmSync(at(path), { force: true, recursive: true })
      symlinkSync('one.txt', at(path))
    },
  }
  const name = random.pick(Object.keys(actions))
  actions[name]?.()
  return `${name} ${path} ${folder}`
}

for (const isGit of [true, false])
  describe(isGit ? 'in a git repository' : 'in a folder', () => {
    test('a change of a listed file is found without listing all files again', async () => {
      using at = createWorkspace(isGit)
      for (let round = 1; round <= 3; round++) {
        const snapshot = await take(at.snapshots)
        writeFileSync(join(at.ws, 'a/two.txt'), `${round}\n`)
        const changes = await snapshot.findChanges()
        assert.deepEqual(
          changes?.map(({ path, before, after }) => [path, before?.bytes.toString(), after]),
          [[join(at.ws, 'a/two.txt'), round === 1 ? 'a/two.txt\n' : `${round - 1}\n`, sha256Hex(`${round}\n`)]],
        )
      }
      // Each listing makes a new barrier.
      assert.equal(readdirSync(at.scratch).filter((name) => name.startsWith('changes-')).length, 1)
    })

    test('what somebody else changes between two commands is not the change of a command', async () => {
      using at = createWorkspace(isGit)
      assert.deepEqual(await (await take(at.snapshots)).findChanges(), [])
      writeFileSync(join(at.ws, 'one.txt'), 'mine\n')
      const snapshot = await take(at.snapshots)
      writeFileSync(join(at.ws, 'one.txt'), 'of the command\n')
      const [change, ...more] = (await snapshot.findChanges()) ?? []
      assert.deepEqual([change?.before?.bytes.toString(), more.length], ['mine\n', 0])
    })

    test('commands at the same time have all their changes', async () => {
      using at = createWorkspace(isGit)
      const first = await take(at.snapshots)
      writeFileSync(join(at.ws, 'one.txt'), 'first\n')
      const second = await take(at.snapshots)
      writeFileSync(join(at.ws, 'a/two.txt'), 'both\n')
      const found = await Promise.all([second.findChanges(), first.findChanges()])
      const names = found.map((changes) => changes?.map(({ path }) => path.slice(at.ws.length + 1)).sort())
      assert.deepEqual(names, [['a/two.txt'], ['a/two.txt', 'one.txt']])
    })

    test(`random changes are found as by reading everything (seed ${SEED})`, async () => {
      for (let round = 0; round < 12; round++) {
        const random = startRandom(SEED, round, isGit ? 1 : 0)
        using at = createWorkspace(isGit)
        const done: string[] = []
        for (let command = 0; command < 6; command++) {
          for (let count = random.below(3); count > 0; count--) done.push(`other: ${changeSomething(at.ws, random)}`)
          const snapshot = await take(at.snapshots)
          const before = readAll(at.ws, isGit)
          for (let count = random.range(0, 4); count > 0; count--) done.push(changeSomething(at.ws, random))
          const changes = await snapshot.findChanges()
          const after = readAll(at.ws, isGit)
          const changed = [...new Set([...before.keys(), ...after.keys()])]
            .filter((path) => before.get(path) !== after.get(path))
            .map((path) => [path, before.get(path)?.replace(/^\d+ /, ''), after.get(path)?.replace(/^\d+ /, '')])
          const found = changes?.map(({ path, before: old, after: hash }) => {
            const name = path.slice(at.ws.length + 1)
            const now = after.get(name)?.replace(/^\d+ /, '')
            assert.equal(hash, now === undefined ? undefined : sha256Hex(now))
            return [name, old?.bytes.toString(), now]
          })
          const where = `seed ${SEED}, round ${round}, command ${command}: ${done.join(', ')}`
          const byPath = (one: (string | undefined)[], other: (string | undefined)[]): number =>
            String(one[0]) < String(other[0]) ? -1 : 1
          assert.deepEqual(found?.toSorted(byPath), changed.toSorted(byPath), where)
        }
      }
    })
  })

test('a file that becomes ignored, or is tracked although it is ignored', async () => {
  using at = createWorkspace(true)
  assert.deepEqual(await (await take(at.snapshots)).findChanges(), [])
  writeFileSync(join(at.ws, '.gitignore'), 'build/\n*.log\nc/\n')
  at.git('add', '-f', 'build/out.o')
  const snapshot = await take(at.snapshots)
  writeFileSync(join(at.ws, 'c/four.txt'), 'ignored\n')
  writeFileSync(join(at.ws, 'build/out.o'), 'tracked\n')
  const changes = await snapshot.findChanges()
  assert.deepEqual(
    changes?.map(({ path }) => path),
    [join(at.ws, 'build/out.o')],
  )
})

test('more changes than the system reports are found', async () => {
  using at = createWorkspace(false)
  assert.deepEqual(await (await take(at.snapshots)).findChanges(), [])
  const snapshot = await take(at.snapshots)
  for (let count = 0; count < 20_000; count++)
    writeFileSync(join(at.ws, count % 2 ? 'one.txt' : 'c/four.txt'), `${count}`)
  rmSync(join(at.ws, 'a/two.txt'))
  const changes = await snapshot.findChanges()
  assert.deepEqual(changes?.map(({ path }) => path.slice(at.ws.length + 1)).sort(), [
    'a/two.txt',
    'c/four.txt',
    'one.txt',
  ])
})
