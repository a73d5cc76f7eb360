//! Permanent removal: the only statements that delete from the record.

use std::collections::BTreeSet;

use lukasa_core::{FactId, OperationId, Timestamp, TurnId, Verb};

use crate::context;
use crate::error::Result;
use crate::row::{Columns, all, one};
use crate::scope::{Param, Scope};

/// How many rows were removed with one fact, without their content.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RemovedRows {
    pub fact: FactId,
    pub versions: i32,
    pub links: i32,
    pub evidence: i32,
    pub answers: i32,
}

/// Whether the fact exists, in any state.
pub async fn exists(scope: &Scope, fact: FactId) -> Result<bool> {
    const SQL: &str = "select true from fact where user_id = $1 and fact_id = $2";
    Ok(!scope.query(SQL, &[&scope.user().uuid(), &fact.uuid()]).await?.is_empty())
}

/// How many of these facts exist.
pub async fn count_existing(scope: &Scope, facts: &[FactId]) -> Result<usize> {
    const SQL: &str = "select 1 from fact where user_id = $1 and fact_id = any($2)";
    if facts.is_empty() {
        return Ok(0);
    }
    let ids: Vec<uuid::Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
    Ok(scope.query(SQL, &[&scope.user().uuid(), &ids]).await?.len())
}

/// Those of these facts that exist.
pub async fn existing(scope: &Scope, facts: &[FactId]) -> Result<Vec<FactId>> {
    const SQL: &str = "select fact_id from fact where user_id = $1 and fact_id = any($2)";
    ids(scope, SQL, facts).await
}

/// Those of these facts that were erased or purged.
pub async fn erased_facts(scope: &Scope, facts: &[FactId]) -> Result<Vec<FactId>> {
    const SQL: &str = "select fact_id from tombstone where user_id = $1 and fact_id = any($2)";
    ids(scope, SQL, facts).await
}

/// Those of these turns that were erased or purged.
pub async fn erased_turns(scope: &Scope, turns: &[TurnId]) -> Result<Vec<TurnId>> {
    const SQL: &str = "select fact_id from tombstone where user_id = $1 and fact_id = any($2) \
                         and kind = 'turn'";
    let asked: Vec<uuid::Uuid> = turns.iter().map(|turn| turn.uuid()).collect();
    let rows = scope.query(SQL, &[&scope.user().uuid(), &asked]).await?;
    all(&rows, |row| Ok(TurnId::from_uuid(Columns::of(row, "tombstone").take()?)))
}

async fn ids(scope: &Scope, sql: &'static str, facts: &[FactId]) -> Result<Vec<FactId>> {
    let asked: Vec<uuid::Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
    let rows = scope.query(sql, &[&scope.user().uuid(), &asked]).await?;
    all(&rows, |row| Ok(FactId::from_uuid(Columns::of(row, "fact").take()?)))
}

/// Those of these facts that exist in any state or were erased.
pub async fn ever_existing(scope: &Scope, facts: &[FactId]) -> Result<BTreeSet<FactId>> {
    const SQL: &str = "select fact_id from fact where user_id = $1 and fact_id = any($2) \
                       union select fact_id from tombstone \
                              where user_id = $1 and fact_id = any($2)";
    let ids: Vec<uuid::Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
    let rows = scope.query(SQL, &[&scope.user().uuid(), &ids]).await?;
    let found = all(&rows, |row| Ok(FactId::from_uuid(Columns::of(row, "fact").take()?)))?;
    Ok(found.into_iter().collect())
}

/// Removes every version, link and piece of evidence of a fact, clears the stored responses that
/// quote it, and leaves a tombstone without content.
pub async fn remove(
    scope: &Scope,
    fact: FactId,
    verb: Verb,
    at: Timestamp,
    by: OperationId,
) -> Result<RemovedRows> {
    let user = scope.user().uuid();
    let links = scope
        .query(
            "delete from link where user_id = $1 and (from_fact = $2 or to_fact = $2) \
             returning link_id",
            &[&user, &fact.uuid()],
        )
        .await?;
    scope
        .query(
            "delete from passage where user_id = $1 and source_id in \
             (select version_id from fact_version where user_id = $1 and fact_id = $2)",
            &[&user, &fact.uuid()],
        )
        .await?;
    let versions = scope
        .query(
            "delete from fact_version where user_id = $1 and fact_id = $2 \
             returning jsonb_array_length(evidence)",
            &[&user, &fact.uuid()],
        )
        .await?;
    context::remove_fact(scope, fact).await?;
    scope
        .query("delete from fact where user_id = $1 and fact_id = $2", &[&user, &fact.uuid()])
        .await?;
    let answers = scope
        .query(
            "update idempotency set outcome = null where user_id = $1 and $2 = any(facts) \
             returning key",
            &[&user, &fact.uuid()],
        )
        .await?;
    let evidence = all(&versions, |row| Columns::of(row, "fact_version").take::<i32>())?;
    let count = |rows: usize| i32::try_from(rows).unwrap_or(i32::MAX);
    let removed = RemovedRows {
        fact,
        versions: count(versions.len()),
        links: count(links.len()),
        evidence: evidence.into_iter().sum(),
        answers: count(answers.len()),
    };
    const SQL: &str = "insert into tombstone (user_id, tenant_id, fact_id, operation_id, \
                       erased_at, verb, versions, links, evidence) \
                       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let params: [Param<'_>; 9] = [
        &user,
        &scope.tenant().uuid(),
        &fact.uuid(),
        &by.uuid(),
        &at,
        &verb.as_str(),
        &removed.versions,
        &removed.links,
        &removed.evidence,
    ];
    scope.query(SQL, &params).await?;
    Ok(removed)
}

/// The facts that have been in the trash since `before` or longer, oldest first, at most `limit`.
pub async fn trashed_before(scope: &Scope, before: Timestamp, limit: i64) -> Result<Vec<FactId>> {
    const SQL: &str = "select fact_id from fact_version where user_id = $1 \
                          and known_until is null and state = 'trashed' \
                        group by fact_id having max(known_from) <= $2 \
                        order by max(known_from), fact_id limit $3";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &before, &limit]).await?;
    all(&rows, |row| Ok(FactId::from_uuid(Columns::of(row, "fact_version").take()?)))
}

/// When a fact was erased, if it was.
pub async fn erased_at(scope: &Scope, fact: FactId) -> Result<Option<Timestamp>> {
    const SQL: &str = "select erased_at from tombstone where user_id = $1 and fact_id = $2";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &fact.uuid()]).await?;
    one(&rows, |row| Columns::of(row, "tombstone").take())
}
