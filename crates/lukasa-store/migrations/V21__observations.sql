-- Behaviour as evidence: observations, predictions with their outcomes, and ratings.

-- Observations are raw events that other applications and agents record. They are appended and never rewritten;
-- only the user or a retention rule removes them.

create table observation (
  user_id        uuid not null,
  tenant_id      uuid not null,
  observation_id uuid not null,
  source         text not null check (char_length(source) between 1 and 32),
  kind           text not null check (char_length(kind) between 1 and 32),
  -- When it happened, and when it was recorded.
  at             timestamptz not null,
  recorded_at    timestamptz not null,
  payload        jsonb not null check (jsonb_typeof(payload) = 'object'),
  -- The value that patterns are counted by, from the payload; null if it states none.
  value          text check (char_length(value) between 1 and 40),
  session_id     text,                    -- the session it belongs to, as its sender names it; never looked up
  project        text check (char_length(project) between 1 and 64),
  -- Set by the server from the credential, never by the caller.
  origin         text not null,
  import_id      uuid,                    -- the import it came with, whose undo removes it
  withdrawn_by   uuid,                    -- the operation that withdrew it; null while it is in use
  primary key (user_id, observation_id)
);
-- Listing, newest first, and counting.
create index observation_by_time on observation (user_id, at, observation_id);
create index observation_by_source on observation (user_id, source, at);
-- For the removal of what was withdrawn thirty days ago, and of imports.
create index observation_withdrawn on observation (user_id, withdrawn_by) where withdrawn_by is not null;
create index observation_imported on observation (user_id, import_id) where import_id is not null;
-- For the removal of a session.
create index observation_of_session on observation (user_id, session_id) where session_id is not null;

alter table observation enable row level security;
alter table observation force row level security;
create policy own on observation
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
         and user_id = nullif(current_setting('app.user_id', true), '')::uuid);

-- The content of an observation is never updated.
grant select, insert, update (withdrawn_by), delete on observation to lukasa_serve;

-- The names and values are chosen by applications, and compared only among the rows of one user.
alter table observation alter column source set statistics 0;
alter table observation alter column kind set statistics 0;
alter table observation alter column value set statistics 0;
alter table observation alter column project set statistics 0;
alter table observation alter column session_id set statistics 0;
alter table observation alter column payload set statistics 0;

-- The patterns that were noted once: a digest of source, kind, value and project, with the user. A pattern that
-- the user declined, deleted or erased is not proposed again.
create table noted_pattern (
  user_id   uuid not null,
  tenant_id uuid not null,
  pattern   bytea not null check (octet_length(pattern) = 32),
  primary key (user_id, pattern)
);

alter table noted_pattern enable row level security;
alter table noted_pattern force row level security;
create policy own on noted_pattern
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
         and user_id = nullif(current_setting('app.user_id', true), '')::uuid);
grant select, insert, delete on noted_pattern to lukasa_serve;

-- The origin of patterns that were counted in observations.
do $$
declare t text;
begin
  foreach t in array array['fact_version', 'turn', 'episode'] loop
    execute format('alter table %I drop constraint %I', t, t || '_origin_check');
    execute format('alter table %I add constraint %I check (origin in (%L, %L, %L, %L, %L, %L, %L))', t,
      t || '_origin_check', 'user_said', 'user_turn', 'assistant', 'tool', 'observed', 'document', 'import');
  end loop;
end $$;

-- Removed observations have tombstones so that an import does not bring them back.
alter table tombstone drop constraint tombstone_kind_check;
alter table tombstone add constraint tombstone_kind_check check (kind in ('fact', 'turn', 'observation'));

-- An erasure is of a fact, a turn or an observation, or of everything about the user.
alter table erasure add column observation_id uuid;

-- Predictions are uses of a memory that an assistant states before it acts; the outcome is another use, which
-- names the prediction. A rating is a use by the user, one per memory.
alter table usage drop constraint usage_type_check;
alter table usage add constraint usage_type_check check (type in
  ('retrieved', 'applied', 'cited', 'conflicted', 'overridden', 'confirmed', 'contradicted', 'predicted',
   'rated_up', 'rated_down'));
alter table usage add column prediction_id uuid;
create unique index usage_outcome_once on usage (user_id, prediction_id) where prediction_id is not null;
create unique index usage_rated_once on usage (user_id, fact_id) where type in ('rated_up', 'rated_down');
