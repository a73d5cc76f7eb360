//! The job queue. A job is queued by the transaction of its cause and removed by the transaction of
//! its effect. A worker reads the due jobs of all users; everything else it does in the user's own
//! scope.

use lukasa_core::job::Task;
use lukasa_core::{Job, JobId, JobKind, JobState, TenantId, Timestamp, UserId};
use tokio_postgres::Row;

use crate::Store;
use crate::error::Result;
use crate::pool::Purpose;
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Owned, Param, Scope};

pub use crate::claim::{CLAIM, ClaimRequest, ClaimedJob, OPENING};

fn job(row: &Row) -> Result<Job> {
    let mut c = Columns::of(row, "job");
    Ok(Job {
        id: JobId::from_uuid(c.take()?),
        kind: c.word(JobKind::parse)?,
        key: c.take()?,
        state: c.word(JobState::parse)?,
        queued_at: c.take()?,
        run_at: c.take()?,
        attempts: c.take()?,
        last_error: c.take()?,
    })
}

impl Store {
    /// Failed jobs of all users.
    pub async fn dead_jobs(&self, limit: i64) -> Result<Vec<(TenantId, UserId, JobId)>> {
        const SQL: &str =
            "select tenant_id, user_id, job_id from job where state = 'dead' limit $1";
        let mut found = Vec::new();
        for mut connection in self.connections(Purpose::Background).await? {
            let transaction = connection.transaction().await?;
            transaction.batch_execute("set local app.worker = 'on'").await?;
            let rows = transaction.query(SQL, &[&limit]).await?;
            transaction.rollback().await?;
            found.extend(all(&rows, |row| {
                let mut c = Columns::of(row, "job");
                Ok((
                    TenantId::from_uuid(c.take()?),
                    UserId::from_uuid(c.take()?),
                    JobId::from_uuid(c.take()?),
                ))
            })?);
        }
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(found)
    }

    /// When the next job is due, so that a worker need not poll before.
    pub async fn next_job_at(&self) -> Result<Option<Timestamp>> {
        const SQL: &str =
            "select min(run_at) /* whatever the user_id */ from job where state = 'waiting'";
        let mut next = None;
        for mut connection in self.connections(Purpose::Background).await? {
            let transaction = connection.transaction().await?;
            transaction.batch_execute("set local app.worker = 'on'").await?;
            let rows = transaction.query(SQL, &[]).await?;
            transaction.rollback().await?;
            let first = one(&rows, |row| Columns::of(row, "job").take::<Option<Timestamp>>())?;
            next = [next, first.flatten()].into_iter().flatten().min();
        }
        Ok(next)
    }
}

/// Queues a job. If a job with the same kind and key is waiting, it is postponed to the later of
/// the two times, so that a session that continues is not closed.
pub fn queue(
    batch: &mut Batch,
    scope: &Scope,
    id: JobId,
    task: &Task,
    run_at: Timestamp,
    now: Timestamp,
) {
    const SQL: &str = "insert into job (user_id, tenant_id, job_id, kind, key, queued_at, run_at) \
                       values ($1, $2, $3, $4, $5, $6, $7) \
                       on conflict (user_id, kind, key) where state = 'waiting' \
                       do update set run_at = excluded.run_at \
                         where job.run_at < excluded.run_at";
    batch.push(SQL, insert_params(scope, id, task, run_at, now));
}

/// Queues a job unless one with the same kind and key is already waiting, which is left unchanged.
pub fn queue_unless_waiting(
    batch: &mut Batch,
    scope: &Scope,
    id: JobId,
    task: &Task,
    run_at: Timestamp,
    now: Timestamp,
) {
    const SQL: &str = "insert into job (user_id, tenant_id, job_id, kind, key, queued_at, run_at) \
                       values ($1, $2, $3, $4, $5, $6, $7) \
                       on conflict (user_id, kind, key) where state = 'waiting' do nothing";
    batch.push(SQL, insert_params(scope, id, task, run_at, now));
}

/// Queues a job of a kind that exists once per user, to run by `run_at`: if one is waiting for a
/// later time, it is moved up.
pub fn queue_sole(
    batch: &mut Batch,
    scope: &Scope,
    id: JobId,
    task: &Task,
    run_at: Timestamp,
    now: Timestamp,
) {
    const SQL: &str = "insert into job (user_id, tenant_id, job_id, kind, key, queued_at, run_at) \
                       values ($1, $2, $3, $4, $5, $6, $7) \
                       on conflict (user_id, kind, key) where state = 'waiting' \
                       do update set run_at = excluded.run_at \
                         where job.run_at > excluded.run_at";
    batch.push(SQL, insert_params(scope, id, task, run_at, now));
}

/// The parameters of the statements that insert a job.
fn insert_params(
    scope: &Scope,
    id: JobId,
    task: &Task,
    run_at: Timestamp,
    now: Timestamp,
) -> Vec<Owned> {
    vec![
        Box::new(scope.user().uuid()),
        Box::new(scope.tenant().uuid()),
        Box::new(id.uuid()),
        Box::new(task.kind().as_str()),
        Box::new(task.key()),
        Box::new(now),
        Box::new(run_at),
    ]
}

/// The time of the user's oldest row of each kind that expires: the trash, candidates, stored
/// responses, and records of what was put into prompts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OldestRows {
    pub trashed: Option<Timestamp>,
    pub guessed: Option<Timestamp>,
    pub answered: Option<Timestamp>,
    pub given: Option<Timestamp>,
    /// When the first of the extracted facts expired, or will expire.
    pub ended: Option<Timestamp>,
    /// When the first of all active facts expired, or will expire.
    pub expired: Option<Timestamp>,
}

pub async fn oldest(scope: &Scope) -> Result<OldestRows> {
    const SQL: &str = "select least( \
          (select min(known_from) from fact_version \
            where user_id = $1 and known_until is null and state = 'trashed'), \
          (select min(trashed_at) from session where user_id = $1), \
          (select min(o.recorded_at) from operation o where o.user_id = $1 \
             and o.sources is not null and (o.sources->>'gone')::boolean \
             and (exists (select 1 from turn t where t.user_id = $1 \
                    and t.withdrawn_by = o.operation_id) \
               or exists (select 1 from episode e where e.user_id = $1 \
                    and e.withdrawn_by = o.operation_id) \
               or exists (select 1 from observation b where b.user_id = $1 \
                    and b.withdrawn_by = o.operation_id)))), \
        (select min(known_from) from fact_version \
          where user_id = $1 and known_until is null and state = 'candidate'), \
        (select min(created_at) from idempotency where user_id = $1), \
        least((select min(at) from retrieval where user_id = $1), \
          (select min(at) from usage where user_id = $1 \
             and type not in ('rated_up', 'rated_down')), \
          (select min(rendered_at) from baseline where user_id = $1), \
          (select min(recorded_at) from response where user_id = $1), \
          (select min(at) from model_call where user_id = $1)), \
        (select min(ended) from (select max(valid_until) as ended from fact_version \
           where user_id = $1 and known_until is null and state in ('active', 'candidate') \
           group by fact_id having bool_and(valid_until is not null and extracted \
             and consented_at is null)) by_fact), \
        (select min(ended) from (select max(valid_until) as ended from fact_version \
           where user_id = $1 and known_until is null group by fact_id \
           having bool_and(state = 'active' and valid_until is not null)) by_fact)";
    let found = one(&scope.query(SQL, &[&scope.user().uuid()]).await?, |row| {
        let mut c = Columns::of(row, "job");
        Ok(OldestRows {
            trashed: c.take()?,
            guessed: c.take()?,
            answered: c.take()?,
            given: c.take()?,
            ended: c.take()?,
            expired: c.take()?,
        })
    })?;
    Ok(found.unwrap_or_default())
}

/// Removes a waiting job that is no longer needed.
pub fn cancel(batch: &mut Batch, scope: &Scope, task: &Task) {
    const SQL: &str =
        "delete from job where user_id = $1 and kind = $2 and key = $3 and state = 'waiting'";
    batch.push(
        SQL,
        vec![Box::new(scope.user().uuid()), Box::new(task.kind().as_str()), Box::new(task.key())],
    );
}

/// Whether this worker still holds the job's lease.
pub async fn is_held(scope: &Scope, job: &ClaimedJob) -> Result<bool> {
    const SQL: &str = "select true from job where user_id = $1 and job_id = $2 \
                         and state = 'running' and lease = $3";
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &job.id.uuid(), &job.lease];
    Ok(!scope.query(SQL, &params).await?.is_empty())
}

/// Removes a finished job, in the transaction of its effect. If another worker holds the lease by
/// now, it fails, and the transaction with it.
pub fn finish(batch: &mut Batch, scope: &Scope, job: &ClaimedJob) {
    const SQL: &str = "delete from job where user_id = $1 and job_id = $2 \
                         and state = 'running' and lease = $3";
    batch.push_one(
        SQL,
        vec![Box::new(scope.user().uuid()), Box::new(job.id.uuid()), Box::new(job.lease)],
    );
}

/// Releases a job: to be retried at `again`, or as failed without one. If the same job is already
/// waiting, this one is removed instead.
pub async fn release(
    scope: &Scope,
    job: &ClaimedJob,
    again: Option<Timestamp>,
    attempts: i32,
    error: &str,
) -> Result<()> {
    let user = scope.user().uuid();
    if again.is_some() && waits(scope, job.kind, &job.key).await? {
        const DROP: &str = "delete from job where user_id = $1 and job_id = $2 \
                             and state = 'running' and lease = $3";
        scope.query(DROP, &[&user, &job.id.uuid(), &job.lease]).await?;
        return Ok(());
    }
    const SQL: &str = "update job set state = $4, run_at = coalesce($5, run_at), \
                         leased_until = null, worker = null, attempts = $6, last_error = $7 \
                       where user_id = $1 and job_id = $2 and state = 'running' and lease = $3";
    let state = if again.is_some() { JobState::Waiting } else { JobState::Dead };
    let params: [Param<'_>; 7] =
        [&user, &job.id.uuid(), &job.lease, &state.as_str(), &again, &attempts, &error];
    scope.query(SQL, &params).await?;
    Ok(())
}

/// The user's jobs: failed ones first, then by time.
pub async fn list(scope: &Scope, limit: i64) -> Result<Vec<Job>> {
    const SQL: &str = "select job_id, kind, key, state, queued_at, run_at, attempts, last_error \
                        from job where user_id = $1 \
                        order by (state = 'dead') desc, run_at, job_id limit $2";
    all(&scope.query(SQL, &[&scope.user().uuid(), &limit]).await?, job)
}

/// The jobs that learn from a session: waiting, running and failed ones.
pub async fn extractions(scope: &Scope, session: &str) -> Result<Vec<Job>> {
    const SQL: &str = "select job_id, kind, key, state, queued_at, run_at, attempts, last_error \
                        from job where user_id = $1 and kind = 'extract' and key = $2";
    all(&scope.query(SQL, &[&scope.user().uuid(), &session]).await?, job)
}

/// Queues a failed job again for now, with its attempts reset. If the same job is already waiting,
/// this one is removed instead.
pub async fn retry(scope: &Scope, id: JobId, now: Timestamp) -> Result<Option<Job>> {
    const DEAD: &str = "select job_id, kind, key, state, queued_at, run_at, attempts, last_error \
                         from job where user_id = $1 and job_id = $2 and state = 'dead'";
    const DROP: &str = "delete from job where user_id = $1 and job_id = $2 and state = 'dead'";
    const SQL: &str = "update job set state = 'waiting', run_at = $3, attempts = 0 \
                        where user_id = $1 and job_id = $2 and state = 'dead'";
    let user = scope.user().uuid();
    let Some(dead) = one(&scope.query(DEAD, &[&user, &id.uuid()]).await?, job)? else {
        return Ok(None);
    };
    if waits(scope, dead.kind, &dead.key).await? {
        scope.query(DROP, &[&user, &id.uuid()]).await?;
    } else {
        scope.query(SQL, &[&user, &id.uuid(), &now]).await?;
    }
    Ok(Some(Job { state: JobState::Waiting, run_at: now, attempts: 0, ..dead }))
}

async fn waits(scope: &Scope, kind: JobKind, key: &str) -> Result<bool> {
    const SQL: &str = "select true from job where user_id = $1 and kind = $2 and key = $3 \
                         and state = 'waiting'";
    Ok(!scope.query(SQL, &[&scope.user().uuid(), &kind.as_str(), &key]).await?.is_empty())
}
