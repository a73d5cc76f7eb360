//! Jobs: a worker takes on what is due, does it, and finishes it in the transaction of its effect.
//! What fails is tried again after a while, and given up where a person can see it and have it
//! retried.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::SignedDuration;
pub use lukasa_core::job::Lane;
use lukasa_core::job::{Setback, next_upkeep, wait_after};
use lukasa_core::learn::prompt;
use lukasa_core::limits::{CANDIDATE_DAYS, EXPIRED_DAYS, IDEMPOTENCY_DAYS, TRASH_DAYS, USAGE_DAYS};
use lukasa_core::time::micros;
use lukasa_core::{Caller, CallerKind, Job, JobId, JobKind, Origin, TenantId, Timestamp, Voice};
use lukasa_store::job::{self, ClaimRequest, Claimed, Oldest};
use lukasa_store::{Batch, directory, session};

use crate::chat::Unanswered;
use crate::error::{Error, Result};
use crate::sessions::{answered, keep_answer};
use crate::{Engine, Moment, Request};

/// What a worker did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Worked {
    /// Nothing was due.
    Nothing,
    Done(JobKind),
    /// It will be tried again.
    PutOff(JobKind, String),
    /// It was tried often enough.
    GivenUp(JobKind, String),
}

/// The jobs that this process runs: how many of each tenant, and whose turn was last, by lane.
#[derive(Debug, Default)]
pub(crate) struct Running(Mutex<HashMap<Lane, LaneState>>);

#[derive(Debug, Default)]
struct LaneState {
    after: Option<TenantId>,
    jobs: HashMap<TenantId, usize>,
}

impl Running {
    fn with<T>(&self, lane: Lane, act: impl FnOnce(&mut LaneState) -> T) -> T {
        let mut lanes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        act(lanes.entry(lane).or_default())
    }

    /// Whose turn was last, and which tenants have `most` jobs running.
    fn before_claim(&self, lane: Lane, most: usize) -> (Option<TenantId>, Vec<TenantId>) {
        self.with(lane, |state| {
            let full = state.jobs.iter().filter(|(_, jobs)| **jobs >= most);
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

/// A job that this process has taken on. It counts as running until this is dropped.
#[derive(Debug)]
pub struct Assigned {
    claimed: Claimed,
    running: Arc<Running>,
    lane: Lane,
}

impl Drop for Assigned {
    fn drop(&mut self) {
        self.running.end(self.lane, self.claimed.tenant);
    }
}

/// When the next of what is kept has had its time.
fn to_go(oldest: Oldest) -> Option<Timestamp> {
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

/// How a job failed.
#[derive(Debug)]
pub(crate) struct Failed {
    setback: Setback,
    reason: String,
    /// Not before then, whatever the usual wait.
    not_before: Option<Timestamp>,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        let setback = match error {
            Error::Unavailable(_) => Setback::Passing,
            _ => Setback::Faulty,
        };
        // The code and not the words: those could quote what was said.
        Self { setback, reason: error.code().to_owned(), not_before: None }
    }
}

impl From<lukasa_store::Error> for Failed {
    fn from(error: lukasa_store::Error) -> Self {
        Error::from(error).into()
    }
}

impl Failed {
    pub(crate) fn unanswered(why: &Unanswered, now: Timestamp) -> Self {
        let setback = match why {
            Unanswered::Unusable(_) => Setback::Faulty,
            _ => Setback::Passing,
        };
        let tomorrow = (now.as_second().div_euclid(86_400) + 1) * 86_400;
        let not_before = matches!(why, Unanswered::OverBudget)
            .then(|| Timestamp::from_second(tomorrow).unwrap_or(now));
        Self { setback, reason: why.to_string(), not_before }
    }
}

impl Engine {
    /// Takes on one job that is due, of any lane, and does it. Says what it did; the caller asks
    /// again.
    pub async fn work(&self, worker: &str, moment: Moment) -> Result<Worked> {
        for lane in Lane::ALL {
            if let Some(assigned) = self.claim(*lane, worker, usize::MAX, moment.now).await? {
                return self.perform_assigned(assigned, moment).await;
            }
        }
        Ok(Worked::Nothing)
    }

    /// Takes on one due job of a lane, for one of so many workers that this process has for the lane.
    /// One tenant has at most all of them but one while other tenants have jobs in the lane.
    pub async fn claim(
        &self,
        lane: Lane,
        worker: &str,
        workers: usize,
        now: Timestamp,
    ) -> Result<Option<Assigned>> {
        // A server without a chat model leaves its jobs to one that has a model.
        if lane == Lane::Learning && !self.has_chat() {
            return Ok(None);
        }
        let most = workers.saturating_sub(1).max(1);
        let (after, full) = self.running.before_claim(lane, most);
        let request = ClaimRequest { lane, worker, after, full: &full };
        let claimed = self.store.claim_in_lane(&request, micros(now)).await?;
        Ok(claimed.map(|claimed| {
            self.running.begin(lane, claimed.tenant);
            Assigned { claimed, running: self.running.clone(), lane }
        }))
    }

    /// Does a job that was taken on.
    pub async fn perform_assigned(&self, assigned: Assigned, moment: Moment) -> Result<Worked> {
        let claimed = &assigned.claimed;
        // Whoever fails says so. One that was begun this often and never ended takes its worker down.
        if wait_after(Setback::Passing, claimed.attempts - 1, 0.0).is_none() {
            let reason = "it was begun again and again, and never ended".to_owned();
            let failed = Failed { setback: Setback::Faulty, reason, not_before: None };
            return self.put_off(claimed, failed, moment).await;
        }
        match self.perform(claimed, moment).await {
            Ok(()) => Ok(Worked::Done(claimed.kind)),
            Err(failed) => self.put_off(claimed, failed, moment).await,
        }
    }

    /// When there is something to do again.
    pub async fn next_job_at(&self) -> Result<Option<Timestamp>> {
        Ok(self.store.next_job_at().await?)
    }

    async fn perform(&self, job: &Claimed, moment: Moment) -> Result<(), Failed> {
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
            JobKind::Upkeep => self.look_after(&request, job).await,
            JobKind::Deliver => self.deliver(&request, job).await,
        }
    }

    /// Ends a job that has nothing to do any more.
    pub(crate) async fn drop_job(&self, job: &Claimed) -> Result<(), Failed> {
        let scope = self.store.write(job.tenant, job.user).await?;
        if job::is_held(&scope, job).await? {
            let mut batch = Batch::default();
            job::finish(&mut batch, &scope, job);
            scope.run(&batch).await?;
            scope.commit().await?;
        }
        Ok(())
    }

    async fn put_off(&self, job: &Claimed, failed: Failed, moment: Moment) -> Result<Worked> {
        let random = f64::from(moment.seed[0]) / 255.0;
        let wait = wait_after(failed.setback, job.attempts, random);
        let again = wait.map(|wait| micros(moment.now + wait));
        let again = again.map(|at| failed.not_before.map_or(at, |other| at.max(other)));
        let reason: String = failed.reason.chars().take(500).collect();
        let scope = self.store.write(job.tenant, job.user).await?;
        // Waiting for another day is no attempt.
        let attempts = if failed.not_before.is_some() { job.attempts - 1 } else { job.attempts };
        job::release(&scope, job, again, attempts, &reason).await?;
        scope.commit().await?;
        tracing::warn!(kind = job.kind.as_str(), attempts, reason, "a job failed");
        Ok(match again {
            Some(_) => Worked::PutOff(job.kind, reason),
            None => Worked::GivenUp(job.kind, reason),
        })
    }

    /// Closes a chat in which nobody has spoken for a while; one in which somebody has is looked at
    /// again later.
    async fn close_abandoned(&self, request: &Request, job: &Claimed) -> Result<(), Failed> {
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

    /// What was learned is weighed again, portraits whose facts have changed are phrased anew, and what
    /// has had its time goes: the trash after thirty days, and what went into prompts after ninety. Then again when the next of it has had its
    /// time; if there is none, when the next is written.
    async fn look_after(&self, request: &Request, job: &Claimed) -> Result<(), Failed> {
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
        match to_go(job::oldest(&scope).await?) {
            Some(next) => {
                // What is written in between may have its time before that.
                let soon = now + SignedDuration::from_hours(24 * (IDEMPOTENCY_DAYS - 1));
                let due = next_upkeep(job.user, now.max(next.min(soon)));
                let id = crate::sessions::job_id(request, "upkeep");
                job::queue_sole(&mut batch, &scope, id, JobKind::Upkeep, due, now);
            }
            None => {
                directory::look_after(&scope, false).await?;
            }
        }
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }

    /// What waits to be done for a user, and what was given up.
    pub async fn jobs(&self, caller: &Caller, now: Timestamp) -> Result<Vec<Job>> {
        const MOST: i64 = 200;
        let scope = self.reading(caller, now).await?;
        Ok(job::list(&scope, MOST).await?)
    }

    /// Has a job that was given up tried again.
    pub async fn retry_job(&self, request: &Request, id: JobId) -> Result<Job> {
        let scope = self.writing(request).await?;
        if let Some(kept) = answered(&scope, request).await? {
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

    /// Has every job that was given up tried again, whoever it is for; how many there were.
    pub async fn retry_dead_jobs(&self, now: Timestamp) -> Result<usize> {
        const AT_ONCE: i64 = 10_000;
        let dead = self.store.dead_jobs(AT_ONCE).await?;
        for (tenant, user, id) in &dead {
            let scope = self.store.write(*tenant, *user).await?;
            job::retry(&scope, *id, micros(now)).await?;
            scope.commit().await?;
        }
        Ok(dead.len())
    }

    /// The prompts that models are asked with, by name and version.
    pub fn prompts() -> [prompt::Prompt; 4] {
        [prompt::EXTRACT, prompt::TITLE, prompt::COMPRESS, prompt::PORTRAIT]
    }
}
