//! Erasures: how much there is to remove, the removal of everything about a user, and what stays on
//! record of it: ids and numbers, never words.

use std::collections::BTreeMap;

use quipu_core::{ErasureId, FactId, OperationId, TenantId, Timestamp, TurnId, UserId, Verb};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::Store;
use crate::error::{Error, Result};
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Scope};

/// How many rows, by table. Tables without any are left out.
pub type Rows = BTreeMap<String, i64>;

/// One removal for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    pub id: ErasureId,
    /// The memory or the turn that was removed; neither if everything about the user was.
    pub fact: Option<FactId>,
    pub turn: Option<TurnId>,
    pub verb: Verb,
    pub operation: Option<OperationId>,
    pub erased_at: Timestamp,
    pub removed: Rows,
    /// Whether a backup had brought it back.
    pub replayed: bool,
    /// When the files had been rewritten without it.
    pub scrubbed_at: Option<Timestamp>,
}

/// An erasure, and whom it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    pub tenant: TenantId,
    pub user: UserId,
    pub id: ErasureId,
    pub fact: Option<FactId>,
    pub turn: Option<TurnId>,
    pub erased_at: Timestamp,
    /// Whether the files have been rewritten without it.
    pub scrubbed: bool,
}

/// Every table that holds something about a user, in the order in which rows can be removed: a table,
/// the statement that counts its rows, and the one that removes them. A table that is missing here
/// fails a test that asks the database which there are.
macro_rules! tables_of_a_user {
    ($($table:literal),+ $(,)?) => {
        &[$((
            $table,
            concat!("select count(*) from ", $table, " where user_id = $1"),
            concat!("with gone as (delete from ", $table, " where user_id = $1 returning 1) \
                     select count(*) from gone"),
        )),+]
    };
}

const TABLES: &[(&str, &str, &str)] = tables_of_a_user![
    "import_item",
    "import",
    "delivery",
    "webhook_mark",
    "job",
    "pass",
    "episode",
    "model_call",
    "user_policy",
    "usage",
    "retrieval",
    "baseline",
    "response",
    "portrait",
    "embedding",
    "passage",
    "recall_state",
    "turn",
    "session",
    "idempotency",
    "link",
    "fact_version",
    "fact",
    "tombstone",
    "operation",
    "user_domain",
];

/// How much is kept about the user.
pub async fn count_user(scope: &Scope) -> Result<Rows> {
    let mut rows = Rows::new();
    for (table, count, _) in TABLES {
        tally(&mut rows, table, scope, count).await?;
    }
    Ok(rows)
}

/// Removes everything the record holds about the user, and says how much it was. The user's own row
/// and their credentials are the directory's.
pub async fn remove_user(scope: &Scope) -> Result<Rows> {
    let mut rows = Rows::new();
    for (table, _, remove) in TABLES {
        tally(&mut rows, table, scope, remove).await?;
    }
    Ok(rows)
}

async fn tally(rows: &mut Rows, table: &str, scope: &Scope, sql: &'static str) -> Result<()> {
    let counted = scope.query(sql, &[&scope.user().uuid()]).await?;
    let count = one(&counted, |row| Columns::of(row, "erasure").take::<i64>())?.unwrap_or(0);
    if count > 0 {
        rows.insert(table.to_owned(), count);
    }
    Ok(())
}

/// How much one fact's own removal removes, by table.
pub async fn count_fact(scope: &Scope, fact: FactId) -> Result<Rows> {
    const COUNTED: [&str; 9] = [
        "fact",
        "fact_version",
        "link",
        "passage",
        "embedding",
        "baseline",
        "retrieval",
        "usage",
        "idempotency",
    ];
    const SQL: &str = "with versions as (select version_id from fact_version \
                          where user_id = $1 and fact_id = $2) \
        select (select count(*) from fact where user_id = $1 and fact_id = $2), \
               (select count(*) from versions), \
               (select count(*) from link \
                 where user_id = $1 and (from_fact = $2 or to_fact = $2)), \
               (select count(*) from passage \
                 where user_id = $1 and source_id in (select version_id from versions)), \
               (select count(*) from embedding \
                 where user_id = $1 and source_id in (select version_id from versions)), \
               (select count(*) from baseline where user_id = $1 and $2 = any(facts)), \
               (select count(*) from retrieval where user_id = $1 and $2 = any(facts)), \
               (select count(*) from usage where user_id = $1 and fact_id = $2), \
               (select count(*) from idempotency \
                 where user_id = $1 and $2 = any(facts) and outcome is not null)";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &fact.uuid()]).await?;
    let counts = one(&rows, |row| {
        let mut c = Columns::of(row, "fact_version");
        COUNTED.iter().map(|table| Ok(((*table).to_owned(), c.take()?))).collect::<Result<Rows>>()
    })?;
    let mut counts = counts.unwrap_or_default();
    counts.retain(|_, count| *count > 0);
    Ok(counts)
}

fn erasure(row: &Row) -> Result<Erasure> {
    let mut c = Columns::of(row, "erasure");
    Ok(Erasure {
        id: ErasureId::from_uuid(c.take()?),
        fact: c.take::<Option<Uuid>>()?.map(FactId::from_uuid),
        turn: c.take::<Option<Uuid>>()?.map(TurnId::from_uuid),
        verb: c.word(Verb::parse)?,
        operation: c.take::<Option<Uuid>>()?.map(OperationId::from_uuid),
        erased_at: c.take()?,
        removed: c.json()?,
        replayed: c.take()?,
        scrubbed_at: c.take()?,
    })
}

/// Puts an erasure on record.
pub fn insert(batch: &mut Batch, scope: &Scope, new: &Erasure) {
    const SQL: &str = "insert into erasure (user_id, tenant_id, erasure_id, fact_id, turn_id, \
                       verb, operation_id, erased_at, removed, replayed) \
                       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(new.id.uuid()),
            Box::new(new.fact.map(FactId::uuid)),
            Box::new(new.turn.map(TurnId::uuid)),
            Box::new(new.verb.as_str()),
            Box::new(new.operation.map(OperationId::uuid)),
            Box::new(new.erased_at),
            Box::new(serde_json::json!(new.removed)),
            Box::new(new.replayed),
        ],
    );
}

/// The latest erasures about the user, newest first.
pub async fn latest(scope: &Scope, limit: i64) -> Result<Vec<Erasure>> {
    const SQL: &str = "select erasure_id, fact_id, turn_id, verb, operation_id, erased_at, removed, \
                       replayed, scrubbed_at from erasure where user_id = $1 \
                       order by erased_at desc, erasure_id desc limit $2";
    all(&scope.query(SQL, &[&scope.user().uuid(), &limit]).await?, erasure)
}

impl Store {
    /// The secret that receipts are signed with.
    pub async fn signing_seed(&self) -> Result<Vec<u8>> {
        let mut connection = self.pool.get().await?;
        let transaction = connection.transaction().await?;
        transaction.batch_execute("set local app.signing = 'on'").await?;
        let rows = transaction.query("select seed from signing_key", &[]).await?;
        transaction.rollback().await?;
        let seed = one(&rows, |row| Columns::of(row, "signing_key").take())?;
        let missing = || Error::Corrupt { table: "signing_key", what: "no key".into() };
        seed.ok_or_else(missing)
    }

    /// Every erasure that has happened in this database, whoever it is about, oldest first.
    pub async fn erasures(&self) -> Result<Vec<Known>> {
        const SQL: &str = "select tenant_id, user_id, erasure_id, fact_id, turn_id, erased_at, \
                           scrubbed_at is not null from erasure order by erased_at, erasure_id";
        let mut connection = self.pool.get().await?;
        let transaction = connection.transaction().await?;
        transaction.batch_execute("set local app.scrub = 'on'").await?;
        let rows = transaction.query(SQL, &[]).await?;
        transaction.rollback().await?;
        all(&rows, |row| {
            let mut c = Columns::of(row, "erasure");
            Ok(Known {
                tenant: TenantId::from_uuid(c.take()?),
                user: UserId::from_uuid(c.take()?),
                id: ErasureId::from_uuid(c.take()?),
                fact: c.take::<Option<Uuid>>()?.map(FactId::from_uuid),
                turn: c.take::<Option<Uuid>>()?.map(TurnId::from_uuid),
                erased_at: c.take()?,
                scrubbed: c.take()?,
            })
        })
    }
}
