-- The baselines that were put into prompts, once for each, instead of once for every retrieval. A baseline is the
-- same bytes for a whole session, and its lines were nine tenths of the log of retrievals.

-- Identifiers only, no content. Removed with the retrievals that refer to it, and when one of its facts is erased.
create table given_baseline (
  user_id   uuid not null,
  tenant_id uuid not null,
  etag      text not null,
  at        timestamptz not null,
  items     jsonb not null,
  facts     uuid[] not null,
  primary key (user_id, etag)
);
alter table given_baseline enable row level security;
alter table given_baseline force row level security;
create policy own on given_baseline
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
         and user_id = nullif(current_setting('app.user_id', true), '')::uuid);
grant select, insert, delete on given_baseline to lukasa_serve;
alter table given_baseline alter column items set statistics 0;
