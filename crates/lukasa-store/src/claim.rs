//! Claiming jobs. A claim reads only heads, of which there is one for each user and lane, and goes
//! round the tenants; so its cost does not depend on how many jobs a user has waiting, and tenants
//! do not wait for each other. The database chooses the heads, see `migrations/V5__jobs.sql`.

use deadpool_postgres::Transaction;
use lukasa_core::job::{LEASE, Lane};
use lukasa_core::{JobId, JobKind, TenantId, Timestamp, UserId};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use uuid::Uuid;

use crate::Store;
use crate::cells::Cell;
use crate::crash;
use crate::error::Result;
use crate::pool::Purpose;
use crate::row::{Columns, one};
use crate::scope::Param;

/// A claimed job with its lease, which proves that this worker holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedJob {
    pub tenant: TenantId,
    pub user: UserId,
    pub id: JobId,
    pub kind: JobKind,
    pub key: String,
    pub attempts: i32,
    pub lease: i64,
    pub queued_at: Timestamp,
}

/// Parameters of a claim.
#[derive(Debug, Clone, Copy)]
pub struct ClaimRequest<'r> {
    pub lane: Lane,
    pub worker: &'r str,
    /// The tenant whose job was claimed last. The search begins after it.
    pub after: Option<TenantId>,
    /// Tenants with as many running jobs as they may have while others have jobs in the lane.
    pub full: &'r [TenantId],
    /// Whether a job is claimed while another write of its user is under way, for which it then
    /// waits. Otherwise such a job stays due.
    pub waits_for_user: bool,
}

fn claimed(row: &Row) -> Result<ClaimedJob> {
    let mut c = Columns::of(row, "job");
    Ok(ClaimedJob {
        tenant: TenantId::from_uuid(c.take()?),
        user: UserId::from_uuid(c.take()?),
        id: JobId::from_uuid(c.take()?),
        kind: c.word(JobKind::parse)?,
        key: c.take()?,
        attempts: c.take()?,
        lease: c.take()?,
        queued_at: c.take()?,
    })
}

/// Whether no transaction writes about the user of a job, by the lock of `lock_of` in `scope.rs`, if
/// that matters: the job would wait for it, and keep its worker from other users. The lock ends with
/// the claim.
macro_rules! user_is_free {
    ($user_id:literal) => {
        concat!(
            "($7 or pg_try_advisory_xact_lock_shared(('x' || left(replace(",
            $user_id,
            "::text, '-', ''), 16))::bit(64)::bigint))"
        )
    };
}

/// Iterates over the tenants that have a head in the lane, with one index look-up for each, across
/// all users.
macro_rules! tenants {
    ($most:literal) => {
        concat!(
            "with recursive tenants as ( /* whatever the user_id */ \
               select (select j.tenant_id from job j where j.lane = $1 and j.head_at is not null \
                         and j.tenant_id > $2 order by j.tenant_id limit 1) as tenant_id, \
                 1 as step \
               union all \
               select (select j.tenant_id from job j where j.lane = $1 and j.head_at is not null \
                         and j.tenant_id > t.tenant_id order by j.tenant_id limit 1), t.step + 1 \
                 from tenants t where t.tenant_id is not null and t.step < ",
            $most,
            ")"
        )
    };
}

impl Store {
    /// Claims a job of any lane.
    pub async fn claim_job(&self, worker: &str, now: Timestamp) -> Result<Option<ClaimedJob>> {
        for lane in Lane::ALL {
            let request =
                ClaimRequest { lane, worker, after: None, full: &[], waits_for_user: true };
            if let Some(claimed) = self.claim_in_lane(&request, now).await? {
                return Ok(Some(claimed));
            }
        }
        Ok(None)
    }

    /// Claims a job of one lane: one whose lease expired, or else the oldest due one of the next
    /// tenant that has any. The cells take turns; one that does not answer is left out.
    pub async fn claim_in_lane(
        &self,
        request: &ClaimRequest<'_>,
        now: Timestamp,
    ) -> Result<Option<ClaimedJob>> {
        for cell in self.cells.in_turn().await? {
            let claimed = cell.or_leave_out(claim_in(&cell, request, now)).await?.flatten();
            if claimed.is_some() {
                return Ok(claimed);
            }
        }
        Ok(None)
    }
}

async fn claim_in(
    cell: &Cell,
    request: &ClaimRequest<'_>,
    now: Timestamp,
) -> Result<Option<ClaimedJob>> {
    let mut connection = cell.connection(Purpose::Background).await?;
    let transaction = connection.transaction().await?;
    transaction.batch_execute(OPENING).await?;
    if !is_due(&transaction, request.lane, now).await? {
        transaction.rollback().await?;
        return Ok(None);
    }
    let found = match claim_round_robin(&transaction, request, now).await {
        // Another worker has just claimed a job of the same user. The next poll tries again.
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => return Ok(None),
        other => other?,
    };
    crash::point();
    transaction.commit().await?;
    crash::point();
    one(&found, claimed)
}

/// A claim reads one row from the front of an index. With poor statistics the planner would rather
/// read all of a tenant's heads and sort them.
#[doc(hidden)]
pub const OPENING: &str =
    "set local app.worker = 'on'; set local enable_bitmapscan = off; set local enable_sort = off";

type Rows = Result<Vec<Row>, tokio_postgres::Error>;

/// Whether anything in the lane may be claimed at all: two index look-ups, and usually the only
/// ones.
async fn is_due(transaction: &Transaction<'_>, lane: Lane, now: Timestamp) -> Result<bool> {
    const SQL: &str = "select exists (select 1 /* whatever the user_id */ from job \
                         where lane = $1 and head_at is not null \
                           and head_at at time zone 'UTC' <= $2::timestamptz at time zone 'UTC') \
                       or exists (select 1 from job \
                         where state = 'running' and leased_until <= $2 and lane = $1)";
    let row = transaction.query_one(SQL, &[&lane.as_str(), &now]).await?;
    Ok(row.try_get(0)?)
}

async fn claim_round_robin(
    transaction: &Transaction<'_>,
    request: &ClaimRequest<'_>,
    now: Timestamp,
) -> Rows {
    let begin = request.after.map_or(Uuid::nil(), TenantId::uuid);
    let full: Vec<Uuid> = request.full.iter().map(|tenant| tenant.uuid()).collect();
    let (mut after, mut wrapped) = (begin, begin.is_nil());
    loop {
        let found = claim_after(transaction, request, after, &full, now).await?;
        if !found.is_empty() {
            return Ok(found);
        }
        match last_tenant(transaction, request.lane, after).await? {
            Some(last) if !wrapped || begin.is_nil() || last < begin => after = last,
            None if !wrapped => (after, wrapped) = (Uuid::nil(), true),
            _ => break,
        }
    }
    // The limit on a tenant exists for the benefit of others. Without other tenants it would only
    // cost time.
    if full.is_empty() || has_other_tenants(transaction, request.lane, &full).await? {
        return Ok(Vec::new());
    }
    claim_after(transaction, request, Uuid::nil(), &[], now).await
}

/// Claims from the tenants after one, as many of them as one statement iterates over.
async fn claim_after(
    transaction: &Transaction<'_>,
    request: &ClaimRequest<'_>,
    after: Uuid,
    full: &[Uuid],
    now: Timestamp,
) -> Rows {
    let statement = transaction.prepare_cached(CLAIM).await?;
    let (lane, until) = (request.lane.as_str(), now + LEASE);
    let params: [Param<'_>; 7] =
        [&lane, &after, &now, &until, &request.worker, &full, &request.waits_for_user];
    transaction.query(&statement, &params).await
}

/// The claim statement, public for the test of its cost.
#[doc(hidden)]
pub const CLAIM: &str = concat!(
    tenants!("256"),
    ", overdue as (select user_id, job_id from job \
             where state = 'running' and leased_until <= $3 and lane = $1 and ",
    user_is_free!("user_id"),
    " order by leased_until limit 1 for update skip locked), \
           ready as (select w.user_id, w.job_id from tenants t cross join lateral ( \
               select j.user_id, j.job_id from job j \
                where j.lane = $1 and j.tenant_id = t.tenant_id and j.head_at is not null \
                  and j.head_at <= $3 \
                  and not exists (select 1 from job r where r.user_id = j.user_id \
                    and r.state = 'running' and (r.lane = 'webhooks') = (j.lane = 'webhooks')) \
                  and ",
    user_is_free!("j.user_id"),
    " order by j.head_at limit 1 for update skip locked) w \
               where not (t.tenant_id = any($6)) limit 1), \
           next as (select * from overdue union all select * from ready limit 1) \
           update job set state = 'running', lease = lease + 1, attempts = attempts + 1, \
             leased_until = $4, worker = $5, head_at = null, claimed_at = $3 \
           from next where job.user_id = next.user_id and job.job_id = next.job_id \
           returning job.tenant_id, job.user_id, job.job_id, job.kind, job.key, job.attempts, \
             job.lease, job.queued_at"
);

/// The last tenant that [`claim_after`] reached, if it did not reach the end.
async fn last_tenant(
    transaction: &Transaction<'_>,
    lane: Lane,
    after: Uuid,
) -> Result<Option<Uuid>, tokio_postgres::Error> {
    const SQL: &str = concat!(
        tenants!("256"),
        " select tenant_id from tenants where step = 256 and tenant_id is not null"
    );
    let row = transaction.query_opt(SQL, &[&lane.as_str(), &after]).await?;
    row.map(|row| row.try_get(0)).transpose()
}

async fn has_other_tenants(
    transaction: &Transaction<'_>,
    lane: Lane,
    full: &[Uuid],
) -> Result<bool, tokio_postgres::Error> {
    const SQL: &str = concat!(
        tenants!("cardinality($3::uuid[]) + 1"),
        " select exists (select 1 from tenants \
           where tenant_id is not null and not (tenant_id = any($3)))"
    );
    let row = transaction.query_one(SQL, &[&lane.as_str(), &Uuid::nil(), &full]).await?;
    row.try_get(0)
}
