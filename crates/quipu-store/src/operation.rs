//! The log of operations.

use quipu_core::{CallerKind, FactId, Operation, OperationId, Origin, Timestamp, Verb, Voice};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Param, Scope};

/// `undone_by` is the newest undo of the operation that has not itself been undone.
macro_rules! operation_columns {
    () => {
        "o.operation_id, o.verb, o.recorded_at, o.caller, o.credential, o.origin, o.extracted, \
         o.facts, o.undoes, \
         (select u.operation_id from operation u \
           where u.user_id = $1 and u.undoes = o.operation_id \
             and not exists (select 1 from operation r \
                              where r.user_id = $1 and r.undoes = u.operation_id) \
           order by u.recorded_at desc limit 1)"
    };
}

fn operation(row: &Row) -> Result<Operation> {
    let mut c = Columns::of(row, "operation");
    Ok(Operation {
        id: OperationId::from_uuid(c.take()?),
        verb: c.word(Verb::parse)?,
        at: c.take()?,
        caller: c.word(CallerKind::parse)?,
        credential: c.take()?,
        voice: Voice { origin: c.word(Origin::parse)?, extracted: c.take()? },
        facts: c.take::<Vec<Uuid>>()?.into_iter().map(FactId::from_uuid).collect(),
        undoes: c.take::<Option<Uuid>>()?.map(OperationId::from_uuid),
        undone_by: c.take::<Option<Uuid>>()?.map(OperationId::from_uuid),
    })
}

/// When the user last wrote. The next operation must come after it, whatever the clock says.
pub async fn last_at(scope: &Scope) -> Result<Option<Timestamp>> {
    const SQL: &str = "select recorded_at from operation where user_id = $1 \
                        order by recorded_at desc limit 1";
    let rows = scope.query(SQL, &[&scope.user().uuid()]).await?;
    one(&rows, |row| Columns::of(row, "operation").take())
}

pub fn insert(batch: &mut Batch, scope: &Scope, operation: &Operation) {
    const SQL: &str = "insert into operation (user_id, tenant_id, operation_id, recorded_at, \
                       verb, caller, credential, origin, extracted, facts, undoes) \
                       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let facts: Vec<Uuid> = operation.facts.iter().map(|fact| fact.uuid()).collect();
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(operation.id.uuid()),
            Box::new(operation.at),
            Box::new(operation.verb.as_str()),
            Box::new(operation.caller.as_str()),
            Box::new(operation.credential.clone()),
            Box::new(operation.voice.origin.as_str()),
            Box::new(operation.voice.extracted),
            Box::new(facts),
            Box::new(operation.undoes.map(OperationId::uuid)),
        ],
    );
}

pub async fn find(scope: &Scope, id: OperationId) -> Result<Option<Operation>> {
    const SQL: &str = concat!(
        "select ",
        operation_columns!(),
        " from operation o where o.user_id = $1 and o.operation_id = $2"
    );
    one(&scope.query(SQL, &[&scope.user().uuid(), &id.uuid()]).await?, operation)
}

/// Up to `limit` operations before `before`, newest first; only those on `fact` if one is given.
pub async fn page(
    scope: &Scope,
    fact: Option<FactId>,
    before: Option<Timestamp>,
    limit: i64,
) -> Result<Vec<Operation>> {
    const SQL: &str = concat!(
        "select ",
        operation_columns!(),
        " from operation o where o.user_id = $1 \
           and ($2::timestamptz is null or o.recorded_at < $2) \
           and ($3::uuid is null or $3 = any(o.facts)) \
          order by o.recorded_at desc limit $4"
    );
    let fact = fact.map(FactId::uuid);
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &before, &fact, &limit];
    all(&scope.query(SQL, &params).await?, operation)
}
