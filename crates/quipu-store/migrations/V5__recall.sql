-- Chapter 5. What recall reads: passages and their embeddings.
--
-- A passage is a stretch of a memory or of a turn, short enough to be about one thing. Its words are
-- kept as counted terms, its meaning as vectors, one for each embedding model. All of it is derived
-- from the record and can be made again from it; so it is removed with what it was made from.
--
-- A person's memory is small, so recall reads all of a user's passages and ranks them in the server,
-- exactly and with that user's own statistics. There is no shared inverted or approximate index:
-- under a user filter those lose what they should find, and row-level security keeps them from being
-- used at all. The server keeps what it has read; `revision` says what it has not read yet.

-- One row per user who has passages: bumped by every write that recall should see.
create table recall_state (
  user_id   uuid not null,
  tenant_id uuid not null,
  -- Grows with every change.
  revision  bigint not null,
  -- The revision at which a memory last changed; turns alone leave it as it was.
  facts     bigint not null,
  -- The revision at which something was last removed. Whoever read before it reads all again.
  removed   bigint not null,
  primary key (user_id)
);

create table passage (
  user_id      uuid not null,
  tenant_id    uuid not null,
  source_id    uuid not null,             -- the version or the turn it is a stretch of
  part         smallint not null,
  subject_id   uuid not null,             -- the fact, or again the turn
  kind         text not null check (kind in ('fact', 'turn')),
  revision     bigint not null,
  analyzer     smallint not null,         -- the edition of the rules that made the terms
  language     text not null,
  words        integer not null,
  terms        bytea not null,
  content_hash bytea not null,
  -- Where a turn stands in its session, so that recall needs no other table.
  session_id   text,
  number       integer,
  role         text,
  said_at      timestamptz,
  recorded_at  timestamptz,
  primary key (user_id, source_id, part)
);
-- All of a user's passages, or those since a revision, side by side however the heap has
-- interleaved them with others'. A passage is at most some two hundred words, so it fits.
create index passage_to_read on passage (user_id, revision)
  include (source_id, part, subject_id, kind, analyzer, language, words, terms,
           session_id, number, role, said_at, recorded_at);

create table embedding (
  user_id      uuid not null,
  tenant_id    uuid not null,
  model        text not null,
  source_id    uuid not null,
  part         smallint not null,
  revision     bigint not null,
  dimension    integer not null check (dimension > 0),
  content_hash bytea not null,
  vector       halfvec not null,
  primary key (user_id, model, source_id, part),
  constraint embedding_of_passage foreign key (user_id, source_id, part)
    references passage on delete cascade,
  constraint as_many_as_it_says check (vector_dims(vector) = dimension)
);
-- A row of an index holds at most 2,704 bytes, so only vectors up to this length ride in it.
create index embedding_to_read on embedding (user_id, model, revision)
  include (source_id, part, vector) where dimension <= 1024;
create index embedding_to_fetch on embedding (user_id, model, revision) where dimension > 1024;

-- The models that embeddings were made with. One of them is in use; switching is one row's change,
-- seen by every server at its next request, and can be taken back.
create table embedding_model (
  name        text primary key,
  dimension   integer not null check (dimension > 0),
  in_use      boolean not null default false,
  created_at  timestamptz not null,
  -- When every passage had been embedded with it, if that has happened.
  filled_at   timestamptz,
  switched_at timestamptz
);
create unique index one_model_in_use on embedding_model (in_use) where in_use;

do $$
declare t text;
begin
  foreach t in array array['recall_state', 'passage', 'embedding'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy own on %I
        using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
               and user_id = nullif(current_setting('app.user_id', true), '')::uuid)
    $policy$, t);
  end loop;
end $$;

-- Which model is in use says nothing about anybody.
alter table embedding_model enable row level security;
alter table embedding_model force row level security;
create policy everybody on embedding_model using (true);

-- Upkeep goes from user to user. It sees who there is and none of what is kept about them.
create policy upkeep on users for select using (current_setting('app.upkeep', true) = 'on');

grant select, insert, update (revision, facts, removed), delete on recall_state to quipu_serve;
grant select, insert, delete on passage to quipu_serve;
grant select, insert, delete on embedding to quipu_serve;
grant select, insert, update on embedding_model to quipu_serve;
