-- Chapter 4. Sessions and their turns: what was said, as it was said.
--
-- The ground layer. Turns are appended and never rewritten; only their user or a retention rule
-- erases them. A session is named by whoever opens it, so that an assistant can go on with its own
-- names; the name is only ever looked up under one user.

create table session (
  user_id      uuid not null,
  tenant_id    uuid not null,
  session_id   text not null check (length(session_id) between 1 and 255),
  title        text,
  opened_at    timestamptz not null,
  -- When its last turn was said, and how many there are: the list is read without the turns.
  last_turn_at timestamptz not null,
  turns        integer not null default 0,
  primary key (user_id, session_id)
);
create index session_by_time on session (user_id, last_turn_at, session_id);

create table turn (
  user_id     uuid not null,
  tenant_id   uuid not null,
  turn_id     uuid not null,
  session_id  text not null,
  number      integer not null check (number > 0),
  role        text not null check (role in ('user', 'assistant', 'system', 'tool')),
  speaker     text,                       -- the name of whoever said it, where there are several
  content     text not null check (content <> ''),
  -- Set by the server from the role and the credential, never by the caller.
  origin      text not null check (origin in ('user_said', 'user_turn', 'assistant', 'tool', 'document', 'import')),
  said_at     timestamptz not null,
  recorded_at timestamptz not null,
  primary key (user_id, turn_id),
  constraint turn_of_session foreign key (user_id, session_id) references session
);
create unique index turn_in_session on turn (user_id, session_id, number);

do $$
declare t text;
begin
  foreach t in array array['session', 'turn'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy own on %I
        using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
               and user_id = nullif(current_setting('app.user_id', true), '')::uuid)
    $policy$, t);
  end loop;
end $$;

grant select, insert, update (title, last_turn_at, turns), delete on session to quipu_serve;
-- A turn is never updated: there is no grant to do it with.
grant select, insert, delete on turn to quipu_serve;
