//! Rotation of keys: a new key takes the place of an old one, which stays valid for a while.

use lukasa_core::Timestamp;
use lukasa_core::audit::{AuditActor, AuditEntry, AuditEvent};
use lukasa_core::secret::{self, Prefix};
use lukasa_core::time::micros;
use lukasa_store::audit;
use lukasa_store::credential::{self, Credential, CredentialKind};

use super::guards::{refuse_deleted_user, refuse_ended};
use super::{Credentials, IssuedCredential, KeyRecord, wait_for_credential_leases};
use crate::error::{Error, Result};

/// A new key, and the key that it replaces.
pub struct RotatedKey {
    pub issued: IssuedCredential,
    /// The old key with its new end.
    pub replaced: KeyRecord,
}

impl Credentials {
    /// Creates a key like an existing one, for the same time from now on if that one expires. The old
    /// key ends after the overlap and cannot be rotated again; tokens and sign-ins that were made with
    /// it keep their own ends.
    pub async fn rotate_key(
        &self,
        by: impl Into<AuditActor>,
        key_id: &str,
        overlap_hours: i64,
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<RotatedKey> {
        let by: AuditActor = by.into();
        let end = overlap_end(now, overlap_hours)?;
        let directory = self.parts.store.directory(by.tenant).await?;
        let found = credential::get_for_update(&directory, key_id).await?;
        let old = found.filter(|key| key.kind == CredentialKind::Key && key.is_live(now));
        let old = old.ok_or(Error::KeyNotFound)?;
        refuse_ended(&directory, &by, now).await?;
        if let Some(newer) = &old.replaced_by {
            return Err(Error::KeyReplaced(newer.clone()));
        }
        if let Some((user, _)) = &old.user {
            refuse_deleted_user(&self.parts.store, &directory, *user, now).await?;
        }
        let (text, stored) = secret::print(Prefix::Key, random);
        let record = Credential {
            key_id: stored.key_id,
            secret_hash: stored.secret_hash.to_vec(),
            created_at: now,
            expires_at: old.expires_at.map(|own| now + old.created_at.duration_until(own)),
            last_used_at: None,
            ..old.clone()
        };
        credential::insert(&directory, &record).await?;
        credential::replace_key(&directory, key_id, &record.key_id, end).await?;
        let detail = format!("new={},overlap_hours={overlap_hours}", record.key_id);
        let mut entry = AuditEntry::done(AuditEvent::KeyRotate, by, micros(now)).subject(key_id);
        entry.user = old.user.as_ref().map(|(user, _)| *user);
        audit::append_to(&directory, &entry.detail(&detail)).await?;
        directory.commit().await?;
        if overlap_hours == 0 {
            wait_for_credential_leases().await;
        }
        let end = old.expires_at.map_or(end, |own| own.min(end));
        let replaced_by = Some(record.key_id.clone());
        let replaced = Credential { expires_at: Some(end), replaced_by, ..old };
        Ok(RotatedKey { issued: IssuedCredential { text, record }, replaced })
    }
}

/// The end of a secret that is replaced now.
pub(crate) fn overlap_end(now: Timestamp, hours: i64) -> Result<Timestamp> {
    let end = secret::overlap_end(now, hours);
    end.map(micros).ok_or_else(|| Error::invalid("overlap_hours", "between 0 and 720"))
}
