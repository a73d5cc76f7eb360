//! Sign-ins to the console, and the links they are made with: made here, authenticated with the
//! other credentials. Each of them, and its end, is in the audit log.

use jiff::SignedDuration;
use lukasa_core::audit::{ActorKind, AuditActor, AuditEntry, AuditEvent};
use lukasa_core::oidc::VerifiedIdentity;
use lukasa_core::time::micros;
use lukasa_core::{Permission, TenantId, Timestamp, UserId, secret};
use lukasa_store::credential::{self, Credential, CredentialKind};
use lukasa_store::{Directory, audit};

use crate::credentials::{
    Credentials, ExpiringCredential, IssuedCredential, KeyRecord, LINK_MINUTES,
    PROVIDER_SIGN_IN_HOURS, SIGN_INS_LISTED, VerifiedCredential, end_event, insert,
    new_credential_entry, wait_for_credential_leases,
};
use crate::error::{Error, Result};

/// What a user may do who is signed in to the console.
pub const USER_PERMISSIONS: [Permission; 5] =
    [Permission::Read, Permission::Write, Permission::Propose, Permission::Erase, Permission::Chat];

impl Credentials {
    /// Creates a single-use sign-in link for the user named `user`, with these permissions. It is
    /// created with a credential, or by an operator on the command line.
    pub async fn make_link(
        &self,
        tenant: TenantId,
        by: Option<&VerifiedCredential>,
        user: &str,
        permissions: &[Permission],
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<IssuedCredential> {
        let new_credential = ExpiringCredential {
            kind: CredentialKind::Link,
            user,
            permissions,
            minted_by: by.map(|by| by.key_id.as_str()),
            root: by.map(VerifiedCredential::root),
            page: None,
            name: "link to sign in with",
            lifetime: SignedDuration::from_mins(LINK_MINUTES),
            binding: None,
        };
        let directory = self.parts.store.directory(tenant).await?;
        let actor = by.map_or_else(|| tenant.into(), AuditActor::from);
        let store = &self.parts.store;
        let issued = insert(store, &directory, &actor, new_credential, random, now).await?;
        let entry = new_credential_entry(AuditEvent::LinkCreate, actor, &issued.record);
        audit::append_to(&directory, &entry).await?;
        directory.commit().await?;
        Ok(issued)
    }

    /// Signs in the user named `user`, authorised by a credential that may mint tokens. A sign-in
    /// that switches to another user transfers its authorisation and expiry to the new one, then ends.
    pub async fn sign_in(
        &self,
        by: &VerifiedCredential,
        user: &str,
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<IssuedCredential> {
        let authorised_by =
            if by.signed_in { by.minted_by.as_deref() } else { Some(by.key_id.as_str()) };
        // A sign-in made from another one ends with it, unless it replaced it.
        let root = if by.signed_in { by.root.as_deref() } else { Some(by.root()) };
        let mut new_credential =
            ExpiringCredential::sign_in(user, &by.permissions, authorised_by, root);
        if let (true, Some(until)) = (by.signed_in, by.expires_at) {
            new_credential.lifetime = new_credential.lifetime.min(until.duration_since(now));
        }
        let directory = self.parts.store.directory(by.tenant).await?;
        if by.signed_in {
            // It ends below, so it can be replaced only once.
            let own = credential::get_for_update(&directory, &by.key_id).await?;
            own.filter(|own| own.is_live(now)).ok_or(Error::Unauthenticated)?;
        }
        let actor: AuditActor = by.into();
        let store = &self.parts.store;
        let issued = insert(store, &directory, &actor, new_credential, random, now).await?;
        if by.signed_in {
            credential::end_one(&directory, &by.key_id, now).await?;
        }
        let entry = new_credential_entry(AuditEvent::SignIn, actor, &issued.record);
        audit::append_to(&directory, &entry).await?;
        directory.commit().await?;
        Ok(issued)
    }

    /// Exchanges an unused link for a sign-in. Both happen in one transaction, so a used link
    /// always has its sign-in.
    pub async fn follow_link(
        &self,
        presented: &str,
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<IssuedCredential> {
        let refused = || Error::Unauthenticated;
        let presented = secret::parse(presented).ok_or_else(refused)?;
        let stored =
            self.parts.store.find_credential(&presented.key_id).await?.ok_or_else(refused)?;
        let directory = self.parts.store.directory(stored.tenant).await?;
        let hash = &presented.secret_hash;
        let link =
            credential::spend(&directory, CredentialKind::Link, &presented.key_id, hash, now)
                .await?;
        let Some(link) = link else {
            let is_genuine = stored.kind == CredentialKind::Link
                && secret::constant_time_eq(&stored.secret_hash, hash);
            if is_genuine {
                record_refused_link(directory, &stored, now).await?;
            }
            return Err(Error::Unauthenticated);
        };
        let (_, user) = link.user.ok_or_else(refused)?;
        let (by, root) = (link.minted_by.as_deref(), link.root.as_deref());
        let new_credential = ExpiringCredential::sign_in(&user, &link.permissions, by, root);
        let actor = AuditActor::new(link.tenant, ActorKind::Link, &link.key_id);
        let store = &self.parts.store;
        let issued = insert(store, &directory, &actor, new_credential, random, now).await?;
        let entry = new_credential_entry(AuditEvent::SignIn, actor, &issued.record);
        audit::append_to(&directory, &entry).await?;
        directory.commit().await?;
        Ok(issued)
    }

    /// Signs in a user whom the identity provider identified.
    pub async fn sign_in_verified(
        &self,
        tenant: TenantId,
        identity: &VerifiedIdentity,
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<IssuedCredential> {
        let mut permissions = USER_PERMISSIONS.to_vec();
        if identity.admin {
            permissions.push(Permission::Admin);
        }
        let new_credential = ExpiringCredential {
            name: "signed in with the identity provider",
            lifetime: SignedDuration::from_hours(PROVIDER_SIGN_IN_HOURS),
            ..ExpiringCredential::sign_in(&identity.user, &permissions, None, None)
        };
        let directory = self.parts.store.directory(tenant).await?;
        let (store, by) = (&self.parts.store, provider(tenant));
        let issued = insert(store, &directory, &by, new_credential, random, now).await?;
        let entry = new_credential_entry(AuditEvent::SignIn, by, &issued.record);
        audit::append_to(&directory, &entry).await?;
        directory.commit().await?;
        Ok(issued)
    }

    /// Records that a token which the identity provider signed was refused, and why.
    pub async fn record_refused_provider(
        &self,
        tenant: TenantId,
        reason: &str,
        now: Timestamp,
    ) -> Result<()> {
        let entry = AuditEntry::done(AuditEvent::SignIn, provider(tenant), micros(now));
        let directory = self.parts.store.directory(tenant).await?;
        audit::append_to(&directory, &entry.refused().detail(reason)).await?;
        Ok(directory.commit().await?)
    }

    /// The live tokens, links, sign-ins and connectors of a tenant, or of one of its users, the latest first.
    pub async fn sign_ins(
        &self,
        tenant: TenantId,
        user: Option<UserId>,
        now: Timestamp,
    ) -> Result<Vec<KeyRecord>> {
        let directory = self.parts.store.directory(tenant).await?;
        Ok(credential::sign_ins(&directory, user, None, now, SIGN_INS_LISTED as i64).await?)
    }

    /// Ends live tokens, links, sign-ins and connectors, and everything made from them: the one with this id,
    /// or all; of one user, or of the whole tenant. Returns the ids of the ended credentials.
    pub async fn end_sign_ins(
        &self,
        by: &AuditActor,
        user: Option<UserId>,
        id: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<String>> {
        let directory = self.parts.store.directory(by.tenant).await?;
        let (mut ended, mut listed) = (Vec::new(), Vec::new());
        loop {
            let limit = SIGN_INS_LISTED as i64;
            let live = credential::sign_ins(&directory, user, id, now, limit).await?;
            let before = ended.len();
            for one in live {
                ended.extend(credential::revoke(&directory, &one.key_id, now).await?);
                listed.push(one);
            }
            if ended.len() == before || id.is_some() {
                break;
            }
        }
        if ended.is_empty() && id.is_some() {
            return Err(Error::KeyNotFound);
        }
        for one in &listed {
            audit::append_to(&directory, &end_entry(by.clone(), one, now)).await?;
        }
        directory.commit().await?;
        if !ended.is_empty() {
            wait_for_credential_leases().await;
        }
        Ok(ended)
    }

    /// Signs out: ends this sign-in, but nothing that was made with it.
    pub async fn sign_out(&self, by: &VerifiedCredential, now: Timestamp) -> Result<()> {
        let directory = self.parts.store.directory(by.tenant).await?;
        if credential::end_one(&directory, &by.key_id, now).await? {
            let mut entry = AuditEntry::done(AuditEvent::SignInEnd, by.into(), micros(now));
            entry.user = by.user.as_ref().map(|(user, _)| *user);
            let entry = entry.subject(&by.key_id).detail("sign_out");
            audit::append_to(&directory, &entry).await?;
        }
        directory.commit().await?;
        wait_for_credential_leases().await;
        Ok(())
    }
}

/// The identity provider, for the audit log.
fn provider(tenant: TenantId) -> AuditActor {
    AuditActor::new(tenant, ActorKind::Provider, "oidc")
}

/// The record of the end of a credential.
fn end_entry(by: AuditActor, ended: &Credential, now: Timestamp) -> AuditEntry {
    let mut entry = AuditEntry::done(end_event(ended.kind), by, micros(now));
    entry.user = ended.user.as_ref().map(|(user, _)| *user);
    entry.subject(&ended.key_id).detail(ended.kind.as_str())
}

/// Records that a link was presented that is used, expired or revoked. Only the holder of its secret
/// causes a record.
async fn record_refused_link(
    directory: Directory,
    link: &Credential,
    now: Timestamp,
) -> Result<()> {
    let actor = AuditActor::new(link.tenant, ActorKind::Link, &link.key_id);
    let mut entry = AuditEntry::done(AuditEvent::SignIn, actor, micros(now)).refused();
    entry.user = link.user.as_ref().map(|(user, _)| *user);
    let why = if link.revoked_at.is_some() { "used" } else { "expired" };
    audit::append_to(&directory, &entry.subject(&link.key_id).detail(why)).await?;
    Ok(directory.commit().await?)
}
