import type { EntryBody } from './entry.ts'
import { type Store, StoreProblem } from './store/store.ts'

/** One thing that every store must do. It throws if the store does not. */
export interface StoreCase {
  readonly name: string
  /** `fresh` gives an empty store; `reopen` gives the same sessions as another process would see them. */
  readonly run: (fresh: () => Store, reopen: (store: Store) => Store) => void
}

/** What every store must do, for any test runner: whoever writes a store runs these. */
export const storeConformance: readonly StoreCase[] = [
  {
    name: 'entries come back as they were, in order, numbered without gaps',
    run(fresh, reopen) {
      const store = fresh()
      const log = store.create({ id: 'one', folder: '/here' })
      log.append(SAID)
      log.append(NOTE)
      log.close()
      const { entries, damages } = reopen(store).read('one')
      equal(
        entries.map((entry) => [entry.seq, entry.kind]),
        [
          [1, 'open'],
          [2, 'user'],
          [3, 'note'],
        ],
      )
      const { seq: _, at: __, ...body } = entries[1] ?? { seq: 0, at: 0 }
      equal(body, SAID)
      equal(damages, [])
    },
  },
  {
    name: 'a session that is open cannot be opened again, until it is closed',
    run(fresh, reopen) {
      const store = fresh()
      const log = store.create({ id: 'one', folder: '/' })
      refuses(() => store.open('one'), /in use/)
      refuses(() => reopen(store).open('one'), /in use/)
      log.close()
      const again = store.open('one')
      equal(again.append(NOTE).seq, 2)
      again.close()
      refuses(() => log.append(NOTE), /closed/)
    },
  },
  {
    name: 'a session that is not there, or is there already, is said in a sentence',
    run(fresh) {
      const store = fresh()
      refuses(() => store.open('none'), /no session none/)
      refuses(() => store.read('none'), /no session none/)
      refuses(() => store.remove('none'), /no session none/)
      store.create({ id: 'one', folder: '/' }).close()
      refuses(() => store.create({ id: 'one', folder: '/' }), /already a session one/)
    },
  },
  {
    name: 'a fork holds what its parent had said up to there, and nothing of what comes later in either',
    run(fresh, reopen) {
      const store = fresh()
      const parent = store.create({ id: 'parent', folder: '/' })
      const said = parent.append(SAID)
      parent.append(NOTE)
      const fork = store.create({ id: 'fork', folder: '/', parent: { session: 'parent', seq: said.seq } })
      const added = fork.append({ kind: 'note', text: 'only in the fork' })
      parent.append({ kind: 'note', text: 'only in the parent' })
      fork.close()
      parent.close()
      const entries = reopen(store).read('fork').entries
      equal(
        entries.map((entry) => entry.kind),
        ['open', 'user', 'open', 'note'],
      )
      equal(entries.at(-1)?.seq, added.seq)
      equal(new Set(entries.map((entry) => entry.seq)).size, entries.length)
      const second = store.create({ id: 'second', folder: '/', parent: { session: 'fork', seq: added.seq } })
      equal(
        second.entries.map((entry) => entry.kind),
        ['open', 'user', 'open', 'note', 'open'],
      )
      second.close()
    },
  },
  {
    name: 'sessions are listed, the newest first; one that others were forked from cannot be removed',
    run(fresh) {
      const store = fresh()
      const first = store.create({ id: 'first', folder: '/a' })
      first.append(SAID)
      first.close()
      store.create({ id: 'second', folder: '/b', parent: { session: 'first', seq: 2 } }).close()
      equal(
        store.list().map(({ id, folder, title }) => [id, folder, title]),
        [
          ['second', '/b', 'hello'],
          ['first', '/a', 'hello'],
        ],
      )
      refuses(() => store.remove('first'), /forked/)
      store.remove('second')
      store.remove('first')
      equal(store.list(), [])
    },
  },
  {
    name: 'a blob is kept under the hash of its content',
    run(fresh, reopen) {
      const store = fresh()
      const bytes = new Uint8Array([1, 2, 3, 0, 255])
      const hash = store.putBlob(bytes)
      equal(store.putBlob(bytes), hash)
      equal([...(reopen(store).getBlob(hash) ?? [])], [...bytes])
      equal(store.getBlob('0'.repeat(64)), undefined)
    },
  },
]

const SAID: EntryBody = { kind: 'user', parts: [{ kind: 'text', text: 'hello' }], prompt: 'one#1' }
const NOTE: EntryBody = { kind: 'note', text: 'line\nbreaks, “quotes” and \u2028 separators' }

function equal(actual: unknown, expected: unknown): void {
  const [got, wanted] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (got !== wanted) throw new Error(`expected ${wanted}, got ${got}`)
}

function refuses(work: () => unknown, words: RegExp): void {
  try {
    work()
  } catch (error) {
    if (error instanceof StoreProblem && words.test(error.message)) return
    throw new Error(`expected a StoreProblem with ${words}, got ${String(error)}`, { cause: error })
  }
  throw new Error(`expected a StoreProblem with ${words}, but nothing was refused`)
}
