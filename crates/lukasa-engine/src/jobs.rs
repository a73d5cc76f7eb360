//! Execution of jobs: a worker claims a due job, and the module it belongs to runs it.

use std::sync::Arc;

use futures_util::try_join;
use jiff::SignedDuration;
use lukasa_core::job::{FailureKind, Task, next_upkeep, wait_after};
use lukasa_core::limits::{CANDIDATE_DAYS, EXPIRED_DAYS, IDEMPOTENCY_DAYS, TRASH_DAYS, USAGE_DAYS};
use lukasa_core::time::micros;
use lukasa_core::{Caller, CallerKind, Origin, Timestamp, Voice};
use lukasa_store::job::{self, ClaimedJob, OldestRows};
use lukasa_store::{Batch, directory, policy};
use tracing::Instrument as _;

use crate::consolidation::Consolidator;
use crate::embeddings::Embeddings;
use crate::error::{Error, Result};
use crate::learning::Learning;
use crate::observations::Observations;
use crate::parts::Parts;
use crate::policy::Policies;
use crate::portraits::Portraits;
use crate::queue::{JobFailure, JobQueue};
use crate::removal::{Erasures, Removals, erase_expired};
use crate::request::{Moment, Request};
use crate::sessions::Sessions;
use crate::statements::Statements;
use crate::telemetry::{job_span, record_job};
use crate::webhooks::TenantWebhooks;

pub use crate::queue::{AssignedJob, WorkOutcome};
pub use lukasa_core::job::Lane;

/// Runs jobs.
#[derive(Clone)]
pub struct Jobs {
    pub(crate) parts: Arc<Parts>,
    pub(crate) queue: JobQueue,
    pub(crate) policies: Policies,
    pub(crate) embeddings: Embeddings,
    pub(crate) sessions: Sessions,
    pub(crate) statements: Statements,
    pub(crate) learning: Learning,
    pub(crate) removals: Removals,
    pub(crate) erasures: Erasures,
    pub(crate) observations: Observations,
    pub(crate) consolidation: Consolidator,
    pub(crate) portraits: Portraits,
    pub(crate) webhooks: TenantWebhooks,
}

impl Jobs {
    /// Claims one due job of any lane and runs it. Call it again while it returns work.
    pub async fn work(&self, worker: &str, moment: Moment) -> Result<WorkOutcome> {
        for lane in Lane::ALL {
            if let Some(assigned) = self.queue.claim_any(lane, worker, moment.now).await? {
                return self.perform_assigned(assigned, moment).await;
            }
        }
        Ok(WorkOutcome::Nothing)
    }

    /// Runs a claimed job.
    pub async fn perform_assigned(
        &self,
        assigned: AssignedJob,
        moment: Moment,
    ) -> Result<WorkOutcome> {
        let claimed = &assigned.claimed;
        // A failing job records its failure. A job started this often without one crashes its
        // worker.
        if wait_after(FailureKind::Transient, claimed.attempts - 1, 0.0).is_none() {
            let failed = JobFailure::crashed();
            return self.queue.release_failed(claimed, failed, moment).await;
        }
        let started = (self.parts.ticks)();
        let span = job_span(claimed.kind.as_str());
        let performed = Box::pin(self.perform(claimed, moment)).instrument(span).await;
        let result = if performed.is_ok() { "done" } else { "failed" };
        record_job(claimed.kind.as_str(), result, (self.parts.ticks)() - started);
        match performed {
            Ok(()) => Ok(WorkOutcome::Done(claimed.kind)),
            Err(failed) => self.queue.release_failed(claimed, failed, moment).await,
        }
    }

    async fn perform(&self, job: &ClaimedJob, moment: Moment) -> Result<(), JobFailure> {
        let scope = self.parts.store.read(job.tenant, job.user).await?;
        let (user, paused) = try_join!(directory::me(&scope), policy::is_paused(&scope))?;
        drop(scope);
        let Some(user) = user.filter(|user| user.deleted_at.is_none()) else {
            return self.queue.drop_job(job).await;
        };
        if user.is_gone(moment.now) {
            erase_expired(&self.erasures, job.tenant, job.user, moment).await?;
            // Its row is removed with the others, unless the erasure continues later.
            return self.queue.drop_job(job).await;
        }
        let caller = Caller {
            tenant: job.tenant,
            user: job.user,
            user_name: user.name,
            kind: CallerKind::Job,
            credential: job.kind.as_str().to_owned(),
            voice: Voice::extracted(Origin::UserTurn),
            issuer: None,
            member: None,
        };
        let request = Request::new(caller, moment);
        let Some(task) = Task::parse(job.kind, &job.key) else {
            return self.queue.drop_job(job).await;
        };
        let needs_chat =
            matches!(task, Task::Title { .. } | Task::Compress { .. } | Task::Retell(_));
        if needs_chat && !self.parts.has_chat() {
            return Err(JobFailure::no_chat_model(job, moment.now));
        }
        let waits = !matches!(task, Task::Close { .. } | Task::Upkeep | Task::Deliver);
        if waits && paused {
            return Err(JobFailure::paused(job, moment.now));
        }
        match task {
            Task::Close { session } => self.sessions.close_abandoned(&request, job, &session).await,
            Task::Statement { turn } => self.statements.carry_out(&request, job, turn).await,
            Task::Extract { session } => self.learning.extract(&request, job, &session).await,
            Task::Relearn { domain, session } => {
                self.learning.relearn(&request, job, &domain, &session).await
            }
            Task::Title { session } => self.learning.title_session(&request, job, &session).await,
            Task::Compress { session } => {
                self.learning.compress_session(&request, job, &session).await
            }
            Task::Retell(range) => self.learning.retell(&request, job, &range).await,
            Task::Upkeep => self.run_upkeep(&request, job, user.expires_at, paused).await,
            Task::Deliver => self.webhooks.deliver(&request, job).await,
        }
    }

    /// Maintenance of one user: removes the vectors of replaced models, packs closed sessions, counts
    /// patterns in observations, consolidates learned facts, phrases portraits whose facts have
    /// changed, and removes expired rows: the trash after thirty days, retrieval records after ninety,
    /// expired memories as the policy says. A step that fails is logged and does not stop the others;
    /// the next run repeats it. While memory is paused, nothing is learned. Queues the next run for when
    /// the next row expires, or a temporary user; within a week if the user has vectors of a model that
    /// is not in use. If there is none, the next write queues it.
    async fn run_upkeep(
        &self,
        request: &Request,
        job: &ClaimedJob,
        user_expires_at: Option<Timestamp>,
        is_paused: bool,
    ) -> Result<(), JobFailure> {
        let mut failed = false;
        let mut check = |step: &str, error: Option<Error>| {
            if let Some(error) = error {
                // The code, not the message: the message could quote the user's content.
                tracing::error!(step, error = error.code().as_str(), "a step of upkeep failed");
                failed = true;
            }
        };
        check("purge of memories", self.removals.purge(request).await.err());
        check("purge of sources", self.removals.purge_sources(request).await.err());
        check("index of episodes", self.learning.index_episodes(request).await.err());
        check("expiry of observations", self.observations.expire(request).await.err());
        check("removal of vectors", self.embeddings.remove_replaced(request).await.err());
        check("packing of sessions", self.sessions.pack_closed(request).await.err());
        if !is_paused {
            let noted = self.observations.learn_patterns(request).await;
            check("patterns in observations", noted.err());
            check("calibration of thresholds", self.policies.calibrate(request).await.err());
            let consolidated = self.consolidation.consolidate(request, false).await;
            let phrased = self.portraits.phrase_all(request).await;
            // These two call models. The queue decides when they are tried again.
            consolidated?;
            phrased?;
        }
        let has_unused_vectors = self.embeddings.has_unused(job.tenant, job.user).await?;
        let scope = self.parts.store.write(job.tenant, job.user).await?;
        if !job::is_held(&scope, job).await? {
            return Ok(());
        }
        let now = micros(request.moment.now);
        let mut batch = Batch::default();
        job::finish(&mut batch, &scope, job);
        let (policy, _) = self.policies.load(&scope).await?;
        let next = match failed {
            true => Some(now),
            false => next_expiry(job::oldest(&scope).await?, policy.history()),
        };
        // Rows written in the meantime may expire before that.
        let soon = now + SignedDuration::from_hours(24 * (IDEMPOTENCY_DAYS - 1));
        let next = next.or(has_unused_vectors.then_some(soon));
        let due = next.map(|next| next_upkeep(job.user, now.max(next.min(soon))));
        match [due, user_expires_at].into_iter().flatten().min() {
            Some(due) => {
                let id = request.job_id("upkeep");
                job::queue_sole(&mut batch, &scope, id, &Task::Upkeep, due, now);
            }
            None => {
                directory::set_looked_after(&scope, false).await?;
            }
        }
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }
}

/// When the next retained row expires, if expired memories are kept for `history`.
fn next_expiry(oldest: OldestRows, history: Option<SignedDuration>) -> Option<Timestamp> {
    let after =
        |at: Option<Timestamp>, days: i64| at.map(|at| at + SignedDuration::from_hours(24 * days));
    let ends = [
        after(oldest.trashed, TRASH_DAYS),
        after(oldest.guessed, CANDIDATE_DAYS),
        after(oldest.answered, IDEMPOTENCY_DAYS),
        after(oldest.given, USAGE_DAYS),
        after(oldest.ended, EXPIRED_DAYS),
        oldest.expired.zip(history).map(|(at, history)| at + history),
    ];
    ends.into_iter().flatten().min()
}
