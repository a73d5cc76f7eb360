-- Chapter 19. Queue lanes with a head per user, erasures that are done in batches, and what a server
-- reads when it starts.

-- A server compares the history with the migrations it was built with.
grant select on refinery_schema_history to quipu_serve;

-- Policies hold the owner too; these settings let this migration see the rows it changes.
set local app.worker = 'on';
set local app.scrub = 'on';

-- Each lane has workers of its own, so that slow work of one lane does not delay another.
alter table job
  add column lane text not null generated always as (
    case kind when 'deliver' then 'webhooks' when 'upkeep' then 'upkeep'
              when 'close' then 'sessions' else 'learning' end) stored,
  -- Set on the one waiting job of a user and lane that is claimed next; the order of claims. Claims
  -- look at heads only, so their cost does not depend on how many jobs a user has waiting.
  add column head_at timestamptz,
  -- When the job was last claimed.
  add column claimed_at timestamptz,
  add constraint head_while_waiting check (head_at is null or state = 'waiting');

-- Deliveries change nothing that the other jobs read, so one may run beside another job of its user.
drop index job_alone;
create unique index job_alone on job (user_id, (lane = 'webhooks')) where state = 'running';
create index job_in_lane on job (user_id, lane, run_at, job_id) where state = 'waiting';
create unique index job_head on job (user_id, lane) where head_at is not null;
-- Whether anything of a lane is due. In another form than the next index, so that the search within one
-- tenant is never planned as a walk through the heads of all.
create index job_head_due on job (lane, (head_at at time zone 'UTC')) where head_at is not null;
create index job_head_of_tenant on job (lane, tenant_id, head_at) where head_at is not null;
create index job_dead on job (user_id, job_id) where state = 'dead';

-- Chooses the head again. Every transaction that runs this holds its user's lock; a claim does not, so
-- it only ever takes a head away. While a job of the lane runs no head is needed: the transaction that
-- ends the job chooses the next one, and places it behind the heads that were due when the job was
-- claimed. So users take turns, however many jobs one of them has.
-- Statements in a function keep the plan of their first calls, when the table may have been empty; so
-- the order is taken from the index that has it, and rows are changed where they were found.
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
grant update (head_at, claimed_at) on job to quipu_serve;

update job set head_at = first.run_at
  from (select distinct on (user_id, lane) user_id, job_id, run_at from job
          where state = 'waiting' order by user_id, lane, run_at, job_id) first
 where job.user_id = first.user_id and job.job_id = first.job_id;

-- Erasing a user is marked first and done in batches; unfinished until the last of them. Only an
-- unfinished erasure changes.
alter table erasure
  add column finished_at timestamptz,
  -- Until when the process that does the batches may be taken to be alive.
  add column leased_until timestamptz;
update erasure set finished_at = erased_at;
alter table erasure add constraint finished_before_scrubbed
  check (scrubbed_at is null or finished_at is not null);
create index erasure_unfinished on erasure (erased_at) where finished_at is null;
create index erasure_by_time on erasure (erased_at, erasure_id);
grant update (removed, finished_at, leased_until) on erasure to quipu_serve;
create policy unfinished on erasure as restrictive for update to quipu_serve
  using (finished_at is null) with check (true);

-- What the referential checks look up for every row that is removed. Without these an erasure costs the
-- square of what the user has.
create index fact_version_opened on fact_version (user_id, opened_by);
create index link_opened on link (user_id, opened_by);
create index link_from_any on link (user_id, from_fact);
create index link_to_any on link (user_id, to_fact);

-- How far each erasure journal was compared with this database. It is in the database so that a
-- restored backup brings back the mark of its own time, and the journal is read again from there.
create table journal_checkpoint (
  journal       text primary key,         -- the digest of the journal's first line
  bytes         bigint not null,          -- everything before this offset was compared
  line          text not null,            -- the digest of the line that ends there
  checked_until timestamptz not null      -- erasures of this database up to then are in the journal
);
-- How many rows of a table had been updated or deleted when it was last rewritten by a scrub.
create table scrubbed_table (
  name        text primary key,
  changes     bigint not null,
  scrubbed_at timestamptz not null
);
do $$
declare t text;
begin
  foreach t in array array['journal_checkpoint', 'scrubbed_table'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy scrub on %I using (current_setting('app.scrub', true) = 'on')
    $policy$, t);
  end loop;
end $$;
grant select, insert, update on journal_checkpoint to quipu_serve;
