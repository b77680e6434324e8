import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { type Database, queryAgain } from './database.ts'

/** A process among those that work on the same queue, from when it joined until it is no longer known to be alive. */
export interface Member {
  readonly id: string
  /** Aborted when others may take its jobs: it must stop working on them. */
  readonly lost: AbortSignal
}

export interface Membership {
  /** Undefined while the process does not take part. */
  getMember(): Member | undefined
  /** Is the list of jobs being compared with those in the database? */
  isComparing(): boolean
  join(): Promise<void>
  leave(): Promise<void>
}

interface MembershipOptions {
  readonly database: Database
  readonly schema: string
  readonly channel: string
  /** A member that has not been heard of for so long is dead. */
  readonly deadAfterMs: number
  /** A job whose workers died so often is not run again. */
  readonly maxTakeovers: number
  /** The jobs of a member; undefined while a claim is under way, whose jobs are not known yet. */
  readonly listJobs: (member: Member) => readonly string[] | undefined
  /** After each beat; `isNew` if the process has just got another id. */
  readonly onBeat: (isNew: boolean) => void
}

/**
 * Lets the others know that this process is alive, and finds those that are not. A process that was paused, or could not reach
 * the database, loses its id before or when others take its jobs, and goes on under another one.
 */
export function createMembership(options: MembershipOptions): Membership {
  const { database, schema, channel, deadAfterMs } = options
  const { client } = database
  const interval = Math.min(BEAT_MS, deadAfterMs / 4)
  let current: { readonly member: Member; readonly abort: () => void; beatAt: number } | undefined
  let isJoined = false
  let isComparing = false
  let timer: NodeJS.Timeout | undefined
  let watchdog: NodeJS.Timeout | undefined
  let beating: Promise<void> = Promise.resolve()

  async function beat(): Promise<void> {
    const sentAt = performance.now()
    const known = current
    if (!known) return register()
    const jobs = options.listJobs(known.member)
    const values = [
      known.member.id,
      jobs === undefined ? null : JSON.stringify(jobs),
      deadAfterMs / 1000,
      options.maxTakeovers,
      channel,
    ]
    const text = `select "${schema}".beat($1, $2::jsonb, $3::float8 * interval '1 second', $4::int, $5) as alive`
    isComparing = jobs !== undefined
    const { rows } = await Promise.resolve(client.query(text, values)).finally(() => (isComparing = false))
    if (known !== current) return
    if (rows[0]?.['alive'] === true) known.beatAt = sentAt
    else lose()
    if (!current) await register()
    else options.onBeat(false)
  }

  async function register(): Promise<void> {
    const sentAt = performance.now()
    const id = `${hostname()} ${process.pid} ${randomBytes(6).toString('hex')}`
    await client.query(`insert into "${schema}".workers (id) values ($1)`, [id])
    const controller = new AbortController()
    current = { member: { id, lost: controller.signal }, abort: () => controller.abort(), beatAt: sentAt }
    options.onBeat(true)
  }

  /** Gives up the id. Its jobs are for others at once if they can be told so, and else when they notice. */
  function lose(): void {
    const lost = current
    current = undefined
    if (!lost) return
    lost.abort()
    void resign(lost.member.id, deadAfterMs).catch(() => undefined)
  }

  async function resign(id: string, forMs: number): Promise<void> {
    await queryAgain(client, `update "${schema}".workers set dead = true where id = $1`, [id], { forMs })
    await queryAgain(
      client,
      `with given as (
         update "${schema}".jobs set state = 'queued', worker = null, fence = fence + 1, changed = now()
         where worker = $1 and state = 'running' returning id
       )
       select pg_notify($2, 'jobs') from given limit 1`,
      [id, channel],
      { forMs },
    )
  }

  function plan(): void {
    clearTimeout(timer)
    if (!isJoined) return
    timer = setTimeout(() => {
      beating = beat()
        .catch(() => undefined)
        .finally(plan)
    }, interval)
  }

  /** Stops the work before others can begin it, as far as the clocks of both advance alike. */
  function watch(): void {
    if (current && performance.now() - current.beatAt > deadAfterMs * SAFE_SHARE) lose()
  }

  return {
    getMember: () => current?.member,
    isComparing: () => isComparing,
    async join() {
      if (isJoined) return
      isJoined = true
      try {
        await register()
      } catch (error) {
        isJoined = false
        throw error
      }
      watchdog = setInterval(watch, WATCH_MS)
      plan()
    },
    async leave() {
      if (!isJoined) return
      isJoined = false
      clearTimeout(timer)
      clearInterval(watchdog)
      await beating
      const left = current
      current = undefined
      if (!left) return
      left.abort()
      await resign(left.member.id, LEAVE_MS).catch(() => undefined)
    },
  }
}

const BEAT_MS = 1000
const WATCH_MS = 200
const SAFE_SHARE = 0.8
const LEAVE_MS = 2000
