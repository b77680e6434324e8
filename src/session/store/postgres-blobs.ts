import type { PostgresDatabase } from './postgres-client.ts'
import { getSqlState } from './postgres-client.ts'
import { sha256Hex } from './sha256.ts'

/** Stores a blob, which stays for an hour until an entry refers to it. The content is sent only if it is not there yet. */
export async function putPostgresBlob(
  { query, schema }: PostgresDatabase,
  bytes: Uint8Array,
  hash = sha256Hex(bytes),
): Promise<string> {
  const keep = "kept_until = now() + interval '1 hour'"
  const found = await query(`update ${schema}.blobs set ${keep} where hash = $1 returning hash`, [hash])
  if (found.length === 0)
    await query(
      `insert into ${schema}.blobs (hash, bytes, kept_until) values ($1, $2, now() + interval '1 hour')
       on conflict (hash) do update set ${keep}`,
      [hash, bytes],
    )
  return hash
}

export async function getPostgresBlob(
  { query, schema }: PostgresDatabase,
  hash: string,
): Promise<Uint8Array | undefined> {
  const [row] = await query(`select bytes from ${schema}.blobs where hash = $1`, [hash])
  const bytes = row?.['bytes']
  return bytes instanceof Uint8Array && sha256Hex(bytes) === hash ? bytes : undefined
}

export async function findReferencedBlobs({ query, schema }: PostgresDatabase, id: string): Promise<string[]> {
  const rows = await query(`select hash from ${schema}.blob_refs where session = $1`, [id])
  return rows.map(({ hash }) => String(hash))
}

/** Removes those of these blobs that no entry refers to any more, and those that no entry ever referred to in their hour. */
export async function removeUnusedPostgresBlobs(
  { query, schema }: PostgresDatabase,
  hashes: readonly string[],
): Promise<void> {
  try {
    await query(
      `delete from ${schema}.blobs blob
       where (kept_until < now() or (kept_until is null and hash = any(string_to_array($1, ','))))
         and not exists (select from ${schema}.blob_refs ref where ref.hash = blob.hash)`,
      [hashes.join(',')],
    )
  } catch (error) {
    // Another session has just referred to one of them; the rest goes when the next session is removed.
    if (getSqlState(error) !== FOREIGN_KEY_VIOLATION) throw error
  }
}

export const FOREIGN_KEY_VIOLATION = '23503'
