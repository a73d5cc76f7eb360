-- Recall and context: passages and their embeddings, and what was put into prompts.
--
-- A passage is a part of a fact, of a turn or of an episode, short enough to be about one subject. It is stored as
-- counted terms for keyword search and as vectors, one for each embedding model; turns that are not the user's have
-- no vectors. All of this is derived and can be rebuilt; it is removed together with its source.
--
-- The data of one user is small, so recall reads all passages of the user and ranks them in the server,
-- exactly and with that user's own term statistics. There is no shared inverted or approximate index: with
-- a filter on the user such an index misses results, and row-level security prevents its use. Servers cache
-- the passages they have read; `revision` identifies what changed since.
--
-- The indexes named `..._to_read` cover the columns that recall reads, so that they are adjacent even though the
-- heap interleaves the rows of many users. They include tenant_id, which row-level security compares: without it
-- every row would be read from the heap.

-- One row per user with passages, updated by every write that recall has to see; room on its page is kept for its
-- next version.
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
) with (fillfactor = 70);

create table passage (
  user_id      uuid not null,
  tenant_id    uuid not null,
  source_id    uuid not null,             -- the version, the turn or the episode it is a part of
  part         smallint not null,
  subject_id   uuid not null,             -- the fact, or again the turn or the episode
  kind         text not null check (kind in ('fact', 'turn', 'episode')),
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
) with (autovacuum_vacuum_insert_scale_factor = 0.02);
-- All passages of a user, or those since a revision. A passage has at most about two hundred words, so an index row
-- has room for it.
create index passage_to_read on passage (user_id, revision)
  include (tenant_id, source_id, part, subject_id, kind, language, words, terms,
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
) with (autovacuum_vacuum_insert_scale_factor = 0.02);
-- An index row holds at most 2,704 bytes, so only vectors up to this dimension are included.
create index embedding_to_read on embedding (user_id, model, revision)
  include (tenant_id, source_id, part, vector) where dimension <= 1024;
create index embedding_to_fetch on embedding (user_id, model, revision) where dimension > 1024;

-- The passages of a closed session, packed: one row for the session instead of one for each passage.
-- A passage of a turn takes a row with its keys, an entry in a covering index that repeats its terms, and for the
-- user's turns the same again for the vector. Nothing of that is needed once a session is closed: its passages are
-- read together or not at all. Upkeep moves them here, and a change of the session's turns moves them back first.
-- Terms and content_hashes are hashes and vectors are numbers: trying to compress them costs time and saves
-- nothing, so their storage is external.
create table packed_session (
  user_id        uuid not null,
  tenant_id      uuid not null,
  session_id     text not null,
  -- The latest revision of its passages, so that a server reads it if it has not read all of them.
  revision       bigint not null,
  analyzer       smallint not null,
  -- The model of the vectors; null if nothing was embedded.
  model          text,
  passages       integer not null check (passages > 0),
  -- One element for each passage, as in `passage`, in the order of the turns.
  source_ids     uuid[] not null,
  parts          smallint[] not null,
  languages      text[] not null,
  words          integer[] not null,
  terms          bytea[] storage external not null,
  content_hashes bytea[] storage external not null,
  numbers        integer[] not null,
  roles          text[] not null,
  said_at        timestamptz[] not null,
  recorded_at    timestamptz[] not null,
  -- Null for a passage that is found by its words alone.
  vectors        halfvec[] storage external not null,
  primary key (user_id, session_id),
  constraint one_element_for_each_passage check (
    cardinality(source_ids) = passages and cardinality(parts) = passages and cardinality(languages) = passages
    and cardinality(words) = passages and cardinality(terms) = passages and cardinality(content_hashes) = passages
    and cardinality(numbers) = passages and cardinality(roles) = passages and cardinality(said_at) = passages
    and cardinality(recorded_at) = passages and cardinality(vectors) = passages)
);
-- What was packed since a revision, and all of a user in that order.
create index packed_session_to_read on packed_session (user_id, revision) include (tenant_id, passages);

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
  -- The project whose memories the baseline may quote. A session can get a baseline before it is opened, and
  -- with it its project; a baseline of another project is not used.
  project     text check (char_length(project) between 1 and 64),
  primary key (user_id, session_id, wishes)
);

-- The baselines that were put into prompts, once for each: a baseline is the same bytes for a whole session, and
-- would be nine tenths of the log of retrievals. Identifiers only, no content. Removed with the retrievals that refer
-- to it, and when one of its facts is erased.
create table given_baseline (
  user_id   uuid not null,
  tenant_id uuid not null,
  etag      text not null,
  at        timestamptz not null,
  items     jsonb not null,
  facts     uuid[] not null,
  primary key (user_id, etag)
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
) with (autovacuum_vacuum_insert_scale_factor = 0.02);
create index retrieval_by_time on retrieval (user_id, at);

-- How a fact was used after it was in a prompt, as reported by the application. Also predictions, which an assistant
-- states before it acts, with their outcomes, and ratings by the user.
create table usage (
  user_id       uuid not null,
  tenant_id     uuid not null,
  usage_id      uuid not null,
  fact_id       uuid not null,
  session_id    text,
  retrieval_id  uuid,
  type          text not null check (type in
    ('retrieved', 'applied', 'cited', 'conflicted', 'overridden', 'confirmed', 'contradicted', 'predicted',
     'rated_up', 'rated_down')),
  influence     text,
  at            timestamptz not null,
  turn_id       uuid,                     -- the turn that reported to have used the fact
  prediction_id uuid,                     -- of an outcome: the usage that is its prediction
  -- Whether the user reported the use, or said it in a turn. Only such outcomes count in full: others could be made
  -- up to move the user's thresholds.
  by_user       boolean not null default false,
  primary key (user_id, usage_id)
) with (autovacuum_vacuum_insert_scale_factor = 0.02);
create index usage_by_time on usage (user_id, at);
create index usage_of_turn on usage (user_id, turn_id) where turn_id is not null;
-- A prediction has one outcome, and a fact one rating.
create unique index usage_outcome_once on usage (user_id, prediction_id) where prediction_id is not null;
create unique index usage_rated_once on usage (user_id, fact_id) where type in ('rated_up', 'rated_down');

do $$
declare t text;
begin
  foreach t in array array['recall_state', 'baseline', 'given_baseline', 'retrieval', 'usage'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy own on %I
        using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
               and user_id = nullif(current_setting('app.user_id', true), '')::uuid)
    $policy$, t);
  end loop;
  -- The tenant's setting is read once for a statement, as in the policy of fact_version.
  foreach t in array array['passage', 'embedding', 'packed_session'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy own on %I
        using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid)
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
grant select, insert, delete on packed_session to lukasa_serve;
grant select, insert, update on embedding_model to lukasa_serve;
grant select, insert, delete on baseline to lukasa_serve;
grant select, insert, delete on given_baseline to lukasa_serve;
grant select, insert, update (trace, facts), delete on retrieval to lukasa_serve;
grant select, insert, delete on usage to lukasa_serve;

alter table passage
  alter column session_id set statistics 0,
  alter column terms set statistics 0;
alter table embedding alter column vector set statistics 0;
alter table packed_session
  alter column session_id set statistics 0,
  alter column source_ids set statistics 0,
  alter column parts set statistics 0,
  alter column languages set statistics 0,
  alter column words set statistics 0,
  alter column terms set statistics 0,
  alter column content_hashes set statistics 0,
  alter column numbers set statistics 0,
  alter column roles set statistics 0,
  alter column said_at set statistics 0,
  alter column recorded_at set statistics 0,
  alter column vectors set statistics 0;
alter table baseline
  alter column session_id set statistics 0,
  alter column wishes set statistics 0,
  alter column content set statistics 0,
  alter column items set statistics 0,
  alter column project set statistics 0;
alter table given_baseline alter column items set statistics 0;
alter table retrieval
  alter column session_id set statistics 0,
  alter column dynamic set statistics 0,
  alter column trace set statistics 0;
alter table usage
  alter column session_id set statistics 0,
  alter column influence set statistics 0;
