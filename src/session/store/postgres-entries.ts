import { tryParseJson } from '../../model/json.ts'
import type { Entry } from '../log/entry.ts'
import { isEntry } from '../log/entry-schema.ts'
import type { LogDamage } from '../log/scan-log.ts'
import { createTimeSlices } from '../time-slices.ts'
import type { PostgresDatabase } from './postgres-client.ts'
import { LOG_VERSION, type SessionContents, StoreError } from './store.ts'

/**
 * The entries of a session between two numbers, after those of what it was forked from, with media as hashes. A long session
 * is read page by page.
 */
export async function readPostgresEntries(
  database: PostgresDatabase,
  id: string,
  { after = 0, upTo = Number.MAX_SAFE_INTEGER }: { readonly after?: number; readonly upTo?: number } = {},
): Promise<SessionContents> {
  const [session] = await database.query(`select parent, parent_seq from ${database.schema}.sessions where id = $1`, [
    id,
  ])
  if (!session) throw new StoreError('not-found', `there is no session ${id}`)
  const parent = typeof session['parent'] === 'string' ? session['parent'] : undefined
  const parentSeq = Number(session['parent_seq'] ?? 0)
  const { last: _, ...own } = await readOwnPostgresEntries(database, id, Math.max(after, parentSeq), upTo)
  if (parent === undefined) return own
  const inherited = { after, upTo: Math.min(parentSeq, upTo) }
  const { entries } =
    after < parentSeq ? await readPostgresEntries(database, parent, inherited) : { entries: [] as const }
  // Pending calls of the parent belong to the parent: a call must not run in both.
  return { ...own, entries: [...entries, ...own.entries], uncertainUpTo: Math.max(own.uncertainUpTo, parentSeq) }
}

/** The same without those of what it was forked from. `last` is the number of the last row. */
export async function readOwnPostgresEntries(
  { query, schema }: PostgresDatabase,
  id: string,
  after: number,
  upTo = Number.MAX_SAFE_INTEGER,
): Promise<SessionContents & { uncertainUpTo: number; last: number }> {
  const slices = createTimeSlices()
  const entries: Entry[] = []
  const damages: LogDamage[] = []
  let [last, line, uncertainUpTo] = [after, 0, 0]
  for (;;) {
    const rows = await query(
      `select seq, entry from ${schema}.entries where session = $1 and seq > $2 and seq <= $3 order by seq limit ${PAGE_ROWS}`,
      [id, last, upTo],
    )
    for (const row of rows) {
      if (slices.isOver()) await slices.pause()
      line++
      const seq = Number(row['seq'])
      const entry = tryParseJson(String(row['entry']))
      // Somebody removed rows, or a later version wrote an entry that this one does not know.
      if (seq !== last + 1) uncertainUpTo = last
      if (isEntry(entry) && entry.seq === seq) entries.push(entry)
      else {
        damages.push({ line, what: 'foreign' })
        uncertainUpTo = seq
      }
      last = seq
    }
    if (rows.length < PAGE_ROWS) break
  }
  const [first] = entries
  if (first?.kind === 'open' && first.version > LOG_VERSION)
    throw new StoreError(
      'newer-version',
      `the session ${id} was written by a newer version of dragoman; use that version`,
    )
  return { entries, damages, uncertainUpTo, last }
}

const PAGE_ROWS = 500
