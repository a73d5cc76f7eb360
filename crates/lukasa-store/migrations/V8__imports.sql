-- Imports: sources that were imported, and which of their items must not be imported again.

-- One row per imported source, which may take several requests.
create table import (
  user_id    uuid not null,
  tenant_id  uuid not null,
  -- Derived from the user, the format and a digest of the source, so that an interrupted import continues.
  import_id  uuid not null,
  format     text not null,
  name       text not null,              -- the user's name for the source, such as a file name
  started_at timestamptz not null,
  last_at    timestamptz not null,
  operations uuid[] not null,            -- the operations that wrote it, in order; undone in reverse order
  counts     jsonb not null,
  undone_at  timestamptz,
  primary key (user_id, import_id)
);

-- Every item that was ever imported, by a digest of its id in the source. The row outlives the fact or
-- session it became, so that the next import of the source does not bring back what the user has removed.
-- It holds no content.
create table import_item (
  user_id    uuid not null,
  tenant_id  uuid not null,
  item_id    uuid not null,
  import_id  uuid not null,
  fact_id    uuid,                       -- the fact it became, or the equal one that existed already
  session_id text,                       -- the session it became
  primary key (user_id, item_id)
);
-- For undoing an import.
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

grant select, insert, update (last_at, operations, counts, undone_at), delete on import to lukasa_serve;
grant select, insert, delete on import_item to lukasa_serve;
