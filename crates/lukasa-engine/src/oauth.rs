//! OAuth: connectors, which are a user's consents to assistants that connect by URL, with their
//! authorization codes and tokens.
//!
//! All of them are credentials. A code and a refresh token work once; one that is presented a
//! second time, too late or by another client has been stolen or lost, and ends its connector. A
//! connector never acts as a human.

use std::sync::Arc;

use jiff::SignedDuration;
use lukasa_core::audit::{ActorKind, AuditActor, AuditEntry, AuditEvent};
use lukasa_core::oauth::{SCOPES, meets_challenge};
use lukasa_core::secret::{self, Prefix, PresentedCredential};
use lukasa_core::time::micros;
use lukasa_core::{Permission, Timestamp, UserId};
use lukasa_store::credential::{self, ClientBinding, CodeBinding, Credential, CredentialKind};
use lukasa_store::{Directory, Store, audit};

use crate::credentials::{
    ExpiringCredential, VerifiedCredential, insert, new_credential_entry,
    wait_for_credential_leases,
};
use crate::error::{Error, Result};
use crate::parts::Parts;

/// Lifetime of an authorization code.
pub const CODE_SECONDS: i64 = 60;
/// Lifetime of an access token.
pub const ACCESS_SECONDS: i64 = 60 * 60;
/// Lifetime of a refresh token: how long an assistant may be unused before it has to be connected
/// again.
pub const REFRESH_DAYS: i64 = 30;
/// How long a consent is valid. After that the user is asked again.
pub const CONNECTOR_DAYS: i64 = 180;
/// Maximum number of live connectors of a user.
pub const MAX_CONNECTORS: i64 = 50;
/// Codes and tokens that are kept of one connector. An older one is unknown when it is presented.
const TOKENS_KEPT: i64 = 200;

/// A consent to be recorded.
#[derive(Debug, Clone, Copy)]
pub struct NewConnector<'c> {
    /// The name that the client gave itself.
    pub name: &'c str,
    pub client_id: &'c str,
    /// Where the code is sent.
    pub redirect_uri: &'c str,
    /// The PKCE challenge of the method S256.
    pub challenge: &'c str,
    /// The address of the MCP endpoint that the tokens will be for.
    pub resource: &'c str,
    pub permissions: &'c [Permission],
}

/// A request to exchange an authorization code for tokens.
#[derive(Debug, Clone, Copy)]
pub struct CodeExchange<'e> {
    pub code: &'e str,
    pub client_id: &'e str,
    /// Optional in OAuth 2.1; compared if it is given.
    pub redirect_uri: Option<&'e str>,
    pub verifier: &'e str,
    /// The address of this server's MCP endpoint.
    pub resource: &'e str,
}

/// A request to exchange a refresh token for new tokens.
#[derive(Debug, Clone, Copy)]
pub struct TokenRefresh<'e> {
    pub token: &'e str,
    pub client_id: &'e str,
    /// The permissions of the new access token; those of the connector if absent.
    pub permissions: Option<&'e [Permission]>,
    /// The address of this server's MCP endpoint.
    pub resource: &'e str,
}

/// New tokens of a connector, shown only this once.
pub struct IssuedTokens {
    pub access: String,
    pub refresh: String,
    /// What the access token may do.
    pub permissions: Vec<Permission>,
    /// How long the access token is valid, in seconds.
    pub seconds: i64,
}

/// Why no tokens were issued.
#[derive(Debug)]
pub enum TokenRefusal {
    /// The code or token is unknown, used, expired, or for another client. With the ids of the
    /// credentials that ended because of it.
    InvalidGrant(Vec<String>),
    /// More was requested than the user has allowed.
    InvalidScope,
}

/// Tokens, or the reason for refusing them.
pub type TokenAnswer = std::result::Result<IssuedTokens, TokenRefusal>;

/// Connectors, and the codes and tokens made from them.
#[derive(Clone)]
pub struct Connectors {
    parts: Arc<Parts>,
}

impl Connectors {
    pub(crate) fn new(parts: Arc<Parts>) -> Self {
        Self { parts }
    }

    /// Records the consent of a user who is signed in to the console, and returns the authorization
    /// code for the assistant. The connector ends with the sign-in's chain of credentials.
    pub async fn approve(
        &self,
        by: &VerifiedCredential,
        new: NewConnector<'_>,
        random: &[[u8; 32]; 2],
        now: Timestamp,
    ) -> Result<String> {
        let Some((id, user)) = by.user.as_ref().filter(|_| by.signed_in && by.human) else {
            return Err(Error::Unauthenticated);
        };
        let may_give = |permission: &Permission| SCOPES.contains(permission) && by.may(*permission);
        if new.permissions.is_empty() || !new.permissions.iter().all(may_give) {
            return Err(Error::invalid("scope", "no more than the sign-in itself may"));
        }
        let store = &self.parts.store;
        let directory = store.directory(by.tenant).await?;
        refuse_too_many(&directory, *id, now).await?;
        let binding = ClientBinding {
            client_id: new.client_id.to_owned(),
            resource: new.resource.to_owned(),
            code: None,
        };
        let connector = ExpiringCredential {
            kind: CredentialKind::Connector,
            user,
            permissions: new.permissions,
            minted_by: Some(&by.key_id),
            root: Some(by.root()),
            page: None,
            name: new.name,
            lifetime: SignedDuration::from_hours(24 * CONNECTOR_DAYS),
            binding: Some(binding.clone()),
        };
        let actor: AuditActor = by.into();
        let connector = insert(store, &directory, &actor, connector, &random[0], now).await?.record;
        let code = CodeBinding {
            redirect_uri: new.redirect_uri.to_owned(),
            challenge: new.challenge.to_owned(),
        };
        let code = ExpiringCredential {
            kind: CredentialKind::Code,
            user,
            permissions: new.permissions,
            minted_by: Some(&connector.key_id),
            root: connector.root.as_deref(),
            page: None,
            name: new.name,
            lifetime: SignedDuration::from_secs(CODE_SECONDS),
            binding: Some(ClientBinding { code: Some(code), ..binding }),
        };
        let code = insert(store, &directory, &actor, code, &random[1], now).await?;
        let entry = new_credential_entry(AuditEvent::ConnectorCreate, actor, &connector);
        audit::append_to(&directory, &entry).await?;
        directory.commit().await?;
        Ok(code.text)
    }

    /// Exchanges an authorization code for the first tokens of its connector. A code that is not
    /// accepted is used up, and its connector ends with everything issued from it.
    pub async fn exchange_code(
        &self,
        exchange: CodeExchange<'_>,
        random: &[[u8; 32]; 2],
        now: Timestamp,
    ) -> Result<TokenAnswer> {
        let found = find(&self.parts.store, exchange.code, &[Prefix::Code]).await?;
        let Some((presented, stored)) = found else {
            return Ok(Err(TokenRefusal::InvalidGrant(Vec::new())));
        };
        let directory = self.parts.store.directory(stored.tenant).await?;
        let (id, hash) = (&presented.key_id, &presented.secret_hash);
        let spent = credential::spend(&directory, CredentialKind::Code, id, hash, now).await?;
        let accepted = spent.filter(|code| {
            let Some(binding) = &code.binding else { return false };
            let Some(code) = &binding.code else { return false };
            binding.client_id == exchange.client_id
                && binding.resource == exchange.resource
                && exchange.redirect_uri.is_none_or(|uri| uri == code.redirect_uri)
                && meets_challenge(exchange.verifier, &code.challenge)
        });
        match accepted {
            Some(code) => {
                issue(&self.parts.store, directory, &code, &code.permissions, random, now).await
            }
            None => end_connector(directory, &stored, now).await,
        }
    }

    /// Exchanges a refresh token for new tokens. One that is not accepted ends its connector; a
    /// request for a wider scope is refused without effect.
    pub async fn refresh(
        &self,
        refresh: TokenRefresh<'_>,
        random: &[[u8; 32]; 2],
        now: Timestamp,
    ) -> Result<TokenAnswer> {
        let found = find(&self.parts.store, refresh.token, &[Prefix::Refresh]).await?;
        let Some((presented, stored)) = found else {
            return Ok(Err(TokenRefusal::InvalidGrant(Vec::new())));
        };
        let directory = self.parts.store.directory(stored.tenant).await?;
        let is_for = stored.binding.as_ref().is_some_and(|binding| {
            binding.client_id == refresh.client_id && binding.resource == refresh.resource
        });
        if !is_for || !stored.is_live(now) {
            return end_connector(directory, &stored, now).await;
        }
        let permissions = refresh.permissions.unwrap_or(&stored.permissions);
        if !permissions.iter().all(|permission| stored.permissions.contains(permission)) {
            return Ok(Err(TokenRefusal::InvalidScope));
        }
        let (id, hash) = (&presented.key_id, &presented.secret_hash);
        match credential::spend(&directory, CredentialKind::Refresh, id, hash, now).await? {
            Some(spent) => {
                issue(&self.parts.store, directory, &spent, permissions, random, now).await
            }
            None => end_connector(directory, &stored, now).await,
        }
    }

    /// Revokes a token that its client gives up: of an access token only itself, of a refresh token
    /// the whole connector. Returns the ids of the ended credentials; none if the token is unknown
    /// or of another client.
    pub async fn revoke_token(
        &self,
        token: &str,
        client_id: &str,
        now: Timestamp,
    ) -> Result<Vec<String>> {
        let kinds = [Prefix::Access, Prefix::Refresh];
        let Some((_, stored)) = find(&self.parts.store, token, &kinds).await? else {
            return Ok(Vec::new());
        };
        if stored.binding.as_ref().is_none_or(|binding| binding.client_id != client_id) {
            return Ok(Vec::new());
        }
        let directory = self.parts.store.directory(stored.tenant).await?;
        let ended = match (stored.kind, &stored.minted_by) {
            (CredentialKind::Refresh, Some(connector)) => {
                let ended = credential::revoke(&directory, connector, now).await?;
                record_end(&directory, &stored, &ended, "client", now).await?;
                ended
            }
            _ => {
                let was_live = credential::end_one(&directory, &stored.key_id, now).await?;
                was_live.then_some(stored.key_id).into_iter().collect()
            }
        };
        directory.commit().await?;
        if !ended.is_empty() {
            wait_for_credential_leases().await;
        }
        Ok(ended)
    }
}

async fn refuse_too_many(directory: &Directory, user: UserId, now: Timestamp) -> Result<()> {
    if credential::count_connectors(directory, user, now).await? < MAX_CONNECTORS {
        return Ok(());
    }
    Err(Error::invalid("connectors", "too many connected assistants: disconnect one first"))
}

/// Finds the credential that a text presents, if it has one of these prefixes and is genuine. It
/// may have ended.
async fn find(
    store: &Store,
    text: &str,
    prefixes: &[Prefix],
) -> Result<Option<(PresentedCredential, Credential)>> {
    let Some(presented) = secret::parse(text).filter(|p| prefixes.contains(&p.prefix)) else {
        return Ok(None);
    };
    let stored = store.find_credential(&presented.key_id).await?;
    let stored = stored.filter(|stored| {
        stored.kind == crate::credentials::kind_of(presented.prefix)
            && secret::constant_time_eq(&stored.secret_hash, &presented.secret_hash)
    });
    Ok(stored.map(|stored| (presented, stored)))
}

/// Issues tokens for a code or refresh token that was used, if its connector is live.
async fn issue(
    store: &Store,
    directory: Directory,
    spent: &Credential,
    permissions: &[Permission],
    random: &[[u8; 32]; 2],
    now: Timestamp,
) -> Result<TokenAnswer> {
    let connector = match &spent.minted_by {
        // Its row is updated below: two transactions that share a lock on it would wait for each other.
        Some(id) => credential::get_for_update(&directory, id).await?,
        None => None,
    };
    let connector = connector
        .filter(|connector| connector.kind == CredentialKind::Connector && connector.is_live(now));
    let (Some(connector), Some(binding)) = (connector, &spent.binding) else {
        return end_connector(directory, spent, now).await;
    };
    let user = connector.user.as_ref().map(|(_, name)| name.as_str()).unwrap_or_default();
    let left = connector.expires_at.map_or(SignedDuration::ZERO, |end| end.duration_since(now));
    let lifetime = left.min(SignedDuration::from_secs(ACCESS_SECONDS));
    let new = |kind, permissions, lifetime| ExpiringCredential {
        kind,
        user,
        permissions,
        minted_by: Some(&connector.key_id),
        root: connector.root.as_deref(),
        page: None,
        name: &connector.name,
        lifetime,
        binding: Some(ClientBinding { code: None, ..binding.clone() }),
    };
    let access = new(CredentialKind::Access, permissions, lifetime);
    let lasting = left.min(SignedDuration::from_hours(24 * REFRESH_DAYS));
    let refresh = new(CredentialKind::Refresh, &connector.permissions, lasting);
    let by = AuditActor::new(connector.tenant, ActorKind::Connector, &connector.key_id);
    let inserted = async {
        let access = insert(store, &directory, &by, access, &random[0], now).await?;
        let refresh = insert(store, &directory, &by, refresh, &random[1], now).await?;
        Ok((access.text, refresh.text))
    };
    let (access, refresh) = match inserted.await {
        Ok(texts) => texts,
        Err(Error::UserNotFound) => return end_connector(directory, spent, now).await,
        Err(error) => return Err(error),
    };
    credential::note_use(&directory, &connector.key_id, now).await?;
    credential::prune_tokens(&directory, &connector.key_id, TOKENS_KEPT).await?;
    directory.commit().await?;
    let (permissions, seconds) = (permissions.to_vec(), lifetime.as_secs());
    Ok(Ok(IssuedTokens { access, refresh, permissions, seconds }))
}

/// Ends the connector of a code or token that was not accepted, with everything made from it.
async fn end_connector(
    directory: Directory,
    presented: &Credential,
    now: Timestamp,
) -> Result<TokenAnswer> {
    let id = presented.minted_by.as_deref().unwrap_or(&presented.key_id);
    let ended = credential::revoke(&directory, id, now).await?;
    record_end(&directory, presented, &ended, "misuse", now).await?;
    directory.commit().await?;
    if !ended.is_empty() {
        wait_for_credential_leases().await;
    }
    Ok(Err(TokenRefusal::InvalidGrant(ended)))
}

/// Records that a connector ended because of one of its tokens: its client gave it up, or it was
/// presented in a way that a client does not.
async fn record_end(
    directory: &Directory,
    presented: &Credential,
    ended: &[String],
    why: &str,
    now: Timestamp,
) -> Result<()> {
    if ended.is_empty() {
        return Ok(());
    }
    let connector = presented.minted_by.as_deref().unwrap_or(&presented.key_id);
    let actor = AuditActor::new(presented.tenant, ActorKind::Connector, connector);
    let mut entry = AuditEntry::done(AuditEvent::ConnectorEnd, actor, micros(now));
    entry.user = presented.user.as_ref().map(|(user, _)| *user);
    audit::append_to(directory, &entry.subject(connector).detail(why)).await?;
    Ok(())
}
