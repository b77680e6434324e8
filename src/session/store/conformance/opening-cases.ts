import { StoreError } from '../store.ts'
import { assertEqual, assertStoreError, NOTE_ENTRY, toEntryBody, USER_ENTRY } from './assertions.ts'
import type { StoreCase } from './store-case.ts'

/** Who may open, list and remove a session. */
export const openingCases: readonly StoreCase[] = [
  {
    name: 'an open session cannot be opened again or removed until it is closed',
    async run({ createStore, reopen }) {
      const store = await createStore()
      const other = await reopen(store)
      const log = await store.create({ id: 'one', folder: '/' })
      await assertStoreError(() => store.open('one'), 'in-use')
      await assertStoreError(() => other.open('one'), 'in-use')
      await assertStoreError(() => other.remove('one'), 'in-use')
      await log.close()
      await log.close()
      const again = await other.open('one')
      assertEqual(again.append(NOTE_ENTRY).seq, 2)
      await again.close()
      await assertStoreError(() => log.append(NOTE_ENTRY), 'closed')
    },
  },
  {
    name: 'of many that open or create a session at once, one gets it',
    async run({ createStore, reopen }) {
      const store = await createStore()
      const stores = [store, await reopen(store), await reopen(store), store]
      const created = await Promise.allSettled(stores.map((one) => one.create({ id: 'one', folder: '/' })))
      const first = findOnly(created, ['in-use', 'exists'])
      first.append(USER_ENTRY)
      await first.close()
      const opened = await Promise.allSettled(stores.map((one) => one.open('one')))
      const second = findOnly(opened, ['in-use'])
      second.append(NOTE_ENTRY)
      await second.close()
      assertEqual((await store.read('one')).entries.slice(1).map(toEntryBody), [USER_ENTRY, NOTE_ENTRY])
    },
  },
  {
    name: 'with `takeOver`, a session is refused or taken; from then on its former holder writes nothing',
    async run({ createStore, reopen }) {
      const store = await createStore()
      const other = await reopen(store)
      const former = await store.create({ id: 'one', folder: '/' })
      former.append(USER_ENTRY)
      await former.flush()
      // A store that knows that the holder is alive may refuse.
      const taken = await other.open('one', { takeOver: true }).catch((error: unknown) => {
        if (error instanceof StoreError && error.code === 'in-use') return undefined
        throw error
      })
      if (taken) {
        await assertStoreError(async () => {
          former.append({ kind: 'note', text: 'too late' })
          await former.flush()
        }, 'taken-over')
        await assertStoreError(() => former.append(NOTE_ENTRY), 'taken-over')
        await former.close()
        await assertStoreError(() => store.open('one'), 'in-use')
        taken.append(NOTE_ENTRY)
        await taken.flush()
        await taken.close()
        assertEqual((await store.read('one')).entries.slice(1).map(toEntryBody), [USER_ENTRY, NOTE_ENTRY])
      } else {
        former.append(NOTE_ENTRY)
        await former.flush()
        await former.close()
      }
    },
  },
  {
    name: 'a missing session, one that exists already, and a bad name are errors with a code',
    async run({ createStore }) {
      const store = await createStore()
      await assertStoreError(() => store.open('none'), 'not-found')
      await assertStoreError(() => store.read('none'), 'not-found')
      await assertStoreError(() => store.remove('none'), 'not-found')
      await assertStoreError(
        () => store.create({ id: 'fork', folder: '/', parent: { session: 'none', seq: 1 } }),
        'not-found',
      )
      await (await store.create({ id: 'one', folder: '/' })).close()
      await assertStoreError(() => store.create({ id: 'one', folder: '/' }), 'exists')
      await assertStoreError(() => store.create({ id: '../one', folder: '/' }), 'invalid-id')
      await assertStoreError(() => store.create({ id: '', folder: '/' }), 'invalid-id')
    },
  },
  {
    name: 'sessions are listed newest first; a session with forks cannot be removed',
    async run({ createStore, reopen }) {
      const store = await createStore()
      const first = await store.create({ id: 'first', folder: '/a' })
      first.append(USER_ENTRY)
      await first.close()
      // The times of entries are in milliseconds.
      await new Promise((resolve) => setTimeout(resolve, 5))
      await (await store.create({ id: 'second', folder: '/b', parent: { session: 'first', seq: 2 } })).close()
      const listed = (await (await reopen(store)).list()).map(({ id, folder, title }) => `${id} ${folder} ${title}`)
      assertEqual(listed.join(), 'second /b hello,first /a hello')
      await assertStoreError(() => store.remove('first'), 'has-forks')
      await store.remove('second')
      await store.remove('first')
      assertEqual(await store.list(), [])
      await assertStoreError(() => store.read('first'), 'not-found')
    },
  },
  {
    name: 'a list says how many prompts a session has, which model answered, and whether its last run ended',
    async run({ createStore, reopen }) {
      const store = await createStore()
      const log = await store.create({ id: 'one', folder: '/a' })
      log.append({ kind: 'user', parts: [{ kind: 'text', text: 'first\nmessage' }], prompt: 'one#1' })
      log.append({ kind: 'request', model: 'p/asked', prompt: 'one#1', bytes: 1 })
      const turn = {
        role: 'assistant',
        origin: { provider: 'p', wire: 'gemini', model: 'm' },
        parts: [{ kind: 'text', text: 'yes' }],
        finish: { reason: 'stop' },
      } as const
      log.append({ kind: 'turn', turn, prompt: 'one#1', ms: 1 })
      await log.flush()
      const list = async () => (await (await reopen(store)).list()).map((one) => ({ ...one, created: 0, changed: 0 }))
      const times = { created: 0, changed: 0 }
      const what = { id: 'one', folder: '/a', title: 'first message', prompts: 1, model: 'p/m', asked: 'p/asked' }
      const summary = { ...times, ...what }
      assertEqual(await list(), [{ ...summary, unfinished: true }])
      log.append({ kind: 'close', prompt: 'one#1', reason: 'done' })
      await log.close()
      assertEqual(await list(), [summary])
      const again = await store.open('one')
      const last = again.append({ kind: 'user', parts: [{ kind: 'text', text: 'second' }], prompt: 'one#2' })
      again.append({ kind: 'close', prompt: 'one#2', reason: 'done' })
      await again.close()
      assertEqual(await list(), [{ ...summary, prompts: 2 }])
      const [listed] = await store.list()
      assertEqual((listed?.created ?? Infinity) <= last.at && (listed?.changed ?? 0) >= last.at, true)
    },
  },
]

/** The value of the only promise that was fulfilled; the others must have been rejected with one of these codes. */
function findOnly<T>(results: readonly PromiseSettledResult<T>[], codes: readonly string[]): T {
  const values = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
  for (const error of errors) if (!(error instanceof StoreError) || !codes.includes(error.code)) throw error
  const [value] = values
  if (values.length !== 1 || value === undefined) throw new Error(`expected one holder, got ${values.length}`)
  return value
}
