import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { inspectUndoPlan, createChangeRecorder, applyUndoPlan } from '../../src/agent/apply-undo.ts'
import type { Files, Host } from '../../src/host/host.ts'
import { withChangeRecording } from '../../src/host/files/record-changes.ts'
import { localHost } from '../../src/host/local-host.ts'
import { type Session, resumeSession } from '../../src/session/session.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import { memoryStore } from '../../src/session/store/memory-store.ts'
import type { Store } from '../../src/session/store/store.ts'
import { createRedoPlan, createUndoPlan } from '../../src/session/undo-plan.ts'
import { clearAway } from '../support/clear.ts'

/** A workspace, a session, and files that are kept in it before they change. */
interface Scene extends Disposable {
  readonly ws: string
  readonly store: Store
  session: Session
  files: Files
  say(text: string): void
  write(name: string, text: string | Uint8Array): Promise<void>
  read(name: string): string
  undo(turn?: number, force?: boolean): Promise<{ done: string[]; left: string[] }>
  redo(): Promise<{ done: string[]; left: string[] }>
}

async function scene(
  store?: Store,
  base = realpathSync(mkdtempSync(join(tmpdir(), 'dragoman-undo-'))),
): Promise<Scene> {
  const ws = join(base, 'ws')
  mkdirSync(ws)
  const kept = store ?? jsonlStore(join(base, 'sessions'))
  const session = resumeSession(await kept.create({ id: 'one', folder: ws }))
  const host = localHost({ folders: [ws], scratch: join(base, 'scratch') })
  const made: Scene = {
    ws,
    store: kept,
    session,
    files: withChangeRecording(host, (former) => createChangeRecorder(made.session, kept)(former)).files,
    say: (text) => void made.session.append({ kind: 'user', parts: [{ kind: 'text', text }], prompt: 'p' }),
    write: (name, text) => made.files.write(join(ws, name), Buffer.from(text)),
    read: (name) => readFileSync(join(ws, name), 'utf8'),
    async undo(turn, force = false) {
      const plan = createUndoPlan(made.session.entries, turn)
      assert.ok(plan, 'there is something to undo')
      return names(await applyUndoPlan(plan, made.files, { session: made.session, store: kept, force }), ws)
    },
    async redo() {
      const plan = createRedoPlan(made.session.entries)
      assert.ok(plan, 'there is something to redo')
      return names(await applyUndoPlan(plan, made.files, { session: made.session, store: kept }), ws)
    },
    [Symbol.dispose]() {
      void made.session.close()
      clearAway(base)
    },
  }
  return made
}

function names(
  { done, left }: { done: readonly { path: string }[]; left: readonly { path: string }[] },
  ws: string,
): { done: string[]; left: string[] } {
  const short = (list: readonly { path: string }[]): string[] =>
    list.map(({ path }) => path.slice(ws.length + 1)).sort()
  return { done: short(done), left: short(left) }
}

test('the last turn that changed something is undone: content, mode, new files and their folders', async () => {
  using at = await scene()
  writeFileSync(join(at.ws, 'run.sh'), 'one\n')
  chmodSync(join(at.ws, 'run.sh'), 0o750)
  at.say('first')
  await at.write('run.sh', 'two\n')
  at.say('second')
  await at.write('run.sh', 'three\n')
  await at.write('run.sh', 'four\n')
  await at.write('deep/er/new.txt', 'new\n')
  await at.write('other/new.txt', 'new\n')
  writeFileSync(join(at.ws, 'other/mine.txt'), 'mine\n')
  at.say('third, nothing changed')

  assert.deepEqual(await at.undo(), { done: ['deep/er/new.txt', 'other/new.txt', 'run.sh'], left: [] })
  assert.equal(at.read('run.sh'), 'two\n')
  assert.equal(statSync(join(at.ws, 'run.sh')).mode & 0o777, 0o750)
  assert.ok(!existsSync(join(at.ws, 'deep')), 'a folder that was made for a file goes with it')
  assert.equal(at.read('other/mine.txt'), 'mine\n')
  assert.ok(!existsSync(join(at.ws, 'other/new.txt')))
  assert.deepEqual(await at.undo(), { done: ['run.sh'], left: [] })
  assert.equal(at.read('run.sh'), 'one\n')
  assert.equal(createUndoPlan(at.session.entries), undefined)
  const note = at.session.turns.at(-1)
  assert.match(
    note?.role === 'note' ? note.text : '',
    /restored files to their state before message number 1: .*run\.sh/,
  )
})

test('back to before a turn goes over all turns since', async () => {
  using at = await scene()
  for (const turn of ['1', '2', '3']) {
    at.say(turn)
    await at.write('a.txt', turn)
    await at.write(`${turn}.txt`, turn)
  }
  assert.deepEqual(await at.undo(2), { done: ['2.txt', '3.txt', 'a.txt'], left: [] })
  assert.equal(at.read('a.txt'), '1')
  assert.equal(at.read('1.txt'), '1')
})

test('an undo can be taken back, and made again', async () => {
  using at = await scene()
  at.say('1')
  await at.write('a.txt', 'one')
  at.say('2')
  await at.write('a.txt', 'two')
  await at.write('b.txt', 'two')
  await at.undo()
  await at.undo()
  assert.ok(!existsSync(join(at.ws, 'a.txt')))
  await at.redo()
  assert.equal(at.read('a.txt'), 'one')
  assert.ok(!existsSync(join(at.ws, 'b.txt')))
  await at.redo()
  assert.equal(at.read('a.txt') + at.read('b.txt'), 'twotwo')
  assert.equal(createRedoPlan(at.session.entries), undefined)
  await at.undo()
  assert.equal(at.read('a.txt'), 'one')
  await at.write('c.txt', 'something else')
  assert.equal(createRedoPlan(at.session.entries), undefined, 'not over what came later')
})

test('what somebody else changed since stays, unless it is forced; a file of theirs is never removed', async () => {
  using at = await scene()
  writeFileSync(join(at.ws, 'theirs.txt'), 'before')
  at.say('1')
  await at.write('theirs.txt', 'agent')
  await at.write('new.txt', 'agent')
  await at.write('gone.txt', 'agent')
  await at.write('clean.txt', 'agent')
  writeFileSync(join(at.ws, 'theirs.txt'), 'person')
  writeFileSync(join(at.ws, 'new.txt'), 'person')
  rmSync(join(at.ws, 'gone.txt'))
  const plan = createUndoPlan(at.session.entries)
  assert.ok(plan)
  assert.deepEqual(
    (await inspectUndoPlan(plan, at.files, at.store)).map(({ action }) => action),
    ['changed', 'changed', 'nothing', 'remove'],
  )
  assert.deepEqual(await at.undo(), { done: ['clean.txt'], left: ['new.txt', 'theirs.txt'] })
  assert.equal(at.read('theirs.txt') + at.read('new.txt'), 'personperson')
  assert.deepEqual(await at.undo(undefined, true), { done: ['new.txt', 'theirs.txt'], left: [] })
  assert.equal(at.read('theirs.txt'), 'before')
  await at.redo()
  assert.equal(at.read('theirs.txt') + at.read('new.txt'), 'personperson', 'even what was forced can be had again')
})

test('a folder where a file was is somebody else’s work', async () => {
  using at = await scene()
  at.say('1')
  await at.write('a', 'agent')
  rmSync(join(at.ws, 'a'))
  mkdirSync(join(at.ws, 'a'))
  writeFileSync(join(at.ws, 'a/mine'), 'mine')
  assert.deepEqual(await at.undo(), { done: [], left: ['a'] })
  assert.equal(at.read('a/mine'), 'mine')
})

test('a crash between the keeping and the writing harms nothing', async () => {
  using at = await scene()
  writeFileSync(join(at.ws, 'a.txt'), 'one')
  at.say('1')
  const crash: Host['files']['update'] = async (path, make) => {
    await make(existsSync(path) ? readFileSync(path) : undefined)
    throw new Error('crash')
  }
  const broken = withChangeRecording<Host>(
    {
      files: { ...at.files, update: crash },
      processes: { run: () => Promise.reject(new Error('none')) },
    },
    createChangeRecorder(at.session, at.store),
  )
  await assert.rejects(broken.files.write(join(at.ws, 'a.txt'), Buffer.from('two')), /crash/)
  await assert.rejects(broken.files.write(join(at.ws, 'b.txt'), Buffer.from('two')), /crash/)
  assert.deepEqual(await at.undo(), { done: [], left: [] })
  assert.equal(at.read('a.txt'), 'one')
  assert.ok(!existsSync(join(at.ws, 'b.txt')))
})

test('nothing is written that could not be kept', async () => {
  using at = await scene()
  writeFileSync(join(at.ws, 'a.txt'), 'one')
  const full = withChangeRecording<Host>(
    { files: at.files, processes: { run: () => Promise.reject(new Error('none')) } },
    () => Promise.reject(new Error('no space')),
  )
  await assert.rejects(full.files.write(join(at.ws, 'a.txt'), Buffer.from('two')), /no space/)
  await assert.rejects(full.files.remove(join(at.ws, 'a.txt')), /no space/)
  assert.equal(at.read('a.txt'), 'one')
})

test('bytes stay bytes, and a removed file comes back with its mode', async () => {
  using at = await scene()
  const bytes = Buffer.from([0, 255, 254, 10, 13, 0, 128])
  writeFileSync(join(at.ws, 'a.bin'), bytes, { mode: 0o700 })
  at.say('1')
  await at.write('a.bin', Buffer.from([1]))
  await at.files.remove(join(at.ws, 'a.bin'))
  await at.undo()
  assert.deepEqual(readFileSync(join(at.ws, 'a.bin')), bytes)
  assert.equal(statSync(join(at.ws, 'a.bin')).mode & 0o777, 0o700)
})

test('it works after the session was taken up again, and in a fork of it', async () => {
  using at = await scene()
  at.say('1')
  await at.write('a.txt', 'one')
  at.say('2')
  await at.write('a.txt', 'two')
  await at.session.close()
  at.session = resumeSession(await at.store.open('one'))
  const seq = at.session.entries.at(-1)?.seq ?? 0
  await at.session.close()
  at.session = resumeSession(await at.store.create({ id: 'fork', folder: at.ws, parent: { session: 'one', seq } }))
  at.say('3')
  await at.write('a.txt', 'three')
  assert.deepEqual((await at.undo()).done, ['a.txt'])
  assert.equal(at.read('a.txt'), 'two')
  assert.deepEqual((await at.undo()).done, ['a.txt'])
  assert.equal(at.read('a.txt'), 'one')
})

test('what was kept stays when another session is removed', async () => {
  using at = await scene()
  writeFileSync(join(at.ws, 'a.txt'), 'one')
  at.say('1')
  await at.write('a.txt', 'two')
  await at.session.close()
  await (await at.store.create({ id: 'other', folder: at.ws })).close()
  await at.store.remove('other')
  at.session = resumeSession(await at.store.open('one'))
  assert.deepEqual((await at.undo()).done, ['a.txt'])
  assert.equal(at.read('a.txt'), 'one')
})

test('content that is gone is said, and the file stays', async () => {
  using at = await scene(Object.assign(memoryStore(), { getBlob: () => Promise.resolve(undefined) }))
  writeFileSync(join(at.ws, 'a.txt'), 'one')
  at.say('1')
  await at.write('a.txt', 'two')
  assert.deepEqual(await at.undo(), { done: [], left: ['a.txt'] })
  assert.equal(at.read('a.txt'), 'two')
})

test('commands are named, because they are not undone', async () => {
  using at = await scene()
  at.say('1')
  at.session.append({ kind: 'intent', call: 'a', name: 'run_shell_command', input: { command: 'make' } })
  at.session.append({ kind: 'change', path: join(at.ws, 'a.txt'), after: '0'.repeat(64) })
  assert.deepEqual(createUndoPlan(at.session.entries)?.commands, ['make'])
})

test('the plan for 10,000 files looks at each change a fixed number of times', () => {
  const looks = (count: number): number => {
    let seen = 0
    const counted = <T extends object>(entry: T): T =>
      new Proxy(entry, {
        get(target, key, receiver) {
          seen++
          return Reflect.get(target, key, receiver) as unknown
        },
      })
    const entries = Array.from({ length: count }, (_, at) =>
      counted({ seq: at + 1, at: 0, kind: 'change', path: `/f/${at}`, after: '0', folders: [`/f/${at % 7}`] } as const),
    )
    assert.equal(createUndoPlan(entries)?.steps.length, count)
    return seen
  }
  assert.ok(looks(10_000) < 11 * looks(1000))
})

test('10,000 new files are removed', { skip: !existsSync('/dev/shm') && 'no disk in memory here' }, async () => {
  using at = await scene(memoryStore(), realpathSync(mkdtempSync('/dev/shm/dragoman-undo-')))
  at.say('1')
  const after = createHash('sha256').update('agent').digest('hex')
  for (let file = 0; file < 10_000; file++) {
    const folder = join(at.ws, `d${file % 100}`)
    const path = join(folder, `${file}.txt`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(path, 'agent')
    at.session.append({ kind: 'change', path, after, folders: [folder] })
  }
  const { done, left } = await at.undo()
  assert.deepEqual([done.length, left.length], [10_000, 0])
  assert.ok(!existsSync(join(at.ws, 'd0')))
})
