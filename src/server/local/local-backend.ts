import { join } from 'node:path'
import type { JsonObject } from '../../model/json.ts'
import { createJournal, readJournal } from '../../session/store/journal.ts'
import { jsonlStore } from '../../session/store/jsonl-store.ts'
import { acquireLock } from '../../session/store/lock-file.ts'
import { createPrivateFolder } from '../../session/store/durable-write.ts'
import type { Store } from '../../session/store/store.ts'
import type { Backend, InboxMessage, Schedule, SessionKey } from '../backend.ts'
import { findNextTime, parseCron } from '../cron.ts'
import { assertTenantName } from '../tenant-name.ts'
import { createListeners } from './listeners.ts'
import { createLocalQueue } from './local-queue.ts'
import { applyChange, createLocalState, getInbox, listChanges, type LocalChange, toLocalChange } from './local-state.ts'

/** The options of `localBackend`. */
export interface LocalBackendOptions {
  readonly folder: string
  readonly now?: () => number
  /** Failures of jobs that nobody else can handle. */
  readonly onError?: (message: string) => void
}

/** A backend of one machine. */
export interface LocalBackend extends Backend {
  /** Submits what is due. It is called by a timer, too. */
  submitDueSchedules(): Promise<void>
}

/**
 * A backend in a folder of this machine, for one process: a log file for each session, and a journal with the jobs, the
 * messages and the schedules that were acknowledged. Another process that opens the folder meanwhile gets a `StoreError`.
 */
export function localBackend({ folder, now = Date.now, onError = () => {} }: LocalBackendOptions): LocalBackend {
  createPrivateFolder(folder)
  const lock = acquireLock(join(folder, 'server.lock'), `the server folder ${folder}`)
  const path = join(folder, 'journal.jsonl')
  const state = createLocalState()
  for (const change of readJournal(path)) applyChange(state, toLocalChange(change))
  const journal = createJournal(path, toJson(listChanges(state)))
  let initialLength = journal.length
  let isClosed = false

  async function commit(...changes: readonly LocalChange[]): Promise<void> {
    for (const change of changes) {
      journal.append(change as unknown as JsonObject)
      applyChange(state, change)
    }
    if (journal.length > initialLength * 2 + MIN_JOURNAL_GROWTH) {
      journal.rewrite(toJson(listChanges(state)))
      initialLength = journal.length
    }
    await journal.flush()
  }

  const stores = new Map<string, Store>()
  const inboxListeners = createListeners<void>()
  const liveListeners = createListeners<JsonObject>()
  const queue = createLocalQueue({ state, commit, now, onError })

  async function put(of: SessionKey, message: InboxMessage): Promise<void> {
    if (getInbox(state, of).ids.has(message.id)) return commit()
    const { tenant, session } = of
    await commit({ do: 'put', of: { tenant, session }, message })
    inboxListeners.call(of)
  }

  async function submitDueSchedules(): Promise<void> {
    for (const { schedule, since } of state.schedules.values()) {
      const due = findLastTime(schedule, since, now())
      if (due === undefined) continue
      const { id, tenant, session, provider, label, message } = schedule
      const once = `${id}@${due}`
      // In this order: what is repeated after a crash has the same ids.
      await put(schedule, { ...message, id: once })
      await queue.submit({ id: once, tenant, session, provider, ...(label !== undefined && { label }) })
      if (state.schedules.has(id)) await commit({ do: 'schedule', schedule, since: due })
    }
  }

  const submitDue = (): void => {
    submitDueSchedules().catch((error: unknown) => onError(`a schedule failed: ${String(error)}`))
  }
  const timer = setInterval(submitDue, SCHEDULE_CHECK_MS).unref()

  return {
    getStore(tenant) {
      assertTenantName(tenant)
      const store = stores.get(tenant) ?? jsonlStore(join(folder, 'tenants', tenant, 'sessions'), now)
      stores.set(tenant, store)
      return store
    },
    queue: {
      ...queue,
      async setSchedule(schedule) {
        const cron = parseCron(schedule.cron)
        if ('problem' in cron) throw new TypeError(cron.problem)
        await commit({ do: 'schedule', schedule, since: now() })
      },
      removeSchedule: (id) => commit({ do: 'unschedule', id }),
      listSchedules: (tenant) =>
        Promise.resolve(
          [...state.schedules.values()].flatMap(({ schedule }) => (schedule.tenant === tenant ? [schedule] : [])),
        ),
    },
    inbox: {
      put,
      list: (of) => Promise.resolve([...getInbox(state, of).waiting.values()]),
      async remove(of, ids) {
        const { tenant, session } = of
        const waiting = ids.filter((id) => getInbox(state, of).waiting.has(id))
        if (waiting.length > 0) await commit({ do: 'remove', of: { tenant, session }, ids: waiting })
      },
      watch: (of, onChange) => inboxListeners.add(of, onChange),
    },
    live: {
      publish: (of, event) => liveListeners.call(of, event),
      watch: (of, onEvent) => liveListeners.add(of, onEvent),
    },
    spending: {
      get: (tenant, period) => Promise.resolve(state.spending.get(`${tenant}/${period}`) ?? 0),
      add: (tenant, period, dollars) => commit({ do: 'spend', key: `${tenant}/${period}`, dollars }),
    },
    submitDueSchedules,
    async close() {
      if (isClosed) return
      isClosed = true
      clearInterval(timer)
      await queue.close()
      await journal.close()
      lock.release()
    },
  }
}

const MIN_JOURNAL_GROWTH = 5000
const SCHEDULE_CHECK_MS = 5000

function* toJson(changes: Iterable<LocalChange>): Generator<JsonObject> {
  for (const change of changes) yield change as unknown as JsonObject
}

/** The last time that is due. Times that passed while no server ran count as one. */
function findLastTime({ cron: text }: Schedule, since: number, now: number): number | undefined {
  const cron = parseCron(text)
  if ('problem' in cron) return undefined
  // A schedule that fires each minute, after a year without a server, must not take long.
  const start = Math.max(since, now - MAX_MISSED_MS)
  let last: number | undefined
  for (let next = findNextTime(cron, start); next !== undefined && next <= now; next = findNextTime(cron, next))
    last = next
  return last
}

const MAX_MISSED_MS = 32 * 86_400_000
