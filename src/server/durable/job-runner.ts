import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'
import { isTransientError, type PostgresRow } from '../../session/store/postgres-client.ts'
import { StoreError, type StoreErrorCode } from '../../session/store/store.ts'
import type { Job, JobHandler, JobOutcome, WorkerOptions } from '../backend.ts'
import { type Database, queryAgain } from './database.ts'
import type { Member } from './membership.ts'

interface JobRunnerOptions {
  readonly database: Database
  readonly schema: string
  readonly channel: string
  readonly handler: JobHandler
  readonly worker: WorkerOptions
  readonly getMember: () => Member | undefined
  readonly onError: (message: string) => void
}

export interface JobRunner {
  /** Takes jobs as long as there is room. */
  wake(): void
  isClaiming(): boolean
  listJobs(member: Member): readonly string[]
  stop(options?: { readonly graceMs?: number }): Promise<void>
}

interface Claim {
  readonly job: Job
  readonly member: Member
  readonly fence: string
  readonly failures: number
}

/** What becomes of a job. */
interface JobEnd {
  readonly state: 'queued' | 'done' | 'failed'
  readonly afterMs?: number
  readonly failures?: number
  readonly reason?: string
}

/** Claims jobs for one handler, and runs them. */
export function createJobRunner({ worker, ...options }: JobRunnerOptions): JobRunner {
  const { database, schema, channel } = options
  const { client } = database
  const stopping = new AbortController()
  const running = new Map<Claim, Promise<void>>()
  const labels = JSON.stringify(worker.labels)
  let isStopped = false
  let isClaiming = false
  let isWoken = false
  let claiming = Promise.resolve()

  async function claim(): Promise<void> {
    const member = options.getMember()
    const room = Math.min(worker.concurrency - running.size, MAX_BATCH)
    if (isStopped || !member || room <= 0) return
    const text = `select id, tenant, session, provider, label, fence::text as fence, failures from "${schema}".claim_jobs($1, $2::jsonb, $3)`
    const { rows } = await client.query(text, [member.id, labels, room])
    for (const row of rows) start(toClaim(row, member))
    if (rows.length < MAX_BATCH) return
    // A process that starts a hundred sessions at once would be too busy to say that it is alive.
    isWoken = true
    await sleep(BATCH_PAUSE_MS)
  }

  function wake(): void {
    if (isClaiming) {
      isWoken = true
      return
    }
    isClaiming = true
    isWoken = false
    claiming = claim()
      .catch(() => undefined)
      .finally(() => {
        isClaiming = false
        if (isWoken) wake()
      })
  }

  function start(one: Claim): void {
    const task = run(one).finally(() => {
      running.delete(one)
      wake()
    })
    running.set(one, task)
  }

  async function run(one: Claim): Promise<void> {
    const { job, member } = one
    const signal = AbortSignal.any([member.lost, stopping.signal])
    let end: JobEnd
    try {
      end = isStopped ? { state: 'queued' } : toJobEnd(await options.handler(job, signal))
    } catch (error) {
      end = signal.aborted ? { state: 'queued' } : toFailure(error, one.failures)
      if (end.state === 'failed') options.onError(`the job ${job.id} failed: ${end.reason}`)
    }
    // Then others have it, or soon will.
    if (member.lost.aborted) return
    try {
      await finish(one, end)
    } catch (error) {
      options.onError(`the end of the job ${job.id} was not saved, so it runs again: ${getErrorMessage(error)}`)
    }
    if (end.afterMs !== undefined && end.afterMs < MAX_TIMER_MS) setTimeout(wake, end.afterMs).unref()
  }

  async function finish({ job, member, fence }: Claim, { state, afterMs, failures, reason }: JobEnd): Promise<void> {
    await queryAgain(
      client,
      `with ended as (
         update "${schema}".jobs
         set state = $4, worker = null, fence = fence + 1, failures = $6::int, reason = $7::text, changed = now(),
             run_at = case when $5::float8 is null then run_at else now() + $5::float8 * interval '1 millisecond' end
         where id = $1 and worker = $2 and fence = $3::bigint and state = 'running'
         returning id
       )
       select pg_notify($8, 'jobs') from ended
       where exists (select from "${schema}".jobs where state = 'queued' and run_at <= now())`,
      [job.id, member.id, fence, state, afterMs ?? null, failures ?? 0, reason ?? null, channel],
      { signal: member.lost },
    )
  }

  return {
    wake,
    isClaiming: () => isClaiming,
    listJobs: (member) => [...running.keys()].flatMap((one) => (one.member === member ? [one.job.id] : [])),
    async stop({ graceMs = 0 } = {}) {
      isStopped = true
      const settle = async (): Promise<void> => {
        // A claim that is under way may still bring jobs, which are given back.
        await claiming
        await Promise.all(running.values())
      }
      const settled = settle()
      if (graceMs > 0) await Promise.race([settled, sleep(graceMs)])
      stopping.abort()
      // A tool that does not stop must not keep the process; its job is taken over.
      await Promise.race([settled, sleep(MAX_STOP_MS)])
    },
  }
}

const MAX_BATCH = 10
const BATCH_PAUSE_MS = 20
const MAX_TIMER_MS = 60_000
const MAX_STOP_MS = 5000

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref())
}

function toClaim(row: PostgresRow, member: Member): Claim {
  const [id, tenant, session] = [String(row['id']), String(row['tenant']), String(row['session'])]
  const label = typeof row['label'] === 'string' ? row['label'] : undefined
  const job: Job = { id, tenant, session, provider: String(row['provider']), ...defined({ label }) }
  return { job, member, fence: String(row['fence']), failures: Number(row['failures']) }
}

function toJobEnd(outcome: JobOutcome): JobEnd {
  if (outcome.kind !== 'retry') return { state: 'done' }
  return { state: 'queued', afterMs: Math.max(0, outcome.afterMs), reason: outcome.reason }
}

/** A failure of the database is tried again later; any other would happen again. */
function toFailure(error: unknown, failures: number): JobEnd {
  const reason = getErrorMessage(error)
  if (!isTransientFailure(error) || failures + 1 >= MAX_FAILURES)
    return { state: 'failed', failures: failures + 1, reason }
  return { state: 'queued', afterMs: Math.min(500 * 2 ** failures, 30_000), failures: failures + 1, reason }
}

const MAX_FAILURES = 20

function isTransientFailure(error: unknown): boolean {
  if (error instanceof StoreError) return TRANSIENT_CODES.has(error.code)
  return error instanceof Error && 'code' in error && isTransientError(error)
}

const TRANSIENT_CODES: ReadonlySet<StoreErrorCode> = new Set(['unavailable', 'in-use', 'taken-over', 'write-failed'])
