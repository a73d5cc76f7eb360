//! Stored responses, so that a retried write happens once. The row is written in the write's own
//! transaction, so the response exists exactly when the effect does.

use lukasa_core::{FactId, Timestamp};
use uuid::Uuid;

use crate::error::Result;
use crate::row::{Columns, one};
use crate::scope::{Batch, Param, Scope};

/// The stored response of an earlier request with the same key.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredResponse {
    pub request_hash: Vec<u8>,
    /// The response, unless something it quotes has been erased.
    pub outcome: Option<serde_json::Value>,
}

pub async fn find(scope: &Scope, key: &str) -> Result<Option<StoredResponse>> {
    const SQL: &str =
        "select request_hash, outcome from idempotency where user_id = $1 and key = $2";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &key]).await?;
    one(&rows, |row| {
        let mut c = Columns::of(row, "idempotency");
        Ok(StoredResponse { request_hash: c.take()?, outcome: c.take()? })
    })
}

pub fn keep(
    batch: &mut Batch,
    scope: &Scope,
    key: &str,
    request_hash: &[u8],
    outcome: serde_json::Value,
    facts: &[FactId],
    at: Timestamp,
) {
    const SQL: &str = "insert into idempotency (user_id, tenant_id, key, request_hash, outcome, \
                       facts, created_at) values ($1, $2, $3, $4, $5, $6, $7)";
    let facts: Vec<Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(key.to_owned()),
            Box::new(request_hash.to_vec()),
            Box::new(outcome),
            Box::new(facts),
            Box::new(at),
        ],
    );
}

/// Records that a key is used, without a response; false if it was used before.
pub async fn claim(scope: &Scope, key: &str, at: Timestamp) -> Result<bool> {
    const SQL: &str = "insert into idempotency (user_id, tenant_id, key, request_hash, facts, \
                       created_at) values ($1, $2, $3, '', '{}', $4) \
                       on conflict (user_id, key) do nothing returning 1";
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &scope.tenant().uuid(), &key, &at];
    Ok(!scope.query(SQL, &params).await?.is_empty())
}

/// Ends the use of a key that was only claimed.
pub async fn release(scope: &Scope, key: &str) -> Result<()> {
    const SQL: &str =
        "delete from idempotency where user_id = $1 and key = $2 and request_hash = ''";
    scope.query(SQL, &[&scope.user().uuid(), &key]).await?;
    Ok(())
}

/// Removes the responses older than `before`.
pub async fn forget_before(scope: &Scope, before: Timestamp) -> Result<()> {
    const SQL: &str = "delete from idempotency where user_id = $1 and created_at < $2";
    scope.query(SQL, &[&scope.user().uuid(), &before]).await?;
    Ok(())
}
