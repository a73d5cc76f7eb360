//! The log of operations.

use lukasa_core::{
    CallerKind, FactId, Operation, OperationId, Origin, Timestamp, UserId, Verb, Voice,
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Param, Scope};

/// `undone_by` is filled in by [`with_undo_state`], or by [`operation_with_undos`].
macro_rules! operation_columns {
    () => {
        "o.operation_id, o.verb, o.recorded_at, o.caller, o.credential, o.origin, o.extracted, \
         o.facts, o.undoes, o.policy, o.sources, o.member_id"
    };
}

pub(crate) use operation_columns;

pub(crate) fn operation(row: &Row) -> Result<Operation> {
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
        undone_by: None,
        policy: c.take()?,
        sources: c.maybe_json()?,
        member: c.take::<Option<Uuid>>()?.map(UserId::from_uuid),
    })
}

/// Sets `undone_by` of each operation to the undo that is in effect: the newest one that is not
/// itself undone by an undo in effect.
pub(crate) async fn with_undo_state(
    scope: &Scope,
    mut operations: Vec<Operation>,
) -> Result<Vec<Operation>> {
    const SQL: &str = "with recursive undo as ( \
                         select operation_id, undoes, recorded_at from operation \
                          where user_id = $1 and undoes = any($2) \
                         union \
                         select o.operation_id, o.undoes, o.recorded_at from undo \
                           join operation o on o.user_id = $1 and o.undoes = undo.operation_id) \
                       select operation_id, undoes from undo order by recorded_at desc";
    let ids: Vec<Uuid> = operations.iter().map(|operation| operation.id.uuid()).collect();
    let rows = scope.query(SQL, &[&scope.user().uuid(), &ids]).await?;
    let undos: Vec<(Uuid, Uuid)> = all(&rows, |row| {
        let mut c = Columns::of(row, "operation");
        Ok((c.take()?, c.take()?))
    })?;
    for operation in &mut operations {
        let undo = undone_by(&undos, operation.id.uuid());
        operation.undone_by = undo.map(OperationId::from_uuid);
    }
    Ok(operations)
}

/// The undo of an operation that is in effect, of these undos with what each undoes, newest first.
fn undone_by(undos: &[(Uuid, Uuid)], id: Uuid) -> Option<Uuid> {
    let of = undos.iter().filter(|(_, undoes)| *undoes == id);
    of.map(|(undo, _)| *undo).find(|undo| undone_by(undos, *undo).is_none())
}

/// An operation from a row that also has `undo_ids` and `undone_ids`: its undos, their undos and so on,
/// newest first; null without any.
pub(crate) fn operation_with_undos(row: &Row) -> Result<Operation> {
    let mut operation = operation(row)?;
    let columns = Columns::of(row, "operation");
    let ids: Option<Vec<Uuid>> = columns.named("undo_ids")?;
    let undone: Option<Vec<Uuid>> = columns.named("undone_ids")?;
    let undos = ids.unwrap_or_default().into_iter().zip(undone.unwrap_or_default());
    let undos: Vec<(Uuid, Uuid)> = undos.collect();
    operation.undone_by = undone_by(&undos, operation.id.uuid()).map(OperationId::from_uuid);
    Ok(operation)
}

/// The time of the user's last write. The next operation must be later, whatever the clock says.
pub async fn last_at(scope: &Scope) -> Result<Option<Timestamp>> {
    const SQL: &str = "select recorded_at from operation where user_id = $1 \
                        order by recorded_at desc limit 1";
    let rows = scope.query(SQL, &[&scope.user().uuid()]).await?;
    one(&rows, |row| Columns::of(row, "operation").take())
}

pub fn insert(batch: &mut Batch, scope: &Scope, operation: &Operation) {
    const SQL: &str = "insert into operation (user_id, tenant_id, operation_id, recorded_at, \
                       verb, caller, credential, origin, extracted, facts, undoes, policy, \
                       sources, member_id) \
                       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
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
            Box::new(operation.policy.clone()),
            Box::new(operation.sources.as_ref().and_then(|s| serde_json::to_value(s).ok())),
            Box::new(operation.member.map(UserId::uuid)),
        ],
    );
}

/// The newest operations, up to `limit`; in a space only those of this member.
pub async fn latest(scope: &Scope, member: Option<UserId>, limit: i64) -> Result<Vec<Operation>> {
    const SQL: &str = concat!(
        "select ",
        operation_columns!(),
        " from operation o where o.user_id = $1 \
           and ($2::uuid is null or o.member_id = $2) \
          order by o.recorded_at desc limit $3"
    );
    let member = member.map(UserId::uuid);
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &member, &limit];
    with_undo_state(scope, all(&scope.query(SQL, &params).await?, operation)?).await
}

/// The operations with one of these ids or one of these times.
pub async fn with_id_or_time(
    scope: &Scope,
    ids: &[OperationId],
    at: &[Timestamp],
) -> Result<Vec<(OperationId, Timestamp)>> {
    const SQL: &str = "select operation_id, recorded_at from operation \
                        where user_id = $1 and (operation_id = any($2) or recorded_at = any($3))";
    let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &ids, &at];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "operation");
        Ok((OperationId::from_uuid(c.take()?), c.take()?))
    })
}

pub async fn find(scope: &Scope, id: OperationId) -> Result<Option<Operation>> {
    const SQL: &str = concat!(
        "select ",
        operation_columns!(),
        " from operation o where o.user_id = $1 and o.operation_id = $2"
    );
    let found = all(&scope.query(SQL, &[&scope.user().uuid(), &id.uuid()]).await?, operation)?;
    Ok(with_undo_state(scope, found).await?.pop())
}

/// The newest operation after `point` that gave a consent for this domain and is in effect.
pub async fn consent_since(
    scope: &Scope,
    domain: &str,
    point: Timestamp,
) -> Result<Option<OperationId>> {
    const MAX_OPERATIONS: i64 = 200;
    const SQL: &str = concat!(
        "select ",
        operation_columns!(),
        " from operation o where o.user_id = $1 and o.recorded_at > $2 and o.verb <> 'undo' \
           and o.sources -> 'consents' @> $3 and not (o.sources ->> 'gone')::boolean \
          order by o.recorded_at desc limit $4"
    );
    let consent = serde_json::json!([{ "domain": domain }]);
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &point, &consent, &MAX_OPERATIONS];
    let given = all(&scope.query(SQL, &params).await?, operation)?;
    let given = with_undo_state(scope, given).await?;
    Ok(given.into_iter().find(|given| given.undone_by.is_none()).map(|given| given.id))
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
    with_undo_state(scope, all(&scope.query(SQL, &params).await?, operation)?).await
}

/// Up to `limit` operations after `after`, oldest first.
pub async fn after(scope: &Scope, after: Timestamp, limit: i64) -> Result<Vec<Operation>> {
    const SQL: &str = concat!(
        "select ",
        operation_columns!(),
        " from operation o where o.user_id = $1 and o.recorded_at > $2 \
          order by o.recorded_at limit $3"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &after, &limit];
    let found = all(&scope.query(SQL, &params).await?, operation)?;
    if found.is_empty() { Ok(found) } else { with_undo_state(scope, found).await }
}
