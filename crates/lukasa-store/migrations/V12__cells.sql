-- Cells: the databases that the users of one deployment are spread over.
--
-- The database of DATABASE_URL is the directory. It is also the first cell, called main, which holds everything
-- until users are moved. Every cell has this whole schema. The tables `cell` and `placement` are used in the
-- directory alone and are empty while there is one cell; `holding` is used in every cell.

-- The cells besides main.
create table cell (
  name     text primary key check (name ~ '^[a-z][a-z0-9_]{0,30}$' and name <> 'main'),
  url      text not null,                -- for the login role of the servers; may contain its password
  added_at timestamptz not null,
  -- Set when users are moved away from the cell: their rows are deleted, but still in its files. Until it is
  -- scrubbed, no erasure of any cell is marked as scrubbed. Of main: the row of `placement_state`.
  moved_from_at timestamptz
);

-- The map of user ids to cells. Without rows everything is in main.
create table placement (
  tenant_id  uuid,                       -- null for all tenants without ranges of their own
  first_user uuid not null,
  last_user  uuid not null,
  cell       text not null,
  moving_to  text,
  epoch      bigint not null,
  unique nulls not distinct (tenant_id, first_user)
);

create table placement_state (
  only_one      boolean primary key default true check (only_one),
  moved_from_at timestamptz              -- of main, as of the other cells
);
insert into placement_state default values;

-- What this cell holds; see `check_placement`.
create table holding (
  tenant_id  uuid,
  first_user uuid not null,
  last_user  uuid not null,
  state      text not null check (state in ('held', 'leaving', 'arriving', 'away')),
  epoch      bigint not null,
  unique nulls not distinct (tenant_id, first_user)
);
insert into holding (first_user, last_user, state, epoch)
  values ('00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'held', 0);

-- Refuses a transaction of a user who is in another cell. The opening of every transaction calls it, after the
-- user's lock in a write; so no row is written in the wrong cell, and none is missed in it. `via` is the epoch
-- of a move whose source has already refused the user, or 0.
create function check_placement(tenant uuid, person uuid, via bigint) returns void language plpgsql as $$
declare
  here text;
  since bigint;
begin
  select h.state, h.epoch into here, since from holding h
    where h.tenant_id = tenant and person between h.first_user and h.last_user;
  if not found then
    select h.state, h.epoch into here, since from holding h
      where h.tenant_id is null and person between h.first_user and h.last_user;
  end if;
  if here = 'held' or (here = 'arriving' and since = via) then
    return;
  end if;
  if here = 'leaving' and exists (select 1 from users u where u.user_id = person) then
    return;
  end if;
  raise exception 'the user is in another cell' using errcode = 'LC001';
end $$;

do $$
declare t text;
begin
  foreach t in array array['cell', 'placement', 'placement_state', 'holding'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy map on %I using (current_setting('app.cells', true) = 'on')
    $policy$, t);
    execute format('grant select on %I to lukasa_serve', t);
  end loop;
end $$;
-- Ranges of ids say nothing about a user.
create policy everyone_sees on holding for select using (true);
