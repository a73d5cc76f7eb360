//! Credentials: keys, tokens, links, sign-ins, and the connectors of OAuth with their codes and
//! tokens. Only hashes of the secrets are stored.

use lukasa_core::{Origin, Permission, TenantId, Timestamp, UserId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::row::{Columns, all, one};
use crate::scope::{Directory, Param, Scope};

lukasa_core::words!(
    /// The kind of a credential.
    CredentialKind {
        /// For an application; valid until it is revoked.
        Key = "key",
        /// For the browser of one user; bound to that user and short-lived.
        Token = "token",
        /// Signs the browser of one user in to the console, once.
        Link = "link",
        /// Held by a browser that is signed in to the console.
        SignIn = "sign_in",
        /// A user's consent to one assistant that connects by OAuth. Its codes and tokens are made from
        /// it and end with it.
        Connector = "connector",
        /// An authorization code, exchanged once for tokens.
        Code = "code",
        /// An access token of a connector.
        Access = "access",
        /// A refresh token of a connector, exchanged once for new tokens.
        Refresh = "refresh",
    }
);

/// What a credential of OAuth is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientBinding {
    /// The client it was made for.
    pub client_id: String,
    /// The only address that its access tokens are for: the MCP endpoint.
    pub resource: String,
    /// Of a code: the address it was sent to, and the PKCE challenge.
    pub code: Option<CodeBinding>,
}

/// What an authorization code is bound to besides its client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeBinding {
    pub redirect_uri: String,
    pub challenge: String,
}

#[derive(Debug, Clone)]
pub struct Credential {
    pub key_id: String,
    pub tenant: TenantId,
    /// The one user it is bound to, by id and by the tenant's name for them.
    pub user: Option<(UserId, String)>,
    pub kind: CredentialKind,
    pub name: String,
    pub secret_hash: Vec<u8>,
    pub permissions: Vec<Permission>,
    pub origin: Origin,
    /// The credential that created it.
    pub minted_by: Option<String>,
    /// The first credential of the chain it was created from. Revoking that one ends this one too.
    pub root: Option<String>,
    /// The only web origin a token may be used from, as browsers send it: `https://host`.
    pub page: Option<String>,
    /// Present for the kinds of OAuth.
    pub binding: Option<ClientBinding>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    /// Of a key that was rotated: the key that took its place.
    pub replaced_by: Option<String>,
}

impl Credential {
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

macro_rules! credential_columns {
    () => {
        "key_id, tenant_id, user_id, user_name, kind, name, secret_hash, permissions, origin, \
         minted_by, page, created_at, expires_at, revoked_at, last_used_at, root, client_id, \
         resource, redirect_uri, challenge, replaced_by"
    };
}

fn credential(row: &Row) -> Result<Credential> {
    let mut c = Columns::of(row, "credential");
    let key_id = c.take()?;
    let tenant = TenantId::from_uuid(c.take()?);
    let user: Option<Uuid> = c.take()?;
    let user_name: Option<String> = c.take()?;
    Ok(Credential {
        key_id,
        tenant,
        user: user.map(UserId::from_uuid).zip(user_name),
        kind: c.word(CredentialKind::parse)?,
        name: c.take()?,
        secret_hash: c.take()?,
        // Permissions unknown to this version grant nothing.
        permissions: c
            .take::<Vec<String>>()?
            .iter()
            .filter_map(|text| Permission::parse(text))
            .collect(),
        origin: c.word(Origin::parse)?,
        minted_by: c.take()?,
        page: c.take()?,
        created_at: c.take()?,
        expires_at: c.take()?,
        revoked_at: c.take()?,
        last_used_at: c.take()?,
        root: c.take()?,
        binding: binding(c.take()?, c.take()?, c.take()?, c.take()?),
        replaced_by: c.take()?,
    })
}

fn binding(
    client_id: Option<String>,
    resource: Option<String>,
    redirect_uri: Option<String>,
    challenge: Option<String>,
) -> Option<ClientBinding> {
    let code = redirect_uri.zip(challenge);
    let code = code.map(|(redirect_uri, challenge)| CodeBinding { redirect_uri, challenge });
    Some(ClientBinding { client_id: client_id?, resource: resource?, code })
}

pub(crate) async fn find(directory: Directory, key_id: &str) -> Result<Option<Credential>> {
    const SQL: &str =
        concat!("select ", credential_columns!(), " from credential where key_id = $1");
    one(&directory.query(SQL, &[&key_id]).await?, credential)
}

pub async fn insert(directory: &Directory, new: &Credential) -> Result<()> {
    const SQL: &str = concat!(
        "insert into credential (",
        credential_columns!(),
        ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, \
           $18, $19, $20, $21)"
    );
    let (user, user_name) = match &new.user {
        Some((id, name)) => (Some(id.uuid()), Some(name)),
        None => (None, None),
    };
    let permissions: Vec<&str> = new.permissions.iter().map(|p| p.as_str()).collect();
    let binding = new.binding.as_ref();
    let client_id = binding.map(|binding| &binding.client_id);
    let resource = binding.map(|binding| &binding.resource);
    let code = binding.and_then(|binding| binding.code.as_ref());
    let redirect_uri = code.map(|code| &code.redirect_uri);
    let challenge = code.map(|code| &code.challenge);
    let params: [Param<'_>; 21] = [
        &new.key_id,
        &directory.tenant().uuid(),
        &user,
        &user_name,
        &new.kind.as_str(),
        &new.name,
        &new.secret_hash,
        &permissions,
        &new.origin.as_str(),
        &new.minted_by,
        &new.page,
        &new.created_at,
        &new.expires_at,
        &new.revoked_at,
        &new.last_used_at,
        &new.root,
        &client_id,
        &resource,
        &redirect_uri,
        &challenge,
        &new.replaced_by,
    ];
    directory.query(SQL, &params).await?;
    Ok(())
}

/// The tenant's keys, oldest first. Tokens are short-lived and not listed.
pub async fn keys(directory: &Directory) -> Result<Vec<Credential>> {
    const SQL: &str = concat!(
        "select ",
        credential_columns!(),
        " from credential where tenant_id = $1 and kind = 'key' order by created_at, key_id"
    );
    all(&directory.query(SQL, &[&directory.tenant().uuid()]).await?, credential)
}

/// One credential of the tenant.
pub async fn get(directory: &Directory, key_id: &str) -> Result<Option<Credential>> {
    const SQL: &str = concat!(
        "select ",
        credential_columns!(),
        " from credential where tenant_id = $1 and key_id = $2"
    );
    one(&directory.query(SQL, &[&directory.tenant().uuid(), &key_id]).await?, credential)
}

/// One credential of the tenant, which no other transaction can change until the end of this one.
pub async fn get_for_update(directory: &Directory, key_id: &str) -> Result<Option<Credential>> {
    const SQL: &str = concat!(
        "select ",
        credential_columns!(),
        " from credential where tenant_id = $1 and key_id = $2 for update"
    );
    one(&directory.query(SQL, &[&directory.tenant().uuid(), &key_id]).await?, credential)
}

/// The tenant's live tokens, links, sign-ins and connectors, newest first, optionally of one user
/// or with one id. Codes and tokens of a connector are part of it and not listed.
pub async fn sign_ins(
    directory: &Directory,
    user: Option<UserId>,
    key_id: Option<&str>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<Credential>> {
    const SQL: &str = concat!(
        "select ",
        credential_columns!(),
        " from credential where tenant_id = $1 and revoked_at is null and expires_at > $3 \
           and kind in ('token', 'link', 'sign_in', 'connector') and ($2::uuid is null or user_id = $2) \
           and ($5::text is null or key_id = $5) \
         order by created_at desc, key_id limit $4"
    );
    let user = user.map(|user| user.uuid());
    let params: [Param<'_>; 5] = [&directory.tenant().uuid(), &user, &now, &limit, &key_id];
    all(&directory.query(SQL, &params).await?, credential)
}

/// Revokes a credential and everything created from it, directly or indirectly; returns the revoked
/// ids.
///
/// A transaction that creates a credential holds a lock on the one it is created with ([`lock_live`],
/// [`spend`]). The first pass waits for such transactions, and what they have created is found by the
/// next one; those that come later find the credential revoked.
pub async fn revoke(directory: &Directory, key_id: &str, now: Timestamp) -> Result<Vec<String>> {
    let mut revoked = Vec::new();
    loop {
        let pass = revoke_chain(directory, key_id, now).await?;
        if pass.is_empty() {
            return Ok(revoked);
        }
        revoked.extend(pass);
    }
}

async fn revoke_chain(directory: &Directory, key_id: &str, now: Timestamp) -> Result<Vec<String>> {
    // The chain is followed through ended credentials too: what they created may still be live.
    // Rows are locked from the latest to the first, as a credential that is exchanged is locked
    // before the one that it was created from.
    const SQL: &str = "with recursive chain (id) as ( \
           select key_id from credential where tenant_id = $1 and (key_id = $2 or root = $2) \
           union \
           select made.key_id from credential made join chain on made.minted_by = chain.id \
            where made.tenant_id = $1 \
         ), live as ( \
           select key_id from credential where tenant_id = $1 and revoked_at is null \
              and key_id in (select id from chain) order by created_at desc, key_id for update \
         ) \
         update credential set revoked_at = $3 from live \
          where tenant_id = $1 and credential.key_id = live.key_id returning credential.key_id";
    let params: [Param<'_>; 3] = [&directory.tenant().uuid(), &key_id, &now];
    all(&directory.query(SQL, &params).await?, |row| Columns::of(row, "credential").take())
}

/// Whether a credential is live, which it stays until the end of the transaction: revoking it waits.
pub async fn lock_live(directory: &Directory, key_id: &str, now: Timestamp) -> Result<bool> {
    const SQL: &str = "select key_id from credential where tenant_id = $1 and key_id = $2 \
                          and revoked_at is null and (expires_at is null or expires_at > $3) for share";
    let params: [Param<'_>; 3] = [&directory.tenant().uuid(), &key_id, &now];
    Ok(!directory.query(SQL, &params).await?.is_empty())
}

/// Gives a key an earlier end, and names the key that replaces it.
pub async fn replace_key(
    directory: &Directory,
    key_id: &str,
    replaced_by: &str,
    end: Timestamp,
) -> Result<()> {
    const SQL: &str = "update credential set expires_at = least(expires_at, $3), replaced_by = $4 \
                       where tenant_id = $1 and key_id = $2 and kind = 'key'";
    let params: [Param<'_>; 4] = [&directory.tenant().uuid(), &key_id, &end, &replaced_by];
    directory.query(SQL, &params).await?;
    Ok(())
}

/// Ends one credential that is not a key, but nothing created from it; returns whether it was live.
pub async fn end_one(directory: &Directory, key_id: &str, now: Timestamp) -> Result<bool> {
    const SQL: &str = "update credential set revoked_at = $3 where tenant_id = $1 \
                          and key_id = $2 and kind <> 'key' and revoked_at is null returning key_id";
    let params: [Param<'_>; 3] = [&directory.tenant().uuid(), &key_id, &now];
    Ok(!directory.query(SQL, &params).await?.is_empty())
}

/// Uses a credential that works once: only the first caller who presents it gets it.
pub async fn spend(
    directory: &Directory,
    kind: CredentialKind,
    key_id: &str,
    secret_hash: &[u8],
    now: Timestamp,
) -> Result<Option<Credential>> {
    const SQL: &str = concat!(
        "update credential set revoked_at = $4, last_used_at = $4 where tenant_id = $1 \
           and key_id = $2 and secret_hash = $3 and kind = $5 \
           and revoked_at is null and expires_at > $4 returning ",
        credential_columns!()
    );
    let params: [Param<'_>; 5] =
        [&directory.tenant().uuid(), &key_id, &secret_hash, &now, &kind.as_str()];
    one(&directory.query(SQL, &params).await?, credential)
}

/// How many live connectors a user has.
pub async fn count_connectors(directory: &Directory, user: UserId, now: Timestamp) -> Result<i64> {
    const SQL: &str = "select count(*) from credential where tenant_id = $1 and user_id = $2 \
                         and kind = 'connector' and revoked_at is null and expires_at > $3";
    let params: [Param<'_>; 3] = [&directory.tenant().uuid(), &user.uuid(), &now];
    let count = one(&directory.query(SQL, &params).await?, |row| {
        Columns::of(row, "credential").take::<i64>()
    })?;
    Ok(count.unwrap_or_default())
}

/// Removes the codes and tokens of a connector except the latest `kept`.
pub async fn prune_tokens(directory: &Directory, connector: &str, kept: i64) -> Result<()> {
    const SQL: &str = "delete from credential where tenant_id = $1 and key_id in ( \
           select key_id from credential where tenant_id = $1 and minted_by = $2 \
              and kind in ('code', 'access', 'refresh') \
            order by created_at desc, key_id offset $3)";
    directory.query(SQL, &[&directory.tenant().uuid(), &connector, &kept]).await?;
    Ok(())
}

/// The class of the advisory locks that order new credentials of a user against their erasure.
const USER_LOCKS: i32 = 7_211;

/// The advisory lock key of a user. Users with the same key merely wait for each other.
fn user_lock(user: UserId) -> i32 {
    let [a, b, c, d, ..] = user.uuid().into_bytes();
    i32::from_be_bytes([a, b, c, d])
}

/// Announces a new credential of a user, before it is checked that the user is not deleted. Until the
/// end of the transaction [`wait_for_new`] waits.
pub async fn announce_new(directory: &Directory, user: UserId) -> Result<()> {
    const SQL: &str = "select pg_advisory_xact_lock_shared($1, $2)";
    directory.query(SQL, &[&USER_LOCKS, &user_lock(user)]).await?;
    Ok(())
}

/// Waits for the transactions that have announced a new credential of a user.
pub async fn wait_for_new(directory: Directory, user: UserId) -> Result<()> {
    const SQL: &str = "select pg_advisory_xact_lock($1, $2)";
    directory.query(SQL, &[&USER_LOCKS, &user_lock(user)]).await?;
    // The lock is given back before rows are locked: those who announce hold rows while they wait.
    directory.commit().await
}

/// Removes every credential bound to a user; returns those that had not been revoked.
pub async fn remove_of_user(directory: &Directory, user: UserId) -> Result<Vec<String>> {
    const SQL: &str = "delete from credential where tenant_id = $1 and user_id = $2 \
                       returning key_id, revoked_at is null";
    let params: [Param<'_>; 2] = [&directory.tenant().uuid(), &user.uuid()];
    let ended = all(&directory.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "credential");
        Ok((c.take::<String>()?, c.take::<bool>()?))
    })?;
    Ok(ended.into_iter().filter(|(_, live)| *live).map(|(key, _)| key).collect())
}

/// Records that a credential was used.
pub async fn note_use(directory: &Directory, key_id: &str, now: Timestamp) -> Result<()> {
    const USED: &str =
        "update credential set last_used_at = $3 where tenant_id = $1 and key_id = $2";
    directory.query(USED, &[&directory.tenant().uuid(), &key_id, &now]).await?;
    Ok(())
}

/// Removes a batch of tokens, links and sign-ins of all tenants that expired more than a day ago;
/// returns how many.
pub(crate) async fn sweep(sweeping: Directory, limit: i64) -> Result<usize> {
    const SQL: &str = "delete from credential where key_id in ( \
           select key_id from credential where kind <> 'key' \
              and expires_at < now() - interval '1 day' order by expires_at limit $1) \
         returning key_id";
    let removed = sweeping.query(SQL, &[&limit]).await?.len();
    sweeping.commit().await?;
    Ok(removed)
}

/// Whether the scope's user is deleted or expired; checked during authentication with credentials
/// bound to a user.
pub async fn user_is_gone(scope: &Scope, now: Timestamp) -> Result<bool> {
    Ok(crate::directory::me(scope).await?.is_some_and(|user| user.is_gone(now)))
}
