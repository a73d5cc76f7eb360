-- Rotation: keys, the secrets of webhooks and the installation's signing key can be replaced, and the old one
-- stays valid for a while.

-- The secret from before the last rotation, and until when deliveries are also signed with it. Null without a
-- rotation, and after one without an overlap.
alter table webhook
  add column previous_secret bytea check (length(previous_secret) between 24 and 64),
  add column previous_until  timestamptz,
  add constraint previous_secret_ends check ((previous_secret is null) = (previous_until is null));
grant update (secret, previous_secret, previous_until) on webhook to lukasa_serve;

-- A replaced key gets an earlier end. The serving role cannot give any credential a later one.
create function shorten_credential() returns trigger language plpgsql as $$
begin
  if current_user = 'lukasa_serve' and (new.expires_at is null or new.expires_at > old.expires_at) then
    raise exception 'a credential cannot be prolonged' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger shorten_credential before update of expires_at on credential
  for each row execute function shorten_credential();
grant update (expires_at) on credential to lukasa_serve;

-- The earlier signing keys of the installation. What was signed or sealed with one is accepted until that time; an
-- expired row is removed by the next rotation. One more setting of the policies: app.rotation is 'on' while the
-- owner of the tables replaces the key.
create table retired_signing_key (
  seed           bytea primary key check (length(seed) = 32),
  retired_at     timestamptz not null,
  accepted_until timestamptz not null
);
alter table retired_signing_key enable row level security;
alter table retired_signing_key force row level security;
create policy signing on retired_signing_key for select using (current_setting('app.signing', true) = 'on');
create policy rotation on retired_signing_key using (current_setting('app.rotation', true) = 'on');
grant select on retired_signing_key to lukasa_serve;
create policy rotation on signing_key for update using (current_setting('app.rotation', true) = 'on');
-- The rotation is recorded in the audit log of every tenant.
create policy rotation on tenant for select using (current_setting('app.rotation', true) = 'on');

-- The seed of the keys of digests, such as those of noted patterns. Digests are stored and cannot be computed again,
-- so a rotation does not replace it.
alter table signing_key add column digest_seed bytea not null check (length(digest_seed) = 32)
  default sha256(convert_to(
    gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'));
