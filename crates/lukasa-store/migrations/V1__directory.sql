-- Directory: the serving role, tenants, users and credentials.
--
-- These tables are read before a request's user is known, so they are keyed by tenant. Tables that hold
-- data about a user are in the later files and are keyed by user_id.
--
-- There are two roles. The role that runs migrations owns the tables. The role that serves requests,
-- lukasa_serve, owns nothing and cannot bypass row-level security. The server's connections switch to it
-- at start-up, and the server refuses to serve under a role that is not restricted in this way.
--
-- Row-level security is enabled and forced on every table of these files, so that it also applies to the owner.
-- The policies read settings that are local to a transaction:
--   app.tenant           the tenant
--   app.user_id          the user
--   app.directory        'on' for access to the tenant's users, credentials, domains and logs
--   app.key_id           the one credential that is being authenticated
--   app.upkeep           'on' while iterating over the users of all tenants
--   app.worker           'on' while reading or claiming the jobs of all users
--   app.scrub            'on' while processing the erasures of all users
--   app.sweep            'on' while removing expired credentials of all tenants
--   app.signing          'on' while reading the key that signs receipts and exports
--   app.rotation         'on' while the owner of the tables replaces that key
--   app.audit_retention  'on' while the owner of the tables removes old rows of the audit log
--   app.cells            'on' while reading or changing the map of users to cells
-- After a commit a setting reads '' instead of null, so the policies use nullif(): an unset setting
-- always matches no rows.
--
-- PostgreSQL's statistics contain samples of column values, and an erasure does not reach them. Columns with
-- user content are never searched by value, and names and identifiers that clients choose are only compared
-- among the rows of one user, so no samples of them are needed: their files set their statistics to 0.

create extension if not exists btree_gist;
create extension if not exists vector;

-- Roles belong to the cluster, not to the database. The migration of another database may already have
-- created this one, or may be creating it concurrently.
do $$
begin
  create role lukasa_serve nologin nosuperuser nobypassrls nocreatedb nocreaterole;
exception
  when duplicate_object or unique_violation then null;
end $$;

do $$
begin
  execute format('grant lukasa_serve to %I', current_user);
exception
  -- A superuser does not need the grant, and two concurrent migrations may conflict on it.
  when others then raise notice 'lukasa_serve not granted to %: %', current_user, sqlerrm;
end $$;

grant usage on schema public to lukasa_serve;

-- At start-up a server compares the applied migrations with those it was built with. refinery creates the
-- table before it runs the first migration.
grant select on refinery_schema_history to lukasa_serve;

create table tenant (
  tenant_id  uuid primary key,          -- derived from the name
  name       text not null unique check (name <> ''),
  created_at timestamptz not null
);

-- The plural is used because "user" is a reserved word. A space, which several users share, is a row too.
create table users (
  user_id    uuid primary key,          -- derived from (tenant, name), so a shard is found without a look-up
  tenant_id  uuid not null references tenant,
  name       text not null check (name <> ''),
  created_at timestamptz not null,
  -- Set for demo and trial users: from this time on the user is treated as deleted.
  expires_at timestamptz,
  -- The row of a deleted user is kept, so that requests for the user are refused instead of creating the
  -- user again. Apart from it only the record of erasures is kept.
  deleted_at timestamptz,
  -- Whether an upkeep job is queued for the user. A user without data that ages has none; the next
  -- write queues one.
  looked_after boolean not null default false,
  unique (tenant_id, name)
);

-- When a user is deleted the name is removed too: the row is still found by its id, which is derived from
-- the name. When a user of the same name is created again, the name is written back and created_at is set
-- again. The serving role may update both columns; this trigger limits when:
--   - the deletion of a user may replace the name by a placeholder made from the id;
--   - the row of a deleted user may be given a name and a creation time.
-- A user who is not deleted cannot be renamed.
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

-- The kinds of credentials:
--   key        for programs; for a whole tenant or one user, with or without an expiry
--   token      for a browser; made with a key
--   link       opens the console once: it is revoked by the statement that reads it
--   sign_in    held by a browser that is signed in to the console
-- and those of assistants that connect by URL with OAuth:
--   connector  the user's consent to one assistant; it authenticates nothing itself, and revoking it also
--              revokes the rest
--   code       an authorization code: works once, within a minute
--   access     a token for requests to /mcp; made from a connector
--   refresh    a token that is exchanged once for new tokens; made from a connector
-- Only hashes of the secrets are stored. Every kind but `key` is bound to one user and expires.
create table credential (
  key_id       text primary key,
  tenant_id    uuid not null references tenant,
  user_id      uuid,                     -- the one user it is bound to; null for the whole tenant
  user_name    text,
  kind         text not null
               check (kind in ('key', 'token', 'link', 'sign_in', 'connector', 'code', 'access', 'refresh')),
  name         text not null,
  secret_hash  bytea not null,           -- SHA-256 of 256 random bits, which cannot be guessed, so no salt
  permissions  text[] not null,
  origin       text not null,            -- the most trusted origin its writes may have
  minted_by    text,                     -- the credential that created this one
  created_at   timestamptz not null,
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz,
  page         text,                     -- the only web origin (https://host) a token may be used from; null for any
  -- The first credential of the chain of minted_by, usually a key. Revoking it also revokes everything
  -- created from it directly or indirectly, even if a credential in between expired and was removed.
  root         text,
  -- The key that a rotation put in the place of this one, which cannot be replaced again. Null for a
  -- credential that was not replaced.
  replaced_by  text check (length(replaced_by) <= 64),

  -- Of the OAuth kinds only; null for the others.
  client_id    text check (length(client_id) <= 4096),  -- the client; its id contains what it registered
  resource     text check (length(resource) <= 1024),   -- the address of the MCP endpoint: its audience (RFC 8707)
  -- Of a code only: where it was sent, and the PKCE challenge that its verifier has to meet.
  redirect_uri text check (length(redirect_uri) <= 1024),
  challenge    text check (length(challenge) = 43),

  -- A credential in a browser acts for one user; if it were for the tenant, a leak would expose all users.
  constraint token_is_bound check (kind = 'key' or (user_id is not null and expires_at is not null)),
  constraint user_is_named check ((user_id is null) = (user_name is null)),
  -- Names its client and its endpoint, was made with another credential, and may neither administer nor erase nor
  -- use the gateway.
  constraint oauth_is_bound check (
    kind not in ('connector', 'code', 'access', 'refresh')
    or (client_id is not null and resource is not null and minted_by is not null
        and not permissions && array['admin', 'erase', 'chat']
        and (kind = 'code') = (redirect_uri is not null and challenge is not null)))
);
create index credential_by_tenant on credential (tenant_id, key_id);
create index credential_by_maker on credential (tenant_id, minted_by) where minted_by is not null;
create index credential_by_root on credential (tenant_id, root) where root is not null;
-- Used by the sweep of expired credentials, which removes every kind but keys.
create index credential_by_end on credential (expires_at) where kind <> 'key';
-- The sign-ins of one user.
create index credential_by_user on credential (tenant_id, user_id) where user_id is not null;

-- A replaced key gets an earlier end. The serving role cannot give any credential a later one.
create function shorten_credential() returns trigger language plpgsql as $$
begin
  if current_user = 'lukasa_serve' and (new.expires_at is null or new.expires_at > old.expires_at) then
    raise exception 'a credential cannot be prolonged' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger shorten_credential before update of expires_at on credential
  for each row execute function shorten_credential();

alter table tenant enable row level security;
alter table tenant force row level security;
alter table users enable row level security;
alter table users force row level security;
alter table credential enable row level security;
alter table credential force row level security;

create policy own on tenant
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
-- The rotation of the signing key is recorded in the audit log of every tenant.
create policy rotation on tenant for select using (current_setting('app.rotation', true) = 'on');

create policy own on users
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
         and (user_id = nullif(current_setting('app.user_id', true), '')::uuid
              or current_setting('app.directory', true) = 'on'));
-- Upkeep iterates over the users of all tenants. This lets it read the list of users but no data of theirs.
create policy upkeep on users for select using (current_setting('app.upkeep', true) = 'on');

create policy own on credential
  using (key_id = nullif(current_setting('app.key_id', true), '')
         or (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
             and current_setting('app.directory', true) = 'on'));
-- The sweep crosses tenants. It can read and remove only credentials that expired at least a day ago.
create policy sweep_select on credential for select
  using (current_setting('app.sweep', true) = 'on'
         and kind <> 'key' and expires_at < now() - interval '1 day');
create policy sweep_delete on credential for delete
  using (current_setting('app.sweep', true) = 'on'
         and kind <> 'key' and expires_at < now() - interval '1 day');

grant select, insert on tenant to lukasa_serve;
grant select, insert, update (name, created_at, expires_at, deleted_at, looked_after) on users to lukasa_serve;
grant select, insert, update (expires_at, revoked_at, last_used_at, replaced_by), delete
  on credential to lukasa_serve;

alter table users alter column name set statistics 0;
alter table credential
  alter column name set statistics 0,
  alter column user_name set statistics 0,
  alter column client_id set statistics 0,
  alter column resource set statistics 0,
  alter column redirect_uri set statistics 0,
  alter column challenge set statistics 0;
