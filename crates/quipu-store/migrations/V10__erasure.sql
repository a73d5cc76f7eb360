-- Chapter 10. Erasures: that something was removed for good, when, and how much; never what.

-- One row per erasure. It outlives the user it is about, so it holds ids and numbers only. A receipt
-- is made from it whenever one is asked for.
create table erasure (
  user_id      uuid not null,
  tenant_id    uuid not null,
  erasure_id   uuid not null,
  -- The memory or the turn that was removed; both null if everything about the user was.
  fact_id      uuid,
  turn_id      uuid,
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

-- The grant says which columns; this says when. Nobody who is there is renamed: a name goes with its
-- user, to nothing that anybody could be called, and comes with whoever is created in its place.
create function rename_user() returns trigger language plpgsql as $$
begin
  if new.name = old.name and new.created_at = old.created_at then
    return new;
  end if;
  if old.deleted_at is null and (new.deleted_at is null or new.created_at <> old.created_at
                                 or new.name <> chr(1) || new.user_id::text) then
    raise exception 'a user keeps their name for as long as they are there'
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger rename_user before update of name, created_at on users
  for each row execute function rename_user();

-- Statistics hold samples of what columns hold, in a table that no erasure reaches. Nobody looks for
-- a memory by its whole words, and what callers name themselves is only ever looked up under one user,
-- so for those no samples are taken.
do $$
declare c record;
begin
  for c in select * from (values
    ('users',        array['name']),
    ('credential',   array['name', 'user_name']),
    ('fact_version', array['content', 'summary', 'detail', 'key', 'value', 'tags', 'evidence',
                           'reasoning', 'session', 'turns']),
    ('session',      array['session_id', 'title', 'summary']),
    ('turn',         array['session_id', 'content', 'speaker', 'spans']),
    ('passage',      array['session_id', 'terms']),
    ('embedding',    array['vector']),
    ('idempotency',  array['key', 'outcome']),
    ('baseline',     array['session_id', 'wishes', 'content', 'items']),
    ('retrieval',    array['session_id', 'dynamic', 'trace']),
    ('usage',        array['session_id', 'influence']),
    ('pass',         array['session_id', 'answer', 'outcome']),
    ('episode',      array['session_id', 'title', 'summary']),
    ('user_policy',  array['body']),
    ('job',          array['key', 'last_error'])) as t (tab, cols)
  loop
    for i in 1 .. array_length(c.cols, 1) loop
      execute format('alter table %I alter column %I set statistics 0', c.tab, c.cols[i]);
      perform pg_clear_attribute_stats(current_schema(), c.tab, c.cols[i], false);
    end loop;
  end loop;
end $$;
