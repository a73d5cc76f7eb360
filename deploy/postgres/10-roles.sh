#!/usr/bin/env bash
# Creates the roles of a Quipu database. The PostgreSQL image runs it once, as the superuser, when the
# volume is empty; run against a database that has the roles, it changes only their passwords.
#
#   quipu_owner   login; owns the database and its tables; runs `quipu migrate` and `quipu scrub`
#   quipu_login   login of the server; may do nothing but take on quipu_serve
#   quipu_serve   no login; serves requests, held by row-level security
#
# Afterwards the superuser has no password, so it can log in through the container's socket only.
#
# settings, by environment: POSTGRES_USER, POSTGRES_DB, QUIPU_OWNER_PASSWORD, QUIPU_DATABASE_PASSWORD
set -euo pipefail

: "${QUIPU_OWNER_PASSWORD:?}" "${QUIPU_DATABASE_PASSWORD:?}"
psql -X --quiet --set ON_ERROR_STOP=1 --no-password --username "${POSTGRES_USER:?}" --dbname "${POSTGRES_DB:?}" <<'SQL'
\getenv owner_password QUIPU_OWNER_PASSWORD
\getenv login_password QUIPU_DATABASE_PASSWORD
select current_user as superuser, current_database() as database \gset

begin;
-- Without this, pgaudit or log_statement could write the passwords below into the log.
set local log_statement = 'none';
set local log_min_error_statement = 'panic';
set local client_min_messages = 'warning';

select format('create role %I nologin', name)
  from unnest(array['quipu_serve', 'quipu_owner', 'quipu_login']) name
 where not exists (select from pg_roles where rolname = name) \gexec
alter role quipu_serve nologin nosuperuser nobypassrls nocreatedb nocreaterole noreplication;
-- The first migration creates quipu_serve or finds it there, for which PostgreSQL wants createrole. It
-- gives no power over roles that quipu_owner has not created.
alter role quipu_owner login nosuperuser nobypassrls nocreatedb createrole noreplication
  password :'owner_password';
alter role quipu_login login nosuperuser nobypassrls nocreatedb nocreaterole noreplication
  password :'login_password';
grant quipu_serve to quipu_owner;
-- The server takes the role on when it connects; its login has no right of its own.
grant quipu_serve to quipu_login with inherit false, set true;

alter database :"database" owner to quipu_owner;
revoke all on database :"database" from public;
grant connect on database :"database" to quipu_login, quipu_serve;
-- pgvector is not a trusted extension, so the owner could not create it.
create extension if not exists btree_gist;
create extension if not exists vector;

-- What `quipu scrub` needs to remove erased rows from the files and the write-ahead log.
grant pg_checkpoint to quipu_owner;
grant execute on function pg_switch_wal(), pg_ls_waldir(), pg_reload_conf() to quipu_owner;
grant set, alter system on parameter wal_recycle to quipu_owner;

alter role :"superuser" password null;
commit;
SQL
