//! Erasure: the preview, the removal, the receipt, and the journal that keeps a restored backup
//! from undoing it.
//!
//! The guarantee depends on the order of steps. What is to be erased is removed or marked in one
//! transaction; then the journal is synced to disk; then the transaction is committed; then the
//! request is acknowledged. So an acknowledged erasure is in the journal. A line whose transaction
//! failed is declared void. One that is in the journal and was never committed was requested by a
//! caller who got no answer, and is carried out at the next start.
//!
//! A user is marked first, so that reads and writes are refused, and then removed in batches
//! (`user`); if the process ends in between, the next one continues.

mod journal;
mod receipt;
mod replay;
mod user;

use lukasa_core::time::micros;
use lukasa_core::{Caller, ErasureId, FactId, TenantId, Timestamp, UserId};
use lukasa_store::erasure::{self, Erasure};
use lukasa_store::{ConnectOptions, directory, erase, scrub};

use crate::Engine;
use crate::error::{Error, Result};
use crate::facts::Target;

pub use journal::{Journal, JournalChunk, JournalEntry, JournalLine};
pub use lukasa_store::erasure::Rows;
pub use lukasa_store::health::UserRowCounts;
pub use lukasa_store::scrub::{ScrubProgress, ScrubReport};
pub use receipt::{Receipt, ReceiptError, Signature, SignedReceipt, verify};
pub use replay::ReplayReport;
pub use user::{UserErased, UserErasure};

/// Maximum number of listed receipts, newest first.
const MAX_LISTED: i64 = 1_000;

impl Engine {
    /// Number of rows that erasing a user would remove, by table.
    pub async fn preview_user_erasure(
        &self,
        tenant: TenantId,
        name: &str,
        now: Timestamp,
    ) -> Result<Rows> {
        let scope = self.store.read(tenant, UserId::named(tenant, name)).await?;
        let user = directory::me(&scope).await?;
        user.filter(|user| !user.is_gone(now)).ok_or(Error::UserNotFound)?;
        Ok(erasure::count_user(&scope).await?)
    }

    /// Number of rows that erasing a memory would remove, by table.
    pub async fn preview_erasure(
        &self,
        caller: &Caller,
        target: &Target,
        now: Timestamp,
    ) -> Result<(FactId, Rows)> {
        let scope = self.reading(caller, now).await?;
        let fact = target.fact(&scope, now).await?;
        if !erase::exists(&scope, fact).await? {
            return Err(Error::MemoryNotFound);
        }
        Ok((fact, erasure::count_fact(&scope, fact).await?))
    }

    /// The receipts of what was erased about the caller's user, newest first.
    pub async fn receipts(&self, caller: &Caller, now: Timestamp) -> Result<Vec<SignedReceipt>> {
        let scope = self.reading(caller, now).await?;
        let erasures = erasure::latest(&scope, MAX_LISTED).await?;
        drop(scope);
        self.sign_all(caller.tenant, caller.user, &erasures, now).await
    }

    /// Progress of a user's erasure: rows removed so far; `None` if no erasure is in progress.
    pub async fn erasure_under_way(
        &self,
        tenant: TenantId,
        name: &str,
    ) -> Result<Option<(ErasureId, Timestamp, Rows)>> {
        let scope = self.store.read(tenant, UserId::named(tenant, name)).await?;
        let found = erasure::unfinished(&scope).await?;
        Ok(found.map(|erasure| (erasure.id, erasure.erased_at, erasure.removed)))
    }

    /// The receipts of what was erased about a user, who may be deleted.
    pub async fn receipts_of_user(
        &self,
        tenant: TenantId,
        name: &str,
        now: Timestamp,
    ) -> Result<Vec<SignedReceipt>> {
        let id = UserId::named(tenant, name);
        let scope = self.store.read(tenant, id).await?;
        directory::me(&scope).await?.ok_or(Error::UserNotFound)?;
        let erasures = erasure::latest(&scope, MAX_LISTED).await?;
        drop(scope);
        self.sign_all(tenant, id, &erasures, now).await
    }

    /// The public half of the key that receipts are signed with.
    pub async fn receipt_key(&self) -> Result<String> {
        Ok(self.signer().await?.public_key())
    }

    async fn sign_all(
        &self,
        tenant: TenantId,
        user: UserId,
        erasures: &[Erasure],
        now: Timestamp,
    ) -> Result<Vec<SignedReceipt>> {
        let mut receipts = Vec::with_capacity(erasures.len());
        for erasure in erasures {
            receipts.push(self.receipt(tenant, user, erasure, now).await?);
        }
        Ok(receipts)
    }

    async fn receipt(
        &self,
        tenant: TenantId,
        user: UserId,
        erasure: &Erasure,
        now: Timestamp,
    ) -> Result<SignedReceipt> {
        let receipt = Receipt::of(tenant, user, erasure, self.journal.is_some(), micros(now));
        Ok(self.signer().await?.sign(receipt))
    }
}

/// Rights that the login role lacks for a scrub, as text; empty if it has all.
pub async fn lacking_rights(connect: &ConnectOptions) -> Result<Vec<String>> {
    Ok(scrub::lacking_rights(connect).await?)
}

/// Number of erasures that are not yet scrubbed from the database files.
pub async fn unscrubbed(connect: &ConnectOptions) -> Result<usize> {
    Ok(scrub::pending(connect).await?)
}

/// Scrubs erased data from the database files, as the owner. Without erasures since the last scrub
/// there is nothing to do, unless `always`.
pub async fn scrub(
    connect: &ConnectOptions,
    now: Timestamp,
    always: bool,
    tell: impl Fn(ScrubProgress) + Send + Sync,
) -> Result<ScrubReport> {
    Engine::connect(&ConnectOptions { pool_size: 1, ..connect.clone() })?.sweep_erased().await?;
    Ok(scrub::scrub(connect, micros(now), always, tell).await?)
}
