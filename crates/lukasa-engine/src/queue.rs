//! The job queue: claims, failures and retries. A job is finished in the transaction of its effect.
//! A failed job is retried with backoff; after the last attempt it stays listed as failed and can
//! be retried manually.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::SignedDuration;
use lukasa_core::job::{FailureKind, Lane, wait_after};
use lukasa_core::time::micros;
use lukasa_core::{Caller, Job, JobId, JobKind, TenantId, Timestamp};
use lukasa_store::Batch;
use lukasa_store::job::{self, ClaimRequest, ClaimedJob};

use crate::chat::NoAnswer;
use crate::error::{Error, Result};
use crate::parts::Parts;
use crate::request::{Moment, Request};
use crate::transaction::{Transactions, WriteStart, keep_answer};

/// The job queue of all users.
#[derive(Clone)]
pub struct JobQueue {
    parts: Arc<Parts>,
    transactions: Transactions,
    running: Arc<RunningJobs>,
}

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
    pub(crate) claimed: ClaimedJob,
    running: Arc<RunningJobs>,
    lane: Lane,
}

impl Drop for AssignedJob {
    fn drop(&mut self) {
        self.running.end(self.lane, self.claimed.tenant);
    }
}

/// Failure of a job.
#[derive(Debug)]
pub(crate) struct JobFailure {
    failure_kind: FailureKind,
    reason: String,
    /// Earliest time of the next attempt, whatever the usual backoff.
    not_before: Option<Timestamp>,
    /// Whether it counts as an attempt; waiting for the next day's budget does not.
    is_attempt: bool,
    /// Whether it is normal with this configuration, and nothing to warn of.
    is_expected: bool,
}

impl From<Error> for JobFailure {
    fn from(error: Error) -> Self {
        let failure_kind = match error {
            Error::Unavailable(_) | Error::MemoryPaused => FailureKind::Transient,
            _ => FailureKind::Persistent,
        };
        // The code, not the message: the message could quote the user's content.
        Self::attempt(failure_kind, error.code().to_string())
    }
}

impl From<lukasa_store::Error> for JobFailure {
    fn from(error: lukasa_store::Error) -> Self {
        Error::from(error).into()
    }
}

impl JobFailure {
    /// A failed attempt, to be retried with the usual backoff.
    fn attempt(failure_kind: FailureKind, reason: String) -> Self {
        Self { failure_kind, reason, not_before: None, is_attempt: true, is_expected: false }
    }

    /// The failure of a job that was started too often without recording a failure.
    pub(crate) fn crashed() -> Self {
        let reason = "gave up: started repeatedly without finishing (does it crash the worker?)";
        Self::attempt(FailureKind::Persistent, reason.to_owned())
    }

    /// The failure of a job that needs a chat model on a server without one. It waits for a server
    /// that has one, and meanwhile the user's other jobs are not behind it. The longer it has waited,
    /// the longer it waits again: there may be no such server.
    pub(crate) fn no_chat_model(job: &ClaimedJob, now: Timestamp) -> Self {
        Self::not_now("this server has no chat model", SignedDuration::from_hours(6), job, now)
    }

    /// The failure of a learning job of a user who has paused memory. It waits until they resume it.
    pub(crate) fn paused(job: &ClaimedJob, now: Timestamp) -> Self {
        Self::not_now("memory is paused", SignedDuration::from_hours(1), job, now)
    }

    /// A job that waits as long as it has waited, within limits.
    fn not_now(reason: &str, max_wait: SignedDuration, job: &ClaimedJob, now: Timestamp) -> Self {
        const MIN_WAIT: SignedDuration = SignedDuration::from_mins(5);
        let wait = now.duration_since(job.queued_at).clamp(MIN_WAIT, max_wait);
        Self {
            failure_kind: FailureKind::Transient,
            reason: reason.to_owned(),
            not_before: Some(now.saturating_add(wait).unwrap_or(now)),
            is_attempt: false,
            is_expected: true,
        }
    }

    pub(crate) fn no_answer(why: &NoAnswer, now: Timestamp) -> Self {
        let failure_kind = match why {
            NoAnswer::Unusable(_) => FailureKind::Persistent,
            _ => FailureKind::Transient,
        };
        let tomorrow = (now.as_second().div_euclid(86_400) + 1) * 86_400;
        let not_before = match why {
            NoAnswer::OverBudget => Some(Timestamp::from_second(tomorrow).unwrap_or(now)),
            NoAnswer::Busy(_, pause) => Some(now.saturating_add(*pause).unwrap_or(now)),
            _ => None,
        };
        let is_attempt = !matches!(why, NoAnswer::OverBudget);
        let reason = why.to_string();
        Self { failure_kind, reason, not_before, is_attempt, is_expected: false }
    }
}

impl JobQueue {
    pub(crate) fn new(
        parts: Arc<Parts>,
        transactions: Transactions,
        running: Arc<RunningJobs>,
    ) -> Self {
        Self { parts, transactions, running }
    }

    /// Claims one due job of a lane; `workers` is the number of workers that this process has for
    /// the lane. While other tenants have jobs in the lane, one tenant gets at most all of the
    /// workers but one. A job of a user with a write under way stays due.
    pub async fn claim(
        &self,
        lane: Lane,
        worker: &str,
        workers: usize,
        now: Timestamp,
    ) -> Result<Option<AssignedJob>> {
        let limit = workers.saturating_sub(1).max(1);
        self.claim_within(lane, worker, limit, false, now).await
    }

    /// Claims one due job of a lane, whatever runs already; it waits for a write of its user.
    pub(crate) async fn claim_any(
        &self,
        lane: Lane,
        worker: &str,
        now: Timestamp,
    ) -> Result<Option<AssignedJob>> {
        self.claim_within(lane, worker, usize::MAX, true, now).await
    }

    async fn claim_within(
        &self,
        lane: Lane,
        worker: &str,
        limit: usize,
        waits_for_user: bool,
        now: Timestamp,
    ) -> Result<Option<AssignedJob>> {
        // A server that does not learn leaves these jobs to one that does.
        if lane == Lane::Learning && !self.parts.learns() {
            return Ok(None);
        }
        let (after, full) = self.running.before_claim(lane, limit);
        let request = ClaimRequest { lane, worker, after, full: &full, waits_for_user };
        let claimed = self.parts.store.claim_in_lane(&request, micros(now)).await?;
        Ok(claimed.map(|claimed| {
            self.running.begin(lane, claimed.tenant);
            AssignedJob { claimed, running: self.running.clone(), lane }
        }))
    }

    /// When the next job is due.
    pub async fn next_job_at(&self) -> Result<Option<Timestamp>> {
        Ok(self.parts.store.next_job_at().await?)
    }

    /// Finishes a job that has nothing left to do.
    pub(crate) async fn drop_job(&self, job: &ClaimedJob) -> Result<(), JobFailure> {
        let scope = self.parts.store.write(job.tenant, job.user).await?;
        if job::is_held(&scope, job).await? {
            let mut batch = Batch::default();
            job::finish(&mut batch, &scope, job);
            scope.run(&batch).await?;
            scope.commit().await?;
        }
        Ok(())
    }

    pub(crate) async fn release_failed(
        &self,
        job: &ClaimedJob,
        failed: JobFailure,
        moment: Moment,
    ) -> Result<WorkOutcome> {
        let random = f64::from(moment.seed[0]) / 255.0;
        let wait = wait_after(failed.failure_kind, job.attempts, random);
        let again = wait.map(|wait| micros(moment.now + wait));
        let again = again.map(|at| failed.not_before.map_or(at, |other| at.max(micros(other))));
        let reason: String = failed.reason.chars().take(500).collect();
        let scope = self.parts.store.write(job.tenant, job.user).await?;
        let attempts = job.attempts - i32::from(!failed.is_attempt);
        job::release(&scope, job, again, attempts, &reason).await?;
        scope.commit().await?;
        let kind = job.kind.as_str();
        match failed.is_expected {
            true => tracing::debug!(kind, attempts, reason, "a job waits"),
            false => tracing::warn!(kind, attempts, reason, "a job failed"),
        }
        Ok(match again {
            Some(_) => WorkOutcome::PutOff(job.kind, reason),
            None => WorkOutcome::GivenUp(job.kind, reason),
        })
    }

    /// Waiting and failed jobs of a user.
    pub async fn list(&self, caller: &Caller, now: Timestamp) -> Result<Vec<Job>> {
        const MAX_JOBS: i64 = 200;
        let scope = self.transactions.read(caller, now).await?;
        Ok(job::list(&scope, MAX_JOBS).await?)
    }

    /// Queues a failed job again.
    pub async fn retry(&self, request: &Request, id: JobId) -> Result<Job> {
        let scope = match self.transactions.start(request).await? {
            WriteStart::New(scope) => scope,
            WriteStart::Repeated(job) => return Ok(job),
        };
        let job = job::retry(&scope, id, micros(request.moment.now)).await?;
        let job = job.ok_or(Error::JobNotFound)?;
        let mut batch = Batch::default();
        keep_answer(&mut batch, &scope, request, &job, &[])?;
        scope.run(&batch).await?;
        scope.commit().await?;
        Ok(job)
    }

    /// Queues every failed job of all users again; returns how many.
    pub async fn retry_dead(&self, now: Timestamp) -> Result<usize> {
        const MAX_DEAD_JOBS: i64 = 10_000;
        let dead = self.parts.store.dead_jobs(MAX_DEAD_JOBS).await?;
        for (tenant, user, id) in &dead {
            let scope = self.parts.store.write(*tenant, *user).await?;
            job::retry(&scope, *id, micros(now)).await?;
            scope.commit().await?;
        }
        Ok(dead.len())
    }
}
