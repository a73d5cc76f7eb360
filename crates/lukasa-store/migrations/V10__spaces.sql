-- Spaces: memories that several users of a tenant share.
--
-- A space is a row in `users` whose id no name of a user leads to, so its rows are under the same row-level
-- security as those of a user. Its name begins with chr(2), which no name of a user contains. The member who wrote an
-- operation of a space is in `operation`.

-- The grants of a space, one per member; user_id is the space. A request of a member reads the grant in the
-- transaction that it is for.
create table space_grant (
  user_id     uuid not null,
  tenant_id   uuid not null,
  member_id   uuid not null,              -- a user of the same tenant
  access      text not null check (access in ('read', 'write')),
  granted_by  text not null,              -- the credential
  granted_at  timestamptz not null,
  accepted_at timestamptz,                -- null until the member accepts; it allows nothing until then
  ended_at    timestamptz,                -- set when it was ended; a new grant has to be accepted again
  primary key (user_id, member_id),
  constraint space_is_no_member check (member_id <> user_id)
);

-- The spaces that have granted to a user, whether the grant is in force or not. It gives no right: it is for the
-- user's list, and for the erasure of the user, which removes the grants.
create table membership (
  user_id   uuid not null,
  tenant_id uuid not null,
  space_id  uuid not null,
  primary key (user_id, space_id)
);

do $$
declare t text;
begin
  foreach t in array array['space_grant', 'membership'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy own on %I
        using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
               and user_id = nullif(current_setting('app.user_id', true), '')::uuid)
    $policy$, t);
  end loop;
end $$;

grant select, insert, update (access, granted_by, granted_at, accepted_at, ended_at), delete
  on space_grant to lukasa_serve;
grant select, insert, delete on membership to lukasa_serve;
