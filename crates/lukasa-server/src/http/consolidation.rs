//! Consolidation on demand, with a dry run.

use axum::Json;
use axum::extract::State;
use lukasa_engine::consolidation::{ConsolidationReport, Rating, RatingChange};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::App;
use crate::api::auth::Writer;
use crate::api::error::Problem;
use crate::api::request::JsonRequest;

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Consolidation {
    /// Only report the changes, without making them.
    #[schema(default = false)]
    dry_run: bool,
}

/// State and ratings of a memory.
#[derive(Debug, Serialize, ToSchema)]
pub struct RatingStateView {
    #[schema(example = "active")]
    state: &'static str,
    #[schema(example = "strong")]
    tier: &'static str,
    #[serde(rename = "type")]
    #[schema(example = "procedural")]
    memory_type: &'static str,
    importance: f32,
    confidence: f32,
}

impl From<&Rating> for RatingStateView {
    fn from(rating: &Rating) -> Self {
        Self {
            state: rating.state.as_str(),
            tier: rating.tier.as_str(),
            memory_type: rating.memory_type.as_str(),
            importance: rating.importance,
            confidence: rating.confidence,
        }
    }
}

/// A change of one memory by consolidation, and the reason.
#[derive(Debug, Serialize, ToSchema)]
pub struct StepView {
    memory_id: String,
    content: String,
    /// `promote`, `weigh`, `let_go`, `practice`, `clear`, `topic`, `merge` or `contradict`.
    #[schema(example = "promote")]
    what: &'static str,
    #[schema(example = "said in 5 turns of 2 chats")]
    reason: String,
    /// Null for `topic`: the memory is new.
    before: Option<RatingStateView>,
    after: RatingStateView,
    /// The memory that `merge` has merged it into, or that it contradicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_id: Option<String>,
}

impl From<&RatingChange> for StepView {
    fn from(step: &RatingChange) -> Self {
        Self {
            memory_id: step.fact.to_string(),
            content: step.content.clone(),
            what: step.what.as_str(),
            reason: step.reason.clone(),
            before: step.before.as_ref().map(RatingStateView::from),
            after: RatingStateView::from(&step.after),
            other_id: step.other.map(|fact| fact.to_string()),
        }
    }
}

/// Result of a consolidation run or dry run.
#[derive(Debug, Serialize, ToSchema)]
pub struct ConsolidationReportView {
    /// The operation that undo reverses as a whole; null if nothing was done.
    operation_id: Option<String>,
    /// How many memories were examined.
    looked_at: usize,
    steps: Vec<StepView>,
    /// How many memories were made of observations that repeat, or promoted because they do.
    observed: usize,
    /// The operation that made them, which undo reverses separately; null if there is none.
    observed_operation_id: Option<String>,
}

impl From<&ConsolidationReport> for ConsolidationReportView {
    fn from(report: &ConsolidationReport) -> Self {
        Self {
            operation_id: report.operation.map(|id| id.to_string()),
            looked_at: report.looked_at,
            steps: report.steps.iter().map(StepView::from).collect(),
            observed: report.observed,
            observed_operation_id: report.observed_operation.map(|id| id.to_string()),
        }
    }
}

/// Consolidate memories now, as the daily job does.
///
/// Memories that were repeated often are rated higher, those that use has shown to be wrong are
/// rated lower, candidates without support are removed, memories that ended long ago are moved into
/// the trash, and recent topics of the user are saved for a month. Inferred memories that say the
/// same are merged, and memories that contradict each other are listed for review. No content
/// changes. Undo reverses all of it. Before that, observations that repeat are counted, and become
/// memories as the policy says: an operation of their own.
#[utoipa::path(post, path = "/api/consolidate", tag = "learning",
    request_body = Consolidation, responses(
    (status = 200, body = ConsolidationReportView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn consolidate(
    State(app): State<App>,
    Writer(caller): Writer,
    sent: JsonRequest<Consolidation>,
) -> Result<Json<ConsolidationReportView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let dry = sent.body.dry_run;
    let work = async move { engine.consolidation.run_now(&request, dry).await };
    Ok(Json(ConsolidationReportView::from(&app.detached(work).await?)))
}
