-- Imports and observations: data that comes from other programs.

-- One row per imported source, which may take several requests.
create table import (
  user_id    uuid not null,
  tenant_id  uuid not null,
  -- Derived from the user, the format and a digest of the source, so that an interrupted import continues.
  import_id  uuid not null,
  format     text not null,
  name       text not null,              -- the user's name for the source, such as a file name
  started_at timestamptz not null,
  last_at    timestamptz not null,
  operations uuid[] not null,            -- the operations that wrote it, in order; undone in reverse order
  counts     jsonb not null,
  undone_at  timestamptz,
  -- The kind of the caller and its credential: undo of an import needs the same rights as undo of an operation, and
  -- chats and observations are imported without an operation. Both are null for an import that several callers
  -- continued who are not all the user, and for one into a space, whose members are recorded only with its
  -- operations. Only the user undoes such an import.
  caller     text,
  credential text,
  primary key (user_id, import_id)
);

-- Every item that was ever imported, by a digest of its id in the source. The row outlives the fact or
-- session it became, so that the next import of the source does not bring back what the user has removed.
-- It holds no content.
create table import_item (
  user_id    uuid not null,
  tenant_id  uuid not null,
  item_id    uuid not null,
  import_id  uuid not null,
  fact_id    uuid,                       -- the fact it became, or the equal one that existed already
  session_id text,                       -- the session it became
  primary key (user_id, item_id)
);
-- For undoing an import.
create index import_item_of on import_item (user_id, import_id);

-- A raw event that another application or an agent records. Observations are appended and never rewritten; only the
-- user or a retention rule removes them.
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
  import_id      uuid,                    -- the import it came with, whose undo moves it to the trash
  -- Whether that import was undone. While the observation is in the trash, importing the same source again replaces
  -- it; other observations in the trash stay there.
  import_undone  boolean not null default false,
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

-- The patterns that were noted once, so that a pattern which the user declined, deleted or erased is not proposed
-- again. A row is an HMAC of source, kind, value and project, with a key that is derived from the installation's key
-- and the user: a plain hash could be guessed by a reader who knows the user's id.
create table noted_pattern (
  user_id     uuid not null,
  tenant_id   uuid not null,
  pattern     bytea not null check (octet_length(pattern) = 32),
  -- Set if admission rejected the pattern: when it did so last. Such patterns are looked at again, after all new
  -- ones. Null if the pattern was noted.
  rejected_at timestamptz,
  primary key (user_id, pattern)
);

do $$
declare t text;
begin
  foreach t in array array['import', 'import_item', 'observation', 'noted_pattern'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy own on %I
        using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
               and user_id = nullif(current_setting('app.user_id', true), '')::uuid)
    $policy$, t);
  end loop;
end $$;

grant select, insert, update (last_at, operations, counts, undone_at, caller, credential), delete
  on import to lukasa_serve;
grant select, insert, delete on import_item to lukasa_serve;
-- The content of an observation is never updated.
grant select, insert, update (withdrawn_by, import_undone), delete on observation to lukasa_serve;
grant select, insert, update (rejected_at), delete on noted_pattern to lukasa_serve;

alter table import alter column name set statistics 0;
alter table import_item alter column session_id set statistics 0;
alter table observation
  alter column source set statistics 0,
  alter column kind set statistics 0,
  alter column payload set statistics 0,
  alter column value set statistics 0,
  alter column session_id set statistics 0,
  alter column project set statistics 0;
