import type { EntryBody } from '../../log/entry.ts'
import { type SessionLog, type Store, StoreError } from '../store.ts'
import { assertEqual, assertStoreError, sleep, toEntryBody, USER_ENTRY, waitFor } from './assertions.ts'
import type { StoreCase } from './store-case.ts'

/** What holds when a process loses a session to another one. */
export const leaseCases: readonly StoreCase[] = [
  {
    name: 'a session that is open and used by nobody else is never lost',
    async run({ createStore, reopen, leaseMs = 500 }) {
      const store = await createStore()
      const other = await reopen(store)
      const log = await store.create({ id: 'one', folder: '/' })
      for (const until = performance.now() + leaseMs * 1.5; performance.now() < until; await sleep(50))
        await assertStoreError(() => other.open('one'), 'in-use')
      assertEqual(log.lost.aborted, false)
      log.append(USER_ENTRY)
      await log.close()
      assertEqual((await other.read('one')).entries.length, 2)
      assertEqual(log.lost.aborted, false)
    },
  },
  {
    name: 'a writer that was paused writes nothing after another took its session, and learns that it is lost',
    async run(setup) {
      const { store, other, former } = await createHeldSession(setup)
      const resume = await setup.pause?.(store)
      // One entry is on its way, and one is added when all is over.
      const sending = send(former, createNote('on its way'))
      const taken = await openWhenPossible(other, { takeOver: true })
      if (!taken) return resume?.()
      const before = taken.entries.length
      taken.append(createNote('new'))
      await taken.flush()
      resume?.()
      // It was saved in time, and its successor has it; or it is refused, whether it has arrived or not.
      const isSaved = JSON.stringify(taken.entries).includes('on its way')
      assertEqual((await sending)?.code ?? (isSaved ? 'taken-over' : 'lost'), 'taken-over')
      await assertStoreError(async () => {
        former.append(createNote('too late'))
        await former.flush()
      }, 'taken-over')
      await waitFor('the former holder knows that the session is lost', () => former.lost.aborted)
      assertEqual((former.lost.reason as StoreError).code, 'taken-over')
      await assertStoreError(() => former.append(USER_ENTRY), 'taken-over')
      await assertStoreError(() => former.flush(), 'taken-over')
      await former.close()
      await assertStoreError(() => store.open('one'), 'in-use')
      assertEqual(taken.lost.aborted, false)
      taken.append(createNote('newer'))
      await taken.close()
      const { entries } = await (await setup.reopen(store)).read('one')
      assertEqual(
        entries.map(({ seq }) => seq),
        entries.map((_, at) => at + 1),
      )
      assertEqual(entries.slice(before).map(toEntryBody), [createNote('new'), createNote('newer')])
      assertEqual(JSON.stringify(entries).includes('too late'), false)
    },
  },
  {
    name: 'a writer that comes back after its successor has closed the session writes nothing either',
    async run(setup) {
      const { store, other, former } = await createHeldSession(setup)
      const resume = await setup.pause?.(store)
      const taken = await openWhenPossible(other, { takeOver: true })
      if (!taken) return resume?.()
      taken.append(createNote('new'))
      await taken.close()
      // And another one was there after it.
      const third = await other.open('one')
      third.append(createNote('newer'))
      await third.close()
      resume?.()
      await assertStoreError(async () => {
        former.append(USER_ENTRY)
        await former.flush()
      }, 'taken-over')
      await waitFor('the former holder knows that the session is lost', () => former.lost.aborted)
      await former.close()
      const last = await other.open('one')
      const texts = last.entries.flatMap((entry) => (entry.kind === 'note' ? [entry.text] : []))
      assertEqual(texts, ['new', 'newer'])
      assertEqual(last.entries.length, 4)
      await last.close()
      assertEqual((await other.list()).length, 1)
    },
  },
  {
    name: 'the session of a process that is gone is free when its lease has ended, and not before',
    needs: 'leaseMs',
    async run(setup) {
      const { store, other, former } = await createHeldSession(setup)
      const resume = await setup.pause?.(store)
      await assertStoreError(() => other.open('one'), 'in-use')
      await waitFor('the session is free', async () => {
        const taken = await openWhenPossible(other)
        if (!taken) return false
        // Tools of the former holder must have stopped by now.
        assertEqual(former.lost.aborted, true)
        await taken.close()
        return true
      })
      await assertStoreError(() => former.append(USER_ENTRY), 'taken-over')
      resume?.()
      await former.close()
      assertEqual((await other.read('one')).entries.length, 2)
    },
  },
]

async function createHeldSession({
  createStore,
  reopen,
}: Parameters<StoreCase['run']>[0]): Promise<{ store: Store; other: Store; former: SessionLog }> {
  const store = await createStore()
  const other = await reopen(store)
  const former = await store.create({ id: 'one', folder: '/' })
  former.append(USER_ENTRY)
  await former.flush()
  return { store, other, former }
}

/** A store that knows that the holder is alive may refuse. */
async function openWhenPossible(store: Store, options?: { takeOver: true }): Promise<SessionLog | undefined> {
  return store.open('one', options).catch((error: unknown) => {
    if (error instanceof StoreError && error.code === 'in-use') return undefined
    throw error
  })
}

function createNote(text: string): EntryBody {
  return { kind: 'note', text }
}

/** Resolves with the error, if any. */
async function send(log: SessionLog, body: EntryBody): Promise<StoreError | undefined> {
  try {
    log.append(body)
    await log.flush()
    return undefined
  } catch (error) {
    if (error instanceof StoreError) return error
    throw error
  }
}
