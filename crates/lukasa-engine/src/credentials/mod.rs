//! Credentials: keys, tokens, links and sign-ins. Those of OAuth are made in [`crate::oauth`], and
//! checked and ended here like the others.
//!
//! A key is held by an application and bound to a tenant, and optionally to one user. A token is
//! minted by a key for one user's browser and lives for minutes. Signing in to the console, with a
//! key that may mint tokens or with a link that works once, yields a sign-in that lives for days.
//! Tokens and sign-ins are the only credentials that act as a human. Only hashes of secrets are
//! stored.

mod guards;
pub mod rotation;
pub mod sign_ins;

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use lukasa_core::audit::{ActorKind, AuditActor, AuditEntry, AuditEvent};
use lukasa_core::secret::{self, Prefix};
use lukasa_core::time::micros;
use lukasa_core::{Caller, Origin, Permission, TenantId, Timestamp, UserId};
use lukasa_store::credential::{self, ClientBinding, Credential, CredentialKind};
use lukasa_store::{ConnectOptions, Directory, Store, audit, cell_admin, directory};
use ring::hmac;

use self::guards::{refuse_deleted_user, refuse_ended};
use crate::error::{Error, Result};
use crate::parts::Parts;
use crate::transaction::Transactions;

pub use lukasa_store::credential::{Credential as KeyRecord, CredentialKind as RecordKind};

/// How long a server may admit a credential again without asking the database. Revoking one takes
/// at least as long, so that every server refuses it once the revocation is acknowledged.
pub const CREDENTIAL_LEASE: Duration = Duration::from_secs(1);
/// Maximum and default lifetime of a token.
pub const TOKEN_MINUTES: i64 = 15;
/// Lifetime of an unused sign-in link.
pub const LINK_MINUTES: i64 = 15;
/// Lifetime of a console sign-in.
const SIGN_IN_DAYS: i64 = 14;
/// Lifetime of a console sign-in with an identity provider, which decides again after it.
pub(crate) const PROVIDER_SIGN_IN_HOURS: i64 = 12;

/// The names of all tenants, for an operator who has to choose one.
pub async fn tenant_names(directory: &ConnectOptions) -> Result<Vec<String>> {
    Ok(cell_admin::tenant_names(directory).await?)
}

/// A key to be made.
#[derive(Debug, Clone)]
pub struct NewKey {
    pub name: String,
    /// The one user it is for, by the tenant's name; absent for all of the tenant's users.
    pub user: Option<String>,
    pub permissions: Vec<Permission>,
    /// The most trusted origin its writes may carry.
    pub origin: Origin,
    pub expires_at: Option<Timestamp>,
}

/// A token to be minted.
#[derive(Debug, Clone, Copy)]
pub struct NewToken<'t> {
    pub user: &'t str,
    pub permissions: &'t [Permission],
    pub minutes: i64,
    /// The one page it may be used from, as browsers name it; absent for any.
    pub page: Option<&'t str>,
}

/// Maximum number of sign-ins in a listing.
pub const SIGN_INS_LISTED: usize = 1_000;
/// Expired credentials removed by one statement.
const SWEEP_BATCH: usize = 5_000;

/// A credential with an expiry, to be created.
pub(crate) struct ExpiringCredential<'p> {
    pub(crate) kind: CredentialKind,
    pub(crate) user: &'p str,
    pub(crate) permissions: &'p [Permission],
    pub(crate) minted_by: Option<&'p str>,
    /// The first credential of the chain that leads to this one.
    pub(crate) root: Option<&'p str>,
    pub(crate) page: Option<&'p str>,
    pub(crate) name: &'p str,
    pub(crate) lifetime: SignedDuration,
    /// Present for the kinds of OAuth, which are held by assistants.
    pub(crate) binding: Option<ClientBinding>,
}

impl<'p> ExpiringCredential<'p> {
    pub(crate) fn sign_in(
        user: &'p str,
        permissions: &'p [Permission],
        minted_by: Option<&'p str>,
        root: Option<&'p str>,
    ) -> Self {
        Self {
            kind: CredentialKind::SignIn,
            user,
            permissions,
            minted_by,
            root,
            page: None,
            name: "signed in to the console",
            lifetime: SignedDuration::from_hours(24 * SIGN_IN_DAYS),
            binding: None,
        }
    }
}

pub(crate) fn kind_of(prefix: Prefix) -> CredentialKind {
    match prefix {
        Prefix::Key => CredentialKind::Key,
        Prefix::Token => CredentialKind::Token,
        Prefix::Link => CredentialKind::Link,
        Prefix::SignIn => CredentialKind::SignIn,
        Prefix::Code => CredentialKind::Code,
        Prefix::Access => CredentialKind::Access,
        Prefix::Refresh => CredentialKind::Refresh,
    }
}

fn prefix_of(kind: CredentialKind) -> Prefix {
    match kind {
        CredentialKind::Key => Prefix::Key,
        CredentialKind::Token => Prefix::Token,
        CredentialKind::Link => Prefix::Link,
        CredentialKind::SignIn => Prefix::SignIn,
        CredentialKind::Code => Prefix::Code,
        CredentialKind::Access => Prefix::Access,
        // The secret of a connector itself is never printed.
        CredentialKind::Refresh | CredentialKind::Connector => Prefix::Refresh,
    }
}

/// A new credential with its secret text, which is shown only this once.
pub struct IssuedCredential {
    pub text: String,
    pub record: KeyRecord,
}

/// The identity and rights of an authenticated credential.
#[derive(Debug, Clone)]
pub struct VerifiedCredential {
    pub tenant: TenantId,
    pub user: Option<(UserId, String)>,
    pub human: bool,
    /// Whether it is a console sign-in.
    pub signed_in: bool,
    /// The one page its requests may come from.
    pub page: Option<String>,
    /// The one address its requests may be sent to; for access tokens of connectors.
    pub resource: Option<String>,
    /// The credential's id; of an access token that of its connector.
    pub key_id: String,
    /// The credential that authorised its creation.
    pub minted_by: Option<String>,
    /// The first credential of the chain it was made from.
    pub root: Option<String>,
    pub permissions: Vec<Permission>,
    pub origin: Origin,
    pub expires_at: Option<Timestamp>,
}

impl VerifiedCredential {
    pub fn may(&self, permission: Permission) -> bool {
        self.permissions.contains(&permission)
    }

    /// The credential whose revocation also ends everything made with this one.
    pub(crate) fn root(&self) -> &str {
        self.root.as_deref().unwrap_or(&self.key_id)
    }

    /// The caller for a request about the user called `name`.
    pub fn caller(&self, name: &str) -> Caller {
        if !self.human {
            return Caller::key(self.tenant, name, &self.key_id, self.origin);
        }
        let issuer = self.minted_by.clone().filter(|_| !self.signed_in);
        Caller { issuer, ..Caller::human(self.tenant, name, &self.key_id) }
    }
}

/// Who uses the credential, for the audit log.
impl From<&VerifiedCredential> for AuditActor {
    fn from(admitted: &VerifiedCredential) -> Self {
        let kind = match admitted {
            _ if admitted.key_id == "local" => ActorKind::Local,
            VerifiedCredential { human: true, .. } => ActorKind::Human,
            VerifiedCredential { resource: Some(_), .. } => ActorKind::Connector,
            _ => ActorKind::Key,
        };
        Self::new(admitted.tenant, kind, &admitted.key_id)
    }
}

/// Keys, sign-ins and links.
#[derive(Clone)]
pub struct Credentials {
    pub(crate) parts: Arc<Parts>,
    transactions: Transactions,
}

impl Credentials {
    pub(crate) fn new(parts: Arc<Parts>, transactions: Transactions) -> Self {
        Self { parts, transactions }
    }

    /// Checks a presented credential. Every reason for refusal gives the same error.
    pub async fn authenticate(
        &self,
        presented: &str,
        now: Timestamp,
    ) -> Result<VerifiedCredential> {
        let presented = secret::parse(presented).ok_or(Error::Unauthenticated)?;
        let stored = self
            .parts
            .store
            .find_credential(&presented.key_id)
            .await?
            .ok_or(Error::Unauthenticated)?;
        let has_kind_of_prefix = stored.kind == kind_of(presented.prefix);
        // The others do not authenticate requests: they can only be exchanged.
        let admits = has_kind_of_prefix
            && matches!(
                stored.kind,
                CredentialKind::Key
                    | CredentialKind::Token
                    | CredentialKind::SignIn
                    | CredentialKind::Access
            );
        if !admits
            || !secret::constant_time_eq(&stored.secret_hash, &presented.secret_hash)
            || !stored.is_live(now)
        {
            return Err(Error::Unauthenticated);
        }
        if let Some((user, _)) = stored.user {
            let scope = self.parts.store.read(stored.tenant, user).await?;
            if credential::user_is_gone(&scope, now).await? {
                return Err(Error::Unauthenticated);
            }
        }
        let connector = match (stored.kind, &stored.minted_by) {
            (CredentialKind::Access, Some(id)) => Some(self.live_connector(id, now).await?),
            (CredentialKind::Access, None) => return Err(Error::Unauthenticated),
            _ => None,
        };
        Ok(VerifiedCredential {
            tenant: stored.tenant,
            user: stored.user,
            human: matches!(stored.kind, CredentialKind::Token | CredentialKind::SignIn),
            signed_in: stored.kind == CredentialKind::SignIn,
            page: stored.page,
            resource: stored.binding.map(|binding| binding.resource),
            key_id: connector.unwrap_or(stored.key_id),
            minted_by: stored.minted_by,
            root: stored.root,
            permissions: stored.permissions,
            origin: stored.origin,
            expires_at: stored.expires_at,
        })
    }

    /// The id of a connector, if it has not ended. A token that was issued while its connector was
    /// being revoked is refused by this.
    async fn live_connector(&self, id: &str, now: Timestamp) -> Result<String> {
        let connector = self.parts.store.find_credential(id).await?;
        let live = connector.filter(|connector| connector.is_live(now));
        live.map(|connector| connector.key_id).ok_or(Error::Unauthenticated)
    }

    /// A message authentication code for a text, made with this installation's key, to recognise
    /// the text when a client sends it back.
    pub async fn seal(&self, text: &str) -> Result<String> {
        Ok(print_seal(&self.parts.store.signing_seeds().await?.current, text))
    }

    /// The codes of a text by every key of this installation that is still accepted: a client may send
    /// back one from before a rotation.
    pub async fn accepted_seals(&self, text: &str) -> Result<Vec<String>> {
        let seeds = self.parts.store.signing_seeds().await?;
        Ok(seeds.accepted().map(|seed| print_seal(seed, text)).collect())
    }

    /// Records that a credential was used. Called occasionally, not on every request.
    pub async fn note_use(&self, tenant: TenantId, key_id: &str, now: Timestamp) -> Result<()> {
        let directory = self.parts.store.directory(tenant).await?;
        credential::note_use(&directory, key_id, now).await?;
        Ok(directory.commit().await?)
    }

    /// Creates the tenant with this name if it does not exist.
    pub async fn ensure_tenant(&self, name: &str, now: Timestamp) -> Result<TenantId> {
        let tenant = TenantId::named(name);
        let directory = self.parts.store.directory(tenant).await?;
        directory::ensure_tenant(&directory, name, now).await?;
        directory.commit().await?;
        Ok(tenant)
    }

    /// Creates a key, by a credential or, for a tenant alone, by its operator.
    pub async fn create_key(
        &self,
        by: impl Into<AuditActor>,
        new: NewKey,
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<IssuedCredential> {
        let by: AuditActor = by.into();
        let tenant = by.tenant;
        if new.permissions.is_empty() {
            return Err(Error::invalid("permissions", "at least one"));
        }
        check_name("name", &new.name)?;
        let bound = new.user.map(|name| (UserId::named(tenant, &name), name));
        if let Some((_, name)) = &bound {
            check_name("user", name)?;
            // A key bound to one user must not reach the tenant's other users.
            if new.permissions.contains(&Permission::Admin) {
                return Err(Error::invalid("permissions", "a key for one user cannot be admin"));
            }
        }
        let (text, stored) = secret::print(Prefix::Key, random);
        let record = Credential {
            key_id: stored.key_id,
            tenant,
            user: bound,
            kind: CredentialKind::Key,
            name: new.name,
            secret_hash: stored.secret_hash.to_vec(),
            permissions: new.permissions,
            origin: new.origin,
            minted_by: None,
            root: None,
            page: None,
            binding: None,
            created_at: now,
            expires_at: new.expires_at,
            revoked_at: None,
            last_used_at: None,
            replaced_by: None,
        };
        let directory = self.parts.store.directory(tenant).await?;
        refuse_ended(&directory, &by, now).await?;
        if let Some((id, _)) = &record.user {
            refuse_deleted_user(&self.parts.store, &directory, *id, now).await?;
        }
        credential::insert(&directory, &record).await?;
        let entry = new_credential_entry(AuditEvent::KeyCreate, by, &record);
        audit::append_to(&directory, &entry).await?;
        directory.commit().await?;
        Ok(IssuedCredential { text, record })
    }

    /// Mints a token that acts as the user named `user`, with no more permissions than the key
    /// itself has. It may be bound to one page.
    pub async fn mint_token(
        &self,
        by: &VerifiedCredential,
        new: NewToken<'_>,
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<IssuedCredential> {
        if !(1..=TOKEN_MINUTES).contains(&new.minutes) {
            return Err(Error::invalid("minutes", "between 1 and 15"));
        }
        let personal = |p: &Permission| by.may(*p) && *p != Permission::Admin;
        if !new.permissions.iter().all(personal) || new.permissions.is_empty() {
            return Err(Error::invalid(
                "permissions",
                "no more than the key itself may, never admin",
            ));
        }
        let name = format!("token for a browser, minted by {}", by.key_id);
        let new_credential = ExpiringCredential {
            kind: CredentialKind::Token,
            user: new.user,
            permissions: new.permissions,
            minted_by: Some(&by.key_id),
            root: Some(by.root()),
            page: new.page,
            name: &name,
            lifetime: SignedDuration::from_mins(new.minutes),
            binding: None,
        };
        let directory = self.parts.store.directory(by.tenant).await?;
        let store = &self.parts.store;
        let issued = insert(store, &directory, &by.into(), new_credential, random, now).await?;
        directory.commit().await?;
        Ok(issued)
    }

    /// Checks that the caller's user has not been deleted.
    pub async fn check_user_not_deleted(&self, caller: &Caller, now: Timestamp) -> Result<()> {
        self.transactions.read(caller, now).await.map(drop)
    }

    pub async fn keys(&self, tenant: TenantId) -> Result<Vec<KeyRecord>> {
        let directory = self.parts.store.directory(tenant).await?;
        Ok(credential::keys(&directory).await?)
    }

    /// Revokes a credential and everything made from it; returns the ids of the revoked
    /// credentials.
    pub async fn revoke(
        &self,
        by: impl Into<AuditActor>,
        key_id: &str,
        now: Timestamp,
    ) -> Result<Vec<String>> {
        let by: AuditActor = by.into();
        let directory = self.parts.store.directory(by.tenant).await?;
        let revoked = credential::revoke(&directory, key_id, now).await?;
        if revoked.is_empty() {
            return Err(Error::KeyNotFound);
        }
        let record = credential::get(&directory, key_id).await?;
        let user = record.as_ref().and_then(|record| record.user.as_ref()).map(|(id, _)| *id);
        let kind = record.map_or(CredentialKind::Key, |record| record.kind);
        let mut entry = AuditEntry::done(end_event(kind), by, micros(now)).subject(key_id);
        entry.user = user;
        let entry = entry.detail(&format!("ended={}", revoked.len()));
        audit::append_to(&directory, &entry).await?;
        directory.commit().await?;
        wait_for_credential_leases().await;
        Ok(revoked)
    }

    /// Removes the credentials of all tenants, other than keys, that ended more than a day ago;
    /// returns how many.
    pub async fn sweep_credentials(&self) -> Result<usize> {
        let mut removed = 0;
        loop {
            let batch = self.parts.store.sweep_credentials(SWEEP_BATCH as i64).await?;
            removed += batch;
            if batch < SWEEP_BATCH {
                return Ok(removed);
            }
        }
    }
}

fn print_seal(seed: &[u8], text: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, seed);
    let code = hmac::sign(&key, format!("seal\n{text}").as_bytes());
    hex::encode(code.as_ref())
}

/// The record of the end of a credential of this kind.
pub(crate) fn end_event(kind: CredentialKind) -> AuditEvent {
    match kind {
        CredentialKind::Key => AuditEvent::KeyRevoke,
        CredentialKind::Connector
        | CredentialKind::Code
        | CredentialKind::Access
        | CredentialKind::Refresh => AuditEvent::ConnectorEnd,
        CredentialKind::Token | CredentialKind::Link | CredentialKind::SignIn => {
            AuditEvent::SignInEnd
        }
    }
}

/// The record of a new credential: its id, its user and its permissions.
pub(crate) fn new_credential_entry(
    event: AuditEvent,
    by: AuditActor,
    new: &Credential,
) -> AuditEntry {
    let permissions: Vec<&str> = new.permissions.iter().map(|p| p.as_str()).collect();
    let entry = AuditEntry::done(event, by, micros(new.created_at)).subject(&new.key_id);
    let entry = entry.detail(&permissions.join(","));
    match &new.user {
        Some((user, _)) => entry.about(*user),
        None => entry,
    }
}

/// Waits until cached credentials have expired on every server, so that an ended credential is
/// refused everywhere once its end is acknowledged.
pub(crate) async fn wait_for_credential_leases() {
    tokio::time::sleep(CREDENTIAL_LEASE + Duration::from_millis(50)).await;
}

/// Inserts a credential with an expiry, for one user. It is refused if the credential that `by` names
/// has ended.
pub(crate) async fn insert(
    store: &Store,
    directory: &Directory,
    by: &AuditActor,
    new: ExpiringCredential<'_>,
    random: &[u8; 32],
    now: Timestamp,
) -> Result<IssuedCredential> {
    check_name("user", new.user)?;
    let id = UserId::named(directory.tenant(), new.user);
    let (text, stored) = secret::print(prefix_of(new.kind), random);
    let record = Credential {
        key_id: stored.key_id,
        tenant: directory.tenant(),
        user: Some((id, new.user.to_owned())),
        kind: new.kind,
        name: new.name.to_owned(),
        secret_hash: stored.secret_hash.to_vec(),
        permissions: new.permissions.to_vec(),
        origin: if new.binding.is_some() { Origin::Assistant } else { Origin::UserSaid },
        minted_by: new.minted_by.map(str::to_owned),
        root: new.root.map(str::to_owned),
        page: new.page.map(str::to_owned),
        binding: new.binding,
        created_at: now,
        expires_at: Some(now + new.lifetime),
        revoked_at: None,
        last_used_at: None,
        replaced_by: None,
    };
    refuse_ended(directory, by, now).await?;
    refuse_deleted_user(store, directory, id, now).await?;
    credential::insert(directory, &record).await?;
    Ok(IssuedCredential { text, record })
}

/// Checks a user-chosen name: not blank, not too long, without control characters.
pub(crate) fn check_name(field: &'static str, name: &str) -> Result<()> {
    let long = name.chars().count() > lukasa_core::limits::NAME_CHARS;
    if name.trim().is_empty() || long || name.chars().any(char::is_control) {
        return Err(Error::invalid(field, "1 to 255 characters, none of them a control character"));
    }
    Ok(())
}
