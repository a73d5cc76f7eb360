-- Minimum confidences that were derived from how often learned memories turned out right. A row is a cache: all of a
-- user's are removed when a memory or a turn is permanently removed, because a row names only some of the memories
-- that it is based on, and upkeep derives them again.

create table calibration (
  user_id     uuid not null,
  tenant_id   uuid not null,
  category    text not null,
  floor       real not null check (floor >= 0.7::real and floor <= 1),
  samples     integer not null check (samples > 0),
  wrong       integer not null check (wrong between 0 and samples),
  -- The first of the memories that it is based on, those that were wrong before the others.
  facts       uuid[] not null,
  compiled_at timestamptz not null,
  primary key (user_id, category)
);

alter table calibration enable row level security;
alter table calibration force row level security;
create policy own on calibration
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
         and user_id = nullif(current_setting('app.user_id', true), '')::uuid);
grant select, insert, delete on calibration to lukasa_serve;
