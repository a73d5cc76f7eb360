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
}

impl From<Error> for JobFailure {
    fn from(error: Error) -> Self {
        let failure_kind = match error {
            Error::Unavailable(_) | Error::MemoryPaused => FailureKind::Transient,
            _ => FailureKind::Persistent,
        };
        // The code, not the message: the message could quote the user's content.
        Self { failure_kind, reason: error.code().to_owned(), not_before: None, is_attempt: true }
    }
}

impl From<lukasa_store::Error> for JobFailure {
    fn from(error: lukasa_store::Error) -> Self {
        Error::from(error).into()
    }
}

impl JobFailure {
    /// The failure of a job that was started too often without recording a failure.
    pub(crate) fn crashed() -> Self {
        let reason = "gave up: started repeatedly without finishing (does it crash the worker?)";
        let failure_kind = FailureKind::Persistent;
        Self { failure_kind, reason: reason.to_owned(), not_before: None, is_attempt: true }
    }

    /// The failure of a job that needs a chat model on a server without one. It waits for a server
    /// that has one.
    pub(crate) fn no_chat_model(now: Timestamp) -> Self {
        Self::not_now("this server has no chat model", now)
    }

    /// The failure of a learning job of a user who has paused memory. It waits until they resume it.
    pub(crate) fn paused(now: Timestamp) -> Self {
        Self::not_now("memory is paused", now)
    }

    /// A job that waits, and meanwhile the user's other jobs are not behind it.
    fn not_now(reason: &str, now: Timestamp) -> Self {
        const WAIT: SignedDuration = SignedDuration::from_mins(5);
        Self {
            failure_kind: FailureKind::Transient,
            reason: reason.to_owned(),
            not_before: Some(now.saturating_add(WAIT).unwrap_or(now)),
            is_attempt: false,
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
        Self { failure_kind, reason: why.to_string(), not_before, is_attempt }
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
    /// workers but one.
    pub async fn claim(
        &self,
        lane: Lane,
        worker: &str,
        workers: usize,
        now: Timestamp,
    ) -> Result<Option<AssignedJob>> {
        // A server that does not learn leaves these jobs to one that does.
        if lane == Lane::Learning && !self.parts.learns() {
            return Ok(None);
        }
        let limit = workers.saturating_sub(1).max(1);
        let (after, full) = self.running.before_claim(lane, limit);
        let request = ClaimRequest { lane, worker, after, full: &full };
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
        tracing::warn!(kind = job.kind.as_str(), attempts, reason, "a job failed");
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
