import { createPostgresDatabase, type PostgresClient, type PostgresDatabase } from './postgres-client.ts'
import { ensureMigrated, migrate, type PostgresMigrations } from './postgres-migrations.ts'
import { StoreError } from './store.ts'

/**
 * Creates the tables of the Postgres store in a schema (default `dragoman`), or brings them up to date. Several processes may
 * do it at the same time. The role needs the right to create the schema, or to create tables in one that exists.
 */
export async function migratePostgresStore(
  client: PostgresClient,
  { schema }: { readonly schema?: string } = {},
): Promise<void> {
  await migrate(createPostgresDatabase(client, schema), STORE_MIGRATIONS)
}

/** Creates the tables unless they are up to date, so that a role without that right can use them. */
export async function ensureSchema(database: PostgresDatabase): Promise<void> {
  await ensureMigrated(database, STORE_MIGRATIONS)
}

/**
 * `fence` grows whenever a session is opened, and every append checks it: who opened it before can write nothing more. While
 * it is open, `holder` says by whom, and `lease_until` is moved on; after that time anybody may open it. Entries are text,
 * because `jsonb` refuses NUL characters and deep nesting. A blob that no entry refers to yet stays until `kept_until`.
 */
const STEPS: PostgresMigrations['steps'] = [
  (schema) => `
    create table ${schema}.sessions (
      id text collate "C" primary key,
      parent text collate "C" references ${schema}.sessions (id),
      parent_seq bigint,
      last_seq bigint not null,
      changed bigint not null,
      summary text not null,
      fence bigint not null default 1,
      holder text,
      lease_until timestamptz
    );
    create index sessions_parent on ${schema}.sessions (parent) where parent is not null;
    create index sessions_changed on ${schema}.sessions (changed);
    create table ${schema}.entries (
      session text collate "C" not null references ${schema}.sessions (id) on delete cascade,
      seq bigint not null,
      entry text not null,
      primary key (session, seq)
    );
    create table ${schema}.blobs (hash text collate "C" primary key, bytes bytea not null, kept_until timestamptz);
    alter table ${schema}.blobs alter column bytes set storage external;
    create index blobs_kept on ${schema}.blobs (kept_until) where kept_until is not null;
    create table ${schema}.blob_refs (
      session text collate "C" not null references ${schema}.sessions (id) on delete cascade,
      hash text collate "C" not null references ${schema}.blobs (hash),
      primary key (session, hash)
    );
    create index blob_refs_hash on ${schema}.blob_refs (hash);`,
  // For pages of the list. An index on a column that each append changes would make every append write to all indexes.
  (schema) => `
    alter table ${schema}.sessions add column created bigint not null default 0;
    update ${schema}.sessions set created = coalesce(substring(summary from '"created":([0-9]+)')::bigint, 0);
    create index sessions_created on ${schema}.sessions (created, id);
    drop index ${schema}.sessions_changed;
    alter table ${schema}.sessions set (fillfactor = 70);`,
]

const STORE_MIGRATIONS: PostgresMigrations = {
  lock: 7_236_410_915,
  steps: STEPS,
  createNewerVersionError: () =>
    new StoreError('newer-version', 'the database of the sessions has tables of a newer version of dragoman'),
}
