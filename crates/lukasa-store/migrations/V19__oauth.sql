-- OAuth: assistants that connect by URL. Their credentials are rows of `credential`, so that they are found,
-- expire, are revoked and are erased like every other credential.
--   connector  the user's consent to one assistant; it authenticates nothing itself, and ends with everything below
--   code       an authorization code: works once, within a minute
--   access     a token for requests to /mcp; made from a connector
--   refresh    a token that is exchanged once for new tokens; made from a connector

alter table credential drop constraint credential_kind_check;
alter table credential add constraint credential_kind_check
  check (kind in ('key', 'token', 'link', 'sign_in', 'connector', 'code', 'access', 'refresh'));

-- The client that the credential was made for: its id contains what it registered. Null for other kinds.
alter table credential add column client_id text check (length(client_id) <= 4096);
-- The address of the MCP endpoint that the credential is for: its audience (RFC 8707).
alter table credential add column resource text check (length(resource) <= 1024);
-- Of a code only: where it was sent, and the PKCE challenge that its verifier has to meet.
alter table credential add column redirect_uri text check (length(redirect_uri) <= 1024);
alter table credential add column challenge text check (length(challenge) = 43);

alter table credential add constraint oauth_is_bound check (
  kind not in ('connector', 'code', 'access', 'refresh')
  or (client_id is not null and resource is not null and minted_by is not null
      and not permissions && array['admin', 'erase', 'chat']
      and (kind = 'code') = (redirect_uri is not null and challenge is not null)));

-- Chosen by clients, and never searched for.
alter table credential alter column client_id set statistics 0;
alter table credential alter column resource set statistics 0;
alter table credential alter column redirect_uri set statistics 0;
alter table credential alter column challenge set statistics 0;
