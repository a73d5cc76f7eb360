//! Jobs: a worker claims a due job, runs it, and finishes it in the transaction of its effect. A
//! failed job is retried with backoff; after the last attempt it stays listed as failed and can be
//! retried manually.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::SignedDuration;
pub use lukasa_core::job::Lane;
use lukasa_core::job::{FailureKind, next_upkeep, wait_after};
use lukasa_core::learn::prompt;
use lukasa_core::limits::{CANDIDATE_DAYS, EXPIRED_DAYS, IDEMPOTENCY_DAYS, TRASH_DAYS, USAGE_DAYS};
use lukasa_core::time::micros;
use lukasa_core::{Caller, CallerKind, Job, JobId, JobKind, Origin, TenantId, Timestamp, Voice};
use lukasa_store::job::{self, ClaimRequest, ClaimedJob, OldestRows};
use lukasa_store::{Batch, directory, session};

use crate::chat::NoAnswer;
use crate::error::{Error, Result};
use crate::sessions::{keep_answer, stored_answer};
use crate::{Engine, Moment, Request};

/// Result of one worker step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkOutcome {
    /// Nothing was due.
    Nothing,
    Done(JobKind),
    /// The job failed and will be retried.
    PutOff(JobKind, String),
    /// The job failed and is out of attempts.
    GivenUp(JobKind, String),
}

/// Running jobs of this process by lane: how many of each tenant, and which tenant was served last.
#[derive(Debug, Default)]
pub(crate) struct RunningJobs(Mutex<HashMap<Lane, LaneState>>);

#[derive(Debug, Default)]
struct LaneState {
    after: Option<TenantId>,
    jobs: HashMap<TenantId, usize>,
}

impl RunningJobs {
    fn with<T>(&self, lane: Lane, act: impl FnOnce(&mut LaneState) -> T) -> T {
        let mut lanes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        act(lanes.entry(lane).or_default())
    }

    /// The tenant served last, and the tenants that already run `limit` jobs.
    fn before_claim(&self, lane: Lane, limit: usize) -> (Option<TenantId>, Vec<TenantId>) {
        self.with(lane, |state| {
            let full = state.jobs.iter().filter(|(_, jobs)| **jobs >= limit);
            (state.after, full.map(|(tenant, _)| *tenant).collect())
        })
    }

    fn begin(&self, lane: Lane, tenant: TenantId) {
        self.with(lane, |state| {
            state.after = Some(tenant);
            *state.jobs.entry(tenant).or_default() += 1;
        });
    }

    fn end(&self, lane: Lane, tenant: TenantId) {
        self.with(lane, |state| {
            if let Some(jobs) = state.jobs.get_mut(&tenant) {
                *jobs -= 1;
                if *jobs == 0 {
                    state.jobs.remove(&tenant);
                }
            }
        });
    }
}

/// A job claimed by this process. It counts as running until this is dropped.
#[derive(Debug)]
pub struct AssignedJob {
    claimed: ClaimedJob,
    running: Arc<RunningJobs>,
    lane: Lane,
}

impl Drop for AssignedJob {
    fn drop(&mut self) {
        self.running.end(self.lane, self.claimed.tenant);
    }
}

/// When the next retained row expires.
fn next_expiry(oldest: OldestRows) -> Option<Timestamp> {
    let after =
        |at: Option<Timestamp>, days: i64| at.map(|at| at + SignedDuration::from_hours(24 * days));
    let ends = [
        after(oldest.trashed, TRASH_DAYS),
        after(oldest.guessed, CANDIDATE_DAYS),
        after(oldest.answered, IDEMPOTENCY_DAYS),
        after(oldest.given, USAGE_DAYS),
        after(oldest.ended, EXPIRED_DAYS),
    ];
    ends.into_iter().flatten().min()
}

/// Failure of a job.
#[derive(Debug)]
pub(crate) struct JobFailure {
    failure_kind: FailureKind,
    reason: String,
    /// Earliest time of the next attempt, whatever the usual backoff.
    not_before: Option<Timestamp>,
}

impl From<Error> for JobFailure {
    fn from(error: Error) -> Self {
        let failure_kind = match error {
            Error::Unavailable(_) => FailureKind::Transient,
            _ => FailureKind::Persistent,
        };
        // The code, not the message: the message could quote the user's content.
        Self { failure_kind, reason: error.code().to_owned(), not_before: None }
    }
}

impl From<lukasa_store::Error> for JobFailure {
    fn from(error: lukasa_store::Error) -> Self {
        Error::from(error).into()
    }
}

impl JobFailure {
    pub(crate) fn no_answer(why: &NoAnswer, now: Timestamp) -> Self {
        let failure_kind = match why {
            NoAnswer::Unusable(_) => FailureKind::Persistent,
            _ => FailureKind::Transient,
        };
        let tomorrow = (now.as_second().div_euclid(86_400) + 1) * 86_400;
        let not_before = matches!(why, NoAnswer::OverBudget)
            .then(|| Timestamp::from_second(tomorrow).unwrap_or(now));
        Self { failure_kind, reason: why.to_string(), not_before }
    }
}

impl Engine {
    /// Claims one due job of any lane and runs it. Call it again while it returns work.
    pub async fn work(&self, worker: &str, moment: Moment) -> Result<WorkOutcome> {
        for lane in Lane::ALL {
            if let Some(assigned) = self.claim(*lane, worker, usize::MAX, moment.now).await? {
                return self.perform_assigned(assigned, moment).await;
            }
        }
        Ok(WorkOutcome::Nothing)
    }

    /// Claims one due job of a lane; `workers` is the number of workers that this process has for
    /// the lane. While other tenants have jobs in the lane, one tenant gets at most all of the
    /// workers but one.
    pub async fn claim(
        &self,
        lane: Lane,
        worker: &str,
        workers: usize,
        now: Timestamp,
    ) -> Result<Option<AssignedJob>> {
        // A server without a chat model leaves its jobs to one that has a model.
        if lane == Lane::Learning && !self.has_chat() {
            return Ok(None);
        }
        let limit = workers.saturating_sub(1).max(1);
        let (after, full) = self.running.before_claim(lane, limit);
        let request = ClaimRequest { lane, worker, after, full: &full };
        let claimed = self.store.claim_in_lane(&request, micros(now)).await?;
        Ok(claimed.map(|claimed| {
            self.running.begin(lane, claimed.tenant);
            AssignedJob { claimed, running: self.running.clone(), lane }
        }))
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
            let reason =
                "gave up: started repeatedly without finishing (does it crash the worker?)"
                    .to_owned();
            let failed =
                JobFailure { failure_kind: FailureKind::Persistent, reason, not_before: None };
            return self.release_failed(claimed, failed, moment).await;
        }
        match self.perform(claimed, moment).await {
            Ok(()) => Ok(WorkOutcome::Done(claimed.kind)),
            Err(failed) => self.release_failed(claimed, failed, moment).await,
        }
    }

    /// When the next job is due.
    pub async fn next_job_at(&self) -> Result<Option<Timestamp>> {
        Ok(self.store.next_job_at().await?)
    }

    async fn perform(&self, job: &ClaimedJob, moment: Moment) -> Result<(), JobFailure> {
        let scope = self.store.read(job.tenant, job.user).await?;
        let user = directory::me(&scope).await?;
        drop(scope);
        let Some(user) = user.filter(|user| !user.is_gone(moment.now)) else {
            return self.drop_job(job).await;
        };
        let caller = Caller {
            tenant: job.tenant,
            user: job.user,
            user_name: user.name,
            kind: CallerKind::Job,
            credential: job.kind.as_str().to_owned(),
            voice: Voice::extracted(Origin::UserTurn),
        };
        let request = Request::new(caller, moment);
        match job.kind {
            JobKind::Close => self.close_abandoned(&request, job).await,
            JobKind::Extract => self.extract(&request, job).await,
            JobKind::Title => self.title_session(&request, job).await,
            JobKind::Compress => self.compress_session(&request, job).await,
            JobKind::Retell => self.retell(&request, job).await,
            JobKind::Upkeep => self.run_upkeep(&request, job).await,
            JobKind::Deliver => self.deliver(&request, job).await,
        }
    }

    /// Finishes a job that has nothing left to do.
    pub(crate) async fn drop_job(&self, job: &ClaimedJob) -> Result<(), JobFailure> {
        let scope = self.store.write(job.tenant, job.user).await?;
        if job::is_held(&scope, job).await? {
            let mut batch = Batch::default();
            job::finish(&mut batch, &scope, job);
            scope.run(&batch).await?;
            scope.commit().await?;
        }
        Ok(())
    }

    async fn release_failed(
        &self,
        job: &ClaimedJob,
        failed: JobFailure,
        moment: Moment,
    ) -> Result<WorkOutcome> {
        let random = f64::from(moment.seed[0]) / 255.0;
        let wait = wait_after(failed.failure_kind, job.attempts, random);
        let again = wait.map(|wait| micros(moment.now + wait));
        let again = again.map(|at| failed.not_before.map_or(at, |other| at.max(other)));
        let reason: String = failed.reason.chars().take(500).collect();
        let scope = self.store.write(job.tenant, job.user).await?;
        // Waiting for the next day's budget does not count as an attempt.
        let attempts = if failed.not_before.is_some() { job.attempts - 1 } else { job.attempts };
        job::release(&scope, job, again, attempts, &reason).await?;
        scope.commit().await?;
        tracing::warn!(kind = job.kind.as_str(), attempts, reason, "a job failed");
        Ok(match again {
            Some(_) => WorkOutcome::PutOff(job.kind, reason),
            None => WorkOutcome::GivenUp(job.kind, reason),
        })
    }

    /// Closes a session that has been idle long enough; otherwise queues the next check.
    async fn close_abandoned(&self, request: &Request, job: &ClaimedJob) -> Result<(), JobFailure> {
        let scope = self.store.write(job.tenant, job.user).await?;
        if !job::is_held(&scope, job).await? {
            return Ok(());
        }
        let now = micros(request.moment.now);
        let there = session::find(&scope, &job.key).await?;
        let (policy, _) = self.policy_of(&scope).await?;
        let mut batch = Batch::default();
        job::finish(&mut batch, &scope, job);
        if let (Some(session), Some(idle)) = (there, policy.idle_close()) {
            if session.is_abandoned(idle, now) {
                self.end(&mut batch, &scope, request, session, &policy, None);
            } else if session.state == lukasa_core::SessionState::Active {
                let (id, due) =
                    (crate::sessions::job_id(request, "close"), session.last_turn_at + idle);
                job::queue(&mut batch, &scope, id, JobKind::Close, &job.key, due, now);
            }
        }
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }

    /// Maintenance of one user: consolidates learned facts, phrases portraits whose facts have
    /// changed, and removes expired rows: the trash after thirty days, retrieval records after
    /// ninety. Queues the next run for when the next row expires; if there is none, the next write
    /// queues it.
    async fn run_upkeep(&self, request: &Request, job: &ClaimedJob) -> Result<(), JobFailure> {
        self.purge(request).await?;
        self.purge_sources(request).await?;
        self.consolidate(request, false).await?;
        self.phrase_portraits(request).await?;
        let scope = self.store.write(job.tenant, job.user).await?;
        if !job::is_held(&scope, job).await? {
            return Ok(());
        }
        let now = micros(request.moment.now);
        let mut batch = Batch::default();
        job::finish(&mut batch, &scope, job);
        match next_expiry(job::oldest(&scope).await?) {
            Some(next) => {
                // Rows written in the meantime may expire before that.
                let soon = now + SignedDuration::from_hours(24 * (IDEMPOTENCY_DAYS - 1));
                let due = next_upkeep(job.user, now.max(next.min(soon)));
                let id = crate::sessions::job_id(request, "upkeep");
                job::queue_sole(&mut batch, &scope, id, JobKind::Upkeep, due, now);
            }
            None => {
                directory::set_looked_after(&scope, false).await?;
            }
        }
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }

    /// Waiting and failed jobs of a user.
    pub async fn jobs(&self, caller: &Caller, now: Timestamp) -> Result<Vec<Job>> {
        const MAX_JOBS: i64 = 200;
        let scope = self.reading(caller, now).await?;
        Ok(job::list(&scope, MAX_JOBS).await?)
    }

    /// Queues a failed job again.
    pub async fn retry_job(&self, request: &Request, id: JobId) -> Result<Job> {
        let scope = self.writing(request).await?;
        if let Some(kept) = stored_answer(&scope, request).await? {
            return Ok(kept);
        }
        let job = job::retry(&scope, id, micros(request.moment.now)).await?;
        let job = job.ok_or(Error::JobNotFound)?;
        let mut batch = Batch::default();
        keep_answer(&mut batch, &scope, request, &job, &[]);
        scope.run(&batch).await?;
        scope.commit().await?;
        Ok(job)
    }

    /// Queues every failed job of all users again; returns how many.
    pub async fn retry_dead_jobs(&self, now: Timestamp) -> Result<usize> {
        const MAX_DEAD_JOBS: i64 = 10_000;
        let dead = self.store.dead_jobs(MAX_DEAD_JOBS).await?;
        for (tenant, user, id) in &dead {
            let scope = self.store.write(*tenant, *user).await?;
            job::retry(&scope, *id, micros(now)).await?;
            scope.commit().await?;
        }
        Ok(dead.len())
    }

    /// The prompts that models are asked with, by name and version.
    pub fn prompts() -> [prompt::PromptTemplate; 4] {
        [prompt::EXTRACT, prompt::TITLE, prompt::COMPRESS, prompt::PORTRAIT]
    }
}
