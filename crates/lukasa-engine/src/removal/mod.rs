//! Removal: forget and delete, which can be undone, and erasure, which cannot.
//!
//! [`Removals`] removes memories (`facts`) and the turns, episodes and sessions they were learned
//! from (`sources`), and observations (`observations`), and purges the sources in the trash
//! (`purge`); [`Erasures`] erases whole users (`users`), issues receipts (`receipts`), and repeats
//! erasures that a restored backup has reverted (`replay`).
//!
//! The guarantee of an erasure depends on the order of steps. What is to be erased is removed or
//! marked in one transaction; then the journal is synced to disk; then the transaction is
//! committed; then the request is acknowledged. So an acknowledged erasure is in the journal. A
//! line whose transaction failed is declared void. One that is in the journal and was never
//! committed was requested by a caller who got no answer, and is carried out at the next start.
//!
//! A user is marked first, so that reads and writes are refused, and then removed in batches; if
//! the process ends in between, the next one continues.

mod facts;
mod impact;
mod observations;
mod purge;
mod receipts;
mod replay;
mod sources;
mod users;

use std::sync::Arc;

use lukasa_core::time::micros;
use lukasa_core::{Caller, ErasureId, FactId, Stamp, TenantId, Timestamp, UserId, Verb};
use lukasa_store::erasure::{self, Erasure};
use lukasa_store::{directory, fact};

use crate::error::{Error, Result};
use crate::facts::{Facts, Target};
use crate::journal::{ErasureJournal, JournalEntry};
use crate::parts::Parts;
use crate::policy::Policies;
use crate::signing::Signatures;
use crate::subscriptions::Subscriptions;
use crate::transaction::{Effect, Transactions, Writing};

pub(crate) use facts::{check_reverser, check_reverser_of};
pub use lukasa_store::erasure::Rows;
pub use lukasa_store::health::UserRowCounts;
pub use observations::ObservationSelection;
pub use receipts::{Receipt, ReceiptError, Signature, SignedReceipt, verify};
pub use replay::ReplayReport;
pub use sources::{Dependents, FactSource};
pub(crate) use sources::{find_blocking_removal, restore_sources, undo_sources};
pub(crate) use users::erase_expired;
pub use users::{UserErased, UserErasure};

/// Maximum number of listed receipts. Lists of the engine have one more if there are more.
pub const MAX_RECEIPTS: usize = 1_000;
const RECEIPTS_READ: i64 = MAX_RECEIPTS as i64 + 1;

/// Removal of memories and of their sources.
#[derive(Clone)]
pub struct Removals {
    parts: Arc<Parts>,
    transactions: Transactions,
    policies: Policies,
    facts: Facts,
}

impl Removals {
    pub(crate) fn new(
        parts: Arc<Parts>,
        transactions: Transactions,
        policies: Policies,
        facts: Facts,
    ) -> Self {
        Self { parts, transactions, policies, facts }
    }
}

/// Erasure of users, the receipts of all erasures, and the replay of the journal.
#[derive(Clone)]
pub struct Erasures {
    parts: Arc<Parts>,
    transactions: Transactions,
    journal: ErasureJournal,
    subscriptions: Subscriptions,
    signatures: Signatures,
    removals: Removals,
}

impl Erasures {
    pub(crate) fn new(
        parts: Arc<Parts>,
        transactions: Transactions,
        journal: ErasureJournal,
        subscriptions: Subscriptions,
        signatures: Signatures,
        removals: Removals,
    ) -> Self {
        Self { parts, transactions, journal, subscriptions, signatures, removals }
    }

    /// Number of rows that erasing a user would remove, by table.
    pub async fn preview_user_erasure(
        &self,
        tenant: TenantId,
        name: &str,
        now: Timestamp,
    ) -> Result<Rows> {
        let scope = self.parts.store.read(tenant, UserId::named(tenant, name)).await?;
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
        let scope = self.transactions.read(caller, now).await?;
        let fact = target.fact(&scope, now).await?;
        if !fact::exists(&scope, fact).await? {
            return Err(Error::MemoryNotFound);
        }
        Ok((fact, erasure::count_fact(&scope, fact).await?))
    }

    /// The receipts of what was erased about the caller's user, newest first; at most one more than
    /// [`MAX_RECEIPTS`].
    pub async fn receipts(&self, caller: &Caller, now: Timestamp) -> Result<Vec<SignedReceipt>> {
        let scope = self.transactions.read(caller, now).await?;
        let erasures = erasure::latest(&scope, RECEIPTS_READ).await?;
        drop(scope);
        self.sign_all(caller.tenant, caller.user, &erasures, now).await
    }

    /// Progress of a user's erasure: rows removed so far; `None` if no erasure is in progress.
    pub async fn erasure_under_way(
        &self,
        tenant: TenantId,
        name: &str,
    ) -> Result<Option<(ErasureId, Timestamp, Rows)>> {
        let scope = self.parts.store.read(tenant, UserId::named(tenant, name)).await?;
        let found = erasure::unfinished(&scope).await?;
        Ok(found.map(|erasure| (erasure.id, erasure.erased_at, erasure.removed)))
    }

    /// The receipts of what was erased about a user, who may be deleted; at most one more than
    /// [`MAX_RECEIPTS`].
    pub async fn receipts_of_user(
        &self,
        tenant: TenantId,
        name: &str,
        now: Timestamp,
    ) -> Result<Vec<SignedReceipt>> {
        let id = UserId::named(tenant, name);
        let scope = self.parts.store.read(tenant, id).await?;
        directory::me(&scope).await?.ok_or(Error::UserNotFound)?;
        let erasures = erasure::latest(&scope, RECEIPTS_READ).await?;
        drop(scope);
        self.sign_all(tenant, id, &erasures, now).await
    }

    /// The public half of the key that receipts are signed with.
    pub async fn receipt_key(&self) -> Result<String> {
        Ok(self.signatures.signer().await?.public_key())
    }

    async fn sign_all(
        &self,
        tenant: TenantId,
        user: UserId,
        erasures: &[Erasure],
        now: Timestamp,
    ) -> Result<Vec<SignedReceipt>> {
        let signer = self.signatures.signer().await?;
        let is_journaled = self.journal.file().is_some();
        let sign = |erasure: &Erasure| {
            let receipt = Receipt::of(tenant, user, erasure, is_journaled, micros(now));
            SignedReceipt::new(receipt, &signer)
        };
        Ok(erasures.iter().map(sign).collect())
    }
}

/// The record of an erasure by this operation. `again` is the journal entry if it repeats an
/// earlier erasure, whose id and time it keeps.
fn new_erasure(stamp: &mut Stamp, verb: Verb, again: Option<&JournalEntry>) -> Erasure {
    let (id, at) = match again {
        Some(entry) => (entry.id, entry.at),
        None => (stamp.ids.erasure(), stamp.at),
    };
    let (operation, replayed) = (Some(stamp.operation), again.is_some());
    Erasure { operation, replayed, ..Erasure::new(id, verb, at) }
}

/// Adds the records of erasures to the effect, and their journal entries unless they are repetitions.
fn record_erasures(writing: &Writing<'_>, erasures: &[Erasure], effect: &mut Effect) {
    erasure::insert(&mut effect.with, &writing.scope, erasures);
    effect.erasures += erasures.len();
    let new = erasures.iter().filter(|erasure| !erasure.replayed);
    effect.erased.extend(new.map(|erasure| JournalEntry::of(&writing.scope, erasure)));
}
