-- Webhooks: the addresses that are notified of operations, their progress, and the log of deliveries.
--
-- The table `operation` serves as the outbox; operations are not copied for delivery. A write of a tenant
-- with webhooks queues a job and creates the user's mark if there is none, both in its own transaction.
-- Neither these tables nor the deliveries contain content of facts, because what was delivered cannot be
-- erased.

create table webhook (
  tenant_id       uuid not null references tenant,
  webhook_id      uuid not null,
  url             text not null check (url <> ''),
  -- Signs deliveries. The receiver verifies with the same secret, so it cannot be stored as a hash.
  secret          bytea not null check (length(secret) between 24 and 64),
  -- The secret from before the last rotation, and until when deliveries are also signed with it. Null without a
  -- rotation, and after one without an overlap.
  previous_secret bytea check (length(previous_secret) between 24 and 64),
  previous_until  timestamptz,
  verbs           text[] not null,          -- only operations with these verbs; all if empty
  created_at      timestamptz not null,
  -- How many deliveries in a row have failed, since when, and until when no more are attempted.
  failures        integer not null default 0,
  failing_since   timestamptz,
  rest_until      timestamptz,
  -- Since when the webhook is switched off, and why. Operations written meanwhile are delivered later.
  off_at          timestamptz,
  off_because     text,
  primary key (tenant_id, webhook_id),
  constraint previous_secret_ends check ((previous_secret is null) = (previous_until is null))
);

-- The progress of a webhook for a user: it was notified of all operations up to this time of the user's known
-- axis. Created by the user's first write after the webhook, so that the first operation to deliver does not
-- depend on a clock.
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
-- The users of a webhook, for delivering everything again and for the cascade when a webhook is deleted.
create index webhook_mark_of on webhook_mark (tenant_id, webhook_id, user_id);

-- The result of each delivery, without content. Kept for thirty days.
create table delivery (
  user_id      uuid not null,
  tenant_id    uuid not null,
  webhook_id   uuid not null,
  operation_id uuid not null,
  verb         text not null,
  state        text not null check (state in ('waiting', 'delivered', 'dead')),
  attempts     integer not null,
  status       integer,                   -- the HTTP status of the response; null without a response
  error        text,
  first_at     timestamptz not null,
  last_at      timestamptz not null,
  next_at      timestamptz,
  primary key (user_id, webhook_id, operation_id),
  constraint delivery_to_webhook foreign key (tenant_id, webhook_id) references webhook on delete cascade
) with (autovacuum_vacuum_insert_scale_factor = 0.02);
-- The latest deliveries of a webhook for all users of the tenant.
create index delivery_by_webhook on delivery (tenant_id, webhook_id, last_at);
-- The upkeep of a user removes the user's old deliveries. Without this index the planner may choose the one that
-- leads with the tenant, and then reads the deliveries of all users of the tenant.
create index delivery_of_user on delivery (user_id, last_at);

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
    -- Administrators of the tenant see the deliveries for all its users.
    execute format($policy$
      create policy directory_sees on %I for select
        using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
               and current_setting('app.directory', true) = 'on')
    $policy$, t);
  end loop;
end $$;

grant select, insert,
  update (url, secret, previous_secret, previous_until, verbs, failures, failing_since, rest_until, off_at,
          off_because),
  delete on webhook to lukasa_serve;
grant select, insert, update (told_until, attempts, next_at), delete on webhook_mark to lukasa_serve;
grant select, insert, update (state, attempts, status, error, last_at, next_at), delete
  on delivery to lukasa_serve;
