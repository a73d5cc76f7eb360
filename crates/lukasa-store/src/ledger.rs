//! Ledger of chat model calls: every call with its cost, and each tenant's tokens per day.

use jiff::civil::Date;
use lukasa_core::model::CallPurpose;
use lukasa_core::{CallId, Timestamp};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;

use crate::error::Result;
use crate::row::{Columns, all, one};
use crate::scope::{Directory, Param, Scope};

/// One call of a chat model, successful or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCall {
    pub id: CallId,
    pub at: Timestamp,
    pub purpose: CallPurpose,
    pub model: String,
    pub outcome: String,
    pub input_tokens: i32,
    pub output_tokens: i32,
    /// Millionths of the currency the prices are in.
    pub cost_micros: i64,
    pub took_ms: i32,
}

fn call(row: &Row) -> Result<ModelCall> {
    let mut c = Columns::of(row, "model_call");
    Ok(ModelCall {
        id: CallId::from_uuid(c.take()?),
        at: c.take()?,
        purpose: c.word(CallPurpose::parse)?,
        model: c.take()?,
        outcome: c.take()?,
        input_tokens: c.take()?,
        output_tokens: c.take()?,
        cost_micros: c.take()?,
        took_ms: c.take()?,
    })
}

/// Records a call, unless its user was erased while the model was running.
pub async fn insert_call(scope: &Scope, call: &ModelCall) -> Result<()> {
    const SQL: &str = "insert into model_call (user_id, tenant_id, call_id, at, purpose, model, \
                       outcome, input_tokens, output_tokens, cost_micros, took_ms) \
                       select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 \
                       where not exists (select 1 from users \
                                          where user_id = $1 and deleted_at is not null)";
    let purpose = call.purpose.as_str();
    let params: [Param<'_>; 11] = [
        &scope.user().uuid(),
        &scope.tenant().uuid(),
        &call.id.uuid(),
        &call.at,
        &purpose,
        &call.model,
        &call.outcome,
        &call.input_tokens,
        &call.output_tokens,
        &call.cost_micros,
        &call.took_ms,
    ];
    scope.query(SQL, &params).await?;
    Ok(())
}

/// The latest calls made for the user.
pub async fn calls(scope: &Scope, limit: i64) -> Result<Vec<ModelCall>> {
    const SQL: &str = "select call_id, at, purpose, model, outcome, input_tokens, output_tokens, \
                       cost_micros, took_ms from model_call where user_id = $1 \
                       order by at desc, call_id desc limit $2";
    all(&scope.query(SQL, &[&scope.user().uuid(), &limit]).await?, call)
}

/// Totals for one purpose and model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSum {
    pub purpose: CallPurpose,
    pub model: String,
    pub calls: i64,
    pub failed: i64,
    pub input_tokens: i64,
    pub output_tokens: i64,
    pub cost_micros: i64,
}

/// Totals for the user since a time, by purpose and model.
pub async fn sums(scope: &Scope, since: Timestamp) -> Result<Vec<ModelSum>> {
    const SQL: &str = "select purpose, model, count(*), count(*) filter (where outcome <> \
                       'answered'), sum(input_tokens)::bigint, sum(output_tokens)::bigint, \
                       sum(cost_micros)::bigint from model_call where user_id = $1 and at >= $2 \
                       group by purpose, model order by purpose, model";
    all(&scope.query(SQL, &[&scope.user().uuid(), &since]).await?, |row| {
        let mut c = Columns::of(row, "model_call");
        Ok(ModelSum {
            purpose: c.word(CallPurpose::parse)?,
            model: c.take()?,
            calls: c.take()?,
            failed: c.take()?,
            input_tokens: c.take()?,
            output_tokens: c.take()?,
            cost_micros: c.take()?,
        })
    })
}

/// Removes calls from before `before`.
pub async fn forget_before(scope: &Scope, before: Timestamp) -> Result<()> {
    const CALLS: &str = "delete from model_call where user_id = $1 and at < $2";
    scope.query(CALLS, &[&scope.user().uuid(), &before]).await?;
    Ok(())
}

/// Reserves tokens of a day before they are used, if the day's limit allows. Tokens that are
/// reserved but not used are returned by [`settle`]; after a crash they stay reserved, which errs
/// on the safe side.
pub async fn reserve(
    directory: &Directory,
    day: Date,
    tokens: i64,
    limit: Option<i64>,
) -> Result<bool> {
    const SQL: &str = "insert into model_spend (tenant_id, day, tokens) values ($1, $2, $3) \
                       on conflict (tenant_id, day) do update \
                       set tokens = model_spend.tokens + excluded.tokens \
                       where model_spend.tokens + excluded.tokens <= $4 returning tokens";
    let limit = limit.unwrap_or(i64::MAX);
    if tokens > limit {
        return Ok(false);
    }
    let params: [Param<'_>; 4] = [&directory.tenant().uuid(), &day, &tokens, &limit];
    Ok(!directory.query(SQL, &params).await?.is_empty())
}

/// Corrects a reservation after the call.
pub async fn settle(directory: &Directory, day: Date, difference: i64) -> Result<()> {
    const SQL: &str = "update model_spend set tokens = greatest(tokens + $3, 0) \
                        where tenant_id = $1 and day = $2";
    let params: [Param<'_>; 3] = [&directory.tenant().uuid(), &day, &difference];
    directory.query(SQL, &params).await?;
    Ok(())
}

/// The tokens the tenant has used on a day.
pub async fn spent(directory: &Directory, day: Date) -> Result<i64> {
    const SQL: &str = "select tokens from model_spend where tenant_id = $1 and day = $2";
    let rows = directory.query(SQL, &[&directory.tenant().uuid(), &day]).await?;
    Ok(one(&rows, |row| Columns::of(row, "model_spend").take())?.unwrap_or(0))
}
