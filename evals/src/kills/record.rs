//! Rows of some users in the database, read directly in one snapshot.

use std::collections::HashMap;

use anyhow::{Context, Result};
use jiff::Timestamp;
use tokio_postgres::{Client, IsolationLevel, Row};
use uuid::Uuid;

pub struct Operation {
    pub id: Uuid,
    pub at: Timestamp,
    pub undoes: Option<Uuid>,
}

pub struct Version {
    pub fact: Uuid,
    pub id: Uuid,
    pub number: i32,
    pub content: String,
    pub active: bool,
    pub valid: (Timestamp, Option<Timestamp>),
    pub known: (Timestamp, Option<Timestamp>),
    pub opened_by: Uuid,
    pub closed_by: Option<Uuid>,
}

/// The answer stored under an idempotency key.
pub struct StoredAnswer {
    pub key: String,
    pub operation: Option<String>,
}

/// One user's rows. Operations are ordered by time.
#[derive(Default)]
pub struct UserRecord {
    pub operations: Vec<Operation>,
    pub versions: Vec<Version>,
    pub stored_answers: Vec<StoredAnswer>,
}

pub struct Record {
    pub users: HashMap<Uuid, UserRecord>,
    /// When it was read, by the database's clock.
    pub now: Timestamp,
}

const OPERATIONS: &str = "select user_id, operation_id, recorded_at, undoes from operation \
                           where user_id = any($1) order by user_id, recorded_at";
const VERSIONS: &str = "select user_id, fact_id, version_id, number, content, state = 'active', \
                               valid_from, valid_until, known_from, known_until, opened_by, closed_by \
                          from fact_version where user_id = any($1) order by user_id, fact_id";
const STORED_ANSWERS: &str = "select user_id, key, outcome->>'operation' from idempotency \
                     where user_id = any($1)";

pub async fn read(client: &mut Client, users: &[Uuid]) -> Result<Record> {
    let snapshot = client
        .build_transaction()
        .isolation_level(IsolationLevel::RepeatableRead)
        .read_only(true)
        .start()
        .await
        .context("snapshot")?;
    let now = snapshot.query_one("select clock_timestamp()", &[]).await?.try_get(0)?;
    let mut record = Record { users: HashMap::new(), now };
    for row in snapshot.query(OPERATIONS, &[&users]).await.context("operations")? {
        let operation =
            Operation { id: row.try_get(1)?, at: row.try_get(2)?, undoes: row.try_get(3)? };
        record.user(&row)?.operations.push(operation);
    }
    for row in snapshot.query(VERSIONS, &[&users]).await.context("versions")? {
        let version = Version {
            fact: row.try_get(1)?,
            id: row.try_get(2)?,
            number: row.try_get(3)?,
            content: row.try_get(4)?,
            active: row.try_get(5)?,
            valid: (row.try_get(6)?, row.try_get(7)?),
            known: (row.try_get(8)?, row.try_get(9)?),
            opened_by: row.try_get(10)?,
            closed_by: row.try_get(11)?,
        };
        record.user(&row)?.versions.push(version);
    }
    for row in snapshot.query(STORED_ANSWERS, &[&users]).await.context("stored answers")? {
        let answer = StoredAnswer { key: row.try_get(1)?, operation: row.try_get(2)? };
        record.user(&row)?.stored_answers.push(answer);
    }
    snapshot.commit().await?;
    Ok(record)
}

impl Record {
    fn user(&mut self, row: &Row) -> Result<&mut UserRecord> {
        Ok(self.users.entry(row.try_get(0)?).or_default())
    }
}

/// Number of operations that belong to none of these users.
pub async fn strangers(client: &Client, users: &[Uuid]) -> Result<i64> {
    const SQL: &str = "select count(*) from operation where user_id <> all($1)";
    Ok(client.query_one(SQL, &[&users]).await.context("strangers")?.try_get(0)?)
}
