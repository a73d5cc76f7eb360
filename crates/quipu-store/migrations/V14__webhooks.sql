-- Chapter 14. Webhooks: who is told of operations, how far they have been told, and how that went.
--
-- The log of operations is the outbox: no copy of an operation is put anywhere for delivery. A write
-- of a tenant that has webhooks leaves a job, and says from which operation on its user is to be told
-- of; both in its own transaction. Nothing here holds a word of a memory, and nothing that is sent does:
-- what was delivered cannot be erased.

create table webhook (
  tenant_id     uuid not null references tenant,
  webhook_id    uuid not null,
  url           text not null check (url <> ''),
  -- What deliveries are signed with. The receiver has to hold the same, so a hash would not do.
  secret        bytea not null check (length(secret) between 24 and 64),
  verbs         text[] not null,          -- only these kinds of operation; all of them if empty
  created_at    timestamptz not null,
  -- How many deliveries in a row have failed, since when, and until when it is left alone for it.
  failures      integer not null default 0,
  failing_since timestamptz,
  rest_until    timestamptz,
  -- Since when nothing is sent to it, and why. What is written meanwhile waits in the log.
  off_at        timestamptz,
  off_because   text,
  primary key (tenant_id, webhook_id)
);

-- How far a webhook has been told about a user: everything up to this moment of the user's known axis.
-- Made by the user's first write after the webhook, so that no clock decides what it is told of.
create table webhook_mark (
  user_id    uuid not null,
  tenant_id  uuid not null,
  webhook_id uuid not null,
  told_until timestamptz not null,
  -- How often the next operation has been tried, and when it is tried again.
  attempts   integer not null default 0,
  next_at    timestamptz,
  primary key (user_id, webhook_id),
  constraint mark_of_webhook foreign key (tenant_id, webhook_id) references webhook on delete cascade
);
-- Whom a webhook is told about: asked when everything is to be told again. With its webhook it goes.
create index webhook_mark_of on webhook_mark (tenant_id, webhook_id, user_id);

-- How each delivery went: ids and numbers, for thirty days.
create table delivery (
  user_id      uuid not null,
  tenant_id    uuid not null,
  webhook_id   uuid not null,
  operation_id uuid not null,
  verb         text not null,
  state        text not null check (state in ('waiting', 'delivered', 'dead')),
  attempts     integer not null,
  status       integer,                   -- what was answered, if anything was
  error        text,
  first_at     timestamptz not null,
  last_at      timestamptz not null,
  next_at      timestamptz,
  primary key (user_id, webhook_id, operation_id),
  constraint delivery_to_webhook foreign key (tenant_id, webhook_id) references webhook on delete cascade
);
-- The tenant's own question, across its users: how did it go lately?
create index delivery_by_webhook on delivery (tenant_id, webhook_id, last_at);

alter table webhook enable row level security;
alter table webhook force row level security;
create policy own on webhook using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);

do $$
declare t text;
begin
  foreach t in array array['webhook_mark', 'delivery'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy own on %I
        using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
               and user_id = nullif(current_setting('app.user_id', true), '')::uuid)
    $policy$, t);
    -- The tenant's administrators see how deliveries go, whoever they are about.
    execute format($policy$
      create policy directory_sees on %I for select
        using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
               and current_setting('app.directory', true) = 'on')
    $policy$, t);
  end loop;
end $$;

grant select, insert,
  update (url, verbs, failures, failing_since, rest_until, off_at, off_because),
  delete on webhook to quipu_serve;
grant select, insert, update (told_until, attempts, next_at), delete on webhook_mark to quipu_serve;
grant select, insert, update (state, attempts, status, error, last_at, next_at), delete
  on delivery to quipu_serve;

alter table job drop constraint job_kind_check;
alter table job add constraint job_kind_check
  check (kind in ('close', 'extract', 'title', 'compress', 'retell', 'upkeep', 'deliver'));
