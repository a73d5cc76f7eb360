-- The passages of closed sessions, packed: one row for each session instead of one for each passage.
--
-- A passage of a turn takes a row with its keys, an entry in a covering index that repeats its terms, and for the
-- user's turns the same again for the vector. Nothing of that is needed once a session is closed: its passages are
-- read together or not at all. Upkeep moves them here, and a change of the session's turns moves them back first.

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
  terms          bytea[] not null,
  content_hashes bytea[] not null,
  numbers        integer[] not null,
  roles          text[] not null,
  said_at        timestamptz[] not null,
  recorded_at    timestamptz[] not null,
  -- Null for a passage that is found by its words alone.
  vectors        halfvec[] not null,
  primary key (user_id, session_id),
  constraint one_element_for_each_passage check (
    cardinality(source_ids) = passages and cardinality(parts) = passages and cardinality(languages) = passages
    and cardinality(words) = passages and cardinality(terms) = passages and cardinality(content_hashes) = passages
    and cardinality(numbers) = passages and cardinality(roles) = passages and cardinality(said_at) = passages
    and cardinality(recorded_at) = passages and cardinality(vectors) = passages)
);
-- What was packed since a revision, and all of a user in that order.
create index packed_session_to_read on packed_session (user_id, revision) include (tenant_id, passages);

-- Terms are hashes and vectors are numbers: trying to compress them costs time and saves nothing.
alter table packed_session alter column terms set storage external;
alter table packed_session alter column vectors set storage external;
alter table packed_session alter column content_hashes set storage external;

alter table packed_session enable row level security;
alter table packed_session force row level security;
create policy own on packed_session
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid)
         and user_id = nullif(current_setting('app.user_id', true), '')::uuid);
grant select, insert, delete on packed_session to lukasa_serve;

-- No samples of user content, and none of columns that are never searched.
do $$
declare c text;
begin
  foreach c in array array['session_id', 'source_ids', 'parts', 'languages', 'words', 'terms', 'content_hashes',
                           'numbers', 'roles', 'said_at', 'recorded_at', 'vectors'] loop
    execute format('alter table packed_session alter column %I set statistics 0', c);
  end loop;
end $$;
