//! The frame of every write: one transaction, one operation, one stored answer.
//!
//! The user's lock is held from the first statement on, so what a verb reads is what it writes
//! over. The operation's time is always later than the user's last one, whatever the clock says.

use lukasa_core::audit::{AuditActor, AuditEntry, AuditEvent};
use lukasa_core::job::Task;
use lukasa_core::recall::passage::{Passage, of_version};
use lukasa_core::time::micros;
use lukasa_core::{
    Caller, Changes, FactId, JobId, Link, Operation, OperationId, Sources, SpaceName, Stamp, State,
    Timestamp, Verb, Version, Writer,
};
use lukasa_store::passage::{self, Change};
use lukasa_store::policy::WriteSettings;
use lukasa_store::{Batch, Scope, audit, context, delivery, fact, job, link, operation, portrait};

use super::Transactions;
use super::idempotency::keep_answer;
use super::outcome::Outcome;
use crate::error::{Error, Result};
use crate::journal::JournalEntry;
use crate::memory::{Memory, as_memory, current};
use crate::parts::Parts;
use crate::request::Request;

/// A write in progress.
pub(crate) struct Writing<'r> {
    transactions: &'r Transactions,
    pub(crate) scope: Scope,
    pub(crate) stamp: Stamp,
    request: &'r Request,
    /// The policy version it is made under, if it is not the server's default, whether memory is
    /// paused, and whether there are webhooks.
    settings: WriteSettings,
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
    /// Sources that are removed or restored.
    pub(crate) sources: Option<Sources>,
    /// Passages of what is restored or summarised.
    pub(crate) passages: Vec<Passage>,
    /// Whether passages are removed although it restores sources.
    pub(crate) removes_passages: bool,
    /// Facts that must be removed from every prompt at once, although a version of them stays
    /// active.
    pub(crate) also_revoked: Vec<FactId>,
    /// Other writes in the same transaction.
    pub(crate) with: Batch,
    /// How many erasures it records, replayed ones too.
    pub(crate) erasures: usize,
    /// Journal entries of what it permanently removes.
    pub(crate) erased: Vec<JournalEntry>,
}

impl Effect {
    pub(crate) fn of(changes: Changes) -> Self {
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

    /// Passages of the versions that are active after this.
    fn passages(&self) -> Vec<Passage> {
        // An imported archive also brings closed versions; they are history.
        let is_current = |v: &&Version| v.state == State::Active && v.known.until.is_none();
        let active = self.changes.opens.iter().filter(is_current);
        active.flat_map(of_version).chain(self.passages.iter().cloned()).collect()
    }

    /// The facts of which a version was closed: portraits that cite them may be outdated.
    fn closed(&self) -> Vec<FactId> {
        let mut facts: Vec<FactId> = self.changes.closes.iter().map(|(fact, _)| *fact).collect();
        facts.sort_unstable();
        facts.dedup();
        facts
    }

    /// The revoked facts: closed, and nothing active opened in their place. They must be removed
    /// from every prompt at once.
    fn revoked(&self) -> Vec<FactId> {
        let stays = |fact: FactId| {
            self.changes.opens.iter().any(|v| v.fact == fact && v.state == State::Active)
        };
        let closed = self.changes.closes.iter().map(|(fact, _)| *fact);
        closed.filter(|fact| !stays(*fact)).chain(self.also_revoked.iter().copied()).collect()
    }
}

impl<'r> Writing<'r> {
    pub(super) fn new(
        transactions: &'r Transactions,
        scope: Scope,
        stamp: Stamp,
        request: &'r Request,
        settings: WriteSettings,
    ) -> Self {
        Self { transactions, scope, stamp, request, settings }
    }

    pub(crate) fn request(&self) -> &'r Request {
        self.request
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.transactions.parts
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.request.caller
    }

    /// The time of the request, which may be before the operation's time.
    pub(crate) fn now(&self) -> Timestamp {
        self.request.moment.now
    }

    /// Checks the caller's `If-Match` against the version a reader would see now.
    pub(crate) fn check_match(&self, known: &[Version]) -> Result<()> {
        let shown = current(known, self.request.moment.now).map(|v| v.id);
        match self.request.if_match {
            Some(_) if self.request.if_match != shown => Err(Error::VersionMismatch),
            _ => Ok(()),
        }
    }

    /// Records the operation and its effect, stores the answer, and commits.
    pub(crate) async fn finish(
        self,
        verb: Verb,
        effect: Effect,
        mut outcome: Outcome,
    ) -> Result<Outcome> {
        let caller = &self.request.caller;
        // The user still writes, and others still remove.
        if self.settings.paused && verb.adds() && Writer::of(caller) != Writer::Human {
            return Err(Error::MemoryPaused);
        }
        let operation = Operation {
            id: self.stamp.operation,
            verb,
            at: self.stamp.at,
            caller: caller.kind,
            credential: caller.author().to_owned(),
            voice: caller.voice,
            facts: effect.facts(),
            undoes: effect.undoes,
            undone_by: None,
            policy: self.settings.policy.clone(),
            sources: effect.sources.clone(),
            member: caller.member,
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
            || effect.sources.as_ref().is_some_and(|sources| sources.gone)
            || effect.removes_passages;
        let passages = effect.passages();
        passage::bump(&mut batch, scope, if removes { Change::Removed } else { Change::Facts });
        passage::insert(&mut batch, scope, &passages);
        let revoked = effect.revoked();
        context::remove_baselines_of_facts(&mut batch, scope, &revoked);
        for version in &effect.changes.opens {
            if let Some(project) = &version.claim.project {
                context::remove_baselines_elsewhere(&mut batch, scope, version.fact, project);
            }
        }
        portrait::remove_citing(&mut batch, scope, &effect.closed());
        batch.append(effect.with);
        // The payload of a webhook names a user, and a space is none.
        let of_space = SpaceName::of_user_name(&caller.user_name).is_some();
        if self.settings.webhooks && !of_space {
            // The operation log is the outbox; the job only reads it.
            let (id, now) =
                (JobId::from_uuid(operation.id.uuid()), micros(self.request.moment.now));
            delivery::begin(&mut batch, scope, at);
            job::queue_sole(&mut batch, scope, id, &Task::Deliver, now, now);
        }
        if effect.erasures > 0 {
            let entry = AuditEntry::done(AuditEvent::Erase, AuditActor::of(caller), at);
            let entry = entry.about(caller.user).subject(operation.id);
            let detail = format!("verb={},erasures={}", verb.as_str(), effect.erasures);
            audit::append(&mut batch, scope, &entry.detail(&detail));
        }
        outcome.operation = Some(operation.id);
        let (transactions, moment) = (self.transactions, self.request.moment);
        let outcome = self.keep(batch, outcome, &effect.erased).await?;
        transactions.subscriptions.wake(caller.user, at);
        // Only after the commit: no model may be called while a transaction is open.
        transactions.embeddings.embed(caller.tenant, caller.user, passages, moment.now).await;
        Ok(outcome)
    }

    /// Commits a batch without recording an operation.
    pub(crate) async fn close(self, batch: Batch) -> Result<()> {
        self.close_with(batch, Vec::new()).await
    }

    /// The same, with passages that recall is to find from then on.
    pub(crate) async fn close_with(self, batch: Batch, passages: Vec<Passage>) -> Result<()> {
        self.transactions.commit_with(self.scope, batch, passages, self.request).await
    }

    /// Stores and returns the answer to a request that had nothing to write.
    pub(crate) async fn answer(self, outcome: Outcome) -> Result<Outcome> {
        self.answer_with(Batch::default(), outcome).await
    }

    /// Stores and returns the answer to a request that wrote nothing to the record, with other
    /// writes in the same transaction.
    pub(crate) async fn answer_with(self, batch: Batch, outcome: Outcome) -> Result<Outcome> {
        self.keep(batch, outcome, &[]).await
    }

    async fn keep(
        self,
        mut batch: Batch,
        outcome: Outcome,
        erased: &[JournalEntry],
    ) -> Result<Outcome> {
        keep_answer(&mut batch, &self.scope, self.request, &outcome, &outcome.facts())?;
        self.scope.run(&batch).await?;
        if !erased.is_empty() {
            self.transactions.parts.store.remove_copy(&self.scope, self.stamp.at).await?;
        }
        self.transactions.journal.commit(self.scope, erased).await?;
        Ok(outcome)
    }

    /// The memory that the versions `opened` result in, as a reader would see it now.
    pub(crate) fn shown(&self, opened: &[Version]) -> Option<Memory> {
        let now = self.request.moment.now.max(self.stamp.at);
        current(opened, now).map(|version| as_memory(version, opened, now))
    }
}
