import type { Entry, EntryBody } from '../log/entry.ts'
import { type Store, StoreError, type StoreErrorCode } from './store.ts'

/** One requirement of every store. `run` throws if the store does not meet it. */
export interface StoreCase {
  readonly name: string
  /** `createStore` returns an empty store; `reopen` returns the same sessions as another process would see them. */
  readonly run: (createStore: () => Store, reopen: (store: Store) => Store) => void | Promise<void>
}

/** The requirements of every store, for any test runner: run these against a store of your own. */
export const storeConformance: readonly StoreCase[] = [
  {
    name: 'entries come back as they were, in order, numbered without gaps',
    run(createStore, reopen) {
      const store = createStore()
      const log = store.create({ id: 'one', folder: '/here' })
      log.append(USER_ENTRY)
      log.append(NOTE_ENTRY)
      log.close()
      const { entries, damages } = reopen(store).read('one')
      assertEqual(entries.map(({ seq, kind }) => `${seq} ${kind}`).join(), '1 open,2 user,3 note')
      assertEqual(entries.slice(1).map(toEntryBody), [USER_ENTRY, NOTE_ENTRY])
      assertEqual(damages, [])
    },
  },
  {
    name: 'an open session cannot be opened again until it is closed',
    run(createStore, reopen) {
      const store = createStore()
      const log = store.create({ id: 'one', folder: '/' })
      assertStoreError(() => store.open('one'), 'in-use')
      assertStoreError(() => reopen(store).open('one'), 'in-use')
      log.close()
      const again = store.open('one')
      assertEqual(again.append(NOTE_ENTRY).seq, 2)
      again.close()
      assertStoreError(() => log.append(NOTE_ENTRY), 'closed')
    },
  },
  {
    name: 'a missing session, or one that exists already, is an error with a code',
    run(createStore) {
      const store = createStore()
      assertStoreError(() => store.open('none'), 'not-found')
      assertStoreError(() => store.read('none'), 'not-found')
      assertStoreError(() => store.remove('none'), 'not-found')
      store.create({ id: 'one', folder: '/' }).close()
      assertStoreError(() => store.create({ id: 'one', folder: '/' }), 'exists')
    },
  },
  {
    name: 'a fork has the entries of its parent up to the fork point, and later entries stay apart',
    run(createStore, reopen) {
      const store = createStore()
      const parent = store.create({ id: 'parent', folder: '/' })
      const userEntry = parent.append(USER_ENTRY)
      parent.append(NOTE_ENTRY)
      const fork = store.create({ id: 'fork', folder: '/', parent: { session: 'parent', seq: userEntry.seq } })
      const added = fork.append({ kind: 'note', text: 'only in the fork' })
      parent.append({ kind: 'note', text: 'only in the parent' })
      fork.close()
      parent.close()
      const entries = reopen(store).read('fork').entries
      assertEqual(entries.map(({ kind }) => kind).join(), 'open,user,open,note')
      assertEqual(entries.at(-1)?.seq, added.seq)
      assertEqual(new Set(entries.map((entry) => entry.seq)).size, entries.length)
      const second = store.create({ id: 'second', folder: '/', parent: { session: 'fork', seq: added.seq } })
      assertEqual(second.entries.map(({ kind }) => kind).join(), 'open,user,open,note,open')
      second.close()
    },
  },
  {
    name: 'sessions are listed newest first; a session with forks cannot be removed',
    run(createStore) {
      const store = createStore()
      const first = store.create({ id: 'first', folder: '/a' })
      first.append(USER_ENTRY)
      first.close()
      store.create({ id: 'second', folder: '/b', parent: { session: 'first', seq: 2 } }).close()
      const listed = store.list().map(({ id, folder, title }) => `${id} ${folder} ${title}`)
      assertEqual(listed.join(), 'second /b hello,first /a hello')
      assertStoreError(() => store.remove('first'), 'has-forks')
      store.remove('second')
      store.remove('first')
      assertEqual(store.list(), [])
    },
  },
  {
    name: 'a blob is stored under the hash of its content',
    run(createStore, reopen) {
      const store = createStore()
      const bytes = new Uint8Array([1, 2, 3, 0, 255])
      const hash = store.putBlob(bytes)
      assertEqual(store.putBlob(bytes), hash)
      assertEqual([...(reopen(store).getBlob(hash) ?? [])], [...bytes])
      assertEqual(store.getBlob('0'.repeat(64)), undefined)
    },
  },
  {
    name: 'media comes back complete from every kind of entry, and equal content is stored once',
    run(createStore, reopen) {
      const store = createStore()
      const log = store.create({ id: 'one', folder: '/' })
      const bodies = createMediaEntries(IMAGE_BASE64)
      const returned = bodies.map((body) => toEntryBody(log.append(body)))
      assertEqual(returned, bodies)
      log.close()
      const again = reopen(store)
      assertEqual(again.read('one').entries.slice(1).map(toEntryBody), bodies)
      const opened = again.open('one')
      assertEqual(opened.entries.slice(1).map(toEntryBody), bodies)
      opened.close()
      assertEqual(again.getBlob(store.putBlob(Buffer.from(IMAGE_BASE64, 'base64'))) !== undefined, true)
    },
  },
  {
    name: 'base64 with other line breaks, small media and media by URL stay as they were',
    run(createStore, reopen) {
      const store = createStore()
      const log = store.create({ id: 'one', folder: '/' })
      const parts = [
        { kind: 'media', mime: 'image/png', data: `${IMAGE_BASE64.slice(0, 80)}\n${IMAGE_BASE64.slice(80)}` },
        { kind: 'media', mime: 'image/png', data: 'AAAA' },
        { kind: 'media', mime: 'image/png', uri: 'https://example.org/a.png' },
      ] as const
      const body: EntryBody = { kind: 'user', parts, prompt: 'one#1' }
      log.append(body)
      log.close()
      assertEqual(reopen(store).read('one').entries.slice(1).map(toEntryBody), [body])
    },
  },
  {
    name: 'forks share media; a blob is removed with the last session that refers to it',
    run(createStore, reopen) {
      const store = createStore()
      const hash = store.putBlob(Buffer.from(IMAGE_BASE64, 'base64'))
      const parent = store.create({ id: 'parent', folder: '/' })
      const [userEntry] = createMediaEntries(IMAGE_BASE64)
      const at = parent.append(userEntry ?? NOTE_ENTRY).seq
      parent.close()
      const fork = store.create({ id: 'fork', folder: '/', parent: { session: 'parent', seq: at } })
      assertEqual(fork.entries.filter(({ kind }) => kind === 'user').map(toEntryBody), [userEntry])
      fork.close()
      store.create({ id: 'other', folder: '/' }).close()
      store.remove('fork')
      assertEqual(reopen(store).getBlob(hash) !== undefined, true)
      store.remove('parent')
      assertEqual(reopen(store).getBlob(hash), undefined)
      const remaining = store.list().map(({ id }) => id)
      assertEqual(remaining, ['other'])
    },
  },
  {
    name: 'entries are saved when `flush` resolves, and the times in a log never decrease',
    async run(createStore, reopen) {
      const store = createStore()
      const log = store.create({ id: 'one', folder: '/' })
      for (let at = 0; at < 3; at++) log.append(USER_ENTRY)
      await Promise.all([log.flush(), log.flush()])
      log.append(USER_ENTRY)
      await log.flush()
      log.close()
      const times = reopen(store)
        .read('one')
        .entries.map(({ at }) => at)
      const sorted = times.toSorted((a, b) => a - b)
      assertEqual(times, sorted)
    },
  },
]

/** Long enough to be stored as a blob. */
const IMAGE_BASE64 = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 31) % 251)).toString('base64')

/** An entry of each kind that can contain media. */
function createMediaEntries(data: string): EntryBody[] {
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

function toEntryBody(entry: Entry): unknown {
  const { seq: _, at: __, ...body } = entry
  return body
}

const USER_ENTRY: EntryBody = { kind: 'user', parts: [{ kind: 'text', text: 'hello' }], prompt: 'one#1' }
const NOTE_ENTRY: EntryBody = { kind: 'note', text: 'line\nbreaks, “quotes” and \u2028 separators' }

function assertEqual(actual: unknown, expected: unknown): void {
  const [actualJson, expectedJson] = [JSON.stringify(sortKeys(actual)), JSON.stringify(sortKeys(expected))]
  if (actualJson !== expectedJson) throw new Error(`expected ${expectedJson}, got ${actualJson}`)
}

/** Stores may write keys in any order. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(fields.map(([key, inner]) => [key, sortKeys(inner)]))
}

function assertStoreError(work: () => unknown, code: StoreErrorCode): void {
  try {
    work()
  } catch (error) {
    if (error instanceof StoreError && error.code === code) return
    throw new Error(`expected a StoreError with the code ${code}, got ${String(error)}`, { cause: error })
  }
  throw new Error(`expected a StoreError with the code ${code}, but nothing was thrown`)
}
