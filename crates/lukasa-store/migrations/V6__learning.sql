-- Learning: passes over sessions and what they left out, episodes, portraits, comparisons of facts, calibration,
-- the ledger of model calls, and policies.

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
-- A session has at most one answer that waits to be applied.
create unique index pass_answered on pass (user_id, session_id) where state = 'answered';
create index pass_by_time on pass (user_id, answered_at);

-- A proposal of a pass that was left out: why, and the place of the sentence that it quotes. The words are only
-- in the turn, and the row is removed with the turn.
create table left_out (
  user_id   uuid not null,
  tenant_id uuid not null,
  pass_id   uuid not null,
  place     integer not null check (place between 1 and 20),
  reason    text not null,
  turn_id   uuid not null,
  from_char integer not null check (from_char >= 0),
  to_char   integer not null check (to_char > from_char),
  domain    text,                        -- the domain that was not open, if that is the reason
  fact_id   uuid,                        -- the memory that the user made of it; null until then
  primary key (user_id, pass_id, place),
  constraint left_out_of_turn foreign key (user_id, turn_id) references turn on delete cascade
);
-- For the removal of turns.
create index left_out_by_turn on left_out (user_id, turn_id);

-- That the user mentioned a domain which is not open, and what the user answered when asked to open it. It is
-- asked once per domain, and nothing of what was said is stored.
create table domain_question (
  user_id   uuid not null,
  tenant_id uuid not null,
  domain    text not null,
  state     text not null check (state in ('asked', 'opened', 'declined')),
  -- The first turns that mentioned the domain; empty once the question is answered.
  turns     uuid[] not null default '{}' check (cardinality(turns) <= 20),
  asked_at  timestamptz not null,
  primary key (user_id, domain)
);

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
  origin      text not null
              check (origin in ('user_said', 'user_turn', 'assistant', 'tool', 'observed', 'document', 'import')),
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
  -- Whether search may find the episode: no turn of it asks to forget something. The turns may not be kept, so this
  -- is decided when it is made.
  searchable   boolean not null default true,
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

-- The result of comparing two facts by consolidation, so that a pair is not compared again while the words of both
-- are the same. It is stored before it is applied, so that a model is not asked again after a crash or a dry run. It
-- contains no words: it is removed with either fact.
create table compared_pair (
  user_id      uuid not null,
  tenant_id    uuid not null,
  older_fact   uuid not null,
  older_digest uuid not null,             -- of the words, key and value that were compared
  newer_fact   uuid not null,
  newer_digest uuid not null,
  answer       text not null check (answer in ('same', 'supersedes', 'contradicts', 'unrelated')),
  reason       text not null check (reason in ('key', 'attribute', 'negation', 'similar')),
  -- The name and version of the prompt; null if rules alone compared the two.
  prompt       text,
  compared_at  timestamptz not null,
  -- When consolidation acted on it, or found nothing to do; null before.
  applied_at   timestamptz,
  primary key (user_id, older_fact, newer_fact),
  constraint compared_older foreign key (user_id, older_fact) references fact,
  constraint compared_newer foreign key (user_id, newer_fact) references fact
);
-- The results that are not applied yet; and those of a fact, in both directions.
create index compared_pair_open on compared_pair (user_id, compared_at) where applied_at is null;
create index compared_pair_newer on compared_pair (user_id, newer_fact);

-- How far the memories of a user were compared: those up to this version of the record, in the order in
-- which they came to be known.
create table comparison (
  user_id    uuid not null,
  tenant_id  uuid not null,
  known_from timestamptz not null,
  fact_id    uuid not null,
  primary key (user_id)
);

-- Minimum confidences that were derived from how often learned memories turned out right. A row is a cache: all of a
-- user's are removed when a memory or a turn is permanently removed, because a row names only some of the memories
-- that it is based on, and upkeep derives them again.
create table calibration (
  user_id     uuid not null,
  tenant_id   uuid not null,
  category    text not null,
  -- Without a row the minimum is 0.7; a derived one can only be higher.
  floor       real not null check (floor >= 0.7::real and floor <= 1),
  samples     integer not null check (samples > 0),
  wrong       integer not null check (wrong between 0 and samples),
  -- The first of the memories that it is based on, those that were wrong before the others.
  facts       uuid[] not null,
  compiled_at timestamptz not null,
  primary key (user_id, category)
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
) with (autovacuum_vacuum_insert_scale_factor = 0.02);
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
  foreach t in array array['pass', 'left_out', 'domain_question', 'episode', 'portrait', 'compared_pair',
                           'comparison', 'calibration', 'model_call', 'user_policy'] loop
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
grant select, insert, update (fact_id), delete on left_out to lukasa_serve;
grant select, insert, update (state, turns), delete on domain_question to lukasa_serve;
grant select, insert, update (withdrawn_by, searchable), delete on episode to lukasa_serve;
grant select, insert, delete on portrait to lukasa_serve;
grant select, insert, update (older_digest, newer_digest, answer, reason, prompt, compared_at, applied_at), delete
  on compared_pair to lukasa_serve;
grant select, insert, update (known_from, fact_id), delete on comparison to lukasa_serve;
grant select, insert, delete on calibration to lukasa_serve;
grant select, insert, delete on model_call to lukasa_serve;
grant select, insert, update (tokens) on model_spend to lukasa_serve;
grant select, insert on tenant_policy to lukasa_serve;
grant select, insert, delete on user_policy to lukasa_serve;

alter table pass
  alter column session_id set statistics 0,
  alter column answer set statistics 0,
  alter column outcome set statistics 0;
alter table left_out alter column domain set statistics 0;
alter table domain_question alter column domain set statistics 0;
alter table episode
  alter column session_id set statistics 0,
  alter column title set statistics 0,
  alter column summary set statistics 0;
alter table portrait alter column sentences set statistics 0;
alter table user_policy alter column body set statistics 0;
