//! Records of retrievals of several users, written in one transaction per cell.
//!
//! A record is written only while its user's lock is held, so that it cannot restore what another
//! write is removing. The locks are only tried: a user whose lock is taken is left for later, so no
//! lock is held while another is waited for.

use std::collections::BTreeMap;
use std::pin::pin;

use deadpool_postgres::Object;
use futures_util::future::{join, join_all};
use lukasa_core::{FactId, TenantId, UserId};
use tokio_postgres::Statement;
use uuid::Uuid;

use crate::Store;
use crate::cells::{Cell, CellStep};
use crate::context::{GIVEN_SQL, GivenBaseline, RETRIEVAL_SQL, Retrieval};
use crate::error::{Error, Result};
use crate::passage::RecallState;
use crate::pool::Purpose;
use crate::rollback::RollbackGuard;
use crate::scope::{Param, lock_of, settings};

/// A retrieval to record, with the baseline that was given with it unless that is recorded already,
/// and the state of the user's record at which it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRetrieval {
    pub tenant: TenantId,
    pub user: UserId,
    pub retrieval: Retrieval,
    pub given: Option<GivenBaseline>,
    pub state: RecallState,
}

/// What became of a record of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchedRecord {
    Written,
    /// Another transaction holds the user's lock.
    UserBusy,
    /// Not written by a batch: something was removed since, no upkeep job is queued for the user, or
    /// the cell does not hold the user. It is to be written in a transaction of its own, which checks
    /// why.
    Refused,
}

impl Store {
    /// Records retrievals, with one transaction for each cell that holds their users; returns what
    /// became of each. Commits do not wait for the disk.
    pub async fn record_retrievals(&self, new: &[NewRetrieval]) -> Vec<BatchedRecord> {
        let mut done = vec![BatchedRecord::Refused; new.len()];
        let mut by_cell: BTreeMap<String, (Cell, Vec<usize>)> = BTreeMap::new();
        for (at, record) in new.iter().enumerate() {
            let Ok(CellStep { cell, .. }) = self.cells.first_step(record.tenant, record.user)
            else {
                continue;
            };
            let entry = by_cell.entry(cell.name.to_string());
            entry.or_insert_with(|| (cell, Vec::new())).1.push(at);
        }
        for (cell, mut places) in by_cell.into_values() {
            // All transactions that take several locks take them in this order.
            places.sort_by_key(|at| (lock_of(new[*at].user), new[*at].user));
            let records: Vec<&NewRetrieval> = places.iter().map(|at| &new[*at]).collect();
            match write_in(&cell, &records).await {
                Ok(results) => {
                    for (at, result) in places.into_iter().zip(results) {
                        done[at] = result;
                    }
                }
                Err(error) => {
                    tracing::debug!(%error, cell = &*cell.name, "a batch of retrievals failed");
                }
            }
        }
        done
    }
}

/// Writes records, which are in the order of their users' locks, in one transaction.
async fn write_in(cell: &Cell, records: &[&NewRetrieval]) -> Result<Vec<BatchedRecord>> {
    let connection = cell.connection(Purpose::Background).await?;
    let retrieval = connection.prepare_cached(RETRIEVAL_SQL).await?;
    let given = connection.prepare_cached(GIVEN_SQL).await?;
    let connection = RollbackGuard::new(connection);
    let work = async {
        let locked = try_locks(connection.get()?, records).await?;
        let results = insert(connection.get()?, records, &locked, (&retrieval, &given)).await?;
        connection.batch_execute("commit").await?;
        Ok::<_, Error>(results)
    };
    let results: Result<Vec<BatchedRecord>> = cell.while_answering(pin!(work)).await?;
    let results = results?;
    drop(connection.disarm()?);
    Ok(results)
}

/// Begins the transaction and tries the users' locks; returns which records' users are locked.
async fn try_locks(connection: &Object, records: &[&NewRetrieval]) -> Result<Vec<bool>> {
    const LOCKS: &str = "select pg_try_advisory_xact_lock(key) from unnest($1::bigint[]) as key";
    let locks = connection.prepare_cached(LOCKS).await?;
    let keys: Vec<i64> = records.iter().map(|record| lock_of(record.user)).collect();
    // Both are sent before either is answered.
    let begun = connection.batch_execute("begin; set local synchronous_commit = off");
    let params: [Param<'_>; 1] = [&keys];
    let (begun, rows) = join(begun, connection.query(&locks, &params)).await;
    begun?;
    rows?.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// Sends the records of locked users, each after the settings of its user, in one round trip.
async fn insert(
    connection: &Object,
    records: &[&NewRetrieval],
    locked: &[bool],
    (retrieval, given): (&Statement, &Statement),
) -> Result<Vec<BatchedRecord>> {
    let written = records.iter().zip(locked).map(|(record, is_locked)| async move {
        if !is_locked {
            return Ok::<_, Error>(BatchedRecord::UserBusy);
        }
        let (tenant, user) = (record.tenant.uuid(), record.user.uuid());
        let opening = format!(
            "{}; select check_placement('{tenant}', '{user}', 0)",
            settings(record.tenant, Some(record.user))
        );
        let opened = connection.batch_execute(&opening);
        let rows = insert_one(connection, record, (retrieval, given), (tenant, user));
        let (opened, is_written) = join(opened, rows).await;
        opened?;
        let result = if is_written? { BatchedRecord::Written } else { BatchedRecord::Refused };
        Ok(result)
    });
    join_all(written).await.into_iter().collect()
}

async fn insert_one(
    connection: &Object,
    record: &NewRetrieval,
    (retrieval, given): (&Statement, &Statement),
    (tenant, user): (Uuid, Uuid),
) -> Result<bool> {
    let NewRetrieval { retrieval: new, given: baseline, state, .. } = record;
    let ids = |facts: &[FactId]| facts.iter().map(|fact| fact.uuid()).collect::<Vec<Uuid>>();
    let (id, facts) = (new.id.uuid(), ids(&new.facts));
    let must_be_looked_after = true;
    let params: [Param<'_>; 12] = [
        &user,
        &tenant,
        &id,
        &new.session,
        &new.at,
        &new.etag,
        &new.dynamic,
        &new.trace,
        &facts,
        &state.removed,
        &state.epoch,
        &must_be_looked_after,
    ];
    let lines = async {
        let Some(baseline) = baseline else { return Ok(()) };
        let facts = ids(&baseline.facts);
        let params: [Param<'_>; 9] = [
            &user,
            &tenant,
            &baseline.etag,
            &new.at,
            &baseline.items,
            &facts,
            &state.removed,
            &state.epoch,
            &must_be_looked_after,
        ];
        connection.execute(given, &params).await.map(|_| ())
    };
    let (rows, lines) = join(connection.execute(retrieval, &params), lines).await;
    lines?;
    Ok(rows? == 1)
}
