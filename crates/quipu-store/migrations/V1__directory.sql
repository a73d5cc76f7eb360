-- Chapter 1. The directory: tenants, their users, their credentials.
--
-- Who may come in, and about whom they may ask. These tables are small beside the record and are
-- read before a user is known, so they are keyed by tenant; everything that is *about* a user lives
-- in the later chapters and is keyed by user_id.
--
-- Two roles. The one that runs migrations owns the tables. The one that serves requests,
-- quipu_serve, owns nothing and cannot bypass row-level security; a connection takes it on at
-- start-up and the server refuses to serve under any other.
--
-- Row-level security is FORCEd everywhere, so that even the owner sees nothing by accident. The
-- policies read settings that are local to a transaction:
--   app.tenant      the tenant
--   app.user_id     the user
--   app.directory   'on' for work on the tenant's own lists: users, credentials, domains
--   app.key_id      the one credential being looked up at the door
-- After a commit a setting reads '' rather than null, hence nullif(): unset always means no rows.

create extension if not exists btree_gist;
create extension if not exists vector;

-- Roles belong to the cluster, not to the database: another database's migration may have made it,
-- or may be making it at this moment.
do $$
begin
  create role quipu_serve nologin nosuperuser nobypassrls nocreatedb nocreaterole;
exception
  when duplicate_object or unique_violation then null;
end $$;

do $$
begin
  execute format('grant quipu_serve to %I', current_user);
exception
  -- A superuser needs no grant, and two migrations may race for the same one.
  when others then raise notice 'quipu_serve not granted to %: %', current_user, sqlerrm;
end $$;

grant usage on schema public to quipu_serve;

create table tenant (
  tenant_id  uuid primary key,          -- derived from the name
  name       text not null unique check (name <> ''),
  created_at timestamptz not null
);

-- Plural only because "user" is a reserved word.
create table users (
  user_id    uuid primary key,          -- derived from (tenant, name): a shard is found without a look-up
  tenant_id  uuid not null references tenant,
  name       text not null check (name <> ''),
  created_at timestamptz not null,
  -- A demo or trial user: from this moment on the user reads as deleted.
  expires_at timestamptz,
  -- Deleted users keep this row, and nothing else, so that they are refused rather than reborn.
  deleted_at timestamptz,
  unique (tenant_id, name)
);

create table credential (
  key_id       text primary key,
  tenant_id    uuid not null references tenant,
  user_id      uuid,                     -- bound to one user, or null for the whole tenant
  user_name    text,
  kind         text not null check (kind in ('key', 'token')),
  name         text not null,
  secret_hash  bytea not null,           -- SHA-256 of 256 random bits; nothing to guess, so no salt
  permissions  text[] not null,
  origin       text not null,            -- the most trusted origin its writes may carry
  minted_by    text,                     -- the key that minted a token
  created_at   timestamptz not null,
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz,
  -- A token stands for one person in a browser; a token for a whole tenant would be a leak.
  constraint token_is_bound check (kind = 'key' or (user_id is not null and expires_at is not null)),
  constraint user_is_named check ((user_id is null) = (user_name is null))
);
create index credential_by_tenant on credential (tenant_id, key_id);

alter table tenant enable row level security;
alter table tenant force row level security;
alter table users enable row level security;
alter table users force row level security;
alter table credential enable row level security;
alter table credential force row level security;

create policy own on tenant
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

create policy own on users
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
         and (user_id = nullif(current_setting('app.user_id', true), '')::uuid
              or current_setting('app.directory', true) = 'on'));

create policy own on credential
  using (key_id = nullif(current_setting('app.key_id', true), '')
         or (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
             and current_setting('app.directory', true) = 'on'));

grant select, insert on tenant to quipu_serve;
grant select, insert, update (expires_at, deleted_at) on users to quipu_serve;
grant select, insert, update (revoked_at, last_used_at), delete on credential to quipu_serve;
