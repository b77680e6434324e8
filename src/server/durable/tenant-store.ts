import { hostname } from 'node:os'
import { postgresStore } from '../../session/store/postgres-store.ts'
import { type Store, StoreError } from '../../session/store/store.ts'
import { type Database, queryAgain } from './database.ts'

interface TenantStoreOptions {
  readonly database: Database
  /** The schema of the queue, which knows who is dead. */
  readonly queueSchema: string
  readonly schema: string
  readonly leaseMs: number
  readonly getHolder: () => string | undefined
}

/**
 * The sessions of a tenant, held under the name of this process. One whose holder is known to be dead is opened at once, not
 * when its lease has expired; as at every opening, the former holder can write nothing from then on.
 */
export function createTenantStore(options: TenantStoreOptions): Store {
  const { database, queueSchema, schema, leaseMs, getHolder } = options
  let current: { readonly holder: string; readonly store: Store } | undefined

  function getStore(): Store {
    const holder = getHolder() ?? `${hostname()} ${process.pid}`
    if (current?.holder !== holder)
      current = { holder, store: postgresStore({ client: database.client, schema, leaseMs, holder }) }
    return current.store
  }

  /** Ends the lease of a dead holder. Also raises the fence, so that it does not matter who opens the session next. */
  async function releaseFromDead(id: string): Promise<boolean> {
    const rows = await queryAgain(
      database.client,
      `update "${schema}".sessions set holder = null, lease_until = null, fence = fence + 1
       where id = $1 and holder in (select id from "${queueSchema}".workers where dead) returning id`,
      [id],
    )
    return rows.length > 0
  }

  return {
    create: (session) => getStore().create(session),
    async open(id, how) {
      try {
        return await getStore().open(id, how)
      } catch (error) {
        if (!(error instanceof StoreError) || error.code !== 'in-use' || !(await releaseFromDead(id))) throw error
        return getStore().open(id, how)
      }
    },
    read: (id, how) => getStore().read(id, how),
    follow: (id, how) => getStore().follow(id, how),
    list: (how) => getStore().list(how),
    remove: (id) => getStore().remove(id),
    putBlob: (bytes) => getStore().putBlob(bytes),
    getBlob: (hash) => getStore().getBlob(hash),
  }
}
