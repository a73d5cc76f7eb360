-- Chapter 15. Signing in to the console.
--
-- A link lets one person's browser in, once: it is revoked in the statement that reads it. What the
-- browser holds from then on is a credential of its own, kept by its hash like every other. Both are
-- bound to one person and end by themselves, as token_is_bound asks of everything that is not a key.

alter table credential drop constraint credential_kind_check;
alter table credential add constraint credential_kind_check
  check (kind in ('key', 'token', 'link', 'sign_in'));

-- The one page that a token may be used from; null for any.
alter table credential add column page text;
