//! Erasure of a user. The user is marked first, in one short transaction that is in the journal:
//! from then on no request reads or writes about them. Then their rows are removed in batches, each
//! in a separate transaction that records its progress; the last one finishes the erasure, and a
//! receipt is issued.

use std::time::Duration;

use jiff::SignedDuration;
use lukasa_core::audit::{ActorKind, AuditActor, AuditEntry, AuditEvent};
use lukasa_core::time::micros;
use lukasa_core::{ErasureId, Ids, SpaceName, TenantId, Timestamp, UserId, Verb};
use lukasa_store::erasure::{self, Erasure, Rows};
use lukasa_store::health::UserRowCounts;
use lukasa_store::{Batch, audit, crash, credential, directory};

use super::{Erasures, SignedReceipt};
use crate::error::{Error, Result};
use crate::journal::JournalEntry;
use crate::request::Moment;
use crate::spaces::end_relations;

/// Lease of the process that removes a user's rows; when it expires, another takes over.
const LEASE: SignedDuration = SignedDuration::from_secs(60);
/// How long a worker continues one erasure before it looks for others.
const WORKER_BUDGET: Duration = Duration::from_secs(10);

/// Result of a finished erasure of a user.
#[derive(Debug, Clone, PartialEq)]
pub struct UserErased {
    pub counts: UserRowCounts,
    /// The credentials that ended.
    pub ended: Vec<String>,
    pub receipt: SignedReceipt,
}

/// The erasure of a user: finished, with a receipt, or in progress.
#[derive(Debug, Clone, PartialEq)]
pub struct UserErasure {
    pub id: ErasureId,
    pub erased_at: Timestamp,
    /// Rows removed so far, by table.
    pub removed: Rows,
    pub ended: Vec<String>,
    /// Absent while rows are left. A worker removes them.
    pub receipt: Option<SignedReceipt>,
}

impl UserErasure {
    pub fn counts(&self) -> UserRowCounts {
        let of = |table: &str| self.removed.get(table).copied().unwrap_or(0);
        UserRowCounts {
            facts: of("fact"),
            versions: of("fact_version"),
            links: of("link"),
            operations: of("operation"),
        }
    }
}

/// Start time of a piece of work, by the engine's ticks and by the clock.
#[derive(Clone, Copy)]
struct StartTime {
    ticks: u64,
    now: Timestamp,
}

/// Erases a temporary user whose time is up, as far as it gets in the time of a worker;
/// [`Erasures::continue_erasure`] removes the rest.
pub(crate) async fn erase_expired(
    erasures: &Erasures,
    tenant: TenantId,
    user: UserId,
    moment: Moment,
) -> Result<()> {
    let by = AuditActor::new(tenant, ActorKind::Job, "expiry");
    match erasures.erase_within(by, user, moment, WORKER_BUDGET).await {
        // A request has erased them in the meantime.
        Ok(_) | Err(Error::UserNotFound) => Ok(()),
        Err(error) => Err(error),
    }
}

impl Erasures {
    /// Erases a user completely: everything stored about them is removed, their credentials end,
    /// and the name is refused until it is created again.
    pub async fn erase_user(
        &self,
        tenant: TenantId,
        name: &str,
        moment: Moment,
    ) -> Result<UserErased> {
        let erasure = self.erase_user_within(tenant, name, moment, Duration::MAX).await?;
        let counts = erasure.counts();
        let waits = "a space of the user cannot be reached; a worker continues the erasure";
        let waits = || lukasa_store::Error::Unavailable(waits.to_owned());
        let receipt = erasure.receipt.ok_or_else(waits)?;
        Ok(UserErased { counts, ended: erasure.ended, receipt })
    }

    /// Erases a user within a time budget; a worker removes the rest. A second call while rows are
    /// left continues the removal.
    pub async fn erase_user_within(
        &self,
        by: impl Into<AuditActor>,
        name: &str,
        moment: Moment,
        budget: Duration,
    ) -> Result<UserErasure> {
        let by: AuditActor = by.into();
        let user = UserId::named(by.tenant, name);
        self.erase_within(by, user, moment, budget).await
    }

    /// Erases a space with everything in it, within a time budget.
    pub async fn erase_space_within(
        &self,
        by: AuditActor,
        space: &SpaceName,
        moment: Moment,
        budget: Duration,
    ) -> Result<UserErasure> {
        let id = space.user_id(by.tenant);
        let erased = self.erase_within(by, id, moment, budget).await;
        erased.map_err(|error| match error {
            Error::UserNotFound => Error::SpaceNotFound,
            other => other,
        })
    }

    async fn erase_within(
        &self,
        by: AuditActor,
        user: UserId,
        moment: Moment,
        budget: Duration,
    ) -> Result<UserErasure> {
        let (tenant, now) = (by.tenant, micros(moment.now));
        let began = StartTime { ticks: (self.parts.ticks)(), now };
        let scope = self.parts.store.read(tenant, user).await?;
        let there = directory::me(&scope).await?.ok_or(Error::UserNotFound)?;
        let under_way = erasure::unfinished(&scope).await?;
        drop(scope);
        let mut ended = Vec::new();
        if under_way.is_none() {
            if there.deleted_at.is_some() {
                return Err(Error::UserNotFound);
            }
            ended = self.end_credentials(tenant, user).await?;
            let id = Ids::new(now, moment.seed).erasure();
            self.mark_for_erasure(by, user, id, now, None).await?;
        }
        let erasure = self.remove_rows(tenant, user, began, budget, &mut ended).await?;
        let (erasure, is_done) = erasure.ok_or(Error::UserNotFound)?;
        let receipt = match is_done {
            true => {
                let erasures = std::slice::from_ref(&erasure);
                self.sign_all(tenant, user, erasures, now).await?.pop()
            }
            false => None,
        };
        let Erasure { id, erased_at, removed, .. } = erasure;
        Ok(UserErasure { id, erased_at, removed, ended, receipt })
    }

    /// Continues an unfinished erasure of a user that no process holds; false if there is none.
    pub async fn continue_erasure(&self, moment: Moment) -> Result<bool> {
        let began = StartTime { ticks: (self.parts.ticks)(), now: micros(moment.now) };
        let claimed = self.parts.store.claim_erasure(began.now, began.now + LEASE).await?;
        let Some((tenant, user)) = claimed else { return Ok(false) };
        self.remove_rows(tenant, user, began, WORKER_BUDGET, &mut Vec::new()).await?;
        Ok(true)
    }

    /// Ends every credential of a user. This comes first: should the rest fail, a user without keys
    /// is the safer state.
    pub(super) async fn end_credentials(
        &self,
        tenant: TenantId,
        user: UserId,
    ) -> Result<Vec<String>> {
        let list = self.parts.store.directory(tenant).await?;
        let ended = credential::remove_of_user(&list, user).await?;
        list.commit().await?;
        Ok(ended)
    }

    /// Marks a user as deleted, so that requests are refused, and records the erasure as begun.
    /// `again` is the journal entry of a user whom a backup has restored.
    pub(super) async fn mark_for_erasure(
        &self,
        by: AuditActor,
        user: UserId,
        id: ErasureId,
        now: Timestamp,
        again: Option<&JournalEntry>,
    ) -> Result<()> {
        let tenant = by.tenant;
        let scope = self.parts.store.write(tenant, user).await?;
        let there = directory::me(&scope).await?;
        if again.is_none() && there.is_none_or(|user| user.deleted_at.is_some()) {
            return Err(Error::UserNotFound);
        }
        let erased_at = again.map_or(now, |entry| entry.at);
        let erasure =
            Erasure { replayed: again.is_some(), ..Erasure::new(id, Verb::Erase, erased_at) };
        directory::mark_deleted(&scope, erasure.erased_at).await?;
        let mut batch = Batch::default();
        erasure::begin(&mut batch, &scope, &erasure, now + LEASE);
        let entry = AuditEntry::done(AuditEvent::UserErase, by, now).about(user).subject(id);
        let entry = if again.is_some() { entry.detail("replayed") } else { entry };
        audit::append(&mut batch, &scope, &entry);
        scope.run(&batch).await?;
        let entry = JournalEntry::of(&scope, &erasure);
        let entries = if again.is_none() { vec![entry] } else { Vec::new() };
        self.journal.commit(scope, &entries).await?;
        self.subscriptions.end(user);
        Ok(())
    }

    /// Removes the rows of a marked user until none is left or the budget is used; returns whether
    /// none is left. `None` if no erasure is recorded. While a space of the user cannot be reached,
    /// the list of spaces is kept and the erasure is not finished. Adds to `ended` the credentials
    /// that end.
    async fn remove_rows(
        &self,
        tenant: TenantId,
        user: UserId,
        began: StartTime,
        budget: Duration,
        ended: &mut Vec<String>,
    ) -> Result<Option<(Erasure, bool)>> {
        ended.extend(end_late_credentials(self, tenant, user).await?);
        let all_ended = end_relations(&self.parts.store, tenant, user).await?;
        let kept: &[&str] = if all_ended { &[] } else { erasure::RELATIONS };
        let mut from = 0;
        loop {
            let scope = self.parts.store.write(tenant, user).await?;
            let Some(mut erasure) = erasure::unfinished(&scope).await? else {
                // Another process has finished it.
                let latest = erasure::latest(&scope, 1).await?;
                return Ok(latest.into_iter().next().map(|erasure| (erasure, true)));
            };
            let there = directory::me(&scope).await?;
            if there.is_none_or(|user| user.deleted_at.is_none()) {
                tracing::error!("a user exists again during their erasure; nothing is removed");
                return Err(Error::UserNotFound);
            }
            let removal = erasure::remove_batch(&scope, from, kept).await?;
            for (table, rows) in removal.removed {
                *erasure.removed.entry(table).or_default() += rows;
            }
            let passed = (self.parts.ticks)().saturating_sub(began.ticks);
            let is_over = u128::from(passed) >= budget.as_micros();
            let now = began.now + SignedDuration::from_micros(i64::try_from(passed).unwrap_or(0));
            let now = micros(now);
            // Out of time: another worker may continue at once. What waits for a cell has time.
            let leased_until = if is_over && all_ended { now } else { now + LEASE };
            let finished = (removal.next.is_none() && all_ended).then_some(now);
            if finished.is_some() {
                self.parts.store.remove_copy(&scope, now).await?;
            }
            erasure::progress(&scope, &erasure, leased_until, finished).await?;
            crash::point();
            scope.commit().await?;
            match removal.next {
                None => return Ok(Some((erasure, all_ended))),
                Some(_) if is_over => return Ok(Some((erasure, false))),
                Some(next) => from = next,
            }
        }
    }

    /// Removes all rows of a marked user.
    pub(super) async fn finish_erasure(
        &self,
        tenant: TenantId,
        user: UserId,
        now: Timestamp,
    ) -> Result<()> {
        let began = StartTime { ticks: (self.parts.ticks)(), now };
        self.remove_rows(tenant, user, began, Duration::MAX, &mut Vec::new()).await?;
        Ok(())
    }

    /// Removes late rows of erased users who are not yet scrubbed from the files: writes that were
    /// in progress when they were erased have ended by now.
    pub async fn sweep_erased(&self) -> Result<i64> {
        const PAGE_SIZE: i64 = 1_000;
        let (mut swept, mut after) = (0, (Timestamp::UNIX_EPOCH, None));
        loop {
            let page = self.parts.store.unscrubbed_users_after(after, PAGE_SIZE).await?;
            for known in &page {
                swept += self.sweep_user(known.tenant, known.user).await?;
            }
            match page.last() {
                Some(last) => after = (last.erased_at, Some(last.id)),
                None => return Ok(swept),
            }
        }
    }

    async fn sweep_user(&self, tenant: TenantId, user: UserId) -> Result<i64> {
        let (mut swept, mut from) = (0, 0);
        loop {
            let scope = self.parts.store.write(tenant, user).await?;
            if directory::me(&scope).await?.is_none_or(|user| user.deleted_at.is_none()) {
                return Ok(swept);
            }
            let removal = erasure::remove_batch(&scope, from, &[]).await?;
            scope.commit().await?;
            swept += removal.removed.values().sum::<i64>();
            match removal.next {
                Some(next) => from = next,
                None => return Ok(swept),
            }
        }
    }
}

/// Ends the credentials of a marked user that were made since the erasure began. Those that are being made
/// are waited for; later ones are refused.
async fn end_late_credentials(
    erasures: &Erasures,
    tenant: TenantId,
    user: UserId,
) -> Result<Vec<String>> {
    let waiting = erasures.parts.store.directory(tenant).await?;
    credential::wait_for_new(waiting, user).await?;
    erasures.end_credentials(tenant, user).await
}
