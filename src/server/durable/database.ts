import { getErrorMessage } from '../../model/error-message.ts'
import {
  isTransientError,
  type PostgresClient,
  type PostgresRow,
  type PostgresValue,
} from '../../session/store/postgres-client.ts'
import { listeningClient, type PostgresPool } from '../../session/store/postgres-listener.ts'

/** A database that many processes share. */
export interface Database {
  readonly client: PostgresClient
  close(): Promise<void>
}

/** What is used of a `Pool` of `pg`. */
interface PgPool extends PostgresPool {
  on(event: 'error', listener: (error: Error) => void): unknown
  end(): Promise<void>
}

interface PgModule {
  readonly Pool: new (options: object) => PgPool
}

/** Loads the driver, and prepares connections. They are made when they are first used. */
export async function connectDatabase(url: string, maxConnections: number): Promise<Database> {
  const { Pool } = await loadDriver()
  const pool = new Pool({
    connectionString: url,
    // One more for the notifications.
    max: maxConnections + 1,
    keepAlive: true,
    // Otherwise, a query on a connection that was cut off would wait for as long as the system sends it again.
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: 'dragoman',
  })
  // An idle connection that the server ends must not end the process; the next query makes another.
  pool.on('error', () => undefined)
  return { client: listeningClient(pool), close: () => pool.end() }
}

const CONNECT_TIMEOUT_MS = 3000
const QUERY_TIMEOUT_MS = 5000

async function loadDriver(): Promise<PgModule> {
  // A variable, so that a bundler leaves it to the program that has the package.
  const name = 'pg'
  try {
    const loaded = (await import(name)) as PgModule & { readonly default?: PgModule }
    return loaded.default ?? loaded
  } catch (error) {
    throw new Error(`A database needs the package pg: npm install pg (${getErrorMessage(error)})`, { cause: error })
  }
}

/** The rows of a statement that may be sent again when it is unknown whether it was received. */
export async function queryAgain(
  client: PostgresClient,
  text: string,
  values: PostgresValue[],
  { forMs = 10_000, signal }: { readonly forMs?: number; readonly signal?: AbortSignal } = {},
): Promise<readonly PostgresRow[]> {
  const until = performance.now() + forMs
  for (let pause = 20; ; pause = Math.min(pause * 2, 500)) {
    try {
      return (await client.query(text, values)).rows
    } catch (error) {
      if (!isTransientError(error) || signal?.aborted || performance.now() + pause > until) throw error
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}

/** Calls back with each notification of a channel, and with an empty text when some may have been missed. */
export function listen(
  client: PostgresClient,
  channel: string,
  onNotify: (payload: string) => void,
): { stop(): Promise<void> } {
  let isStopped = false
  const call = (payload: string): void => void (isStopped || onNotify(payload))
  const listening = client.listen?.(channel, call)
  // What was sent before it took effect was missed.
  listening?.then(
    () => call(''),
    () => undefined,
  )
  return {
    async stop() {
      isStopped = true
      await listening?.then((one) => one.close()).catch(() => undefined)
    },
  }
}
