-- Chapter 7. Learning: the life of a session, jobs, what models were asked, passes and episodes,
-- and the policy that says what may happen without asking.

-- A chat is active while somebody speaks in it, idle once it was closed, archived when its person
-- put it aside; the trash is an axis of its own.
alter table session
  add column state             text not null default 'active'
                               check (state in ('active', 'idle', 'archived')),
  add column closed_at         timestamptz,
  add column trashed_at        timestamptz,
  -- The last turn that a pass has folded into memory. Only ever grows.
  add column extracted_through integer not null default 0,
  -- What was said up to a turn, in short: handed to the next pass, and to a model whose window is
  -- full, in place of the turns themselves.
  add column summary           text,
  add column summary_through   integer not null default 0,
  -- How much of what is said here is kept once it was learned from.
  add column store             text not null default 'full'
                               check (store in ('full', 'excerpts', 'none')),
  -- Nothing said here is kept, and the row itself goes when the chat is closed.
  add column incognito         boolean not null default false,
  add constraint watermark_within check (extracted_through between 0 and turns),
  add constraint summary_within check (summary_through between 0 and turns);
-- The purge of sessions that have lain in the trash for thirty days.
create index session_in_trash on session (user_id, trashed_at) where trashed_at is not null;

-- Stretches of a turn that somebody else wrote: prefilled by a link, pasted, quoted. Characters
-- from one place to before another; they count as a document, whoever sent them. Null if whoever
-- handed the turn in did not say; an empty list if they said that all of it was typed.
alter table turn add column spans jsonb;

grant update (state, closed_at, trashed_at, extracted_through, summary, summary_through, store)
  on session to quipu_serve;

-- Work that waits for its time. A job is queued in the transaction of its cause, finished in the
-- transaction of its effect, and holds names but no content.
create table job (
  user_id      uuid not null,
  tenant_id    uuid not null,
  job_id       uuid not null,
  kind         text not null check (kind in ('close', 'extract', 'title', 'compress', 'upkeep')),
  -- What it is about, such as a session. Waiting jobs with one kind and key are one job.
  key          text not null,
  state        text not null default 'waiting' check (state in ('waiting', 'running', 'dead')),
  queued_at    timestamptz not null,
  run_at       timestamptz not null,
  attempts     integer not null default 0,
  -- Grows with every claim. Whoever finishes must hold the latest: a worker that was thought dead
  -- and comes back finds that it no longer does.
  lease        bigint not null default 0,
  leased_until timestamptz,
  worker       text,
  -- Why the last attempt failed, in words for an operator, with nothing of what was said.
  last_error   text,
  primary key (user_id, job_id),
  constraint leased_while_running check ((state = 'running') = (leased_until is not null))
);
create unique index job_once on job (user_id, kind, key) where state = 'waiting';
-- One user's jobs run one after the other.
create unique index job_alone on job (user_id) where state = 'running';
-- The worker's own question, the only one that is not about one user: what is due on this node?
create index job_due on job (run_at) where state = 'waiting';
create index job_overdue on job (leased_until) where state = 'running';

-- One question put to a chat model, and what was made of the answer. The answer is kept from when
-- it came until it is applied, so that a crash between the two asks nobody again.
create table pass (
  user_id      uuid not null,
  tenant_id    uuid not null,
  pass_id      uuid not null,
  session_id   text not null,
  first_turn   integer not null,
  last_turn    integer not null check (last_turn >= first_turn),
  prompt       text not null,             -- its name and version
  model        text not null,
  offered      uuid[] not null,           -- the facts shown to the model, in the order of their handles
  answer       text,
  state        text not null check (state in ('answered', 'applied')),
  answered_at  timestamptz not null,
  applied_at   timestamptz,
  operation_id uuid,
  outcome      jsonb,                     -- how many were learned, and why others were not
  primary key (user_id, pass_id),
  constraint answer_until_applied check ((state = 'answered') = (answer is not null)),
  -- Each turn is in exactly one applied pass, whatever the code above does.
  constraint learned_once exclude using gist (
    user_id with =,
    session_id with =,
    int4range(first_turn, last_turn, '[]') with &&
  ) where (state = 'applied')
);
create unique index pass_answered on pass (user_id, session_id) where state = 'answered';
create index pass_by_time on pass (user_id, answered_at);

-- Layer one: what happened in a stretch of turns, in short.
create table episode (
  user_id     uuid not null,
  tenant_id   uuid not null,
  episode_id  uuid not null,
  session_id  text not null,
  first_turn  integer not null,
  last_turn   integer not null,
  title       text,
  summary     text not null check (summary <> ''),
  origin      text not null check (origin in ('user_said', 'user_turn', 'assistant', 'tool', 'document', 'import')),
  started_at  timestamptz not null,
  ended_at    timestamptz not null,
  pass_id     uuid not null,
  prompt      text not null,
  recorded_at timestamptz not null,
  primary key (user_id, episode_id)
);
create index episode_by_time on episode (user_id, ended_at, episode_id);

-- Every call of a chat model, also those that failed: what it was for and what it cost.
create table model_call (
  user_id       uuid not null,
  tenant_id     uuid not null,
  call_id       uuid not null,
  at            timestamptz not null,
  purpose       text not null,
  model         text not null,
  outcome       text not null check (outcome in ('answered', 'unavailable', 'malformed', 'missing', 'refused')),
  input_tokens  integer not null,
  output_tokens integer not null,
  cost_micros   bigint not null,          -- millionths of the currency the prices are in
  took_ms       integer not null,
  primary key (user_id, call_id)
);
create index model_call_by_time on model_call (user_id, at);

-- What a tenant has spent on a day, counted before the call and put right after it.
create table model_spend (
  tenant_id uuid not null,
  day       date not null,
  tokens    bigint not null,
  primary key (tenant_id, day)
);

-- What may happen without asking: one document, said by the tenant and then by the user, each in
-- versions that are never changed.
create table tenant_policy (
  tenant_id uuid not null,
  version   integer not null check (version > 0),
  body      jsonb not null,
  set_at    timestamptz not null,
  set_by    text not null,
  primary key (tenant_id, version)
);
create table user_policy (
  user_id   uuid not null,
  tenant_id uuid not null,
  version   integer not null check (version > 0),
  body      jsonb not null,
  set_at    timestamptz not null,
  set_by    text not null,
  primary key (user_id, version)
);
-- The policy an operation was made under: the tenant's version and the user's.
alter table operation add column policy text;

-- What a turn says it used; and what came of a memory when it met the world.
alter table usage add column turn_id uuid;
alter table usage drop constraint usage_type_check;
alter table usage add constraint usage_type_check check (type in
  ('retrieved', 'applied', 'cited', 'conflicted', 'overridden', 'confirmed', 'contradicted'));
create index usage_of_turn on usage (user_id, turn_id) where turn_id is not null;

do $$
declare t text;
begin
  foreach t in array array['job', 'pass', 'episode', 'model_call', 'user_policy'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy own on %I
        using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
               and user_id = nullif(current_setting('app.user_id', true), '')::uuid)
    $policy$, t);
  end loop;
  foreach t in array array['model_spend', 'tenant_policy'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy own on %I using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    $policy$, t);
  end loop;
end $$;

-- A worker sees which jobs are due, whoever they are for, and nothing else of anybody.
create policy worker_sees on job for select using (current_setting('app.worker', true) = 'on');
create policy worker_claims on job for update using (current_setting('app.worker', true) = 'on');

grant select, insert, update (state, run_at, attempts, lease, leased_until, worker, last_error),
  delete on job to quipu_serve;
grant select, insert, update (answer, state, applied_at, operation_id, outcome), delete
  on pass to quipu_serve;
grant select, insert, delete on episode to quipu_serve;
grant select, insert, delete on model_call to quipu_serve;
grant select, insert, update (tokens) on model_spend to quipu_serve;
grant select, insert on tenant_policy to quipu_serve;
grant select, insert, delete on user_policy to quipu_serve;
