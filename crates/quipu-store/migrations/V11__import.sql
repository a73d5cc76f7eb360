-- Chapter 11. Imports: what was taken in from elsewhere, and what of it must not come in twice.

-- One row per source that was taken in, in however many requests.
create table import (
  user_id    uuid not null,
  tenant_id  uuid not null,
  -- Derived from the user, the format and a digest of the source: one that broke off goes on under it.
  import_id  uuid not null,
  format     text not null,
  name       text not null,              -- what its person calls the source, such as a file's name
  started_at timestamptz not null,
  last_at    timestamptz not null,
  operations uuid[] not null,            -- what it wrote, in order; undone in the other one
  counts     jsonb not null,
  undone_at  timestamptz,
  primary key (user_id, import_id)
);

-- Everything that ever came in, by a digest of what its source calls it. The row outlives what it stands
-- for, so that what a person has put away since does not come back with the next run; it holds none of
-- the words.
create table import_item (
  user_id    uuid not null,
  tenant_id  uuid not null,
  item_id    uuid not null,
  import_id  uuid not null,
  fact_id    uuid,                       -- the memory it became, or that said the same already
  session_id text,                       -- the chat it became
  primary key (user_id, item_id)
);
-- Taking an import back.
create index import_item_of on import_item (user_id, import_id);

do $$
declare t text;
begin
  foreach t in array array['import', 'import_item'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy own on %I
        using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
               and user_id = nullif(current_setting('app.user_id', true), '')::uuid)
    $policy$, t);
  end loop;
end $$;

grant select, insert, update (last_at, operations, counts, undone_at), delete on import to quipu_serve;
grant select, insert, delete on import_item to quipu_serve;
