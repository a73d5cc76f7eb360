-- Sessions: chats, their turns, and the response ids of chat services.
--
-- Turns are appended and never rewritten; only the user or a retention rule erases them. A session's id is
-- chosen by the client that opens it, so that an assistant can keep its own ids; it is only looked up within
-- one user.

-- A session is active while turns are added, idle after it was closed, and archived when the user put it
-- aside. Being in the trash is independent of that state. Sessions are updated often: room on a page is kept for
-- the next version of a row, so that no index changes.
create table session (
  user_id      uuid not null,
  tenant_id    uuid not null,
  session_id   text not null check (length(session_id) between 1 and 255),
  title        text,
  -- The work that the session belongs to; null if it belongs to the user everywhere. Set when the session is
  -- opened; the serving role cannot change it. Recall joins it to the passages of turns, which have no copy of it.
  project      text check (char_length(project) between 1 and 64),
  opened_at    timestamptz not null,
  -- The time of the last turn and the number of turns, so that listing sessions does not read turns.
  last_turn_at timestamptz not null,
  turns        integer not null default 0,
  state        text not null default 'active' check (state in ('active', 'idle', 'archived')),
  closed_at    timestamptz,
  trashed_at   timestamptz,
  -- The number of the last turn that was learned from. Only increases.
  extracted_through integer not null default 0,
  -- A summary of the turns up to summary_through. It replaces those turns in the next pass and in requests
  -- to a model whose context window is full.
  summary           text,
  summary_through   integer not null default 0,
  -- How much of the turns is kept after they were learned from.
  store             text not null default 'full' check (store in ('full', 'excerpts', 'none')),
  -- No content of the session is kept, and the row is removed when the session is closed.
  incognito         boolean not null default false,
  withdrawn_by      uuid,                 -- the operation that moved the session to the trash
  named_from        integer,              -- if a model made the title: the last turn it was made from
  primary key (user_id, session_id),
  constraint watermark_within check (extracted_through between 0 and turns),
  constraint summary_within check (summary_through between 0 and turns)
) with (fillfactor = 80);
create index session_by_time on session (user_id, last_turn_at, session_id);
-- For the removal of sessions that have been in the trash for thirty days.
create index session_in_trash on session (user_id, trashed_at) where trashed_at is not null;
-- The sessions that belong to a project, which are few. Recall reads them beside the passages, from this index
-- alone.
create index session_projects on session (user_id)
  include (tenant_id, session_id, project) where project is not null;

create table turn (
  user_id     uuid not null,
  tenant_id   uuid not null,
  turn_id     uuid not null,
  session_id  text not null,
  number      integer not null check (number > 0),
  role        text not null check (role in ('user', 'assistant', 'system', 'tool')),
  speaker     text,                       -- the speaker's name, in a chat with several
  content     text not null check (content <> ''),
  -- Set by the server from the role and the credential, never by the caller.
  origin      text not null
              check (origin in ('user_said', 'user_turn', 'assistant', 'tool', 'observed', 'document', 'import')),
  said_at     timestamptz not null,
  recorded_at timestamptz not null,
  -- Ranges of characters, half-open, that the sender did not write: prefilled by a link, pasted or quoted.
  -- They have the origin of a document. Null if the client did not report spans; an empty list if it
  -- reported that the whole turn was typed.
  spans        jsonb,
  withdrawn_by uuid,                      -- the operation that withdrew the turn; null while it is in use
  primary key (user_id, turn_id),
  constraint turn_of_session foreign key (user_id, session_id) references session
) with (autovacuum_vacuum_insert_scale_factor = 0.02);
create unique index turn_in_session on turn (user_id, session_id, number);

-- The session that a response of a chat service belongs to, by the service's response id. A client of the
-- Responses API sends only that id to continue a session, and the request may reach any server.
create table response (
  user_id     uuid not null,
  tenant_id   uuid not null,
  response_id text not null check (length(response_id) between 1 and 255),
  session_id  text not null check (length(session_id) between 1 and 255),
  recorded_at timestamptz not null,
  primary key (user_id, response_id)
);

alter table response enable row level security;
alter table response force row level security;
create policy own on response
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
         and user_id = nullif(current_setting('app.user_id', true), '')::uuid);
-- The tenant's setting is read once for a statement, as in the policy of fact_version.
do $$
declare t text;
begin
  foreach t in array array['session', 'turn'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy own on %I
        using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid)
               and user_id = nullif(current_setting('app.user_id', true), '')::uuid)
    $policy$, t);
  end loop;
end $$;

grant select, insert,
  update (title, last_turn_at, turns, state, closed_at, trashed_at, extracted_through, summary,
          summary_through, store, withdrawn_by, named_from),
  delete on session to lukasa_serve;
-- The content of a turn is never updated.
grant select, insert, update (withdrawn_by), delete on turn to lukasa_serve;
grant select, insert, delete on response to lukasa_serve;

alter table session
  alter column session_id set statistics 0,
  alter column title set statistics 0,
  alter column project set statistics 0,
  alter column summary set statistics 0;
alter table turn
  alter column session_id set statistics 0,
  alter column speaker set statistics 0,
  alter column content set statistics 0,
  alter column spans set statistics 0;
