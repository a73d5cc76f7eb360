#!/usr/bin/env bash
# Creates the roles of a Lukasa database. The PostgreSQL image runs it once, as the superuser, when the
# volume is empty; run against a database that has the roles, it changes only their passwords.
#
#   lukasa_owner   login; owns the database and its tables; runs `lukasa migrate` and `lukasa scrub`
#   lukasa_login   login of the server; may only assume the role lukasa_serve
#   lukasa_serve   no login; serves requests, restricted by row-level security
#
# Afterwards the superuser has no password, so it can log in through the container's socket only.
#
# settings, by environment: POSTGRES_USER, POSTGRES_DB, LUKASA_OWNER_PASSWORD, LUKASA_DATABASE_PASSWORD
set -euo pipefail

: "${LUKASA_OWNER_PASSWORD:?}" "${LUKASA_DATABASE_PASSWORD:?}"
psql -X --quiet --set ON_ERROR_STOP=1 --no-password --username "${POSTGRES_USER:?}" --dbname "${POSTGRES_DB:?}" <<'SQL'
\getenv owner_password LUKASA_OWNER_PASSWORD
\getenv login_password LUKASA_DATABASE_PASSWORD
select current_user as superuser, current_database() as database \gset

begin;
-- Without this, pgaudit or log_statement could write the passwords below into the log.
set local log_statement = 'none';
set local log_min_error_statement = 'panic';
set local client_min_messages = 'warning';

select format('create role %I nologin', name)
  from unnest(array['lukasa_serve', 'lukasa_owner', 'lukasa_login']) name
 where not exists (select from pg_roles where rolname = name) \gexec
alter role lukasa_serve nologin nosuperuser nobypassrls nocreatedb nocreaterole noreplication;
-- The first migration creates lukasa_serve if it does not exist, for which PostgreSQL requires createrole.
-- It gives no rights over roles that lukasa_owner has not created.
alter role lukasa_owner login nosuperuser nobypassrls nocreatedb createrole noreplication
  password :'owner_password';
alter role lukasa_login login nosuperuser nobypassrls nocreatedb nocreaterole noreplication
  password :'login_password';
grant lukasa_serve to lukasa_owner;
-- The server assumes the role when it connects; its login itself has no rights.
grant lukasa_serve to lukasa_login with inherit false, set true;

alter database :"database" owner to lukasa_owner;
revoke all on database :"database" from public;
grant connect on database :"database" to lukasa_login, lukasa_serve;
-- pgvector is not a trusted extension, so the owner could not create it.
create extension if not exists btree_gist;
create extension if not exists vector;

-- What `lukasa scrub` needs to remove erased rows from the files and the write-ahead log.
grant pg_checkpoint to lukasa_owner;
grant execute on function pg_switch_wal(), pg_ls_waldir(), pg_reload_conf() to lukasa_owner;
grant set, alter system on parameter wal_recycle to lukasa_owner;

alter role :"superuser" password null;
commit;
SQL
