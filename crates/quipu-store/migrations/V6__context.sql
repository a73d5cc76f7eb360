-- Chapter 6. What went into prompts: baselines, retrievals, and what came of it.

-- The frozen part of a session's context, byte for byte. It is rendered once and given again until
-- the session ends, or until something in it is taken back.
create table baseline (
  user_id     uuid not null,
  tenant_id   uuid not null,
  session_id  text not null,
  -- What was asked for: domains, budget and time. Other wishes, another baseline.
  wishes      text not null,
  etag        text not null,
  nonce       text not null,
  content     text not null,
  items       jsonb not null,
  facts       uuid[] not null,
  domains     text[] not null,
  rendered_at timestamptz not null,
  primary key (user_id, session_id, wishes)
);

-- Every retrieval: what it put into the prompt and why. Kept for 90 days.
create table retrieval (
  user_id      uuid not null,
  tenant_id    uuid not null,
  retrieval_id uuid not null,
  session_id   text,
  at           timestamptz not null,
  etag         text,
  dynamic      text not null,
  trace        jsonb not null,
  facts        uuid[] not null,
  primary key (user_id, retrieval_id)
);
create index retrieval_by_time on retrieval (user_id, at);

-- What came of a memory after it was in the prompt, as the application tells it.
create table usage (
  user_id      uuid not null,
  tenant_id    uuid not null,
  usage_id     uuid not null,
  fact_id      uuid not null,
  session_id   text,
  retrieval_id uuid,
  type         text not null check (type in ('retrieved', 'applied', 'cited', 'conflicted', 'overridden')),
  influence    text,
  at           timestamptz not null,
  primary key (user_id, usage_id)
);
create index usage_by_time on usage (user_id, at);

do $$
declare t text;
begin
  foreach t in array array['baseline', 'retrieval', 'usage'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format($policy$
      create policy own on %I
        using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
               and user_id = nullif(current_setting('app.user_id', true), '')::uuid)
    $policy$, t);
  end loop;
end $$;

grant select, insert, delete on baseline to quipu_serve;
grant select, insert, delete on retrieval to quipu_serve;
grant select, insert, delete on usage to quipu_serve;
