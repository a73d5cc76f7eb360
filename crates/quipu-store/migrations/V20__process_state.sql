-- Chapter 20. State that servers share instead of keeping it in their own memory.

-- A number drawn when a user's row is made. What a server has cached under revisions of one row must
-- not be taken for current when the user was erased and came back: their revisions start again at one.
alter table recall_state add column epoch bigint not null
  default (random() * 9007199254740991)::bigint;

-- Which session an answer of a chat service belongs to, by the id the service gave it: a client of the
-- Responses API names only that id when it goes on, and any server must find the session.
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

grant select, insert, delete on response to quipu_serve;
