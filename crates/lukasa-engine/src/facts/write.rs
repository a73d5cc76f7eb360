//! The frame of every write: one transaction, one operation, one kept answer.
//!
//! The user's lock is held from the first statement on, so what a verb reads is what it writes
//! over. The operation's time is made to follow the user's last one, whatever the clock says.

use futures_util::{future::OptionFuture, try_join};
use lukasa_core::recall::passage::{Passage, of_version};
use lukasa_core::time::{after, micros};
use lukasa_core::{
    Caller, Changes, FactId, Ids, JobId, JobKind, Link, Operation, OperationId, Sources, Stamp,
    State, Timestamp, Verb, Version,
};
use lukasa_store::passage::{self, Change};
use lukasa_store::policy::{self, Standing};
use lukasa_store::{
    Batch, Scope, context, delivery, directory, fact, idempotency, job, link, operation, portrait,
};

use super::outcome::{Memory, Outcome};
use super::read::{as_memory, current};
use crate::erasure::Entry;
use crate::error::{Error, Result};
use crate::{Engine, Request};

/// A write under way.
pub(crate) struct Writing<'r> {
    engine: &'r Engine,
    pub(crate) scope: Scope,
    pub(crate) stamp: Stamp,
    pub(super) request: &'r Request,
    /// The policy it is made under, where it is not the server's, and whether anybody is told of it.
    standing: Standing,
}

/// A write that is new, or the answer it got the first time.
pub(crate) enum Begun<'r> {
    New(Writing<'r>),
    Again(Outcome),
}

/// Everything an operation does to the record.
#[derive(Default)]
pub(crate) struct Effect {
    pub(crate) changes: Changes,
    pub(crate) opens_links: Vec<Link>,
    pub(crate) closes_links: Vec<lukasa_core::LinkId>,
    /// Facts that the operation is about besides those whose versions it opens or closes.
    pub(crate) also: Vec<FactId>,
    pub(crate) undoes: Option<OperationId>,
    /// What is taken away or brought back besides facts.
    pub(crate) sources: Option<Sources>,
    /// Passages of what is brought back.
    pub(crate) passages: Vec<Passage>,
    /// Facts that must leave every prompt at once, though something of them stays.
    pub(crate) thaws: Vec<FactId>,
    /// What else is written in the same transaction.
    pub(crate) with: Batch,
    /// What it removes for good, for the journal.
    pub(crate) erased: Vec<Entry>,
}

impl Effect {
    pub(super) fn of(changes: Changes) -> Self {
        Self { changes, ..Self::default() }
    }

    fn facts(&self) -> Vec<FactId> {
        let mut facts: Vec<FactId> = self.changes.opens.iter().map(|v| v.fact).collect();
        facts.extend(self.changes.closes.iter().map(|(fact, _)| *fact));
        facts.extend(self.opens_links.iter().flat_map(|link| [link.from, link.to]));
        facts.extend(&self.also);
        facts.sort_unstable();
        facts.dedup();
        facts
    }

    /// What recall will find of the versions that are active now.
    fn passages(&self) -> Vec<Passage> {
        // Versions that were closed long ago come in with a restored memory; they are history.
        let held = |v: &&Version| v.state == State::Active && v.known.until.is_none();
        let active = self.changes.opens.iter().filter(held);
        active.flat_map(of_version).chain(self.passages.iter().cloned()).collect()
    }

    /// The facts of which a version was closed: what cites them may say what no longer holds.
    fn closed(&self) -> Vec<FactId> {
        let mut facts: Vec<FactId> = self.changes.closes.iter().map(|(fact, _)| *fact).collect();
        facts.sort_unstable();
        facts.dedup();
        facts
    }

    /// The facts that were taken back: closed, and nothing active opened in their place. They must
    /// leave every prompt at once.
    fn revoked(&self) -> Vec<FactId> {
        let stays = |fact: FactId| {
            self.changes.opens.iter().any(|v| v.fact == fact && v.state == State::Active)
        };
        let closed = self.changes.closes.iter().map(|(fact, _)| *fact);
        closed.filter(|fact| !stays(*fact)).chain(self.thaws.iter().copied()).collect()
    }
}

impl Engine {
    pub(crate) async fn begin<'r>(&'r self, request: &'r Request) -> Result<Begun<'r>> {
        let caller = &request.caller;
        let scope = self.store.write(caller.tenant, caller.user).await?;
        let key = request.idempotency.as_ref();
        let kept: OptionFuture<_> = key.map(|key| idempotency::find(&scope, &key.key)).into();
        let (last, user, standing, kept) = try_join!(
            operation::last_at(&scope),
            directory::me(&scope),
            policy::standing(&scope),
            async { kept.await.transpose() },
        )?;
        if user.as_ref().is_some_and(|user| user.is_gone(request.moment.now)) {
            return Err(Error::UserGone);
        }
        if let (Some(Some(kept)), Some(key)) = (kept, key) {
            if kept.request_hash != key.request_hash {
                return Err(Error::IdempotencyMismatch);
            }
            let outcome = kept.outcome.ok_or(Error::AnswerErased)?;
            let outcome = serde_json::from_value(outcome).map_err(|e| corrupt(&e))?;
            return Ok(Begun::Again(outcome));
        }
        if user.is_none_or(|user| !user.looked_after) {
            self.first_write(&scope, request).await?;
        }
        Ok(Begun::New(self.write(scope, request, last, standing)))
    }

    /// A write in this scope, which holds the user's lock. Its known time is the time now, not the
    /// time of the request, which may have waited for the lock or for a model; and it is later than
    /// that of the last operation. Readers of a past `known_at` take the same lock shared, so nothing
    /// they have read can be stamped into later.
    pub(super) fn write<'r>(
        &'r self,
        scope: Scope,
        request: &'r Request,
        last: Option<Timestamp>,
        standing: Standing,
    ) -> Writing<'r> {
        let now = micros(self.now_after(request.moment));
        let at = last.map_or(now, |last| now.max(after(last)));
        let mut ids = Ids::new(now, request.moment.seed);
        let stamp = Stamp { at, operation: ids.operation(), ids };
        Writing { engine: self, scope, stamp, request, standing }
    }
}

impl Writing<'_> {
    pub(crate) fn request(&self) -> &Request {
        self.request
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.engine
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.request.caller
    }

    /// When the caller asked, which may be before the operation's own time.
    pub(crate) fn now(&self) -> Timestamp {
        self.request.moment.now
    }

    /// Checks the caller's `If-Match` against the version a reader would see now.
    pub(super) fn check_match(&self, known: &[Version]) -> Result<()> {
        let shown = current(known, self.request.moment.now).map(|v| v.id);
        match self.request.if_match {
            Some(_) if self.request.if_match != shown => Err(Error::VersionMismatch),
            _ => Ok(()),
        }
    }

    /// Records the operation and its effect, keeps the answer, commits.
    pub(crate) async fn finish(
        self,
        verb: Verb,
        effect: Effect,
        mut outcome: Outcome,
    ) -> Result<Outcome> {
        let caller = &self.request.caller;
        let operation = Operation {
            id: self.stamp.operation,
            verb,
            at: self.stamp.at,
            caller: caller.kind,
            credential: caller.credential.clone(),
            voice: caller.voice,
            facts: effect.facts(),
            undoes: effect.undoes,
            undone_by: None,
            policy: self.standing.policy.clone(),
            sources: effect.sources.clone(),
        };
        let (scope, at) = (&self.scope, self.stamp.at);
        let mut batch = Batch::default();
        operation::insert(&mut batch, scope, &operation);
        fact::apply(&mut batch, scope, &effect.changes, at, operation.id)?;
        for id in &effect.closes_links {
            link::close(&mut batch, scope, *id, at, operation.id);
        }
        for new in &effect.opens_links {
            link::open(&mut batch, scope, new);
        }
        let removes = matches!(verb, Verb::Erase | Verb::Purge)
            || effect.sources.as_ref().is_some_and(|sources| sources.gone);
        let passages = effect.passages();
        passage::bump(&mut batch, scope, if removes { Change::Removed } else { Change::Facts });
        passage::insert(&mut batch, scope, &passages);
        let revoked = effect.revoked();
        context::thaw_facts(&mut batch, scope, &revoked);
        portrait::remove_citing(&mut batch, scope, &effect.closed());
        batch.append(effect.with);
        if self.standing.webhooks {
            // The log is the outbox; what is queued is only the reading of it.
            let (id, now) =
                (JobId::from_uuid(operation.id.uuid()), micros(self.request.moment.now));
            delivery::begin(&mut batch, scope, at);
            job::queue_sole(&mut batch, scope, id, JobKind::Deliver, now, now);
        }
        outcome.operation = Some(operation.id);
        let (engine, moment) = (self.engine, self.request.moment);
        let outcome = self.keep(batch, outcome, &effect.erased).await?;
        engine.listeners.wake(caller.user, at);
        // Only now: no model is asked while a transaction is open.
        engine.embed(caller.tenant, caller.user, passages, moment.now).await;
        Ok(outcome)
    }

    /// Writes something that is no operation of the record.
    pub(crate) async fn close(self, batch: Batch) -> Result<()> {
        self.scope.run(&batch).await?;
        Ok(self.scope.commit().await?)
    }

    /// Keeps and gives an answer to a request that had nothing to write.
    pub(crate) async fn answer(self, outcome: Outcome) -> Result<Outcome> {
        self.keep(Batch::default(), outcome, &[]).await
    }

    async fn keep(self, mut batch: Batch, outcome: Outcome, erased: &[Entry]) -> Result<Outcome> {
        if let Some(key) = &self.request.idempotency {
            let body = serde_json::to_value(&outcome).map_err(|e| corrupt(&e))?;
            let (facts, now) = (outcome.facts(), self.request.moment.now);
            let hash = &key.request_hash;
            idempotency::keep(&mut batch, &self.scope, &key.key, hash, body, &facts, now);
        }
        self.scope.run(&batch).await?;
        self.engine.commit_erasing(self.scope, erased).await?;
        Ok(outcome)
    }

    /// The memory that `opened` makes of a fact, as a reader would see it now.
    pub(super) fn shown(&self, opened: &[Version]) -> Option<Memory> {
        let now = self.request.moment.now.max(self.stamp.at);
        current(opened, now).map(|version| as_memory(version, opened, now))
    }
}

fn corrupt(error: &serde_json::Error) -> Error {
    Error::Internal(lukasa_store::Error::Corrupt { table: "idempotency", what: error.to_string() })
}
