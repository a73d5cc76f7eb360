//! Health checks: whether the database is reachable and safe to serve from.

use lukasa_core::Timestamp;
use tokio_postgres::Row;

use crate::cells::Cell;
use crate::error::Result;
use crate::migrate::owner;
use crate::pool::{PoolUsage, Purpose};
use crate::schema_check::{health_of, missing_migrations_of};
use crate::{ConnectOptions, Scope, Store};

pub use crate::schema_check::DatabaseHealth;

impl Store {
    /// The health of the directory's database. A cell is checked before its first use.
    pub async fn health(&self) -> Result<DatabaseHealth> {
        health_of(&self.cells.main().pools).await
    }

    /// Whether the database answers and the schema has every migration of this build. The other
    /// cells do not count: without one of them the users of the rest are served.
    pub async fn is_ready(&self) -> Result<bool> {
        Ok(self.missing_migrations().await?.is_empty())
    }

    /// The migrations of this build that the schema lacks, by number and name. A newer schema lacks
    /// none, so that older servers keep serving during an upgrade.
    pub async fn missing_migrations(&self) -> Result<Vec<String>> {
        missing_migrations_of(&self.cells.main().pools).await
    }
}

/// Waiting and failed jobs over all users, and the database's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlog {
    pub clock: Timestamp,
    /// Jobs that are due.
    pub due: i64,
    pub due_since: Option<Timestamp>,
    /// Failed jobs.
    pub dead: i64,
    /// Why the write-ahead log is not being archived, if it should be.
    pub archive_fault: Option<String>,
}

const BACKLOG: &str = "\
    select clock_timestamp(), \
           /* whatever their user_id */ \
           (select count(*) from job where state = 'waiting' and run_at <= $1), \
           (select min(run_at) from job where state = 'waiting' and run_at <= $1), \
           (select count(*) from job where state = 'dead'), \
           (select case when current_setting('archive_mode') <> 'off' \
                and last_failed_time > coalesce(last_archived_time, '-infinity') \
                then failed_count || ' failures, the last with ' || last_failed_wal end \
              from pg_stat_archiver)";

impl Store {
    /// Reads the backlog of all users, for operators.
    pub async fn backlog(&self, now: Timestamp) -> Result<Backlog> {
        let mut sum: Option<Backlog> = None;
        for mut connection in self.connections(Purpose::Reads).await? {
            let transaction = connection.transaction().await?;
            transaction.batch_execute("set local app.worker = 'on'").await?;
            let row = transaction.query_one(BACKLOG, &[&now]).await?;
            transaction.rollback().await?;
            let found = Backlog {
                clock: row.try_get(0)?,
                due: row.try_get(1)?,
                due_since: row.try_get(2)?,
                dead: row.try_get(3)?,
                archive_fault: row.try_get(4)?,
            };
            sum = Some(match sum {
                Some(sum) => Backlog {
                    due: sum.due + found.due,
                    due_since: earlier(sum.due_since, found.due_since),
                    dead: sum.dead + found.dead,
                    archive_fault: sum.archive_fault.or(found.archive_fault),
                    ..sum
                },
                None => found,
            });
        }
        sum.ok_or(crate::Error::Closed)
    }
}

/// Due and failed jobs of one lane, over all users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneBacklog {
    pub lane: String,
    /// Jobs that are due.
    pub due: i64,
    pub due_since: Option<Timestamp>,
    /// Failed jobs.
    pub dead: i64,
}

/// Erasures that were begun and are not finished, or whose data may still be in the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErasureBacklog {
    pub unfinished: i64,
    /// When the oldest of them was begun.
    pub since: Option<Timestamp>,
    /// Finished ones that were not scrubbed, counted up to 10,000 in each cell.
    pub unscrubbed: i64,
}

const LANES: &str = "\
    select lane, /* whatever their user_id */ \
           count(*) filter (where state = 'waiting'), \
           min(run_at) filter (where state = 'waiting'), \
           count(*) filter (where state = 'dead') \
      from job where (state = 'waiting' and run_at <= $1) or state = 'dead' group by lane";
const ERASURES: &str = "\
    select count(*), /* whatever their user_id */ min(erased_at), \
           (select count(*) from (select from erasure /* whatever their user_id */ \
              where scrubbed_at is null and finished_at is not null limit 10000) as unscrubbed) \
      from erasure where finished_at is null";

async fn lanes_of(cell: &Cell, now: Timestamp) -> Result<Vec<LaneBacklog>> {
    let mut connection = cell.connection(Purpose::Background).await?;
    let transaction = connection.transaction().await?;
    transaction.batch_execute("set local app.worker = 'on'").await?;
    let rows = transaction.query(LANES, &[&now]).await?;
    transaction.rollback().await?;
    let lane = |row: &Row| {
        Ok(LaneBacklog {
            lane: row.try_get(0)?,
            due: row.try_get(1)?,
            due_since: row.try_get(2)?,
            dead: row.try_get(3)?,
        })
    };
    rows.iter().map(lane).collect()
}

async fn erasures_of(cell: &Cell) -> Result<ErasureBacklog> {
    let mut connection = cell.connection(Purpose::Background).await?;
    let transaction = connection.transaction().await?;
    transaction.batch_execute("set local app.scrub = 'on'").await?;
    let row = transaction.query_one(ERASURES, &[]).await?;
    transaction.rollback().await?;
    Ok(ErasureBacklog {
        unfinished: row.try_get(0)?,
        since: row.try_get(1)?,
        unscrubbed: row.try_get(2)?,
    })
}

impl Store {
    /// Reads the backlog of each lane that has one.
    pub async fn lane_backlogs(&self, now: Timestamp) -> Result<Vec<LaneBacklog>> {
        let mut lanes: Vec<LaneBacklog> = Vec::new();
        for cell in self.cells.all().await? {
            let found = cell.or_leave_out(lanes_of(&cell, now)).await?;
            for found in found.into_iter().flatten() {
                match lanes.iter_mut().find(|lane| lane.lane == found.lane) {
                    Some(lane) => {
                        lane.due += found.due;
                        lane.dead += found.dead;
                        lane.due_since = earlier(lane.due_since, found.due_since);
                    }
                    None => lanes.push(found),
                }
            }
        }
        Ok(lanes)
    }

    /// Reads how many erasures are unfinished, since when, and how many are not scrubbed.
    pub async fn erasure_backlog(&self) -> Result<ErasureBacklog> {
        let mut sum = ErasureBacklog::default();
        for cell in self.cells.all().await? {
            if let Some(found) = cell.or_leave_out(erasures_of(&cell)).await? {
                sum.unfinished += found.unfinished;
                sum.since = earlier(sum.since, found.since);
                sum.unscrubbed += found.unscrubbed;
            }
        }
        Ok(sum)
    }

    /// The connections of each pool.
    pub fn pool_usage(&self) -> Vec<PoolUsage> {
        let cells = self.cells.known();
        let name = |cell: &Cell| (cells.len() > 1).then(|| cell.name.to_string());
        cells.iter().flat_map(|cell| cell.pools.usage(name(cell).as_deref())).collect()
    }

    /// Whether each cell other than main can be reached, by its name; empty if there is one cell.
    pub fn cells_up(&self) -> Vec<(String, bool)> {
        let others = self.cells.known().into_iter().filter(|cell| !cell.is_main());
        others.map(|cell| (cell.name.to_string(), cell.is_up())).collect()
    }
}

fn earlier(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    [one, other].into_iter().flatten().min()
}

/// The server's data directory, if the login role may read the setting.
pub async fn data_directory(connect: &ConnectOptions) -> Result<Option<String>> {
    let client = owner(connect).await?;
    let rows =
        client.query("select setting from pg_settings where name = 'data_directory'", &[]).await?;
    Ok(rows.first().map(|row| row.try_get(0)).transpose()?)
}

/// Counts of one user's rows, for a preview of what deleting the user removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserRowCounts {
    pub facts: i64,
    pub versions: i64,
    pub links: i64,
    pub operations: i64,
}

pub async fn count(scope: &Scope) -> Result<UserRowCounts> {
    let rows = scope
        .query(
            "select (select count(*) from fact where user_id = $1), \
                    (select count(*) from fact_version where user_id = $1), \
                    (select count(*) from link where user_id = $1), \
                    (select count(*) from operation where user_id = $1)",
            &[&scope.user().uuid()],
        )
        .await?;
    let row = rows.first().ok_or(crate::Error::Closed)?;
    Ok(UserRowCounts {
        facts: row.try_get(0)?,
        versions: row.try_get(1)?,
        links: row.try_get(2)?,
        operations: row.try_get(3)?,
    })
}
