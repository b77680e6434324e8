import { getErrorMessage } from '../../model/error-message.ts'
import { StoreError } from './store.ts'

/**
 * What the Postgres store needs of a driver. A `Pool` of `pg` and a `PGlite` have it; for postgres.js, pass
 * `{ query: async (text, values) => ({ rows: await sql.unsafe(text, values) }) }`. Every query is one statement that needs no
 * other on the same connection, so that a pool in transaction mode (PgBouncer) works, too.
 */
export interface PostgresClient {
  query(text: string, values?: PostgresValue[]): PromiseLike<{ readonly rows: readonly PostgresRow[] }>
  /**
   * Calls back with the payload of each notification on a channel, and with an empty text when some may have been missed, as
   * after a reconnection. Without this method, followers of sessions poll. `listeningClient` adds it to a `Pool` of `pg`.
   */
  listen?(channel: string, onNotify: (payload: string) => void): Promise<{ close(): Promise<void> }>
}

/** A parameter of a query. */
export type PostgresValue = string | number | boolean | null | Uint8Array

/** A row of a result, by the names of its columns. Drivers return 64-bit integers as text, numbers or bigints. */
export type PostgresRow = Readonly<Record<string, unknown>>

/** A database and the schema in it that has the tables of the store. */
export interface PostgresDatabase {
  /** The quoted name of the schema, for the texts of queries. */
  readonly schema: string
  /** Where appends are announced. */
  readonly channel: string
  /** Rejects with the error of the driver. */
  readonly query: (text: string, values: PostgresValue[]) => Promise<readonly PostgresRow[]>
}

export function createPostgresDatabase(client: PostgresClient, schema = 'dragoman'): PostgresDatabase {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) throw new TypeError(`“${schema}” is not a valid name of a schema`)
  return {
    schema: `"${schema}"`,
    channel: schema,
    query: async (text, values) => (await client.query(text, values)).rows,
  }
}

/** A copy of the database whose errors are `StoreError`s. */
export function withStoreErrors({ query, ...names }: PostgresDatabase): PostgresDatabase {
  return {
    ...names,
    query: (text, values) =>
      query(text, values).catch((error: unknown) => {
        throw new StoreError('unavailable', `the database of the sessions failed: ${getErrorMessage(error)}`, {
          cause: error,
        })
      }),
  }
}

/** The SQLSTATE of an error, also of one that `withStoreErrors` has wrapped. */
export function getSqlState(error: unknown): string | undefined {
  const inner = error instanceof StoreError ? error.cause : error
  const code = inner instanceof Error && 'code' in inner ? inner.code : undefined
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/** May the same query succeed soon? The connection was lost, the server restarts or is overloaded, or two queries collided. */
export function isTransientError(error: unknown): boolean {
  const state = getSqlState(error)
  return state === undefined || /^(?:08|40|53|57P|55P03)/.test(state)
}
