//! Erasure that is real: what it would remove, the removal, the receipt, and the journal that keeps a
//! restored backup from undoing it.
//!
//! The order is what makes it hold. All rows are removed in one transaction; then the journal is on
//! the disk; then the transaction is committed; then it is acknowledged. So an erasure that was
//! acknowledged is in the journal. One that is in the journal and was never committed was asked for
//! by somebody who got no answer, and is carried out at the next start.

mod journal;
mod receipt;

use std::collections::HashSet;

use quipu_core::time::micros;
use quipu_core::{
    Caller, CallerKind, FactId, Ids, Origin, TenantId, Timestamp, UserId, Verb, Voice,
};
use quipu_store::erasure::{self, Erasure};
use quipu_store::{Batch, Connect, crash, credential, directory, erase, health, scrub};

use crate::error::{Error, Result};
use crate::facts::Target;
use crate::{Engine, Moment, Request};

pub use journal::{Entry, Journal};
pub use quipu_store::erasure::Rows;
pub use quipu_store::health::Counts;
pub use quipu_store::scrub::{Scrubbed, Step};
pub use receipt::{NotBelieved, Receipt, Signature, SignedReceipt, verify};

/// How many receipts are listed, newest first.
const LISTED: i64 = 1_000;

/// What was erased with a user.
#[derive(Debug, Clone, PartialEq)]
pub struct UserErased {
    pub counts: Counts,
    /// The credentials that ended.
    pub ended: Vec<String>,
    pub receipt: SignedReceipt,
}

/// What a start found in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Replayed {
    pub entries: usize,
    /// Users and memories that were there again, and were removed again.
    pub users: usize,
    pub memories: usize,
    pub turns: usize,
    /// Erasures that this database knew of and the journal did not.
    pub added: usize,
}

impl Engine {
    /// How much erasing a user would remove, by table.
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

    /// How much erasing a memory would remove, by table.
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

    /// Erases a user: everything kept about them goes now, their credentials end, and the name stays
    /// refused until it is created again.
    pub async fn erase_user(
        &self,
        tenant: TenantId,
        name: &str,
        moment: Moment,
    ) -> Result<UserErased> {
        let (id, now) = (UserId::named(tenant, name), micros(moment.now));
        let scope = self.store.write(tenant, id).await?;
        let user = directory::me(&scope).await?;
        if user.is_none_or(|user| user.deleted_at.is_some()) {
            return Err(Error::UserNotFound);
        }
        // First the credentials: should the rest fail, a user without keys is the safer half.
        let list = self.store.directory(tenant).await?;
        let ended = credential::remove_of_user(&list, id).await?;
        list.commit().await?;
        let counts = health::count(&scope).await?;
        let erasure = Erasure {
            id: Ids::new(now, moment.seed).erasure(),
            fact: None,
            turn: None,
            verb: Verb::Erase,
            operation: None,
            erased_at: now,
            removed: erasure::remove_user(&scope).await?,
            replayed: false,
            scrubbed_at: None,
        };
        // The mark is committed with the removal, so that nobody finds the one without the other.
        directory::mark_deleted(&scope, now).await?;
        let mut batch = Batch::default();
        erasure::insert(&mut batch, &scope, &erasure);
        scope.run(&batch).await?;
        self.journal(&[Entry::of(&scope, &erasure)]).await?;
        scope.commit().await?;
        self.forget_given(id);
        self.listeners.end(id);
        let receipt = self.receipt(tenant, id, &erasure, now).await?;
        Ok(UserErased { counts, ended, receipt })
    }

    /// The receipts of what was erased about the caller's user, newest first.
    pub async fn receipts(&self, caller: &Caller, now: Timestamp) -> Result<Vec<SignedReceipt>> {
        let scope = self.reading(caller, now).await?;
        let erasures = erasure::latest(&scope, LISTED).await?;
        drop(scope);
        self.sign_all(caller.tenant, caller.user, &erasures, now).await
    }

    /// The receipts of what was erased about a user, who may be gone.
    pub async fn receipts_of_user(
        &self,
        tenant: TenantId,
        name: &str,
        now: Timestamp,
    ) -> Result<Vec<SignedReceipt>> {
        let id = UserId::named(tenant, name);
        let scope = self.store.read(tenant, id).await?;
        directory::me(&scope).await?.ok_or(Error::UserNotFound)?;
        let erasures = erasure::latest(&scope, LISTED).await?;
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

    /// Writes erasures into the journal, if there is one, and waits for the disk.
    pub(crate) async fn journal(&self, entries: &[Entry]) -> Result<()> {
        let Some(journal) = self.journal.clone().filter(|_| !entries.is_empty()) else {
            return Ok(());
        };
        let entries = entries.to_vec();
        crash::point();
        let written = tokio::task::spawn_blocking(move || journal.append(&entries)).await;
        crash::point();
        let written = written.map_err(|error| Error::Journal(error.to_string()))?;
        written.map_err(|error| Error::Journal(error.to_string()))
    }

    /// Removes again whatever the journal says was erased and a backup has brought back; and adds to
    /// the journal what was erased before there was one. To be called before anybody is served.
    pub async fn replay_erasures(&self, moment: Moment) -> Result<Replayed> {
        let Some(journal) = self.journal.clone() else { return Ok(Replayed::default()) };
        let unreadable = |error: std::io::Error| Error::Journal(error.to_string());
        let read = tokio::task::spawn_blocking(move || journal.read()).await;
        let entries = read.map_err(|error| Error::Journal(error.to_string()))?;
        let entries = entries.map_err(unreadable)?;
        let known = self.store.erasures().await?;
        let happened: HashSet<_> = known.iter().map(|known| known.id).collect();
        let mut replayed = Replayed { entries: entries.len(), ..Replayed::default() };
        for (number, entry) in entries.iter().enumerate() {
            if happened.contains(&entry.id) {
                continue;
            }
            let moment = Moment { seed: seed_of(moment.seed, number), ..moment };
            let request = Request::new(of_the_journal(entry), moment);
            match (entry.fact, entry.turn) {
                (Some(fact), _) => {
                    replayed.memories +=
                        usize::from(self.erase_again(&request, fact, entry).await?);
                }
                (None, Some(turn)) => {
                    replayed.turns +=
                        usize::from(self.erase_turn_again(&request, turn, entry).await?);
                }
                (None, None) => replayed.users += usize::from(self.erase_user_again(entry).await?),
            }
        }
        let written: HashSet<_> = entries.iter().map(|entry| entry.id).collect();
        let missing = known.iter().filter(|known| !written.contains(&known.id));
        let missing: Vec<Entry> = missing.map(Entry::from).collect();
        self.journal(&missing).await?;
        Ok(Replayed { added: missing.len(), ..replayed })
    }

    /// Removes a user again, unless they came (or came back) after the erasure.
    async fn erase_user_again(&self, entry: &Entry) -> Result<bool> {
        let scope = self.store.write(entry.tenant, entry.user).await?;
        let user = directory::me(&scope).await?;
        if user.is_none_or(|user| user.created_at > entry.at) {
            return Ok(false);
        }
        let list = self.store.directory(entry.tenant).await?;
        credential::remove_of_user(&list, entry.user).await?;
        list.commit().await?;
        let erasure = Erasure {
            id: entry.id,
            fact: None,
            turn: None,
            verb: Verb::Erase,
            operation: None,
            erased_at: entry.at,
            removed: erasure::remove_user(&scope).await?,
            replayed: true,
            scrubbed_at: None,
        };
        directory::mark_deleted(&scope, entry.at).await?;
        let mut batch = Batch::default();
        erasure::insert(&mut batch, &scope, &erasure);
        scope.run(&batch).await?;
        scope.commit().await?;
        self.forget_given(entry.user);
        Ok(true)
    }

    /// Looks once more for rows of users who were erased and have not left the files yet, and removes
    /// them: whatever was under way when they were erased has ended by now.
    pub async fn sweep_erased(&self) -> Result<i64> {
        let mut swept = 0;
        let known = self.store.erasures().await?;
        for of in known
            .iter()
            .filter(|known| known.fact.is_none() && known.turn.is_none() && !known.scrubbed)
        {
            let scope = self.store.write(of.tenant, of.user).await?;
            let user = directory::me(&scope).await?;
            if user.is_some_and(|user| user.deleted_at.is_some()) {
                swept += erasure::remove_user(&scope).await?.values().sum::<i64>();
                scope.commit().await?;
            }
        }
        Ok(swept)
    }
}

/// What the login role lacks for a scrub, in words; empty if it may.
pub async fn lacking_rights(connect: &Connect) -> Result<Vec<String>> {
    Ok(scrub::lacking_rights(connect).await?)
}

/// How many erasures have not reached the files yet.
pub async fn unscrubbed(connect: &Connect) -> Result<usize> {
    Ok(scrub::pending(connect).await?)
}

/// Has what was erased leave the database's files, as the owner. Without erasures since the last time
/// there is nothing to do, unless `always`.
pub async fn scrub(
    connect: &Connect,
    now: Timestamp,
    always: bool,
    tell: impl Fn(Step) + Send + Sync,
) -> Result<Scrubbed> {
    Engine::connect(&Connect { pool_size: 1, ..connect.clone() })?.sweep_erased().await?;
    Ok(scrub::scrub(connect, micros(now), always, tell).await?)
}

/// Ids drawn for one entry must not be those of another.
fn seed_of(mut seed: [u8; 16], number: usize) -> [u8; 16] {
    seed.iter_mut().zip((number as u64).to_le_bytes()).for_each(|(byte, more)| *byte ^= more);
    seed
}

/// Whoever erased it is not here any more; what they decided is carried out in the journal's name.
fn of_the_journal(entry: &Entry) -> Caller {
    Caller {
        tenant: entry.tenant,
        user: entry.user,
        user_name: String::new(),
        kind: CallerKind::Job,
        credential: "journal".to_owned(),
        voice: Voice::stated(Origin::UserSaid),
    }
}
