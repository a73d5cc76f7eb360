-- Audit: who did what to access and to whole memories, one chain of hashes per tenant.
--
-- A row holds ids, words and numbers, never content or names, because it outlives the user it is about. It
-- contains the hash of the row before it, so a changed, removed or reordered row is detected by computing the
-- hashes again (`lukasa audit verify`). Rows are inserted in the transaction of what they record where that
-- writes. The serving role can insert rows and nothing else; rows are removed, from the oldest on, by the
-- owner alone (`lukasa audit prune`).

-- The end of a tenant's chain. Its row is the lock that serialises appends: it is taken by the last statement
-- of a transaction.
create table audit_head (
  tenant_id     uuid primary key,        -- without a reference: a server without authentication has no tenant row
  number        bigint not null default 0,
  hash          bytea not null default decode(repeat('00', 32), 'hex') check (length(hash) = 32),
  -- The last row that was removed by retention; the chain continues after it.
  pruned_number bigint not null default 0,
  pruned_hash   bytea not null default decode(repeat('00', 32), 'hex') check (length(pruned_hash) = 32)
);

create table audit (
  tenant_id  uuid not null,
  number     bigint not null,            -- set by the trigger, as are previous and hash
  at         timestamptz not null,
  event      text not null check (event ~ '^[a-z_]+([.][a-z_]+)?$'),
  result     text not null check (result in ('done', 'refused')),
  actor_kind text not null check (actor_kind ~ '^[a-z_]+$'),
  actor      text not null check (actor ~ '^[A-Za-z0-9_-]{1,64}$'),     -- the credential's id
  user_id    uuid,                       -- the user it is about; null if it is about the tenant
  subject    text not null check (subject ~ '^[A-Za-z0-9_-]{0,64}$'),   -- the id of what it is about
  detail     text not null check (detail ~ '^[A-Za-z0-9_.,:=-]{0,200}$'),
  previous   bytea not null check (length(previous) = 32),
  hash       bytea not null check (length(hash) = 32),
  primary key (tenant_id, number)
);
-- The log by time.
create index audit_by_time on audit (tenant_id, at);

-- Continues the chain, with the rights of the owner: the serving role can read the end of a chain and not move
-- it. The text that is hashed has one value per line; no value can contain a line break. lukasa_core::audit
-- computes the same.
create function chain_audit() returns trigger language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
declare
  head audit_head;
begin
  insert into audit_head (tenant_id) values (new.tenant_id) on conflict do nothing;
  select * into strict head from audit_head where tenant_id = new.tenant_id for update;
  new.number := head.number + 1;
  new.previous := head.hash;
  new.hash := sha256(convert_to(concat_ws(E'\n', 'lukasa audit 1', new.tenant_id::text, new.number::text,
    (extract(epoch from new.at) * 1000000)::bigint::text, new.event, new.result, new.actor_kind, new.actor,
    coalesce(new.user_id::text, ''), new.subject, new.detail, encode(new.previous, 'hex')), 'UTF8'));
  update audit_head set number = new.number, hash = new.hash where tenant_id = new.tenant_id;
  return new;
end $$;
create trigger chain_audit before insert on audit for each row execute function chain_audit();

-- A row is never changed. It is removed only by the owner, in a transaction that says so.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_user <> 'lukasa_serve'
     and current_setting('app.audit_retention', true) = 'on' then
    return old;
  end if;
  raise exception 'the audit log can only be appended to' using errcode = 'insufficient_privilege';
end $$;
create trigger refuse_audit_change before update or delete on audit
  for each row execute function refuse_audit_change();
create trigger refuse_audit_truncate before truncate on audit
  for each statement execute function refuse_audit_change();

alter table audit enable row level security;
alter table audit force row level security;
alter table audit_head enable row level security;
alter table audit_head force row level security;

-- Every request of the tenant can append; administrators read.
create policy append on audit for insert
  with check (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
create policy directory_sees on audit for select
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
         and current_setting('app.directory', true) = 'on');
create policy retention on audit for delete
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
         and current_setting('app.audit_retention', true) = 'on');
create policy own on audit_head using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

grant select, insert (tenant_id, at, event, result, actor_kind, actor, user_id, subject, detail)
  on audit to lukasa_serve;
grant select on audit_head to lukasa_serve;
