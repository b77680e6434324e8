import type { JsonObject } from '../model/json.ts'
import type { Store } from '../session/store/store.ts'

/**
 * What a server of sessions runs on: one machine's files and memory, or a database that many machines share. The log in the
 * store decides what happened; the queue decides only who works, and when.
 */
export interface Backend {
  /** The sessions of a tenant; no other tenant can reach them. */
  getStore(tenant: string): Store
  readonly queue: JobQueue
  readonly inbox: Inbox
  readonly live: LiveEvents
  /** What each tenant has spent, in all processes. Without it, each process counts for itself. */
  readonly spending?: Spending
  close(): Promise<void>
}

/** A session of a tenant. Two tenants may have sessions of the same name. */
export interface SessionKey {
  readonly tenant: string
  readonly session: string
}

/** Work on a session. Two jobs of a session never run at the same time, in any process. */
export interface Job extends SessionKey {
  /** Unique for ever: a job that was submitted before is not added again. */
  readonly id: string
  /** Limits count per tenant and provider. */
  readonly provider: string
  /** Only workers with this label run it: they have what the session needs, such as its folder. */
  readonly label?: string
  /** Milliseconds since 1970. */
  readonly notBefore?: number
}

/** `retry`: the job runs again later, as after a rate limit. `waiting`: it ended, and a reply will submit another one. */
export type JobOutcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'retry'; readonly afterMs: number; readonly reason: string }

/** The signal is aborted if the process shuts down, or if it is no longer known to be alive. */
export type JobHandler = (job: Job, signal: AbortSignal) => Promise<JobOutcome>

/** Who works on which session, and when. */
export interface JobQueue {
  /** Resolves when the job is stored. */
  submit(job: Job): Promise<void>
  /** A job that has not started never does. */
  cancel(id: string): Promise<void>
  getStatus(id: string): Promise<JobStatus | undefined>
  /** Runs jobs in this process until it is stopped. A job whose process died is run again by another one. */
  work(handler: JobHandler, options: WorkerOptions): Promise<QueueWorker>
  setSchedule(schedule: Schedule): Promise<void>
  removeSchedule(id: string): Promise<void>
  listSchedules(tenant: string): Promise<readonly Schedule[]>
  /** Replaces the limits of a tenant and a provider. */
  setLimits(limits: QueueLimits): Promise<void>
}

/** A worker of a queue in this process. */
export interface QueueWorker {
  /** Starts no more jobs, waits as long as `graceMs` for those that run, and then aborts their signals. */
  stop(options?: { readonly graceMs?: number }): Promise<void>
}

/** What has become of a job. */
export type JobStatus = 'queued' | 'running' | 'done' | 'cancelled' | 'failed'

/** The options of `JobQueue.work`. */
export interface WorkerOptions {
  readonly id: string
  readonly labels: readonly string[]
  /** Jobs at the same time in this process. */
  readonly concurrency: number
}

/** Submits a prompt at the times of a cron expression, once for each time, whatever the number of servers. */
export interface Schedule extends SessionKey {
  /** Unique over all tenants. */
  readonly id: string
  /** Five fields, in UTC. */
  readonly cron: string
  /** Of the jobs that it submits. */
  readonly provider: string
  readonly label?: string
  /** Put into the inbox under the id `<id of the schedule>@<milliseconds since 1970>`. */
  readonly message: InboxMessage
}

/** How many jobs of a tenant and a provider may run. */
export interface QueueLimits {
  readonly tenant: string
  readonly provider: string
  /** Jobs at the same time, in all processes. */
  readonly concurrency?: number
  readonly perMinute?: number
}

/**
 * What others want of a session, stored until its worker has written it to the log. A worker that starts again finds in the
 * log what was written already, by the ids.
 */
export interface Inbox {
  /** Resolves when the message is stored. A message with an id that was there before is not added again. */
  put(session: SessionKey, message: InboxMessage): Promise<void>
  /** What is waiting, in order. */
  list(session: SessionKey): Promise<readonly InboxMessage[]>
  remove(session: SessionKey, ids: readonly string[]): Promise<void>
  /** Calls back soon after something was put, also by another process. */
  watch(session: SessionKey, onChange: () => void): { stop(): void }
}

/** A message to a session. */
export type InboxMessage =
  /** A message to the model: a prompt of its own, or for the run in progress if `steer` is true. */
  | {
      readonly kind: 'user'
      readonly id: string
      readonly parts: readonly JsonObject[]
      readonly steer?: true
      readonly options?: JsonObject
    }
  | { readonly kind: 'reply'; readonly id: string; readonly ask: string; readonly answer: JsonObject }
  /** Stops the run in progress, and what was waiting before it. */
  | { readonly kind: 'cancel'; readonly id: string }

/** Text and progress while they are received; the log has only whole turns. Nothing here is stored, and some may be lost. */
export interface LiveEvents {
  publish(session: SessionKey, event: JsonObject): void
  watch(session: SessionKey, onEvent: (event: JsonObject) => void): { stop(): void }
}

/** In US dollars, for each tenant and period, such as a month. */
export interface Spending {
  get(tenant: string, period: string): Promise<number>
  add(tenant: string, period: string, dollars: number): Promise<void>
}
