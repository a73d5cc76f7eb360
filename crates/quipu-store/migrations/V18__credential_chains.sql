-- Chapter 18. Which credential another one came from, and when old ones are removed.
--
-- minted_by names the credential that made this one. root names the first of the chain, usually a
-- key: revoking it ends everything that was made from it, however many sign-ins and links lie between,
-- and also when one of those has expired and was removed.

alter table credential add column root text;
create index credential_by_maker on credential (tenant_id, minted_by) where minted_by is not null;
create index credential_by_root on credential (tenant_id, root) where root is not null;
-- The sweep of expired tokens, links and sign-ins reads this and nothing else.
create index credential_by_end on credential (expires_at) where kind <> 'key';
-- The sign-ins of one user.
create index credential_by_user on credential (tenant_id, user_id) where user_id is not null;

-- The owner sees no rows while row-level security is forced.
alter table credential no force row level security;

with recursive chain as (
  select key_id, key_id as root from credential where minted_by is null
  union all
  select made.key_id, chain.root
    from credential made join chain on made.minted_by = chain.key_id
)
update credential set root = chain.root
  from chain where chain.key_id = credential.key_id and chain.root <> credential.key_id;

-- Using the models behind the gateway needs the permission `chat`. Keys that could use them before
-- keep it; tokens for browsers do not.
update credential set permissions = array_append(permissions, 'chat')
 where kind = 'key' and 'read' = any (permissions) and not 'chat' = any (permissions);

alter table credential force row level security;

-- The sweep crosses tenants. It sees and removes what expired a day ago, and nothing else.
create policy sweep_select on credential for select
  using (current_setting('app.sweep', true) = 'on'
         and kind <> 'key' and expires_at < now() - interval '1 day');
create policy sweep_delete on credential for delete
  using (current_setting('app.sweep', true) = 'on'
         and kind <> 'key' and expires_at < now() - interval '1 day');
