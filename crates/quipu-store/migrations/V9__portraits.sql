-- Chapter 9. Portraits, and what a night adds.

-- Layer three: a compiled text about the person, sentence by sentence, each with the facts it rests
-- on. It is a cache: whatever revokes or changes a fact deletes the portraits that cite it, and any of
-- them can be made again from the facts.
create table portrait (
  user_id     uuid not null,
  tenant_id   uuid not null,
  name        text not null,             -- profile, procedures, active_context or domain:<name>
  -- What it was made from; a portrait of the same is not made again.
  inputs_hash text not null,
  sentences   jsonb not null,            -- [{"text": ..., "facts": [...]}]
  facts       uuid[] not null,
  domains     text[] not null,
  made_by     text not null,             -- the model that phrased it, or 'template'
  compiled_at timestamptz not null,
  tokens      integer not null,
  primary key (user_id, name)
);
alter table portrait enable row level security;
alter table portrait force row level security;
create policy own on portrait
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
         and user_id = nullif(current_setting('app.user_id', true), '')::uuid);
grant select, insert, delete on portrait to quipu_serve;
