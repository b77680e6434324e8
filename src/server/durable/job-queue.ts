import type { JobQueue, JobStatus } from '../backend.ts'
import { type Database, listen, queryAgain } from './database.ts'
import { createJobRunner, type JobRunner } from './job-runner.ts'
import { createMembership } from './membership.ts'
import { getJobsChannel } from './names.ts'
import { createSchedules } from './schedules.ts'

interface DurableQueueOptions {
  readonly deadAfterMs: number
  readonly onError: (message: string) => void
}

export interface DurableQueue extends JobQueue {
  /** The name under which this process holds sessions. */
  getHolder(): string | undefined
  close(): Promise<void>
}

/** Jobs in a table: the processes that work on it claim them, and take those of a process that died. */
export function createDurableQueue(database: Database, schema: string, options: DurableQueueOptions): DurableQueue {
  const { client } = database
  const { onError } = options
  const table = `"${schema}".jobs`
  const channel = getJobsChannel(schema)
  const schedules = createSchedules(database, schema)
  const runners = new Set<JobRunner>()
  let subscription: { stop(): Promise<void> } | undefined
  let wakeTimer: NodeJS.Timeout | undefined

  const membership = createMembership({
    database,
    schema,
    channel,
    deadAfterMs: options.deadAfterMs,
    maxTakeovers: MAX_TAKEOVERS,
    listJobs: (member) =>
      [...runners].some((runner) => runner.isClaiming())
        ? undefined
        : [...runners].flatMap((runner) => runner.listJobs(member)),
    onBeat() {
      schedules.submitDue().catch(() => undefined)
      wakeAll()
    },
  })

  function wakeAll(): void {
    for (const runner of runners) runner.wake()
  }

  /** At different times in different processes, so that not all of them ask for the same job. */
  function wakeSoon(): void {
    wakeTimer ??= setTimeout(() => {
      wakeTimer = undefined
      wakeAll()
    }, Math.random() * MAX_WAKE_DELAY_MS)
  }

  return {
    async submit({ id, tenant, session, provider, label, notBefore }) {
      await queryAgain(
        client,
        `with added as (
           insert into ${table} (id, tenant, session, provider, label, run_at)
           values ($1, $2, $3, $4, $5, greatest(now(), to_timestamp($6::float8 / 1000)))
           on conflict do nothing returning run_at
         )
         select pg_notify($7, 'jobs') from added where run_at <= now()`,
        [id, tenant, session, provider, label ?? null, notBefore ?? 0, channel],
      )
    },
    async cancel(id) {
      const text = `update ${table} set state = 'cancelled', changed = now() where id = $1 and state = 'queued'`
      await queryAgain(client, text, [id])
    },
    async getStatus(id) {
      const [row] = await queryAgain(client, `select state from ${table} where id = $1`, [id])
      return row && (String(row['state']) as JobStatus)
    },
    async work(handler, worker) {
      const runner = createJobRunner({
        database,
        schema,
        channel,
        handler,
        worker,
        onError,
        // A beat that is under way does not know of the jobs that are claimed meanwhile, and would queue them again.
        getMember: () => (membership.isComparing() ? undefined : membership.getMember()),
      })
      await membership.join()
      runners.add(runner)
      subscription ??= listen(client, channel, wakeSoon)
      runner.wake()
      return {
        async stop(how?: { readonly graceMs?: number }) {
          await runner.stop(how)
          runners.delete(runner)
          if (runners.size > 0) return
          const stopped = subscription?.stop()
          subscription = undefined
          await stopped
          clearTimeout(wakeTimer)
          await membership.leave()
        },
      }
    },
    setSchedule: (schedule) => schedules.set(schedule),
    removeSchedule: (id) => schedules.remove(id),
    listSchedules: (tenant) => schedules.list(tenant),
    async setLimits({ tenant, provider, concurrency, perMinute }) {
      if (concurrency === undefined && perMinute === undefined) {
        const text = `delete from "${schema}".limits where tenant = $1 and provider = $2`
        await queryAgain(client, text, [tenant, provider])
        return
      }
      await queryAgain(
        client,
        `insert into "${schema}".limits (tenant, provider, concurrency, per_minute) values ($1, $2, $3, $4)
         on conflict (tenant, provider) do update set concurrency = excluded.concurrency, per_minute = excluded.per_minute`,
        [tenant, provider, concurrency ?? null, perMinute ?? null],
      )
    },
    getHolder: () => membership.getMember()?.id,
    async close() {
      await Promise.all([...runners].map((runner) => runner.stop()))
      runners.clear()
      await subscription?.stop()
      clearTimeout(wakeTimer)
      await membership.leave()
    },
  }
}

/**
 * A job that makes its process die, as by taking all memory, must not go through all of them for ever. The other jobs of those
 * processes are counted, too, so it is many; after ten, each further one comes later.
 */
const MAX_TAKEOVERS = 30
const MAX_WAKE_DELAY_MS = 10
