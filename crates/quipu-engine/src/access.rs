//! Who may come in: keys and tokens.
//!
//! A key is held by an application and bound to a tenant, and to one user if it says so. A token is
//! minted by a key for one person's browser, lives for minutes, and is the only credential that
//! speaks as a human. Only hashes of secrets are kept.

use jiff::SignedDuration;
use quipu_core::secret::{self, Prefix};
use quipu_core::{Caller, Origin, Permission, TenantId, Timestamp, UserId};
use quipu_store::credential::{self, Credential, CredentialKind};
use quipu_store::{Directory, directory};

use crate::Engine;
use crate::error::{Error, Result};

pub use quipu_store::credential::Credential as KeyRecord;

/// The longest a token may live, and how long it lives unless it says less.
pub const TOKEN_MINUTES: i64 = 15;

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

/// A credential as it is shown once, and never again.
pub struct Issued {
    pub text: String,
    pub record: KeyRecord,
}

/// Whom a live credential lets in.
#[derive(Debug, Clone)]
pub struct Admitted {
    pub tenant: TenantId,
    pub user: Option<(UserId, String)>,
    pub human: bool,
    pub key_id: String,
    pub permissions: Vec<Permission>,
    pub origin: Origin,
    pub expires_at: Option<Timestamp>,
}

impl Admitted {
    pub fn may(&self, permission: Permission) -> bool {
        self.permissions.contains(&permission)
    }

    /// The caller for a request about the user called `name`.
    pub fn caller(&self, name: &str) -> Caller {
        if self.human {
            return Caller::human(self.tenant, name, &self.key_id);
        }
        Caller::key(self.tenant, name, &self.key_id, self.origin)
    }
}

impl Engine {
    /// Checks a presented credential. Every reason for a no gives the same answer.
    pub async fn authenticate(&self, presented: &str, now: Timestamp) -> Result<Admitted> {
        let presented = secret::parse(presented).ok_or(Error::Unauthenticated)?;
        let kept =
            self.store.at_the_door(&presented.key_id).await?.ok_or(Error::Unauthenticated)?;
        if !same(&kept.secret_hash, &presented.secret_hash) || !kept.is_live(now) {
            return Err(Error::Unauthenticated);
        }
        if let Some((user, _)) = kept.user {
            let scope = self.store.read(kept.tenant, user).await?;
            if credential::user_is_gone(&scope, now).await? {
                return Err(Error::Unauthenticated);
            }
        }
        Ok(Admitted {
            tenant: kept.tenant,
            user: kept.user,
            human: kept.kind == CredentialKind::Token,
            key_id: kept.key_id,
            permissions: kept.permissions,
            origin: kept.origin,
            expires_at: kept.expires_at,
        })
    }

    /// Notes that a credential was used. Called now and then, not on every request.
    pub async fn note_use(&self, tenant: TenantId, key_id: &str, now: Timestamp) -> Result<()> {
        let directory = self.store.directory(tenant).await?;
        credential::note_use(&directory, key_id, now).await?;
        Ok(directory.commit().await?)
    }

    /// Makes sure a tenant is there, by its name.
    pub async fn ensure_tenant(&self, name: &str, now: Timestamp) -> Result<TenantId> {
        let tenant = TenantId::named(name);
        let directory = self.store.directory(tenant).await?;
        directory::ensure_tenant(&directory, name, now).await?;
        directory.commit().await?;
        Ok(tenant)
    }

    pub async fn create_key(
        &self,
        tenant: TenantId,
        new: NewKey,
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<Issued> {
        if new.permissions.is_empty() {
            return Err(Error::invalid("permissions", "at least one"));
        }
        check_name("name", &new.name)?;
        let bound = new.user.map(|name| (UserId::named(tenant, &name), name));
        if let Some((_, name)) = &bound {
            check_name("user", name)?;
            // What is bound to one user must not reach the tenant's other users.
            if new.permissions.contains(&Permission::Admin) {
                return Err(Error::invalid("permissions", "a key for one user cannot be admin"));
            }
        }
        let (text, kept) = secret::print(Prefix::Key, random);
        let record = Credential {
            key_id: kept.key_id,
            tenant,
            user: bound,
            kind: CredentialKind::Key,
            name: new.name,
            secret_hash: kept.secret_hash.to_vec(),
            permissions: new.permissions,
            origin: new.origin,
            minted_by: None,
            created_at: now,
            expires_at: new.expires_at,
            revoked_at: None,
            last_used_at: None,
        };
        let directory = self.store.directory(tenant).await?;
        if let Some((id, _)) = &record.user {
            refuse_the_gone(&directory, *id, now).await?;
        }
        credential::insert(&directory, &record).await?;
        directory.commit().await?;
        Ok(Issued { text, record })
    }

    /// Mints a token that speaks as the user called `user`, with no more than the key itself may.
    pub async fn mint_token(
        &self,
        by: &Admitted,
        user: &str,
        permissions: &[Permission],
        minutes: i64,
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<Issued> {
        if !(1..=TOKEN_MINUTES).contains(&minutes) {
            return Err(Error::invalid("minutes", "between 1 and 15"));
        }
        check_name("user", user)?;
        let allowed: Vec<Permission> =
            permissions.iter().copied().filter(|p| by.may(*p) && *p != Permission::Admin).collect();
        if allowed.len() != permissions.len() || allowed.is_empty() {
            return Err(Error::invalid(
                "permissions",
                "no more than the key itself may, never admin",
            ));
        }
        let id = UserId::named(by.tenant, user);
        let (text, kept) = secret::print(Prefix::Token, random);
        let record = Credential {
            key_id: kept.key_id,
            tenant: by.tenant,
            user: Some((id, user.to_owned())),
            kind: CredentialKind::Token,
            name: format!("token for a browser, minted by {}", by.key_id),
            secret_hash: kept.secret_hash.to_vec(),
            permissions: allowed,
            origin: Origin::UserSaid,
            minted_by: Some(by.key_id.clone()),
            created_at: now,
            expires_at: Some(now + SignedDuration::from_mins(minutes)),
            revoked_at: None,
            last_used_at: None,
        };
        let directory = self.store.directory(by.tenant).await?;
        refuse_the_gone(&directory, id, now).await?;
        credential::insert(&directory, &record).await?;
        directory.commit().await?;
        Ok(Issued { text, record })
    }

    pub async fn keys(&self, tenant: TenantId) -> Result<Vec<KeyRecord>> {
        let directory = self.store.directory(tenant).await?;
        Ok(credential::keys(&directory).await?)
    }

    /// Revokes a key and the tokens it minted; says which credentials that were.
    pub async fn revoke(
        &self,
        tenant: TenantId,
        key_id: &str,
        now: Timestamp,
    ) -> Result<Vec<String>> {
        let directory = self.store.directory(tenant).await?;
        let revoked = credential::revoke(&directory, key_id, now).await?;
        if revoked.is_empty() {
            return Err(Error::KeyNotFound);
        }
        directory.commit().await?;
        Ok(revoked)
    }
}

/// No credential is made for a user who has been deleted: it would come alive with the next one of
/// that name.
async fn refuse_the_gone(list: &Directory, id: UserId, now: Timestamp) -> Result<()> {
    match directory::find_user(list, id).await? {
        Some(user) if user.is_gone(now) => Err(Error::UserNotFound),
        _ => Ok(()),
    }
}

/// A name that a person chose: not blank, not endless, without control characters.
pub(crate) fn check_name(field: &'static str, name: &str) -> Result<()> {
    let long = name.chars().count() > quipu_core::limits::NAME_CHARS;
    if name.trim().is_empty() || long || name.chars().any(char::is_control) {
        return Err(Error::invalid(field, "1 to 255 characters, none of them a control character"));
    }
    Ok(())
}

/// Compares without stopping at the first difference, so that time tells nothing.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |different, (x, y)| different | (x ^ y)) == 0
}
