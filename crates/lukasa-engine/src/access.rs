//! Who may come in: keys and tokens.
//!
//! A key is held by an application and bound to a tenant, and to one user if it says so. A token is
//! minted by a key for one person's browser and lives for minutes. Whoever signs in to the console, by
//! a key that may mint tokens or by a link that works once, holds a sign-in for days. Tokens and
//! sign-ins are the only credentials that speak as a human. Only hashes of secrets are kept.

use std::time::Duration;

use jiff::SignedDuration;
use lukasa_core::secret::{self, Prefix};
use lukasa_core::{Caller, Origin, Permission, TenantId, Timestamp, UserId};
use lukasa_store::credential::{self, Credential, CredentialKind};
use lukasa_store::{Directory, directory};
use ring::hmac;

use crate::Engine;
use crate::error::{Error, Result};

pub use lukasa_store::credential::{Credential as KeyRecord, CredentialKind as RecordKind};

/// For how long a server may admit a credential again without asking the database. Ending one takes at
/// least as long, so that it is refused by every server once its end is acknowledged.
pub const ADMISSION_LEASE: Duration = Duration::from_secs(1);
/// The longest a token may live, and how long it lives unless it says less.
pub const TOKEN_MINUTES: i64 = 15;
/// For how long a link waits for the one who follows it.
pub const LINK_MINUTES: i64 = 15;
/// For how long somebody stays signed in.
pub const SIGN_IN_DAYS: i64 = 14;

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

/// How many sign-ins are listed.
pub const SIGN_INS_LISTED: usize = 1_000;
/// How many expired credentials are removed by one statement.
const SWEEP_BATCH: usize = 5_000;

/// A credential that ends by itself, to be made.
struct Passing<'p> {
    kind: CredentialKind,
    user: &'p str,
    permissions: &'p [Permission],
    minted_by: Option<&'p str>,
    /// The first credential of the chain that leads to this one.
    root: Option<&'p str>,
    page: Option<&'p str>,
    name: &'p str,
    lasts: SignedDuration,
}

impl<'p> Passing<'p> {
    fn sign_in(
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
            lasts: SignedDuration::from_hours(24 * SIGN_IN_DAYS),
        }
    }
}

fn kind_of(prefix: Prefix) -> CredentialKind {
    match prefix {
        Prefix::Key => CredentialKind::Key,
        Prefix::Token => CredentialKind::Token,
        Prefix::Link => CredentialKind::Link,
        Prefix::SignIn => CredentialKind::SignIn,
    }
}

fn prefix_of(kind: CredentialKind) -> Prefix {
    match kind {
        CredentialKind::Key => Prefix::Key,
        CredentialKind::Token => Prefix::Token,
        CredentialKind::Link => Prefix::Link,
        CredentialKind::SignIn => Prefix::SignIn,
    }
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
    /// Whether it is a person who signed in to the console.
    pub signed_in: bool,
    /// The one page its requests may come from.
    pub page: Option<String>,
    pub key_id: String,
    /// The credential by whose right it was made.
    pub minted_by: Option<String>,
    /// The first credential of the chain it was made from.
    pub root: Option<String>,
    pub permissions: Vec<Permission>,
    pub origin: Origin,
    pub expires_at: Option<Timestamp>,
}

impl Admitted {
    pub fn may(&self, permission: Permission) -> bool {
        self.permissions.contains(&permission)
    }

    /// The credential that ends whatever is made with this one.
    fn root(&self) -> &str {
        self.root.as_deref().unwrap_or(&self.key_id)
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
        let is_what_it_says = kept.kind == kind_of(presented.prefix);
        // A link opens nothing by itself: it is spent for a sign-in.
        let admits = is_what_it_says && kept.kind != CredentialKind::Link;
        if !admits || !same(&kept.secret_hash, &presented.secret_hash) || !kept.is_live(now) {
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
            human: kept.kind != CredentialKind::Key,
            signed_in: kept.kind == CredentialKind::SignIn,
            page: kept.page,
            key_id: kept.key_id,
            minted_by: kept.minted_by,
            root: kept.root,
            permissions: kept.permissions,
            origin: kept.origin,
            expires_at: kept.expires_at,
        })
    }

    /// A code for a text that only this installation can make, to know it again when it comes back
    /// from a client.
    pub async fn seal(&self, text: &str) -> Result<String> {
        let seed = self.store.signing_seed().await?;
        let key = hmac::Key::new(hmac::HMAC_SHA256, &seed);
        let code = hmac::sign(&key, format!("seal\n{text}").as_bytes());
        Ok(code.as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
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
            root: None,
            page: None,
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

    /// Mints a token that speaks as the user called `user`, with no more than the key itself may. It
    /// may be bound to the one page it is for.
    pub async fn mint_token(
        &self,
        by: &Admitted,
        new: NewToken<'_>,
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<Issued> {
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
        let passing = Passing {
            kind: CredentialKind::Token,
            user: new.user,
            permissions: new.permissions,
            minted_by: Some(&by.key_id),
            root: Some(by.root()),
            page: new.page,
            name: &name,
            lasts: SignedDuration::from_mins(new.minutes),
        };
        self.issue(by.tenant, passing, random, now).await
    }

    /// Makes a link that lets the browser of the user called `user` in, once, to do so much there. It
    /// is made with a credential, or by an operator at the command line.
    pub async fn make_link(
        &self,
        tenant: TenantId,
        by: Option<&Admitted>,
        user: &str,
        permissions: &[Permission],
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<Issued> {
        let passing = Passing {
            kind: CredentialKind::Link,
            user,
            permissions,
            minted_by: by.map(|by| by.key_id.as_str()),
            root: by.map(Admitted::root),
            page: None,
            name: "link to sign in with",
            lasts: SignedDuration::from_mins(LINK_MINUTES),
        };
        self.issue(tenant, passing, random, now).await
    }

    /// Signs the user called `user` in, by the right of a credential that may mint tokens. A sign-in
    /// that switches to another user passes its own right on, and ends.
    pub async fn sign_in(
        &self,
        by: &Admitted,
        user: &str,
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<Issued> {
        let right = if by.signed_in { by.minted_by.as_deref() } else { Some(by.key_id.as_str()) };
        // What a sign-in from the command line makes ends with that one, unless it took its place.
        let root = if by.signed_in { by.root.as_deref() } else { Some(by.root()) };
        let passing = Passing::sign_in(user, &by.permissions, right, root);
        let directory = self.store.directory(by.tenant).await?;
        let issued = insert(&directory, passing, random, now).await?;
        if by.signed_in {
            credential::end_one(&directory, &by.key_id, now).await?;
        }
        directory.commit().await?;
        Ok(issued)
    }

    /// Makes sure that the person somebody comes in for is not gone.
    pub async fn greet(&self, caller: &Caller, now: Timestamp) -> Result<()> {
        self.reading(caller, now).await.map(drop)
    }

    /// Exchanges an unused link for a sign-in. Both happen in one transaction, so a used link always
    /// has its sign-in.
    pub async fn follow_link(
        &self,
        presented: &str,
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<Issued> {
        let refused = || Error::Unauthenticated;
        let presented = secret::parse(presented).ok_or_else(refused)?;
        let kept = self.store.at_the_door(&presented.key_id).await?.ok_or_else(refused)?;
        let directory = self.store.directory(kept.tenant).await?;
        let hash = &presented.secret_hash;
        let link = credential::spend_link(&directory, &presented.key_id, hash, now).await?;
        let link = link.ok_or_else(refused)?;
        let (_, user) = link.user.ok_or_else(refused)?;
        let (by, root) = (link.minted_by.as_deref(), link.root.as_deref());
        let passing = Passing::sign_in(&user, &link.permissions, by, root);
        let issued = insert(&directory, passing, random, now).await?;
        directory.commit().await?;
        Ok(issued)
    }

    /// Makes a credential that ends by itself, for one person.
    async fn issue(
        &self,
        tenant: TenantId,
        new: Passing<'_>,
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<Issued> {
        let directory = self.store.directory(tenant).await?;
        let issued = insert(&directory, new, random, now).await?;
        directory.commit().await?;
        Ok(issued)
    }

    pub async fn keys(&self, tenant: TenantId) -> Result<Vec<KeyRecord>> {
        let directory = self.store.directory(tenant).await?;
        Ok(credential::keys(&directory).await?)
    }

    /// The live tokens, links and sign-ins of a tenant, or of one of its users, the latest first.
    pub async fn sign_ins(
        &self,
        tenant: TenantId,
        user: Option<UserId>,
        now: Timestamp,
    ) -> Result<Vec<KeyRecord>> {
        let directory = self.store.directory(tenant).await?;
        Ok(credential::sign_ins(&directory, user, None, now, SIGN_INS_LISTED as i64).await?)
    }

    /// Revokes a credential and everything that was made from it; says which credentials that were.
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
        outlast_admissions().await;
        Ok(revoked)
    }

    /// Ends live tokens, links and sign-ins, and everything that was made from them: the one with this
    /// id, or all; of one user, or of the whole tenant. Says which credentials that were.
    pub async fn end_sign_ins(
        &self,
        tenant: TenantId,
        user: Option<UserId>,
        id: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<String>> {
        let directory = self.store.directory(tenant).await?;
        let mut ended = Vec::new();
        loop {
            let listed = SIGN_INS_LISTED as i64;
            let live = credential::sign_ins(&directory, user, id, now, listed).await?;
            let before = ended.len();
            for one in &live {
                ended.extend(credential::revoke(&directory, &one.key_id, now).await?);
            }
            if ended.len() == before || id.is_some() {
                break;
            }
        }
        if ended.is_empty() && id.is_some() {
            return Err(Error::KeyNotFound);
        }
        directory.commit().await?;
        if !ended.is_empty() {
            outlast_admissions().await;
        }
        Ok(ended)
    }

    /// Signs out: ends this sign-in and nothing that was made with it.
    pub async fn sign_out(&self, tenant: TenantId, key_id: &str, now: Timestamp) -> Result<()> {
        let directory = self.store.directory(tenant).await?;
        credential::end_one(&directory, key_id, now).await?;
        directory.commit().await?;
        outlast_admissions().await;
        Ok(())
    }

    /// Removes the tokens, links and sign-ins of all tenants that ended more than a day ago; says how
    /// many.
    pub async fn sweep_credentials(&self) -> Result<usize> {
        let mut removed = 0;
        loop {
            let batch = self.store.sweep_credentials(SWEEP_BATCH as i64).await?;
            removed += batch;
            if batch < SWEEP_BATCH {
                return Ok(removed);
            }
        }
    }
}

/// Waits until the admissions that servers remember have run out, so that every server refuses an ended
/// credential once its end is acknowledged.
async fn outlast_admissions() {
    tokio::time::sleep(ADMISSION_LEASE + Duration::from_millis(50)).await;
}

/// Inserts a credential that ends by itself, for one person.
async fn insert(
    directory: &Directory,
    new: Passing<'_>,
    random: &[u8; 32],
    now: Timestamp,
) -> Result<Issued> {
    check_name("user", new.user)?;
    let id = UserId::named(directory.tenant(), new.user);
    let (text, kept) = secret::print(prefix_of(new.kind), random);
    let record = Credential {
        key_id: kept.key_id,
        tenant: directory.tenant(),
        user: Some((id, new.user.to_owned())),
        kind: new.kind,
        name: new.name.to_owned(),
        secret_hash: kept.secret_hash.to_vec(),
        permissions: new.permissions.to_vec(),
        origin: Origin::UserSaid,
        minted_by: new.minted_by.map(str::to_owned),
        root: new.root.map(str::to_owned),
        page: new.page.map(str::to_owned),
        created_at: now,
        expires_at: Some(now + new.lasts),
        revoked_at: None,
        last_used_at: None,
    };
    refuse_the_gone(directory, id, now).await?;
    credential::insert(directory, &record).await?;
    Ok(Issued { text, record })
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
    let long = name.chars().count() > lukasa_core::limits::NAME_CHARS;
    if name.trim().is_empty() || long || name.chars().any(char::is_control) {
        return Err(Error::invalid(field, "1 to 255 characters, none of them a control character"));
    }
    Ok(())
}

/// Compares without stopping at the first difference, so that time tells nothing.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |different, (x, y)| different | (x ^ y)) == 0
}
