-- Jobs: deferred work, in one queue with a lane for each kind of work.

-- A job is queued in the transaction of its cause and removed in the transaction of its effect. It holds ids
-- but no content.
create table job (
  user_id      uuid not null,
  tenant_id    uuid not null,
  job_id       uuid not null,
  -- `statement` carries out what the user said outright in a turn, and `relearn` learns again from turns about a
  -- domain that was opened since.
  kind         text not null check (kind in
    ('close', 'statement', 'extract', 'relearn', 'title', 'compress', 'retell', 'upkeep', 'deliver')),
  -- What the job is for, such as a session. There is at most one waiting job per kind and key.
  key          text not null,
  state        text not null default 'waiting' check (state in ('waiting', 'running', 'dead')),
  queued_at    timestamptz not null,
  run_at       timestamptz not null,
  attempts     integer not null default 0,
  -- Incremented by every claim. Finishing a job requires its latest lease, so a worker whose lease expired
  -- and whose job was claimed again cannot finish it.
  lease        bigint not null default 0,
  leased_until timestamptz,
  worker       text,
  last_error   text,                      -- why the last attempt failed, without user content
  -- Each lane has its own workers, so that slow work in one lane does not delay another. The jobs of `sessions`
  -- need no model.
  lane         text not null generated always as (
    case kind when 'deliver' then 'webhooks' when 'upkeep' then 'upkeep'
              when 'close' then 'sessions' when 'statement' then 'sessions' else 'learning' end) stored,
  -- Set on the one waiting job of a user and lane that is claimed next, and the order of claims. Claims read
  -- only these heads, so their cost does not depend on how many jobs a user has waiting.
  head_at      timestamptz,
  claimed_at   timestamptz,               -- when the job was last claimed
  primary key (user_id, job_id),
  constraint leased_while_running check ((state = 'running') = (leased_until is not null)),
  constraint head_while_waiting check (head_at is null or state = 'waiting')
)
-- Jobs are updated often, so room is kept for the next version of a row. Dead rows at the head of the queue are read
-- by every claim, so they are removed early and without pauses.
with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create unique index job_once on job (user_id, kind, key) where state = 'waiting';
-- A user's jobs run one at a time. Deliveries change nothing that other jobs read, so a delivery may run
-- beside another job of its user.
create unique index job_alone on job (user_id, (lane = 'webhooks')) where state = 'running';
-- These two are for workers, which look for due jobs of all users.
create index job_due on job (run_at) where state = 'waiting';
-- The condition is the time and not the state, so that no statement for one user is planned with it.
create index job_overdue on job (leased_until) where leased_until is not null;
create index job_in_lane on job (user_id, lane, run_at, job_id) where state = 'waiting';
create unique index job_head on job (user_id, lane) where head_at is not null;
-- Whether a job of a lane is due. The expression differs from the column of the next index so that the
-- planner does not use this one, which has the heads of all tenants, to search within one tenant.
create index job_head_due on job (lane, (head_at at time zone 'UTC')) where head_at is not null;
create index job_head_of_tenant on job (lane, tenant_id, head_at) where head_at is not null;
create index job_dead on job (user_id, job_id) where state = 'dead';

-- Chooses the head of a user and lane again after a change. Every transaction that fires this trigger holds
-- the lock of its user; a claim does not hold it and only removes a head. No head is needed while a job of
-- the lane is running: the transaction that ends that job chooses the next head and orders it after the
-- heads that were due when the job was claimed. Users therefore take turns, however many jobs one of them
-- has.
-- The statements of a function keep the plans of its first calls, when the table may have been empty. The
-- settings make these plans take the order from the index, and the update finds its row by ctid.
create function choose_job_head() returns trigger language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off
  set enable_sort = off set enable_incremental_sort = off as $$
declare
  changed job;
  ended timestamptz;
  candidate record;
begin
  if tg_op = 'DELETE' then changed := old; else changed := new; end if;
  if tg_op <> 'INSERT' and old.state = 'running' then ended := old.claimed_at; end if;
  if exists (select 1 from job where user_id = changed.user_id and lane = changed.lane
               and state = 'running') then
    return null;
  end if;
  select ctid as place, job_id, run_at, head_at into candidate from job
    where user_id = changed.user_id and lane = changed.lane and state = 'waiting'
    order by user_id, lane, run_at, job_id limit 1;
  -- A head keeps its place unless its own time has moved.
  if candidate.head_at is not null and candidate.job_id <> changed.job_id then
    return null;
  end if;
  update job set head_at = null
    where user_id = changed.user_id and lane = changed.lane and head_at is not null
      and state = 'waiting' and job_id is distinct from candidate.job_id;
  update job set head_at = greatest(candidate.run_at, ended)
    where ctid = candidate.place and user_id = changed.user_id and state = 'waiting';
  return null;
end $$;
create trigger choose_head_of_new after insert on job
  for each row when (new.state = 'waiting') execute function choose_job_head();
create trigger choose_head_of_changed after update of state, run_at on job
  for each row when (new.state <> 'running') execute function choose_job_head();
create trigger choose_head_of_gone after delete on job
  for each row when (old.head_at is not null or old.state = 'running')
  execute function choose_job_head();

alter table job enable row level security;
alter table job force row level security;
create policy own on job
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
         and user_id = nullif(current_setting('app.user_id', true), '')::uuid);
-- Workers read and claim the jobs of all users, but no other data of theirs.
create policy worker_sees on job for select using (current_setting('app.worker', true) = 'on');
create policy worker_claims on job for update using (current_setting('app.worker', true) = 'on');

grant select, insert,
  update (state, run_at, attempts, lease, leased_until, worker, last_error, head_at, claimed_at),
  delete on job to lukasa_serve;

alter table job
  alter column key set statistics 0,
  alter column last_error set statistics 0;
