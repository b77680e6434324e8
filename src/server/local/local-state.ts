import type { JsonObject } from '../../model/json.ts'
import type { InboxMessage, Job, JobStatus, Schedule, SessionKey } from '../backend.ts'

/** What a server on one machine must not lose. It is made from the changes in its journal. */
export interface LocalState {
  /** Jobs that have not ended, in the order in which they were submitted. */
  readonly jobs: Map<string, Job>
  readonly ended: Map<string, EndedStatus>
  readonly inboxes: Map<string, LocalInbox>
  readonly schedules: Map<string, ActiveSchedule>
  readonly spending: Map<string, number>
}

export type EndedStatus = Extract<JobStatus, 'done' | 'cancelled' | 'failed'>

export interface LocalInbox extends SessionKey {
  readonly waiting: Map<string, InboxMessage>
  /** The ids of all messages that were ever put: none is added twice. */
  readonly ids: Set<string>
}

export interface ActiveSchedule {
  readonly schedule: Schedule
  /** Times up to this one have been handled. */
  readonly since: number
}

export type LocalChange =
  | { readonly do: 'submit'; readonly job: Job }
  | { readonly do: 'end'; readonly ids: readonly string[]; readonly status: EndedStatus }
  | { readonly do: 'put'; readonly of: SessionKey; readonly message: InboxMessage }
  | { readonly do: 'remove'; readonly of: SessionKey; readonly ids: readonly string[] }
  | { readonly do: 'schedule'; readonly schedule: Schedule; readonly since: number }
  | { readonly do: 'unschedule'; readonly id: string }
  | { readonly do: 'spend'; readonly key: string; readonly dollars: number }

export function createLocalState(): LocalState {
  return { jobs: new Map(), ended: new Map(), inboxes: new Map(), schedules: new Map(), spending: new Map() }
}

export function applyChange(state: LocalState, change: LocalChange): void {
  switch (change.do) {
    case 'submit':
      state.jobs.set(change.job.id, change.job)
      break
    case 'end':
      for (const id of change.ids) {
        state.jobs.delete(id)
        state.ended.set(id, change.status)
      }
      break
    case 'put': {
      const inbox = getInbox(state, change.of)
      inbox.ids.add(change.message.id)
      inbox.waiting.set(change.message.id, change.message)
      break
    }
    case 'remove': {
      const inbox = getInbox(state, change.of)
      for (const id of change.ids) {
        inbox.ids.add(id)
        inbox.waiting.delete(id)
      }
      break
    }
    case 'schedule':
      state.schedules.set(change.schedule.id, { schedule: change.schedule, since: change.since })
      break
    case 'unschedule':
      state.schedules.delete(change.id)
      break
    case 'spend':
      state.spending.set(change.key, (state.spending.get(change.key) ?? 0) + change.dollars)
      break
    default:
      change satisfies never
  }
}

/** The fewest changes that make this state. */
export function* listChanges(state: LocalState): Generator<LocalChange> {
  for (const status of ['done', 'cancelled', 'failed'] as const) {
    const ids = [...state.ended].flatMap(([id, one]) => (one === status ? [id] : []))
    if (ids.length > 0) yield { do: 'end', ids, status }
  }
  for (const { tenant, session, ids, waiting } of state.inboxes.values()) {
    const of = { tenant, session }
    const past = [...ids].filter((id) => !waiting.has(id))
    if (past.length > 0) yield { do: 'remove', of, ids: past }
    for (const message of waiting.values()) yield { do: 'put', of, message }
  }
  for (const job of state.jobs.values()) yield { do: 'submit', job }
  for (const { schedule, since } of state.schedules.values()) yield { do: 'schedule', schedule, since }
  for (const [key, dollars] of state.spending) yield { do: 'spend', key, dollars }
}

export function getInbox(state: LocalState, { tenant, session }: SessionKey): LocalInbox {
  const key = toKeyText({ tenant, session })
  const inbox = state.inboxes.get(key) ?? { tenant, session, waiting: new Map(), ids: new Set() }
  state.inboxes.set(key, inbox)
  return inbox
}

/** Neither a tenant nor a session has a slash in its name. */
export function toKeyText({ tenant, session }: SessionKey): string {
  return `${tenant}/${session}`
}

/** A journal has only what this file wrote to it. */
export function toLocalChange(json: JsonObject): LocalChange {
  return json as unknown as LocalChange
}
