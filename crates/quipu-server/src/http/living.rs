//! What time makes of what is remembered: consolidation, on demand and dry.

use axum::Json;
use axum::extract::State;
use quipu_engine::consolidate::{Night, Restood, Stands};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::App;
use super::auth::Writer;
use super::error::Problem;
use super::request::Sent;

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Consolidation {
    /// Only say what would become of what was learned.
    #[schema(default = false)]
    dry_run: bool,
}

/// How a memory stands.
#[derive(Debug, Serialize, ToSchema)]
pub struct StandsView {
    #[schema(example = "active")]
    state: &'static str,
    #[schema(example = "strong")]
    tier: &'static str,
    importance: f32,
    confidence: f32,
}

impl From<&Stands> for StandsView {
    fn from(stands: &Stands) -> Self {
        Self {
            state: stands.state.as_str(),
            tier: stands.tier.as_str(),
            importance: stands.importance,
            confidence: stands.confidence,
        }
    }
}

/// What became of one memory, and why.
#[derive(Debug, Serialize, ToSchema)]
pub struct StepView {
    memory_id: String,
    content: String,
    /// `promote`, `weigh` or `let_go`.
    #[schema(example = "promote")]
    what: &'static str,
    #[schema(example = "said in 5 turns of 2 chats")]
    reason: String,
    before: StandsView,
    after: StandsView,
}

impl From<&Restood> for StepView {
    fn from(step: &Restood) -> Self {
        Self {
            memory_id: step.fact.to_string(),
            content: step.content.clone(),
            what: step.what.as_str(),
            reason: step.reason.clone(),
            before: StandsView::from(&step.before),
            after: StandsView::from(&step.after),
        }
    }
}

/// What consolidation did, or would do.
#[derive(Debug, Serialize, ToSchema)]
pub struct NightView {
    /// The operation that undo reverses as a whole; null if nothing was done.
    operation_id: Option<String>,
    /// How many memories were looked at.
    looked_at: usize,
    steps: Vec<StepView>,
}

impl From<&Night> for NightView {
    fn from(night: &Night) -> Self {
        Self {
            operation_id: night.operation.map(|id| id.to_string()),
            looked_at: night.looked_at,
            steps: night.steps.iter().map(StepView::from).collect(),
        }
    }
}

/// Weigh again what was learned, as every night does: what was said often rises, what use has shown
/// to be wrong sinks, and guesses that nothing supports go. No words change, and undo takes all of it
/// back.
#[utoipa::path(post, path = "/api/consolidate", tag = "learning",
    request_body = Consolidation, responses(
    (status = 200, body = NightView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn consolidate(
    State(app): State<App>,
    Writer(caller): Writer,
    sent: Sent<Consolidation>,
) -> Result<Json<NightView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let dry = sent.body.dry_run;
    let work = async move { engine.consolidate(&request, dry).await };
    Ok(Json(NightView::from(&app.detached(work).await?)))
}
