-- Chapter 2. Domains: areas of a life, some of which stay shut until their person opens them.
--
-- Built-in domains belong to the shared tenant, whose id is all zeroes. They are a scope of their
-- own that the policy names, never rows that happen to lack an owner.

create table domain (
  tenant_id               uuid not null,
  name                    text not null,
  display_name            text not null,
  sensitive               boolean not null,
  requires_opt_in         boolean not null,
  default_expiration_days integer check (default_expiration_days > 0),
  primary key (tenant_id, name)
);

insert into domain values
  ('00000000-0000-0000-0000-000000000000', 'communication', 'Communication',   false, false, null),
  ('00000000-0000-0000-0000-000000000000', 'finance',       'Finance',         true,  true,  null),
  ('00000000-0000-0000-0000-000000000000', 'food',          'Food and dining', false, false, null),
  ('00000000-0000-0000-0000-000000000000', 'health',        'Health',          true,  true,  null),
  ('00000000-0000-0000-0000-000000000000', 'personal',      'Personal',        false, false, 60),
  ('00000000-0000-0000-0000-000000000000', 'relationships', 'Relationships',   true,  true,  null),
  ('00000000-0000-0000-0000-000000000000', 'religion',      'Religion',        true,  true,  null),
  ('00000000-0000-0000-0000-000000000000', 'schedule',      'Schedule',        false, false, null),
  ('00000000-0000-0000-0000-000000000000', 'shopping',      'Shopping',        false, false, null),
  ('00000000-0000-0000-0000-000000000000', 'travel',        'Travel',          false, false, null),
  ('00000000-0000-0000-0000-000000000000', 'work',          'Work',            false, false, 90);

-- Which domains a user has opened. A row per decision still standing; closing deletes it.
create table user_domain (
  user_id     uuid not null,
  tenant_id   uuid not null,
  domain      text not null,
  opted_in_at timestamptz not null,
  primary key (user_id, domain)
);

alter table domain enable row level security;
alter table domain force row level security;
alter table user_domain enable row level security;
alter table user_domain force row level security;

create policy readable on domain for select
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
         or (tenant_id = '00000000-0000-0000-0000-000000000000'
             and nullif(current_setting('app.tenant', true), '') is not null));
create policy writable on domain for insert
  with check (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
              and current_setting('app.directory', true) = 'on');
create policy changeable on domain for update
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
         and current_setting('app.directory', true) = 'on');

create policy own on user_domain
  using (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid
         and user_id = nullif(current_setting('app.user_id', true), '')::uuid);

grant select, insert, update on domain to quipu_serve;
grant select, insert, delete on user_domain to quipu_serve;
