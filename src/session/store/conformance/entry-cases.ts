import type { EntryBody } from '../../log/entry.ts'
import { assertEqual, assertStoreError, NOTE_ENTRY, toEntryBody, USER_ENTRY } from './assertions.ts'
import type { StoreCase } from './store-case.ts'

/** What a store must do with entries. */
export const entryCases: readonly StoreCase[] = [
  {
    name: 'entries come back as they were, in order, numbered without gaps',
    async run({ createStore, reopen }) {
      const store = await createStore()
      const log = await store.create({ id: 'one', folder: '/here' })
      log.append(USER_ENTRY)
      log.append(NOTE_ENTRY)
      await log.close()
      const { entries, damages } = await (await reopen(store)).read('one')
      assertEqual(entries.map(({ seq, kind }) => `${seq} ${kind}`).join(), '1 open,2 user,3 note')
      assertEqual(entries.slice(1).map(toEntryBody), [USER_ENTRY, NOTE_ENTRY])
      assertEqual(damages, [])
    },
  },
  {
    name: 'text that databases refuse comes back as it was: NUL, half a surrogate pair, deep nesting',
    async run({ createStore, reopen }) {
      const store = await createStore()
      let nested: EntryBody & { kind: 'fault' } = { kind: 'fault', fault: {}, prompt: '' }
      for (let depth = 0; depth < 400; depth++) nested = { ...nested, fault: { in: nested.fault } }
      const bodies: EntryBody[] = [
        { kind: 'note', text: 'nul \0, half \uD800, other half \uDC00, \u{1F600}, \\u0000, \uFFFE' },
        { kind: 'intent', call: 'c', name: 't', input: { 'key \0': [1e300, -0.5, null, '\\'] } },
        nested,
      ]
      const log = await store.create({ id: 'one', folder: '/' })
      for (const body of bodies) log.append(body)
      await log.close()
      assertEqual((await (await reopen(store)).read('one')).entries.slice(1).map(toEntryBody), bodies)
    },
  },
  {
    name: 'entries are saved when `flush` resolves, and the times in a log never decrease',
    async run({ createStore, reopen }) {
      const store = await createStore()
      const log = await store.create({ id: 'one', folder: '/' })
      for (let at = 0; at < 3; at++) log.append(USER_ENTRY)
      await Promise.all([log.flush(), log.flush()])
      log.append(USER_ENTRY)
      await log.flush()
      const { entries } = await (await reopen(store)).read('one')
      assertEqual(entries.length, 5)
      const times = entries.map(({ at }) => at)
      assertEqual(
        times,
        times.toSorted((a, b) => a - b),
      )
      await log.close()
    },
  },
  {
    name: 'entries of several tasks at once are saved in the order in which they were appended',
    async run({ createStore, reopen }) {
      const store = await createStore()
      const log = await store.create({ id: 'one', folder: '/' })
      const appended: string[] = []
      const work = async (task: number): Promise<void> => {
        for (let at = 0; at < 40; at++) {
          const text = `${task}.${at}`
          appended.push(`${log.append({ kind: 'note', text }).seq} ${text}`)
          if (at % 7 === task) await log.flush()
          else await Promise.resolve()
        }
      }
      await Promise.all(Array.from({ length: 6 }, (_, task) => work(task)))
      await log.flush()
      const { entries } = await (await reopen(store)).read('one')
      const notes = entries.flatMap((entry) => (entry.kind === 'note' ? [`${entry.seq} ${entry.text}`] : []))
      assertEqual(notes, appended)
      assertEqual(
        entries.map(({ seq }) => seq),
        Array.from({ length: 241 }, (_, at) => at + 1),
      )
      await log.close()
    },
  },
  {
    name: 'a big session comes back whole, and goes on',
    async run({ createStore, reopen }) {
      const store = await createStore()
      const log = await store.create({ id: 'one', folder: '/' })
      const texts = Array.from({ length: 3000 }, (_, at) => `${at} ${'x'.repeat(at % 1500 === 7 ? 2e6 : 200)}`)
      for (const text of texts) log.append({ kind: 'note', text })
      await log.close()
      const opened = await (await reopen(store)).open('one')
      const found = opened.entries.flatMap((entry) => (entry.kind === 'note' ? [entry.text] : []))
      if (found.length !== texts.length || found.some((text, at) => text !== texts[at]))
        throw new Error(`expected ${texts.length} notes as they were, got ${found.length}`)
      assertEqual(opened.append(NOTE_ENTRY).seq, 3002)
      await opened.close()
      assertEqual((await store.read('one')).entries.length, 3002)
    },
  },
  {
    name: 'a fork has the entries of its parent up to the fork point, and later entries stay apart',
    async run({ createStore, reopen }) {
      const store = await createStore()
      const parent = await store.create({ id: 'parent', folder: '/' })
      const userEntry = parent.append(USER_ENTRY)
      parent.append(NOTE_ENTRY)
      // The parent is open, and nobody waited for its entries.
      const fork = await store.create({ id: 'fork', folder: '/', parent: { session: 'parent', seq: userEntry.seq } })
      assertEqual(fork.entries.map(({ kind }) => kind).join(), 'open,user,open')
      const added = fork.append({ kind: 'note', text: 'only in the fork' })
      parent.append({ kind: 'note', text: 'only in the parent' })
      await fork.close()
      await parent.close()
      const { entries, uncertainUpTo = 0 } = await (await reopen(store)).read('fork')
      assertEqual(entries.map(({ kind }) => kind).join(), 'open,user,open,note')
      assertEqual(entries.at(-1)?.seq, added.seq)
      assertEqual(new Set(entries.map((entry) => entry.seq)).size, entries.length)
      // An open call of the parent may run there, and must not run in the fork.
      assertEqual(uncertainUpTo >= userEntry.seq, true)
      const second = await store.create({ id: 'second', folder: '/', parent: { session: 'fork', seq: added.seq } })
      assertEqual(second.entries.map(({ kind }) => kind).join(), 'open,user,open,note,open')
      await second.close()
    },
  },
  {
    name: 'a failure is reported by `flush` at the latest, and nothing is appended after it',
    needs: 'failWrites',
    async run({ createStore, failWrites }) {
      const store = await createStore()
      const log = await store.create({ id: 'one', folder: '/' })
      log.append(USER_ENTRY)
      await log.flush()
      await failWrites?.(store)
      await assertStoreError(async () => {
        log.append(USER_ENTRY)
        await log.flush()
      })
      await assertStoreError(() => log.append(USER_ENTRY))
      await assertStoreError(() => log.flush())
      await log.close()
      await assertStoreError(() => log.append(USER_ENTRY), 'closed')
    },
  },
]
