-- Recall and context: passages and their embeddings, and what was put into prompts.
--
-- A passage is a part of a fact or of a turn, short enough to be about one subject. It is stored as counted
-- terms for keyword search and as vectors, one for each embedding model. All of this is derived from facts
-- and turns and can be rebuilt from them; it is removed together with them.
--
-- The data of one user is small, so recall reads all passages of the user and ranks them in the server,
-- exactly and with that user's own term statistics. There is no shared inverted or approximate index: with
-- a filter on the user such an index misses results, and row-level security prevents its use. Servers cache
-- the passages they have read; `revision` identifies what changed since.

-- One row per user with passages, updated by every write that recall has to see.
create table recall_state (
  user_id   uuid not null,
  tenant_id uuid not null,
  -- Incremented by every change.
  revision  bigint not null,
  -- The revision at which a fact last changed; a change of turns alone does not affect it.
  facts     bigint not null,
  -- The revision at which a passage was last removed. A server that read before it reads everything again.
  removed   bigint not null,
  -- A random number for this row. Revisions start at one again when a user was erased and created again, so
  -- caches compare the epoch as well as the revision.
  epoch     bigint not null default (random() * 9007199254740991)::bigint,
  primary key (user_id)
);

create table passage (
  user_id      uuid not null,
  tenant_id    uuid not null,
  source_id    uuid not null,             -- the version or the turn it is a part of
  part         smallint not null,
  subject_id   uuid not null,             -- the fact, or again the turn
  kind         text not null check (kind in ('fact', 'turn')),
  revision     bigint not null,
  analyzer     smallint not null,         -- the version of the rules that made the terms
  language     text not null,
  words        integer not null,
  terms        bytea not null,
  content_hash bytea not null,
  -- Copied from the turn, so that recall reads no other table.
  session_id   text,
  number       integer,
  role         text,
  said_at      timestamptz,
  recorded_at  timestamptz,
  primary key (user_id, source_id, part)
);
-- All passages of a user, or those since a revision. It covers the columns that recall reads, so that they
-- are adjacent even though the heap interleaves the rows of many users. A passage has at most about two
-- hundred words, so an index row has room for it.
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
-- An index row holds at most 2,704 bytes, so only vectors up to this dimension are included.
create index embedding_to_read on embedding (user_id, model, revision)
  include (source_id, part, vector) where dimension <= 1024;
create index embedding_to_fetch on embedding (user_id, model, revision) where dimension > 1024;

-- The embedding models. One of them is in use; switching changes one row, takes effect on every server at
-- its next request, and can be reversed.
create table embedding_model (
  name        text primary key,
  dimension   integer not null check (dimension > 0),
  in_use      boolean not null default false,
  created_at  timestamptz not null,
  -- When all passages had been embedded with it; null before.
  filled_at   timestamptz,
  switched_at timestamptz
);
create unique index one_model_in_use on embedding_model (in_use) where in_use;

-- The part of a session's context that stays the same, byte for byte. It is rendered once and returned
-- until the session ends or a fact in it is withdrawn.
create table baseline (
  user_id     uuid not null,
  tenant_id   uuid not null,
  session_id  text not null,
  -- The parameters of the request: domains, budget and time. Each combination has its own baseline.
  wishes      text not null,
  etag        text not null,
  nonce       text not null,
  content     text not null,
  items       jsonb not null,
  facts       uuid[] not null,
  domains     text[] not null,
  rendered_at timestamptz not null,
  primary key (user_id, session_id, wishes)
);

-- One row per retrieval: what was put into the prompt and why. Kept for 90 days.
-- Calls of memory tools by the model are added to the trace of their retrieval: the query, the facts found
-- and the time taken. These entries hold no content of facts, so erasing a fact does not have to search
-- them; the queries are removed with the session.
create table retrieval (
  user_id      uuid not null,
  tenant_id    uuid not null,
  retrieval_id uuid not null,
  session_id   text,
  at           timestamptz not null,
  etag         text,
  dynamic      text not null,
  trace        jsonb not null,
  facts        uuid[] not null,
  primary key (user_id, retrieval_id)
);
create index retrieval_by_time on retrieval (user_id, at);

-- How a fact was used after it was in a prompt, as reported by the application.
create table usage (
  user_id      uuid not null,
  tenant_id    uuid not null,
  usage_id     uuid not null,
  fact_id      uuid not null,
  session_id   text,
  retrieval_id uuid,
  type         text not null check (type in
    ('retrieved', 'applied', 'cited', 'conflicted', 'overridden', 'confirmed', 'contradicted')),
  influence    text,
  at           timestamptz not null,
  turn_id      uuid,                      -- the turn that reported to have used the fact
  primary key (user_id, usage_id)
);
create index usage_by_time on usage (user_id, at);
create index usage_of_turn on usage (user_id, turn_id) where turn_id is not null;

do $$
declare t text;
begin
  foreach t in array array['recall_state', 'passage', 'embedding', 'baseline', 'retrieval', 'usage'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy own on %I
        using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
               and user_id = nullif(current_setting('app.user_id', true), '')::uuid)
    $policy$, t);
  end loop;
end $$;

-- The list of models holds no data of tenants or users.
alter table embedding_model enable row level security;
alter table embedding_model force row level security;
create policy everybody on embedding_model using (true);

grant select, insert, update (revision, facts, removed), delete on recall_state to lukasa_serve;
grant select, insert, delete on passage to lukasa_serve;
grant select, insert, delete on embedding to lukasa_serve;
grant select, insert, update on embedding_model to lukasa_serve;
grant select, insert, delete on baseline to lukasa_serve;
grant select, insert, update (trace, facts), delete on retrieval to lukasa_serve;
grant select, insert, delete on usage to lukasa_serve;
