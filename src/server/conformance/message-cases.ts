import { assertEqual } from '../../session/store/conformance/assertions.ts'
import type { InboxMessage, Schedule } from '../backend.ts'
import { assertTrue, type BackendCase, startWorker, waitFor, withBackend } from './backend-case.ts'

const message = (id: string): InboxMessage => ({ kind: 'user', id, parts: [{ kind: 'text', text: id }] })
const key = (session: string, tenant = 'acme') => ({ tenant, session })

/** What passes between clients, servers and workers. */
export const messageCases: readonly BackendCase[] = [
  {
    name: 'the inbox keeps the order, and adds no id twice, also after it was removed',
    run: (setup) =>
      withBackend(setup, async ({ inbox }) => {
        for (const id of ['c', 'a', 'b', 'a']) await inbox.put(key('s'), message(id))
        const list = async () => (await inbox.list(key('s'))).map(({ id }) => id)
        assertEqual(await list(), ['c', 'a', 'b'])
        await inbox.remove(key('s'), ['a', 'unknown'])
        assertEqual(await list(), ['c', 'b'])
        await inbox.put(key('s'), message('a'))
        assertEqual(await list(), ['c', 'b'])
        await inbox.put(key('s'), { kind: 'cancel', id: 'stop' })
        await inbox.put(key('s'), { kind: 'reply', id: 'r', ask: 'q', answer: { approved: true } })
        assertEqual((await inbox.list(key('s'))).at(-1), {
          kind: 'reply',
          id: 'r',
          ask: 'q',
          answer: { approved: true },
        })
      }),
  },
  {
    name: 'the inboxes of sessions, and of tenants with sessions of the same name, are apart',
    run: (setup) =>
      withBackend(setup, async ({ inbox }) => {
        await inbox.put(key('s'), message('mine'))
        await inbox.put(key('s', 'other'), message('mine'))
        await inbox.put(key('t'), message('mine'))
        await inbox.remove(key('s', 'other'), ['mine'])
        assertEqual((await inbox.list(key('s'))).length, 1)
        assertEqual((await inbox.list(key('s', 'other'))).length, 0)
        assertEqual((await inbox.list(key('t'))).length, 1)
      }),
  },
  {
    name: 'a watcher of an inbox hears of what is put, until it stops',
    run: (setup) =>
      withBackend(setup, async ({ inbox }) => {
        let [count, others] = [0, 0]
        const watcher = inbox.watch(key('s'), () => count++)
        const other = inbox.watch(key('s', 'other'), () => others++)
        await inbox.put(key('s'), message('a'))
        await waitFor('the watcher hears', () => count > 0)
        watcher.stop()
        other.stop()
        const before = count
        await inbox.put(key('s'), message('b'))
        assertEqual(await inbox.list(key('s')).then((all) => all.length), 2)
        assertEqual([count, others], [before, 0])
      }),
  },
  {
    name: 'messages survive the process',
    async run(setup) {
      const backend = await setup.createBackend()
      await backend.inbox.put(key('s'), message('a'))
      await backend.inbox.put(key('s'), message('b'))
      await backend.inbox.remove(key('s'), ['a'])
      const next = await setup.reopenAfterKill(backend)
      await next.inbox.put(key('s'), message('a'))
      assertEqual(
        (await next.inbox.list(key('s'))).map(({ id }) => id),
        ['b'],
      )
      await next.close()
    },
  },
  {
    name: 'live events reach those who watch the session, and nobody else',
    run: (setup) =>
      withBackend(setup, async ({ live }) => {
        const events: unknown[] = []
        const others: unknown[] = []
        const watchers = [
          live.watch(key('s'), (event) => events.push(event)),
          live.watch(key('s', 'other'), (event) => others.push(event)),
        ]
        await waitFor('an event arrives', () => {
          live.publish(key('s'), { type: 'delta', text: 'x' })
          return events.length > 0
        })
        assertEqual(events[0], { type: 'delta', text: 'x' })
        assertEqual(others, [])
        for (const one of watchers) one.stop()
      }),
  },
  {
    name: 'the sessions of tenants are apart',
    run: (setup) =>
      withBackend(setup, async (backend) => {
        const log = await backend.getStore('acme').create({ id: 'same', folder: '/acme' })
        await log.close()
        assertEqual((await backend.getStore('other').list()).length, 0)
        await (await backend.getStore('other').create({ id: 'same', folder: '/other' })).close()
        assertEqual(
          (await backend.getStore('acme').list()).map(({ folder }) => folder),
          ['/acme'],
        )
        const hash = await backend.getStore('acme').putBlob(new Uint8Array([1, 2, 3]))
        assertEqual(await backend.getStore('other').getBlob(hash), undefined)
      }),
  },
  {
    name: 'a schedule submits its prompt once for each time, until it is removed',
    needs: 'advanceSchedules',
    run: (setup) =>
      withBackend(setup, async (backend) => {
        const schedule: Schedule = {
          id: 'acme/x',
          ...key('s'),
          cron: '* * * * *',
          provider: 'p',
          message: message('m'),
        }
        const ran: string[] = []
        await startWorker(backend, async ({ id }) => Promise.resolve(ran.push(id)).then(() => ({ kind: 'done' })))
        await backend.queue.setSchedule(schedule)
        assertEqual(await backend.queue.listSchedules('acme'), [schedule])
        assertEqual(await backend.queue.listSchedules('other'), [])
        const count = async () => (await backend.inbox.list(key('s'))).length
        await setup.advanceSchedules?.(backend, 60_000)
        await waitFor('it is submitted', async () => (await count()) === 1 && ran.length === 1)
        await setup.advanceSchedules?.(backend, 0)
        await setup.advanceSchedules?.(backend, 60_000)
        await waitFor('it is submitted again', async () => (await count()) === 2 && ran.length === 2)
        const [first] = await backend.inbox.list(key('s'))
        assertTrue(first?.id.startsWith('acme/x@') === true, 'the message is not named by schedule and time')
        await backend.queue.removeSchedule('acme/x')
        await setup.advanceSchedules?.(backend, 180_000)
        assertEqual([await count(), ran.length], [2, 2])
      }),
  },
]
