-- Erasure: the record of erasures, the keys that sign receipts and exports, and the progress of journal and scrub.

-- One row per erasure: when something was removed and how much, never its content. The row outlives the user
-- it is about, so it holds only ids and numbers. Receipts are made from it on request.
-- Erasing a user is recorded first and then done in batches; the erasure is unfinished until the last batch.
create table erasure (
  user_id        uuid not null,
  tenant_id      uuid not null,
  erasure_id     uuid not null,
  -- The fact, the turn or the observation that was removed; all null if the whole user was.
  fact_id        uuid,
  turn_id        uuid,
  observation_id uuid,
  verb           text not null check (verb in ('erase', 'purge')),
  -- The operation that removed a fact. Null for the erasure of a user, which also removes the operations.
  operation_id   uuid,
  erased_at      timestamptz not null,
  -- The number of rows removed, by table.
  removed        jsonb not null,
  -- Whether it was repeated because a restored backup had brought the data back.
  replayed       boolean not null default false,
  -- When the database's files had been rewritten without the data.
  scrubbed_at    timestamptz,
  finished_at    timestamptz,
  -- Until when the process that removes the batches is assumed to be alive.
  leased_until   timestamptz,
  primary key (user_id, erasure_id),
  constraint finished_before_scrubbed check (scrubbed_at is null or finished_at is not null)
);
-- These three are for the erasures of all users: those for the next scrub, those to be finished, and all of
-- them by time for the comparison with the journal.
create index erasure_to_scrub on erasure (erased_at) where scrubbed_at is null;
create index erasure_unfinished on erasure (erased_at) where finished_at is null;
create index erasure_by_time on erasure (erased_at, erasure_id);

alter table erasure enable row level security;
alter table erasure force row level security;
create policy own on erasure
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
         and user_id = nullif(current_setting('app.user_id', true), '')::uuid);
-- A scrub reads the erasures it is done for, and marks them afterwards.
create policy scrub_sees on erasure for select using (current_setting('app.scrub', true) = 'on');
create policy scrub_marks on erasure for update using (current_setting('app.scrub', true) = 'on');
-- The serving role may update only unfinished erasures and cannot delete any, so the record is permanent.
create policy unfinished on erasure as restrictive for update to lukasa_serve
  using (finished_at is null) with check (true);
grant select, insert, update (removed, finished_at, leased_until) on erasure to lukasa_serve;

-- The seed of the key that signs receipts and exports, generated here once: a hash of 366 random bits from the
-- system's random source. Only the code that signs sets app.signing.
create table signing_key (
  only_one    boolean primary key default true check (only_one),
  seed        bytea not null check (length(seed) = 32),
  created_at  timestamptz not null default now(),
  -- The seed of the keys of digests, such as those of noted patterns. Digests are stored and cannot be computed
  -- again, so a rotation does not replace it.
  digest_seed bytea not null check (length(digest_seed) = 32)
    default sha256(convert_to(
      gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
);
insert into signing_key (seed) values (sha256(convert_to(
  gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));
alter table signing_key enable row level security;
alter table signing_key force row level security;
create policy signing on signing_key for select using (current_setting('app.signing', true) = 'on');
create policy rotation on signing_key for update using (current_setting('app.rotation', true) = 'on');
grant select on signing_key to lukasa_serve;

-- The earlier signing keys of the installation. What was signed or sealed with one is accepted until that time; an
-- expired row is removed by the next rotation. The owner of the tables replaces the key, so the serving role can
-- only read.
create table retired_signing_key (
  seed           bytea primary key check (length(seed) = 32),
  retired_at     timestamptz not null,
  accepted_until timestamptz not null
);
alter table retired_signing_key enable row level security;
alter table retired_signing_key force row level security;
create policy signing on retired_signing_key for select using (current_setting('app.signing', true) = 'on');
create policy rotation on retired_signing_key using (current_setting('app.rotation', true) = 'on');
grant select on retired_signing_key to lukasa_serve;

-- How far each erasure journal was compared with this database. The checkpoint is in the database so that a
-- restored backup brings back its own checkpoint, and the journal is read again from there.
create table journal_checkpoint (
  journal       text primary key,         -- the digest of the journal's first line
  bytes         bigint not null,          -- everything before this offset was compared
  line          text not null,            -- the digest of the line that ends there
  checked_until timestamptz not null      -- erasures of this database up to then are in the journal
);

-- The number of updated and deleted rows that PostgreSQL had counted for a table when a scrub last rewrote
-- it. A table whose count is unchanged needs no rewrite.
create table scrubbed_table (
  name        text primary key,
  changes     bigint not null,
  scrubbed_at timestamptz not null
);

do $$
declare t text;
begin
  foreach t in array array['journal_checkpoint', 'scrubbed_table'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy scrub on %I using (current_setting('app.scrub', true) = 'on')
    $policy$, t);
  end loop;
end $$;
-- A scrub runs as the owner, so scrubbed_table has no grants.
grant select, insert, update on journal_checkpoint to lukasa_serve;
