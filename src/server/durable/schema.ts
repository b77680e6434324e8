import { createPostgresDatabase, type PostgresClient } from '../../session/store/postgres-client.ts'
import { ensureMigrated, type PostgresMigrations } from '../../session/store/postgres-migrations.ts'

/**
 * Creates the tables of the queue in a schema (default `dragoman_queue`), or brings them up to date. Several processes may do
 * it at the same time.
 */
export async function migrateQueue(client: PostgresClient, schema: string): Promise<void> {
  await ensureMigrated(createPostgresDatabase(client, schema), {
    lock: 7_236_410_916,
    steps: STEPS,
    createNewerVersionError: () =>
      new Error('The queue in the database was made by a newer version of dragoman: update this one'),
  })
}

/**
 * A job that ended stays, because its id is unique for ever; all indexes but the primary key leave it out, so that they do not
 * grow. `fence` grows whenever a job is given to a worker or taken from it: who had it before cannot end it. A worker that is
 * `dead` stays so: it gets a new id if it comes back. The unique index over running jobs is what guarantees that a session has
 * one at a time, whatever the programs do.
 */
const STEPS: PostgresMigrations['steps'] = [
  (schema) => `
    create table ${schema}.workers (
      id text collate "C" primary key,
      beat timestamptz not null default now(),
      steady_since timestamptz not null default now(),
      dead boolean not null default false
    );
    create table ${schema}.jobs (
      id text collate "C" primary key,
      position bigint generated always as identity,
      tenant text collate "C" not null,
      session text collate "C" not null,
      provider text collate "C" not null,
      label text collate "C",
      state text not null default 'queued',
      run_at timestamptz not null,
      worker text collate "C",
      fence bigint not null default 0,
      takeovers int not null default 0,
      failures int not null default 0,
      reason text,
      changed timestamptz not null default now()
    );
    create index jobs_due on ${schema}.jobs (run_at, position) where state = 'queued';
    create index jobs_waiting on ${schema}.jobs (tenant, session, run_at, position) where state = 'queued';
    create unique index jobs_running on ${schema}.jobs (tenant, session) where state = 'running';
    create index jobs_counted on ${schema}.jobs (tenant, provider) where state = 'running';
    create index jobs_held on ${schema}.jobs (worker) where state = 'running';
    create table ${schema}.limits (
      tenant text collate "C" not null,
      provider text collate "C" not null,
      concurrency int,
      per_minute int,
      primary key (tenant, provider)
    );
    create table ${schema}.starts (
      tenant text collate "C" not null,
      provider text collate "C" not null,
      at timestamptz not null
    );
    create index starts_at on ${schema}.starts (tenant, provider, at);
    create table ${schema}.schedules (
      id text collate "C" primary key,
      tenant text collate "C" not null,
      schedule text not null,
      next_at timestamptz not null
    );
    create index schedules_next on ${schema}.schedules (next_at);
    create index schedules_tenant on ${schema}.schedules (tenant);
    create table ${schema}.inbox (
      tenant text collate "C" not null,
      session text collate "C" not null,
      id text collate "C" not null,
      position bigint generated always as identity,
      message text,
      primary key (tenant, session, id)
    );
    create index inbox_waiting on ${schema}.inbox (tenant, session, position) where message is not null;
    create table ${schema}.spending (
      tenant text collate "C" not null,
      period text collate "C" not null,
      dollars float8 not null,
      primary key (tenant, period)
    );
    ${createClaimFunction(schema)}
    ${createBeatFunction(schema)}`,
]

/**
 * Gives a worker as many jobs as it has room for: those that are due, whose session has no job that runs or comes first, and
 * that no limit keeps back. Each statement of a function sees what others have committed before it, so that the limits, whose
 * rows are locked first, are counted exactly.
 */
function createClaimFunction(schema: string): string {
  return `
    create function ${schema}.claim_jobs(the_worker text, the_labels jsonb, room int) returns setof ${schema}.jobs
    language plpgsql as $claim$
    declare
      job ${schema}.jobs;
      lim ${schema}.limits;
    begin
      -- The lock keeps others from declaring it dead before its jobs are committed.
      perform from ${schema}.workers where id = the_worker and not dead for share;
      if not found then return; end if;
      for job in
        with blocked as materialized (
          select l.tenant, l.provider from ${schema}.limits l
          where l.concurrency <= (select count(*) from ${schema}.jobs r where r.tenant = l.tenant and r.provider = l.provider and r.state = 'running')
             or l.per_minute <= (select count(*) from ${schema}.starts s where s.tenant = l.tenant and s.provider = l.provider and s.at > now() - interval '1 minute')
        )
        select j.* from ${schema}.jobs j
        where j.state = 'queued' and j.run_at <= now() and (j.label is null or the_labels ? j.label)
          and not exists (select from blocked b where b.tenant = j.tenant and b.provider = j.provider)
          and not exists (select from ${schema}.jobs r where r.tenant = j.tenant and r.session = j.session and r.state = 'running')
          and not exists (
            select from ${schema}.jobs e
            where e.tenant = j.tenant and e.session = j.session and e.state = 'queued' and e.run_at <= now()
              and (e.run_at, e.position) < (j.run_at, j.position)
          )
        order by j.run_at, j.position
        limit room
        for update of j skip locked
      loop
        select * into lim from ${schema}.limits l where l.tenant = job.tenant and l.provider = job.provider for update;
        if found then
          if lim.concurrency <= (select count(*) from ${schema}.jobs r where r.tenant = job.tenant and r.provider = job.provider and r.state = 'running') then
            continue;
          end if;
          if lim.per_minute is not null then
            delete from ${schema}.starts s where s.tenant = job.tenant and s.provider = job.provider and s.at <= clock_timestamp() - interval '1 minute';
            if lim.per_minute <= (select count(*) from ${schema}.starts s where s.tenant = job.tenant and s.provider = job.provider) then
              continue;
            end if;
            insert into ${schema}.starts values (job.tenant, job.provider, clock_timestamp());
          end if;
        end if;
        update ${schema}.jobs set state = 'running', worker = the_worker, fence = fence + 1, changed = now()
        where id = job.id returning * into job;
        return next job;
      end loop;
    end $claim$;`
}

/**
 * Says that a worker lives, and whether others think so, too. Jobs that it does not know of, because the answer to a claim was
 * lost, and those of workers that have not been heard of for a time, are queued again. After the database could not be reached,
 * nobody is declared dead until the others have had the same time to come back.
 */
function createBeatFunction(schema: string): string {
  return `
    create function ${schema}.beat(the_worker text, known_jobs jsonb, dead_after interval, max_takeovers int, channel text) returns boolean
    language plpgsql as $beat$
    declare
      me ${schema}.workers;
      changes int;
      requeued int;
    begin
      select * into me from ${schema}.workers where id = the_worker and not dead for update;
      if not found then return false; end if;
      if me.beat < now() - dead_after then me.steady_since := now(); end if;
      update ${schema}.workers set beat = now(), steady_since = me.steady_since where id = the_worker;
      update ${schema}.jobs set state = 'queued', worker = null, fence = fence + 1, changed = now()
      where worker = the_worker and state = 'running' and not known_jobs ? id;
      get diagnostics requeued = row_count;
      if me.steady_since < now() - dead_after then
        update ${schema}.workers set dead = true
        where id in (select id from ${schema}.workers where not dead and beat < now() - dead_after for update skip locked);
        update ${schema}.jobs j
        set state = case when takeovers + 1 >= max_takeovers then 'failed' else 'queued' end, worker = null, fence = fence + 1,
            takeovers = takeovers + 1, reason = 'its worker died', changed = now(),
            run_at = now() + case when takeovers < 10 then 0 else least(power(2, takeovers - 10), 60) end * interval '1 second'
        where j.state = 'running' and j.worker in (select id from ${schema}.workers where dead);
        get diagnostics changes = row_count;
        requeued := requeued + changes;
        delete from ${schema}.workers w where w.dead and w.beat < now() - interval '1 day';
      end if;
      if requeued > 0 then perform pg_notify(channel, 'jobs'); end if;
      return true;
    end $beat$;`
}
