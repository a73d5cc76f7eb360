-- Chapter 3. The record: operations, facts and their versions, links, tombstones.
--
-- Every key and index leads with user_id, and no constraint reaches across users, so the same
-- schema runs on one node or distributed by user_id. There is no sequence: ids are UUIDv7, drawn
-- by the server.

-- One row per write, whoever made it. `recorded_at` strictly increases within one user, so an
-- operation is exactly one instant of that user's known axis: the versions it opened have
-- known_from = recorded_at, the versions it closed have known_until = recorded_at.
create table operation (
  user_id      uuid not null,
  tenant_id    uuid not null,
  operation_id uuid not null,
  recorded_at  timestamptz not null,
  verb         text not null,
  caller       text not null check (caller in ('human', 'key', 'job')),
  credential   text not null,
  origin       text not null,
  extracted    boolean not null,
  facts        uuid[] not null,
  undoes       uuid,
  primary key (user_id, operation_id)
);
-- The log, newest first, and the question "when did this user last write?" before each write.
create unique index operation_by_time on operation (user_id, recorded_at);
-- "Has this been undone?"
create index operation_undoing on operation (user_id, undoes) where undoes is not null;

-- The identity of a memory: what links hang on and what never changes.
create table fact (
  user_id   uuid not null,
  tenant_id uuid not null,
  fact_id   uuid not null,
  primary key (user_id, fact_id)
);

create table fact_version (
  user_id     uuid not null,
  tenant_id   uuid not null,
  fact_id     uuid not null,
  version_id  uuid not null,
  number      integer not null check (number > 0),

  -- The claim: what a person can read and edit.
  content     text not null check (content <> ''),
  summary     text,
  detail      text,                      -- found by recall, never put into a prompt
  category    text not null,
  type        text not null,
  kind        text not null,
  force       text not null check (force in ('hard', 'soft')),
  domain      text,
  key         text,
  value       jsonb,
  tags        text[] not null,
  importance  real not null check (importance between 0 and 1),
  evidence    jsonb not null,
  reasoning   text,

  -- Its standing and where it came from.
  state       text not null check (state in ('active', 'proposed', 'candidate', 'forgotten', 'trashed')),
  tier        text not null check (tier in ('strong', 'tentative', 'candidate')),
  origin      text not null check (origin in ('user_said', 'user_turn', 'assistant', 'tool', 'document', 'import')),
  extracted   boolean not null,
  confidence  real check (confidence between 0 and 1),
  session     text,
  turns       text[] not null,
  confirmed_at      timestamptz,
  last_confirmed_at timestamptz,
  consented_at      timestamptz,         -- a human said yes to exactly these words

  -- The two axes, half-open and in UTC. A null end means "still so".
  valid_from  timestamptz not null,
  valid_until timestamptz,
  known_from  timestamptz not null,
  known_until timestamptz,
  opened_by   uuid not null,
  closed_by   uuid,
  -- The version this one holds again after an undo or a restore. An operation whose versions were
  -- closed and came back like this still stands, and can itself be undone.
  reopens     uuid,

  -- Equal for two saves that say the same; computed by the rules, not here.
  fingerprint uuid not null,
  -- The place a version takes up in time. A hard memory takes the place of its (domain, key), any
  -- other the place of its own fact. One 16-byte column keeps the temporal index small and out of
  -- the planner's way; over the raw columns it doubled the cost of a write.
  slot        uuid not null generated always as (
                case when force = 'hard'
                     then md5(domain || chr(31) || key)::uuid
                     else fact_id end) stored,

  primary key (user_id, fact_id, version_id),
  constraint version_of_fact foreign key (user_id, fact_id) references fact,
  constraint opened_by_operation foreign key (user_id, opened_by) references operation,
  constraint hard_has_key check (force = 'soft' or (domain is not null and key is not null)),
  -- What was stated outranks any number and carries none; what was extracted always carries one.
  constraint confidence_when_extracted check (extracted or confidence is null),
  constraint valid_not_empty check (valid_until > valid_from),
  constraint known_not_empty check (known_until > known_from),
  constraint closed_by_someone check ((known_until is null) = (closed_by is null)),
  -- One truth at a time: no two active versions share a place while both are valid and known.
  constraint one_truth exclude using gist (
    user_id with =,
    slot with =,
    tstzrange(valid_from, valid_until) with &&,
    tstzrange(known_from, known_until) with &&
  ) where (state = 'active')
);

-- What is known now, by standing, in the order of listing. A user's live memories are neighbours in
-- it however the heap has interleaved them with others'.
create index fact_version_now on fact_version (user_id, state, fact_id, version_id) where known_until is null;
-- "Is this said already?", asked by every save.
create index fact_version_same on fact_version (user_id, fingerprint) where known_until is null and state = 'active';

-- user_id decides tenant_id; without being told, the planner multiplies the two selectivities and
-- expects one row where there are two hundred.
create statistics fact_version_owner (dependencies) on user_id, tenant_id from fact_version;

-- Links hang on facts, which never change their ids, so they follow a fact through every change in
-- the same transaction. Readers join them to live versions, so links to what is gone drop out.
create table link (
  user_id     uuid not null,
  tenant_id   uuid not null,
  link_id     uuid not null,
  from_fact   uuid not null,
  to_fact     uuid not null,
  relation    text not null check (relation <> ''),
  known_from  timestamptz not null,
  known_until timestamptz,
  opened_by   uuid not null,
  closed_by   uuid,
  reopens     uuid,                       -- the link this one holds again
  primary key (user_id, link_id),
  constraint link_from foreign key (user_id, from_fact) references fact,
  constraint link_to foreign key (user_id, to_fact) references fact,
  constraint link_opened_by foreign key (user_id, opened_by) references operation,
  constraint link_not_to_itself check (from_fact <> to_fact),
  constraint link_known_not_empty check (known_until > known_from),
  constraint link_closed_by_someone check ((known_until is null) = (closed_by is null))
);
-- Links are read from both ends; the first also says that a relation is held once.
create unique index link_once on link (user_id, from_fact, to_fact, relation) where known_until is null;
create index link_back on link (user_id, to_fact) where known_until is null;

-- What was erased: that it was, when and how much of it, and none of what it said.
create table tombstone (
  user_id      uuid not null,
  tenant_id    uuid not null,
  fact_id      uuid not null,
  operation_id uuid not null,
  erased_at    timestamptz not null,
  verb         text not null check (verb in ('purge', 'erase')),
  versions     integer not null,
  links        integer not null,
  evidence     integer not null,
  primary key (user_id, fact_id)
);

-- The answer to a write, kept in the write's own transaction, so that a retry gets the same answer
-- and the write happens once. Erasing a fact empties the bodies that quote it but keeps the row, so
-- that a late retry cannot bring the words back.
create table idempotency (
  user_id      uuid not null,
  tenant_id    uuid not null,
  key          text not null check (length(key) between 1 and 255),
  request_hash bytea not null,
  outcome      jsonb,
  facts        uuid[] not null,
  created_at   timestamptz not null,
  primary key (user_id, key)
);

-- A version is closed once, and by someone who may. The columns that may be updated at all are
-- granted below; this says when. An operation that extracts may not close what is firm: together
-- with one_truth, which leaves no room beside an open version, nothing extracted can ever replace
-- what a person said, whatever the code above does.
create function close_version() returns trigger language plpgsql as $$
begin
  if old.known_until is not null then
    raise exception 'version % is closed already', old.version_id
      using errcode = 'check_violation', constraint = 'closed_once';
  end if;
  if (not old.extracted or old.consented_at is not null)
     and (select extracted from operation
           where user_id = new.user_id and operation_id = new.closed_by) is not false then
    raise exception 'what was extracted cannot replace what was said'
      using errcode = 'check_violation', constraint = 'said_over_extracted';
  end if;
  return new;
end $$;

create trigger close_version before update on fact_version
  for each row execute function close_version();

do $$
declare t text;
begin
  foreach t in array array['operation', 'fact', 'fact_version', 'link', 'tombstone', 'idempotency'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy own on %I
        using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
               and user_id = nullif(current_setting('app.user_id', true), '')::uuid)
    $policy$, t);
  end loop;
end $$;

-- Nothing is updated in place: the serving role may set the end of what was known and nothing else.
grant select, insert, delete on operation to quipu_serve;
grant select, insert, delete on fact to quipu_serve;
grant select, insert, update (known_until, closed_by), delete on fact_version to quipu_serve;
grant select, insert, update (known_until, closed_by), delete on link to quipu_serve;
grant select, insert, delete on tombstone to quipu_serve;
grant select, insert, update (outcome), delete on idempotency to quipu_serve;
