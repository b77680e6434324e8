import type { Entry } from '../../log/entry.ts'
import type { FollowOptions, Store } from '../store.ts'
import { assertEqual, assertStoreError, sleep, USER_ENTRY, waitFor } from './assertions.ts'
import type { StoreCase, StoreSetup } from './store-case.ts'

/** Followers that are stopped at the end of the case, whatever happens. */
type Follow = (store: Store, id: string, options?: FollowOptions) => Following

interface FollowCase extends Pick<StoreCase, 'name'> {
  readonly run: (setup: StoreSetup, follow: Follow) => Promise<void>
}

const cases: readonly FollowCase[] = [
  {
    name: '`read` with `after` has only the entries with a higher number, also of a fork',
    async run({ createStore, reopen }) {
      const store = await createStore()
      await createForkedSession(store)
      const other = await reopen(store)
      const read = async (id: string, after: number) =>
        (await other.read(id, { after })).entries.map(({ seq }) => seq).join()
      assertEqual(await read('one', 0), '1,2,3,4')
      assertEqual(await read('one', 2), '3,4')
      assertEqual(await read('one', 4), '')
      assertEqual(await read('fork', 1), '2,3,4,5')
      assertEqual(await read('fork', 4), '5')
      assertEqual(await read('fork', 99), '')
      await assertStoreError(() => other.read('none', { after: 1 }), 'not-found')
    },
  },
  {
    name: 'followers see every entry once and in order, whoever writes, and from whatever number they begin',
    async run({ createStore, reopen }, follow) {
      const store = await createStore()
      const log = await store.create({ id: 'one', folder: '/' })
      log.append({ kind: 'note', text: '0' })
      await log.flush()
      const followers = [
        follow(store, 'one'),
        follow(await reopen(store), 'one'),
        follow(await reopen(store), 'one', { after: 20 }),
      ]
      for (let at = 1; at <= 60; at++) {
        log.append({ kind: 'note', text: String(at) })
        if (at % 3 === 0) await log.flush()
        if (at % 20 === 0) await sleep(20)
        if (at === 30) followers.push(follow(await reopen(store), 'one', { after: 5 }))
      }
      await log.close()
      // The next one is another process.
      const again = await (await reopen(store)).open('one')
      again.append({ kind: 'note', text: '61' })
      await again.close()
      for (const [at, { entries, stop }] of followers.entries()) {
        await waitFor(`follower ${at} has all`, () => entries.at(-1)?.seq === 63)
        await stop()
        const first = [1, 1, 21, 6][at] ?? 0
        assertEqual(
          entries.map(({ seq }) => seq),
          Array.from({ length: 64 - first }, (_, index) => first + index),
        )
      }
      const { entries } = await store.read('one')
      assertEqual(followers[1]?.entries, entries)
    },
  },
  {
    name: 'a follower gets an entry when `flush` has resolved, and not only with the next one',
    async run({ createStore, reopen }, follow) {
      const store = await createStore()
      const log = await store.create({ id: 'one', folder: '/' })
      const near = follow(store, 'one', { after: 1 })
      const far = follow(await reopen(store), 'one', { after: 1 })
      for (let at = 2; at < 8; at++) {
        log.append(USER_ENTRY)
        await log.flush()
        await waitFor(`entry ${at} is seen`, () => [near, far].every(({ entries }) => entries.at(-1)?.seq === at))
      }
      await Promise.all([near.stop(), far.stop()])
      await log.close()
    },
  },
  {
    name: 'a follower of a fork sees the entries of the parent up to the fork point, and then only its own',
    async run({ createStore, reopen }, follow) {
      const store = await createStore()
      await createForkedSession(store)
      const all = follow(await reopen(store), 'fork')
      const some = follow(await reopen(store), 'fork', { after: 2 })
      await waitFor('both have what is there', () => [all, some].every(({ entries }) => entries.at(-1)?.seq === 5))
      const parent = await store.open('one')
      parent.append({ kind: 'note', text: 'of the parent' })
      await parent.close()
      const fork = await store.open('fork')
      fork.append({ kind: 'note', text: 'of the fork' })
      await fork.close()
      await waitFor('both have the new entry', () => [all, some].every(({ entries }) => entries.at(-1)?.seq === 6))
      await Promise.all([all.stop(), some.stop()])
      assertEqual(all.entries, (await store.read('fork')).entries)
      assertEqual(some.entries.map(({ seq }) => seq).join(), '3,4,5,6')
    },
  },
  {
    name: 'a follower ends when its signal is aborted or its iterator is returned, also while it waits',
    async run({ createStore }, follow) {
      const store = await createStore()
      await (await store.create({ id: 'one', folder: '/' })).close()
      const waiting = follow(store, 'one')
      await waitFor('it waits', () => waiting.entries.length === 1)
      await waiting.stop()
      assertEqual(await collect(store.follow('one', { signal: AbortSignal.abort() })), [])
      const iterator = store.follow('one')[Symbol.asyncIterator]()
      assertEqual((await iterator.next()).done, false)
      const next = iterator.next()
      await iterator.return?.()
      assertEqual((await next).done, true)
    },
  },
  {
    name: 'following a missing session rejects; so does following one that is removed',
    async run({ createStore, reopen }, follow) {
      const store = await createStore()
      await assertStoreError(() => collect(store.follow('none')), 'not-found')
      await assertStoreError(() => collect(store.follow('../one')), 'not-found', 'invalid-id')
      await (await store.create({ id: 'one', folder: '/' })).close()
      const follower = follow(await reopen(store), 'one')
      await waitFor('it waits', () => follower.entries.length === 1)
      await store.remove('one')
      await assertStoreError(() => follower.ended, 'not-found')
    },
  },
  {
    name: 'a thousand followers of idle sessions do not disturb one that is written',
    async run({ createStore, reopen }, follow) {
      const store = await createStore()
      const other = await reopen(store)
      await createForkedSession(store)
      const idle = Array.from({ length: 1000 }, () => follow(other, 'fork', { after: 5 }))
      const log = await store.open('one')
      const busy = follow(other, 'one', { after: 4 })
      for (let at = 5; at < 25; at++) {
        log.append(USER_ENTRY)
        await log.flush()
      }
      await waitFor('all are seen', () => busy.entries.at(-1)?.seq === 24)
      await log.close()
      const started = performance.now()
      await Promise.all([busy, ...idle].map(({ stop }) => stop()))
      assertEqual(performance.now() - started < 30_000, true)
      assertEqual(
        idle.every(({ entries }) => entries.length === 0),
        true,
      )
    },
  },
]

async function collect(entries: AsyncIterable<Entry>): Promise<Entry[]> {
  const all: Entry[] = []
  for await (const entry of entries) all.push(entry)
  return all
}

interface Following {
  readonly entries: readonly Entry[]
  readonly ended: Promise<void>
  readonly stop: () => Promise<void>
}

/** What readers of a session see while it is written. */
export const followCases: readonly StoreCase[] = cases.map(({ name, run }) => ({
  name,
  async run(setup) {
    const following: Following[] = []
    try {
      await run(setup, (...args) => {
        const started = startFollowing(...args)
        following.push(started)
        return started
      })
    } finally {
      await Promise.allSettled(following.map(({ stop }) => stop()))
    }
  },
}))

/** Collects the entries that a follower gets. */
function startFollowing(store: Store, id: string, options: FollowOptions = {}): Following {
  const abort = new AbortController()
  const entries: Entry[] = []
  const run = async (): Promise<void> => {
    for await (const entry of store.follow(id, { ...options, signal: abort.signal })) entries.push(entry)
  }
  const ended = run()
  // A case that does not wait for the end fails by what was not collected.
  ended.catch(() => undefined)
  return {
    entries,
    ended,
    stop() {
      abort.abort()
      return ended
    },
  }
}

/** `one` has four entries, and `fork` those up to the third and two of its own. */
async function createForkedSession(store: Store): Promise<void> {
  const log = await store.create({ id: 'one', folder: '/' })
  for (const text of ['2', '3', '4']) log.append({ kind: 'note', text })
  await log.close()
  const fork = await store.create({ id: 'fork', folder: '/', parent: { session: 'one', seq: 3 } })
  fork.append({ kind: 'note', text: 'own' })
  await fork.close()
}
