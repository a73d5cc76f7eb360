//! Signatures with the installation's Ed25519 key: over erasure receipts, exports and vault bases.
//! A file that carries one was written here, for the user it names, and has not been changed since.
//! Also keys of digests, which are derived from a seed of their own.

use std::sync::Arc;

use lukasa_core::archive::{FileSignature, Manifest};
use lukasa_core::audit::{AuditEntry, AuditEvent};
use lukasa_core::time::micros;
use lukasa_core::vault::{self, BASE, File};
use lukasa_core::{TenantId, Timestamp, UserId};
use lukasa_store::observation::PatternKey;
use lukasa_store::{ConnectOptions, rotation};
use ring::hmac;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::parts::Parts;

/// The kind of file signed. A signature over one kind is not valid for another.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Archive,
    VaultBase,
}

impl Purpose {
    fn message(self, tenant: TenantId, user: UserId, body: &str) -> String {
        let domain = match self {
            Purpose::Archive => "lukasa-archive-v1",
            Purpose::VaultBase => "lukasa-vault-base-v1",
        };
        format!("{domain}\n{tenant}\n{user}\n{body}")
    }
}

/// The installation's key.
pub struct Signer {
    pair: Ed25519KeyPair,
}

impl Signer {
    pub(crate) fn from_seed(seed: &[u8]) -> Option<Self> {
        Some(Self { pair: Ed25519KeyPair::from_seed_unchecked(seed).ok()? })
    }

    /// The public half of the key, in hexadecimal.
    pub fn public_key(&self) -> String {
        hex::encode(self.pair.public_key())
    }

    /// A signature over these bytes, in hexadecimal.
    pub(crate) fn sign_bytes(&self, bytes: &[u8]) -> String {
        hex::encode(self.pair.sign(bytes))
    }

    fn sign_file(&self, message: &str) -> FileSignature {
        let value = self.sign_bytes(message.as_bytes());
        FileSignature { public_key: self.public_key(), value }
    }

    /// Whether this very key made the signature.
    fn has_signed(&self, message: &str, signature: &FileSignature) -> bool {
        signature.public_key.eq_ignore_ascii_case(&self.public_key())
            && verify_bytes(&signature.public_key, &signature.value, message.as_bytes())
    }
}

/// Whether the signature is one over these bytes by this key; both are in hexadecimal.
pub(crate) fn verify_bytes(public_key: &str, value: &str, bytes: &[u8]) -> bool {
    let (Ok(key), Ok(value)) = (hex::decode(public_key), hex::decode(value)) else { return false };
    UnparsedPublicKey::new(&ED25519, key).verify(bytes, &value).is_ok()
}

/// Signatures with the key of this installation.
#[derive(Clone)]
pub struct Signatures {
    parts: Arc<Parts>,
}

impl Signatures {
    pub(crate) fn new(parts: Arc<Parts>) -> Self {
        Self { parts }
    }

    /// The key in use. It is read each time, so that a rotation takes effect at once on every server.
    pub(crate) async fn signer(&self) -> Result<Signer> {
        signer_of(&self.parts.store.signing_seeds().await?.current)
    }

    /// The key of the digests by which a user's noted patterns are stored. Without it, the patterns
    /// cannot be guessed from the digests.
    pub(crate) async fn pattern_key(&self, tenant: TenantId, user: UserId) -> Result<PatternKey> {
        let seed = self.parts.store.signing_seeds().await?.digests;
        let message = format!("noted-pattern\n{tenant}\n{user}");
        let mut key = [0; 32];
        let deriving = hmac::Key::new(hmac::HMAC_SHA256, &seed);
        key.copy_from_slice(hmac::sign(&deriving, message.as_bytes()).as_ref());
        Ok(PatternKey::new(&key))
    }

    /// Whether a key of this installation that is still accepted made the signature.
    async fn has_signed(&self, message: &str, signature: &FileSignature) -> Result<bool> {
        let seeds = self.parts.store.signing_seeds().await?;
        for seed in seeds.accepted() {
            if signer_of(seed)?.has_signed(message, signature) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Signs the manifest of an export of this user. Through the hashes in it, all files are
    /// signed.
    pub async fn sign_manifest(
        &self,
        tenant: TenantId,
        user: UserId,
        manifest: Manifest,
    ) -> Result<Manifest> {
        let message = archive_message(tenant, user, &manifest);
        let signature = Some(self.signer().await?.sign_file(&message));
        Ok(Manifest { signature, ..manifest })
    }

    /// Whether this installation signed the manifest for this user.
    pub async fn has_signed_manifest(
        &self,
        tenant: TenantId,
        user: UserId,
        manifest: &Manifest,
    ) -> Result<bool> {
        let Some(signature) = &manifest.signature else { return Ok(false) };
        let message = archive_message(tenant, user, manifest);
        self.has_signed(&message, signature).await
    }

    /// The signature of a vault's base, given the digest of its rows.
    pub(crate) async fn sign_base(
        &self,
        tenant: TenantId,
        user: UserId,
        digest: Sha256,
    ) -> Result<FileSignature> {
        Ok(self.signer().await?.sign_file(&base_message(tenant, user, digest)))
    }

    /// Whether this installation signed the base among these files for this user. Of several bases
    /// the first counts, as it does for [`vault::read`].
    pub(crate) async fn has_signed_base(
        &self,
        tenant: TenantId,
        user: UserId,
        files: &[File],
    ) -> Result<bool> {
        let base = files.iter().find(|file| file.path == BASE);
        let Some((rows, signature)) = base.and_then(|base| vault::split_signature(&base.content))
        else {
            return Ok(false);
        };
        let message = base_message(tenant, user, Sha256::new_with_prefix(rows));
        self.has_signed(&message, &signature).await
    }
}

fn signer_of(seed: &[u8]) -> Result<Signer> {
    let what = || "not a key".to_owned();
    let corrupt = || lukasa_store::Error::Corrupt { table: "signing_key", what: what() };
    Ok(Signer::from_seed(seed).ok_or_else(corrupt)?)
}

/// The public half of a key of the installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicSigningKey {
    /// In hexadecimal.
    pub public_key: String,
    /// Since when the key in use is used.
    pub created_at: Option<Timestamp>,
    /// Until when an earlier key is accepted.
    pub accepted_until: Option<Timestamp>,
}

/// The keys of the installation that are accepted, the one in use first; for the owner of the database.
pub async fn list_signing_keys(connect: &ConnectOptions) -> Result<Vec<PublicSigningKey>> {
    let mut list = Vec::new();
    for key in rotation::signing_keys(connect).await? {
        let public_key = signer_of(&key.seed)?.public_key();
        let rotation::SigningKey { created_at, accepted_until, .. } = key;
        list.push(PublicSigningKey { public_key, created_at, accepted_until });
    }
    Ok(list)
}

/// Replaces the key of the installation; for the owner of the database. What the old key signed or
/// sealed is accepted for `overlap_days` more.
pub async fn rotate_signing_key(
    connect: &ConnectOptions,
    seed: &[u8; 32],
    overlap_days: i32,
    now: Timestamp,
) -> Result<()> {
    let entry = |tenant: TenantId| {
        AuditEntry::done(AuditEvent::SigningKeyRotate, tenant.into(), micros(now))
            .detail(&format!("overlap_days={overlap_days}"))
    };
    Ok(rotation::replace_signing_key(connect, seed, overlap_days, entry).await?)
}

fn archive_message(tenant: TenantId, user: UserId, manifest: &Manifest) -> String {
    let unsigned = Manifest { signature: None, ..manifest.clone() };
    Purpose::Archive.message(tenant, user, &canonical(&json!(unsigned)))
}

fn base_message(tenant: TenantId, user: UserId, rows: Sha256) -> String {
    Purpose::VaultBase.message(tenant, user, &hex::encode(rows.finalize()))
}

/// JSON without spaces, the keys of every object in order.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<_> = fields.iter().collect();
            names.sort_by_key(|(name, _)| *name);
            let fields: Vec<_> = names
                .into_iter()
                .map(|(name, value)| format!("{}:{}", json!(name), canonical(value)))
                .collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_bound_to_purpose_user_tenant_and_key() {
        let (acme, other) = (TenantId::named("acme"), TenantId::named("other"));
        let (ana, bea) = (UserId::named(acme, "ana"), UserId::named(acme, "bea"));
        let signer = Signer::from_seed(&[7; 32]).unwrap();
        let message = Purpose::Archive.message(acme, ana, "{}");
        let signature = signer.sign_file(&message);
        assert!(signer.has_signed(&message, &signature));
        for forged in [
            Purpose::VaultBase.message(acme, ana, "{}"),
            Purpose::Archive.message(acme, bea, "{}"),
            Purpose::Archive.message(other, ana, "{}"),
            Purpose::Archive.message(acme, ana, "{ }"),
        ] {
            assert!(!signer.has_signed(&forged, &signature), "{forged}");
        }
        // A signature by another key is valid for that key, but must not count as this
        // installation's.
        let stranger = Signer::from_seed(&[8; 32]).unwrap();
        let theirs = stranger.sign_file(&message);
        assert!(verify_bytes(&theirs.public_key, &theirs.value, message.as_bytes()));
        assert!(!signer.has_signed(&message, &theirs));
        let claimed = FileSignature { public_key: signer.public_key(), ..theirs };
        assert!(!signer.has_signed(&message, &claimed));
    }
}
