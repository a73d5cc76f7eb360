//! The usage log: which memories were put into prompts and how they were used; and statistics.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use lukasa_core::FactId;
use lukasa_engine::context::{NewUsage, UsageRecord, UsageStats};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::App;
use crate::api::auth::{Reader, Writer};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::request::{JsonRequest, QueryParams, page_size, parse_cursor, print_cursor};

/// One recorded use of a memory.
#[derive(Debug, Serialize, ToSchema)]
pub struct UsageView {
    /// The id of a reported use; null for one that was recorded automatically.
    #[schema(example = "use_01hx3v9d0kf7rtm4q5wz8yb2ca")]
    id: Option<String>,
    memory_id: String,
    session_id: Option<String>,
    retrieval_id: Option<String>,
    turn_id: Option<String>,
    /// `retrieved`, `applied`, `cited`, `conflicted`, `overridden`, `confirmed`, `contradicted`,
    /// `predicted`, `rated_up` or `rated_down`.
    #[serde(rename = "type")]
    #[schema(example = "cited")]
    kind: String,
    influence: Option<String>,
    at: Timestamp,
    /// The prediction that it is the outcome of.
    prediction_id: Option<String>,
}

impl From<&UsageRecord> for UsageView {
    fn from(usage: &UsageRecord) -> Self {
        let is_reported = usage.retrieval.is_none_or(|id| id.uuid() != usage.id.uuid());
        Self {
            id: is_reported.then(|| usage.id.to_string()),
            prediction_id: usage.prediction.map(|id| id.to_string()),
            memory_id: usage.fact.to_string(),
            session_id: usage.session.clone(),
            retrieval_id: usage.retrieval.map(|id| id.to_string()),
            turn_id: usage.turn.map(|id| id.to_string()),
            kind: usage.kind.clone(),
            influence: usage.influence.clone(),
            at: usage.at,
        }
    }
}

/// A use to report.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportUsage {
    memory_id: String,
    /// `applied`, `cited`, `conflicted`, `overridden`, `confirmed`, `contradicted`, or `retrieved`.
    #[serde(rename = "type")]
    #[schema(example = "cited")]
    kind: String,
    session_id: Option<String>,
    retrieval_id: Option<String>,
    /// The turn that used it.
    turn_id: Option<String>,
    /// What the memory changed, in a few words.
    influence: Option<String>,
}

/// Report how a memory was used.
///
/// That a memory was put into a prompt is recorded automatically.
#[utoipa::path(post, path = "/api/memory/usage", tag = "recall", request_body = ReportUsage, responses(
    (status = 201, body = UsageView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn report_usage(
    State(app): State<App>,
    Writer(caller): Writer,
    sent: JsonRequest<ReportUsage>,
) -> Result<Response, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let ReportUsage { memory_id, kind, session_id, retrieval_id, turn_id, influence } = sent.body;
    let retrieval = retrieval_id.map(|id| id.parse()).transpose();
    let new = NewUsage {
        fact: memory_id.parse().map_err(|_| Problem::of(ErrorCode::MemoryNotFound))?,
        session: session_id,
        retrieval: retrieval.map_err(|_| Problem::of(ErrorCode::RetrievalNotFound))?,
        turn: turn_id
            .map(|id| id.parse())
            .transpose()
            .map_err(|_| Problem::of(ErrorCode::TurnNotFound))?,
        kind: kind.to_lowercase(),
        influence,
    };
    let usage =
        app.detached(async move { engine.context.report_usage(&request, new).await }).await?;
    Ok((StatusCode::CREATED, Json(UsageView::from(&usage))).into_response())
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct UsageQuery {
    /// Only uses of this memory.
    memory_id: Option<String>,
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// Uses, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct UsagePage {
    data: Vec<UsageView>,
    next_cursor: Option<String>,
}

/// List uses of memories, newest first.
///
/// They are kept for 90 days.
#[utoipa::path(get, path = "/api/memory/usage", tag = "recall", params(UsageQuery), responses(
    (status = 200, body = UsagePage),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_usage(
    State(app): State<App>,
    Reader(caller): Reader,
    QueryParams(query): QueryParams<UsageQuery>,
) -> Result<Json<UsagePage>, Problem> {
    let fact: Option<FactId> = query
        .memory_id
        .map(|id| id.parse())
        .transpose()
        .map_err(|_| Problem::of(ErrorCode::MemoryNotFound))?;
    let after = query.cursor.as_deref().map(parse_cursor).transpose()?;
    let limit = page_size(query.limit)?;
    let (used, next) = app.engine().context.usage(&caller, fact, after, limit, app.now()).await?;
    let data = used.iter().map(UsageView::from).collect();
    Ok(Json(UsagePage { data, next_cursor: next.as_ref().map(print_cursor) }))
}

/// Counts of memories and of their use.
#[derive(Debug, Serialize, ToSchema)]
pub struct StatsView {
    /// Active memories by category.
    by_category: serde_json::Value,
    /// Active memories by domain; those without a domain under the empty string.
    by_domain: serde_json::Value,
    sessions: i64,
    turns: i64,
    /// Retrievals in the last 90 days.
    retrievals: i64,
    /// Uses that applications reported in the last 90 days, by type.
    usage: serde_json::Value,
}

impl From<&UsageStats> for StatsView {
    fn from(stats: &UsageStats) -> Self {
        let map = |counts: &[(String, i64)]| {
            counts.iter().map(|(name, count)| (name.clone(), (*count).into())).collect()
        };
        Self {
            by_category: serde_json::Value::Object(map(&stats.by_category)),
            by_domain: serde_json::Value::Object(map(&stats.by_domain)),
            sessions: stats.sessions,
            turns: stats.turns,
            retrievals: stats.retrievals,
            usage: serde_json::Value::Object(map(&stats.by_type)),
        }
    }
}

/// Get counts of memories and of their use.
#[utoipa::path(get, path = "/api/memory/stats", tag = "recall", responses(
    (status = 200, body = StatsView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_stats(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<StatsView>, Problem> {
    let stats = app.engine().context.stats(&caller, app.now()).await?;
    Ok(Json(StatsView::from(&stats)))
}
