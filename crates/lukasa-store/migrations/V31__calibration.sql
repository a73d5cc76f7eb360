-- Minimum confidences that were derived from how often learned memories turned out right. A row is a cache: it is
-- removed with a memory that it is based on, and upkeep derives it again.

create table calibration (
  user_id     uuid not null,
  tenant_id   uuid not null,
  category    text not null,
  floor       real not null check (floor >= 0.7::real and floor <= 1),
  samples     integer not null check (samples > 0),
  wrong       integer not null check (wrong between 0 and samples),
  -- Memories that it is based on, those that were wrong first.
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
