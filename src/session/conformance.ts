import type { Entry, EntryBody } from './entry.ts'
import { type Store, StoreProblem } from './store/store.ts'

/** One thing that every store must do. It throws if the store does not. */
export interface StoreCase {
  readonly name: string
  /** `fresh` gives an empty store; `reopen` gives the same sessions as another process would see them. */
  readonly run: (fresh: () => Store, reopen: (store: Store) => Store) => void | Promise<void>
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
  {
    name: 'media comes back whole, wherever it stands, and is kept once by its content',
    run(fresh, reopen) {
      const store = fresh()
      const log = store.create({ id: 'one', folder: '/' })
      const bodies = withMedia(PICTURE)
      const returned = bodies.map((body) => bodyOf(log.append(body)))
      equal(returned, bodies)
      log.close()
      const again = reopen(store)
      equal(again.read('one').entries.slice(1).map(bodyOf), bodies)
      const opened = again.open('one')
      equal(opened.entries.slice(1).map(bodyOf), bodies)
      opened.close()
      equal(again.getBlob(store.putBlob(Buffer.from(PICTURE, 'base64'))) !== undefined, true)
    },
  },
  {
    name: 'base64 in another spelling, and media that is small or somewhere else, stays as it was',
    run(fresh, reopen) {
      const store = fresh()
      const log = store.create({ id: 'one', folder: '/' })
      const parts = [
        { kind: 'media', mime: 'image/png', data: `${PICTURE.slice(0, 80)}\n${PICTURE.slice(80)}` },
        { kind: 'media', mime: 'image/png', data: 'AAAA' },
        { kind: 'media', mime: 'image/png', uri: 'https://example.org/a.png' },
      ] as const
      const body: EntryBody = { kind: 'user', parts, prompt: 'one#1' }
      log.append(body)
      log.close()
      equal(reopen(store).read('one').entries.slice(1).map(bodyOf), [body])
    },
  },
  {
    name: 'forks share media; what nobody names any more goes with the last session that named it',
    run(fresh, reopen) {
      const store = fresh()
      const hash = store.putBlob(Buffer.from(PICTURE, 'base64'))
      const parent = store.create({ id: 'parent', folder: '/' })
      const [said] = withMedia(PICTURE)
      const at = parent.append(said ?? NOTE).seq
      parent.close()
      const fork = store.create({ id: 'fork', folder: '/', parent: { session: 'parent', seq: at } })
      equal(fork.entries.filter(({ kind }) => kind === 'user').map(bodyOf), [said])
      fork.close()
      store.create({ id: 'other', folder: '/' }).close()
      store.remove('fork')
      equal(reopen(store).getBlob(hash) !== undefined, true)
      store.remove('parent')
      equal(reopen(store).getBlob(hash), undefined)
      equal(
        store.list().map(({ id }) => id),
        ['other'],
      )
    },
  },
  {
    name: 'entries are saved when `saved` says so, and time runs forward in a log',
    async run(fresh, reopen) {
      const store = fresh()
      const log = store.create({ id: 'one', folder: '/' })
      for (let at = 0; at < 3; at++) log.append(SAID)
      await Promise.all([log.saved(), log.saved()])
      log.append(SAID)
      await log.saved()
      log.close()
      const times = reopen(store)
        .read('one')
        .entries.map(({ at }) => at)
      equal(
        times,
        times.toSorted((a, b) => a - b),
      )
    },
  },
]

/** Long enough to be put away. */
const PICTURE = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 31) % 251)).toString('base64')

/** An entry of every kind that can hold media. */
function withMedia(data: string): EntryBody[] {
  const media = { kind: 'media', mime: 'image/png', name: 'a.png', data } as const
  const text = { kind: 'text', text: 'look' } as const
  return [
    { kind: 'user', parts: [text, media], prompt: 'one#1' },
    {
      kind: 'turn',
      turn: {
        role: 'assistant',
        origin: { provider: 'p', wire: 'gemini', model: 'm' },
        parts: [media, text, { ...media, native: { wire: 'gemini', signer: 'm', data: 'sealed' } }],
        finish: { reason: 'stop' },
      },
      prompt: 'one#1',
      ms: 1,
    },
    { kind: 'result', result: { kind: 'result', id: 'c', name: 't', status: 'ok', content: [media, media] }, ms: 1 },
  ]
}

/** The entry without what the store adds. */
function bodyOf(entry: Entry): unknown {
  const { seq: _, at: __, ...body } = entry
  return body
}

const SAID: EntryBody = { kind: 'user', parts: [{ kind: 'text', text: 'hello' }], prompt: 'one#1' }
const NOTE: EntryBody = { kind: 'note', text: 'line\nbreaks, “quotes” and \u2028 separators' }

function equal(actual: unknown, expected: unknown): void {
  const [got, wanted] = [JSON.stringify(sorted(actual)), JSON.stringify(sorted(expected))]
  if (got !== wanted) throw new Error(`expected ${wanted}, got ${got}`)
}

/** The same value with the keys of its objects in order: stores may write them in any. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(fields.map(([key, inner]) => [key, sorted(inner)]))
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
