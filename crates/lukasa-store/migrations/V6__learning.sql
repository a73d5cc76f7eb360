-- Learning: passes over sessions, episodes, portraits, the ledger of model calls, and policies.

-- One request to a chat model to learn from a range of turns, and its result. The answer is stored from when
-- it arrives until it is applied, so that after a crash in between the model is not asked again.
create table pass (
  user_id      uuid not null,
  tenant_id    uuid not null,
  pass_id      uuid not null,
  session_id   text not null,
  first_turn   integer not null,
  last_turn    integer not null check (last_turn >= first_turn),
  prompt       text not null,             -- the name and version of the prompt
  model        text not null,
  offered      uuid[] not null,           -- the facts shown to the model, in the order of their handles
  answer       text,
  state        text not null check (state in ('answered', 'applied')),
  answered_at  timestamptz not null,
  applied_at   timestamptz,
  operation_id uuid,
  outcome      jsonb,                     -- how many claims were learned, and why others were not
  primary key (user_id, pass_id),
  constraint answer_until_applied check ((state = 'answered') = (answer is not null)),
  -- Each turn is in at most one applied pass, regardless of the application code.
  constraint learned_once exclude using gist (
    user_id with =,
    session_id with =,
    int4range(first_turn, last_turn, '[]') with &&
  ) where (state = 'applied')
);
create unique index pass_answered on pass (user_id, session_id) where state = 'answered';
create index pass_by_time on pass (user_id, answered_at);

-- A short summary of a range of turns.
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
  withdrawn_by uuid,                      -- the operation that withdrew the episode; null while it is in use
  -- The operation after which it was summarised again, without the turns which that operation withdrew.
  made_for     uuid,
  -- The turns of its range that were withdrawn when it was summarised.
  left_out     integer[] not null default '{}',
  primary key (user_id, episode_id)
);
create index episode_by_time on episode (user_id, ended_at, episode_id);

-- A compiled text about the user, sentence by sentence, each with the facts it is based on. It is a cache: a
-- change or removal of a fact deletes the portraits that cite it, and they can be compiled again.
create table portrait (
  user_id     uuid not null,
  tenant_id   uuid not null,
  name        text not null,             -- profile, procedures, active_context or domain:<name>
  -- A hash of what it was compiled from; it is not compiled again while this is unchanged.
  inputs_hash text not null,
  sentences   jsonb not null,            -- [{"text": ..., "facts": [...]}]
  facts       uuid[] not null,
  domains     text[] not null,
  made_by     text not null,             -- the model that phrased it, or 'template'
  compiled_at timestamptz not null,
  tokens      integer not null,
  primary key (user_id, name)
);

-- Every call of a chat model, including failed ones: its purpose and its cost.
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
  cost_micros   bigint not null,          -- millionths of the currency of the configured prices
  took_ms       integer not null,
  primary key (user_id, call_id)
);
create index model_call_by_time on model_call (user_id, at);

-- Tokens used by a tenant per day. An estimate is added before a call and corrected after it.
create table model_spend (
  tenant_id uuid not null,
  day       date not null,
  tokens    bigint not null,
  primary key (tenant_id, day)
);

-- What may happen without asking the user: one document set by the tenant and one set by the user, each in
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

do $$
declare t text;
begin
  foreach t in array array['pass', 'episode', 'portrait', 'model_call', 'user_policy'] loop
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

grant select, insert, update (answer, state, applied_at, operation_id, outcome), delete
  on pass to lukasa_serve;
grant select, insert, update (withdrawn_by), delete on episode to lukasa_serve;
grant select, insert, delete on portrait to lukasa_serve;
grant select, insert, delete on model_call to lukasa_serve;
grant select, insert, update (tokens) on model_spend to lukasa_serve;
grant select, insert on tenant_policy to lukasa_serve;
grant select, insert, delete on user_policy to lukasa_serve;
