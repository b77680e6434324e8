import type { Store } from '../../session/store/store.ts'
import type { Backend } from '../backend.ts'
import { connectDatabase, type Database } from './database.ts'
import { createInbox } from './inbox.ts'
import { createDurableQueue } from './job-queue.ts'
import { createLiveEvents } from './live-events.ts'
import { getTenantSchema } from './names.ts'
import { migrateQueue } from './schema.ts'
import { createSpending } from './spending.ts'
import { createTenantStore } from './tenant-store.ts'

/** Only the address of the database is required. */
export interface DurableBackendOptions extends DurableSettings {
  /** `postgres://user:password@host/database`. Needs the package `pg`. */
  readonly url: string
  /** Connections of this process, besides the one for notifications. The default is 10. */
  readonly maxConnections?: number
}

export interface DurableSettings {
  /**
   * The schema with the queue, the default is `dragoman_queue`. The sessions of a tenant are in a schema of their own, whose
   * name begins with `tenantPrefix` (default `dragoman`).
   */
  readonly schema?: string
  readonly tenantPrefix?: string
  /** A process that has not been heard of for so long is dead, and others take its jobs. The default is 5000. */
  readonly deadAfterMs?: number
  /** How long a session stays locked after its process was cut off, if that was not noticed before. The default is 8000. */
  readonly leaseMs?: number
  /** What failed in the background. */
  readonly onError?: (message: string) => void
}

/** A backend in Postgres, for as many processes on as many machines as wanted. Its tables are made if they are missing. */
export async function createDurableBackend({
  url,
  maxConnections = 10,
  ...settings
}: DurableBackendOptions): Promise<Backend> {
  const database = await connectDatabase(url, maxConnections)
  try {
    return await createBackendOn(database, settings)
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The same on connections that exist. They are closed with the backend. */
export async function createBackendOn(database: Database, settings: DurableSettings): Promise<Backend> {
  const { schema = 'dragoman_queue', tenantPrefix = 'dragoman', deadAfterMs = 5000, leaseMs = 8000 } = settings
  await migrateQueue(database.client, schema)
  const queue = createDurableQueue(database, schema, { deadAfterMs, onError: settings.onError ?? (() => undefined) })
  const live = createLiveEvents(database, schema)
  const inbox = createInbox(database, schema)
  const stores = new Map<string, Store>()
  return {
    getStore(tenant) {
      const store =
        stores.get(tenant) ??
        createTenantStore({
          database,
          leaseMs,
          queueSchema: schema,
          schema: getTenantSchema(tenantPrefix, tenant),
          getHolder: () => queue.getHolder(),
        })
      stores.set(tenant, store)
      return store
    },
    queue,
    inbox,
    live,
    spending: createSpending(database, schema),
    async close() {
      await queue.close()
      await Promise.all([live.close(), inbox.close()])
      await database.close()
    },
  }
}
