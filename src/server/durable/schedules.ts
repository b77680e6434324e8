import { defined } from '../../model/defined.ts'
import type { Schedule } from '../backend.ts'
import { findNextTime, parseCron } from '../cron.ts'
import { type Database, queryAgain } from './database.ts'
import { getJobsChannel, getSessionChannel } from './names.ts'

export interface Schedules {
  set(schedule: Schedule): Promise<void>
  remove(id: string): Promise<void>
  list(tenant: string): Promise<readonly Schedule[]>
  /** Submits what is due, unless another process does. */
  submitDue(): Promise<void>
}

/** Schedules in a table. The statement that submits a time also moves the schedule on, so that each time is submitted once. */
export function createSchedules({ client }: Database, schema: string): Schedules {
  const table = `"${schema}".schedules`

  async function submit(schedule: Schedule, storedNext: number, now: number): Promise<void> {
    const { id, tenant, session, provider, label, message } = schedule
    const { due, next } = findTimes(schedule.cron, storedNext, now)
    const once = `${id}@${due}`
    await client.query(
      `with fired as (
         update ${table} set next_at = to_timestamp($3::float8 / 1000) where id = $1 and next_at = to_timestamp($2::float8 / 1000)
         returning id
       ), put as (
         insert into "${schema}".inbox (tenant, session, id, message) select $4, $5, $6, $7 from fired on conflict do nothing
       ), submitted as (
         insert into "${schema}".jobs (id, tenant, session, provider, label, run_at)
         select $6, $4, $5, $8, $9::text, now() from fired on conflict do nothing
       )
       select pg_notify($10, 'jobs'), pg_notify($11, 'put') from fired`,
      [
        id,
        storedNext,
        next,
        tenant,
        session,
        once,
        JSON.stringify({ ...message, id: once }),
        provider,
        label ?? null,
        getJobsChannel(schema),
        getSessionChannel(schema, 'inbox', schedule),
      ],
    )
  }

  return {
    async set({ id, tenant, session, cron, provider, label, message }) {
      const schedule: Schedule = { id, tenant, session, cron, provider, message, ...defined({ label }) }
      const [row] = await queryAgain(client, `select ${NOW_MS} as now`, [])
      const next = findNext(cron, Number(row?.['now']))
      await queryAgain(
        client,
        `insert into ${table} (id, tenant, schedule, next_at) values ($1, $2, $3, to_timestamp($4::float8 / 1000))
         on conflict (id) do update set tenant = excluded.tenant, schedule = excluded.schedule, next_at = excluded.next_at`,
        [id, tenant, JSON.stringify(schedule), next],
      )
    },
    async remove(id) {
      await queryAgain(client, `delete from ${table} where id = $1`, [id])
    },
    async list(tenant) {
      const rows = await queryAgain(client, `select schedule from ${table} where tenant = $1 order by id`, [tenant])
      return rows.map((row) => JSON.parse(String(row['schedule'])) as Schedule)
    },
    async submitDue() {
      const { rows } = await client.query(
        `select schedule, (extract(epoch from next_at) * 1000)::float8 as next, ${NOW_MS} as now from ${table} where next_at <= now()`,
      )
      for (const row of rows)
        await submit(JSON.parse(String(row['schedule'])) as Schedule, Number(row['next']), Number(row['now']))
    },
  }
}

/** The clock of the database, in milliseconds since 1970. */
const NOW_MS = '(extract(epoch from now()) * 1000)::float8'

function findNext(text: string, after: number): number {
  const cron = parseCron(text)
  if ('problem' in cron) throw new TypeError(cron.problem)
  const next = findNextTime(cron, after)
  if (next === undefined) throw new TypeError(`“${text}” never happens`)
  return next
}

/** The last time that is due, and the next. Times that passed while no worker ran count as one. */
function findTimes(cron: string, storedNext: number, now: number): { due: number; next: number } {
  // A schedule that fires each minute, after a year without a worker, must not take long.
  let due = now - storedNext > MAX_MISSED_MS ? findNext(cron, now - MAX_MISSED_MS) : storedNext
  if (due > now) due = storedNext
  for (let next = findNext(cron, due); ; next = findNext(cron, due)) {
    if (next > now) return { due, next }
    due = next
  }
}

const MAX_MISSED_MS = 32 * 86_400_000
