import type { SessionSummary, Store } from '../store.ts'
import { assertEqual, assertStoreError, USER_ENTRY } from './assertions.ts'
import type { StoreCase } from './store-case.ts'

/** What pages of the list have. */
export const listCases: readonly StoreCase[] = [
  {
    name: 'pages have every session once, those first that were created last',
    async run({ createStore, reopen }) {
      const store = await createStore()
      // Several may be created in the same millisecond.
      for (let at = 0; at < 23; at++) await createSession(store, `s${(at * 7) % 23}`)
      const other = await reopen(store)
      const expected = (await other.list()).toSorted((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1))
      for (const limit of [1, 5, 23, 100]) assertEqual(await readPages(other, limit), expected)
      assertEqual(await other.list({ before: { id: 's0', created: 0 } }), [])
      assertEqual((await other.list({ limit: 3 })).length, 3)
      await assertThrows(() => other.list({ limit: 0 }))
      await assertThrows(() => other.list({ limit: 1.5 }))
    },
  },
  {
    name: 'sessions that change, appear or go between two pages do not move the others',
    async run({ createStore }) {
      const store = await createStore()
      for (let at = 0; at < 12; at++) await createSession(store, `s${at}`)
      const before = (await readPages(store, 100)).map(({ id }) => id)
      const seen: string[] = []
      let last: SessionSummary | undefined
      // Sessions of the same millisecond are sorted by name.
      await new Promise((resolve) => setTimeout(resolve, 5))
      for (let page = 0; page < 10; page++) {
        const found = await store.list({ limit: 3, ...(last && { before: last }) })
        if (found.length === 0) break
        seen.push(...found.map(({ id }) => id))
        last = found.at(-1)
        // One that comes later is changed, a new one is added, and the last of this page is removed.
        const changed = await store.open(before.findLast((id) => !seen.includes(id)) ?? before[0] ?? '')
        changed.append(USER_ENTRY)
        await changed.close()
        await createSession(store, `new${page}`)
        await store.remove(seen.at(-1) ?? '')
      }
      assertEqual(seen, before)
      await assertStoreError(() => store.read(before.at(-1) ?? ''), 'not-found')
    },
  },
]

async function createSession(store: Store, id: string): Promise<void> {
  await (await store.create({ id, folder: '/' })).close()
}

async function readPages(store: Store, limit: number): Promise<SessionSummary[]> {
  const all: SessionSummary[] = []
  for (;;) {
    const last = all.at(-1)
    const page = await store.list({ limit, ...(last && { before: last }) })
    all.push(...page)
    if (page.length < limit) return all
  }
}

async function assertThrows(work: () => Promise<unknown>): Promise<void> {
  const isRefused = await work().then(
    () => false,
    (error: unknown) => error instanceof TypeError,
  )
  assertEqual(isRefused, true)
}
