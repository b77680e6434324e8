import type { PostgresDatabase } from './postgres-client.ts'

/** The tables of one part of the program, in a schema of their own. */
export interface PostgresMigrations {
  /** Any number that neither other programs nor other parts of this one use. */
  readonly lock: number
  /** The statements that lead from each version to the next, given the quoted name of the schema. One that was released is never changed. */
  readonly steps: readonly ((schema: string) => string)[]
  /** What is thrown if the tables are of a newer version. */
  readonly createNewerVersionError: () => Error
}

/** Creates the tables, or brings them up to date, unless they are. A role without the right to create tables can use those that are. */
export async function ensureMigrated(database: PostgresDatabase, migrations: PostgresMigrations): Promise<void> {
  const { query, schema } = database
  const [table] = await query('select to_regclass($1)::text as found', [`${schema}.versions`])
  const [row] = table?.['found'] ? await query(`select max(version) as version from ${schema}.versions`, []) : []
  const version = Number(row?.['version'] ?? 0)
  if (version > migrations.steps.length) throw migrations.createNewerVersionError()
  if (version < migrations.steps.length) await migrate(database, migrations)
}

/** Several processes may do it at the same time. Each step is one statement, and so one transaction, whatever the driver does with several. */
export async function migrate({ query, schema }: PostgresDatabase, { lock, steps }: PostgresMigrations): Promise<void> {
  const name = schema.slice(1, -1)
  const runLocked = (statements: string) =>
    query(`do $migration$ begin perform pg_advisory_xact_lock(${lock}); ${statements} end $migration$`, [])
  // The catalog is queried, because functions such as to_regclass may answer from a cache of before the lock.
  await runLocked(`
    if not exists (select from pg_catalog.pg_namespace where nspname = '${name}') then
      create schema ${schema};
    end if;
    if not exists (select from pg_catalog.pg_tables where schemaname = '${name}' and tablename = 'versions') then
      create table ${schema}.versions (version int primary key, at timestamptz not null default now());
    end if;`)
  for (const [at, createStatements] of steps.entries())
    await runLocked(`
      if not exists (select from ${schema}.versions where version = ${at + 1}) then
        ${createStatements(schema)}
        insert into ${schema}.versions (version) values (${at + 1});
      end if;`)
}
