//! Transactions on one user's rows: the frame of every read and write.
//!
//! A write opens with the same checks in every module: the user exists and is not deleted, and a
//! repeated request gets the stored answer of the first. [`Transactions::begin`] starts a write of
//! the record, which ends with one operation that can be undone; [`Transactions::start`] starts a
//! write that has no operation, for example of a session or a setting.

mod idempotency;
mod outcome;
mod writing;

use std::sync::Arc;

use futures_util::try_join;
use lukasa_core::job::{Task, next_upkeep};
use lukasa_core::recall::passage::Passage;
use lukasa_core::time::{after, micros};
use lukasa_core::{Caller, Ids, Stamp, Timestamp, TurnId, Writer};
use lukasa_store::passage::{self, Change};
use lukasa_store::policy::{self, WriteSettings};
use lukasa_store::{Batch, Scope, directory, job, operation, session};
use serde::de::DeserializeOwned;

use crate::embeddings::Embeddings;
use crate::error::{Error, Result};
use crate::journal::ErasureJournal;
use crate::memory::Point;
use crate::parts::Parts;
use crate::request::Request;
use crate::subscriptions::Subscriptions;

pub(crate) use idempotency::keep_answer;
pub use outcome::{ErasureSummary, Outcome, RemovalCounts};
pub(crate) use writing::{Effect, Writing};

/// Opens transactions on one user's rows.
#[derive(Clone)]
pub(crate) struct Transactions {
    parts: Arc<Parts>,
    journal: ErasureJournal,
    subscriptions: Subscriptions,
    embeddings: Embeddings,
}

/// A new write, or the stored answer of the first request with the same idempotency key.
pub(crate) enum WriteStart<W, T = Outcome> {
    New(W),
    Repeated(T),
}

impl Transactions {
    pub(crate) fn new(
        parts: Arc<Parts>,
        journal: ErasureJournal,
        subscriptions: Subscriptions,
        embeddings: Embeddings,
    ) -> Self {
        Self { parts, journal, subscriptions, embeddings }
    }

    /// Opens a read scope of the user's rows; refused if the user was deleted.
    pub(crate) async fn read(&self, caller: &Caller, now: Timestamp) -> Result<Scope> {
        let scope = self.parts.store.read_as(caller).await?;
        check_not_deleted(&scope, now).await?;
        Ok(scope)
    }

    /// Opens a read scope for a point on the time axes. What was known at an explicit time must be
    /// the same on every read, so no write stamped before that time may still be in progress.
    pub(crate) async fn read_at(&self, caller: &Caller, point: Point) -> Result<Scope> {
        match point.known_at {
            Some(_) => Ok(self.parts.store.read_settled_as(caller).await?),
            None => Ok(self.parts.store.read_as(caller).await?),
        }
    }

    /// Opens a write scope of the user's rows; creates the user if this is the first write about
    /// them.
    pub(crate) async fn write(&self, request: &Request) -> Result<Scope> {
        let caller = &request.caller;
        let scope = self.parts.store.write_as(caller).await?;
        let user = directory::me(&scope).await?;
        self.check_user(&scope, user, request).await?;
        Ok(scope)
    }

    /// Starts a write without an operation.
    pub(crate) async fn start<T: DeserializeOwned>(
        &self,
        request: &Request,
    ) -> Result<WriteStart<Scope, T>> {
        let caller = &request.caller;
        let scope = self.parts.store.write_as(caller).await?;
        let (user, stored) = try_join!(directory::me(&scope), idempotency::find(&scope, request))?;
        self.check_user(&scope, user, request).await?;
        match stored {
            Some(row) => Ok(WriteStart::Repeated(idempotency::parse(row, request)?)),
            None => Ok(WriteStart::New(scope)),
        }
    }

    /// Runs a batch and commits it, with passages that recall is to find from then on.
    pub(crate) async fn commit_with(
        &self,
        scope: Scope,
        mut batch: Batch,
        passages: Vec<Passage>,
        request: &Request,
    ) -> Result<()> {
        if !passages.is_empty() {
            passage::bump(&mut batch, &scope, Change::Added);
            passage::insert(&mut batch, &scope, &passages);
        }
        scope.run(&batch).await?;
        scope.commit().await?;
        let (caller, now) = (&request.caller, request.moment.now);
        self.embeddings.embed(caller.tenant, caller.user, passages, now).await;
        Ok(())
    }

    /// Starts a write of the record.
    pub(crate) async fn begin<'r>(
        &'r self,
        request: &'r Request,
    ) -> Result<WriteStart<Writing<'r>>> {
        let caller = &request.caller;
        let is_member_paused = self.is_member_paused(caller).await?;
        let scope = self.parts.store.write_as(caller).await?;
        let (last, user, mut settings, stored) = try_join!(
            operation::last_at(&scope),
            directory::me(&scope),
            policy::write_settings(&scope),
            idempotency::find(&scope, request),
        )?;
        settings.paused |= is_member_paused;
        self.check_user(&scope, user, request).await?;
        if stored.is_none() {
            check_sources(&scope, &request.sources).await?;
        }
        match stored {
            Some(row) => Ok(WriteStart::Repeated(idempotency::parse(row, request)?)),
            None => Ok(WriteStart::New(self.resume(scope, request, last, settings))),
        }
    }

    /// Whether the caller acts in a space for a member whose own memory is paused. The pause stops
    /// the member's assistants there too; the user still writes.
    async fn is_member_paused(&self, caller: &Caller) -> Result<bool> {
        let Some(member) = caller.member.filter(|_| Writer::of(caller) != Writer::Human) else {
            return Ok(false);
        };
        let scope = self.parts.store.read(caller.tenant, member).await?;
        Ok(policy::is_paused(&scope).await?)
    }

    /// A write of the record in this scope, which holds the user's lock. Its known time is the time
    /// now, not the time of the request, which may have waited for the lock or for a model; and it
    /// is later than that of the last operation. Readers of a past `known_at` take the same lock
    /// shared, so nothing they have read can be stamped into later.
    pub(crate) fn resume<'r>(
        &'r self,
        scope: Scope,
        request: &'r Request,
        last: Option<Timestamp>,
        settings: WriteSettings,
    ) -> Writing<'r> {
        let now = micros(self.parts.now_after(request.moment));
        let at = last.map_or(now, |last| now.max(after(last)));
        let mut ids = Ids::new(now, request.moment.seed);
        let stamp = Stamp { at, operation: ids.operation(), ids };
        Writing::new(self, scope, stamp, request, settings)
    }

    /// Refuses writes about a deleted user. For the first write about a user, and the first after
    /// upkeep had stopped for want of expiring rows, it creates the user row and queues the upkeep
    /// job.
    async fn check_user(
        &self,
        scope: &Scope,
        user: Option<directory::User>,
        request: &Request,
    ) -> Result<()> {
        match user {
            Some(user) if user.is_gone(request.moment.now) => return Err(Error::UserGone),
            Some(user) if user.looked_after => return Ok(()),
            _ => {}
        }
        let now = micros(request.moment.now);
        directory::ensure_me(scope, &request.caller.user_name, now).await?;
        directory::set_looked_after(scope, true).await?;
        let mut batch = Batch::default();
        let due = next_upkeep(scope.user(), now);
        job::queue_sole(&mut batch, scope, request.job_id("upkeep"), &Task::Upkeep, due, now);
        Ok(scope.run(&batch).await?)
    }
}

/// Refuses reads about a user who was deleted or has expired.
pub(crate) async fn check_not_deleted(scope: &Scope, now: Timestamp) -> Result<()> {
    match directory::me(scope).await? {
        Some(user) if user.is_gone(now) => Err(Error::UserGone),
        _ => Ok(()),
    }
}

/// Checks that the turns which a write was read from still exist. A turn that is being erased holds
/// the same lock, so nothing of an erased turn is written afterwards.
async fn check_sources(scope: &Scope, turns: &[TurnId]) -> Result<()> {
    if turns.is_empty() {
        return Ok(());
    }
    let ids: Vec<_> = turns.iter().map(|turn| turn.uuid()).collect();
    let found = session::turns_by_id(scope, &ids).await?;
    let is_there = |turn: &TurnId| found.iter().any(|found| found.id == *turn);
    if turns.iter().all(is_there) { Ok(()) } else { Err(Error::TurnNotFound) }
}
