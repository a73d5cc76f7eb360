-- Chapter 10. Erasures: that something was removed for good, when, and how much; never what.

-- One row per erasure. It outlives the user it is about, so it holds ids and numbers only. A receipt
-- is made from it whenever one is asked for.
create table erasure (
  user_id      uuid not null,
  tenant_id    uuid not null,
  erasure_id   uuid not null,
  -- The memory that was removed; null if everything about the user was.
  fact_id      uuid,
  verb         text not null check (verb in ('erase', 'purge')),
  -- The operation that removed a memory. What removes a user leaves no operation behind.
  operation_id uuid,
  erased_at    timestamptz not null,
  -- Rows removed, by table.
  removed      jsonb not null,
  -- Whether a backup had brought it back, so that it had to be removed again.
  replayed     boolean not null default false,
  -- When the files had been rewritten without it.
  scrubbed_at  timestamptz,
  primary key (user_id, erasure_id)
);
-- What the next scrub is for: the only question about erasures that is not about one user.
create index erasure_to_scrub on erasure (erased_at) where scrubbed_at is null;

alter table erasure enable row level security;
alter table erasure force row level security;
create policy own on erasure
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
         and user_id = nullif(current_setting('app.user_id', true), '')::uuid);
-- Whoever rewrites the files sees what they are rewritten for, and says so when it is done.
create policy scrub_sees on erasure for select using (current_setting('app.scrub', true) = 'on');
create policy scrub_marks on erasure for update using (current_setting('app.scrub', true) = 'on');
-- No grant to change a row or to remove one: an erasure stays on record.
grant select, insert on erasure to quipu_serve;

-- The key that receipts are signed with, made here once: 366 random bits from the system's own source,
-- hashed. Nothing but the signing of receipts says the setting that its policy asks for.
create table signing_key (
  only_one   boolean primary key default true check (only_one),
  seed       bytea not null check (length(seed) = 32),
  created_at timestamptz not null default now()
);
insert into signing_key (seed) values (sha256(convert_to(
  gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));
alter table signing_key enable row level security;
alter table signing_key force row level security;
create policy signing on signing_key for select using (current_setting('app.signing', true) = 'on');
grant select on signing_key to quipu_serve;

-- An erased user keeps a row so that they are refused rather than reborn, and the row is found by its
-- id, which is derived from the name. So the name itself can go, and comes back with whoever says it
-- again; and since when they are there is then counted from that day.
grant update (name, created_at) on users to quipu_serve;

-- Statistics hold samples of what columns hold, in a table that no erasure reaches. Nobody looks for
-- a memory by its whole words, so for those no samples are taken.
do $$
declare c record;
begin
  for c in select * from (values
    ('fact_version', array['content', 'summary', 'detail', 'value', 'tags', 'evidence', 'reasoning']),
    ('session',      array['title', 'summary']),
    ('turn',         array['content', 'speaker', 'spans']),
    ('passage',      array['terms']),
    ('embedding',    array['vector']),
    ('idempotency',  array['outcome']),
    ('baseline',     array['content', 'items']),
    ('retrieval',    array['dynamic', 'trace']),
    ('usage',        array['influence']),
    ('pass',         array['answer', 'outcome']),
    ('episode',      array['title', 'summary']),
    ('job',          array['last_error'])) as t (tab, cols)
  loop
    for i in 1 .. array_length(c.cols, 1) loop
      execute format('alter table %I alter column %I set statistics 0', c.tab, c.cols[i]);
      perform pg_clear_attribute_stats(current_schema(), c.tab, c.cols[i], false);
    end loop;
  end loop;
end $$;
