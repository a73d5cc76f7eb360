//! Consolidation on demand or as a dry run, clusters of memories, and the review of memories by the
//! user.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use lukasa_core::FactId;
use lukasa_core::cluster::Cluster;
use lukasa_engine::consolidation::{ConsolidationReport, Rating, RatingChange};
use lukasa_engine::review::Review;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::learning::ContradictionView;
use crate::api::App;
use crate::api::auth::{Reader, Writer};
use crate::api::error::Problem;
use crate::api::request::JsonRequest;
use crate::api::wire::MemoryView;
use crate::clock;

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Consolidation {
    /// Only report the changes, without making them.
    #[schema(default = false)]
    dry_run: bool,
}

/// State and ratings of a memory.
#[derive(Debug, Serialize, ToSchema)]
pub struct StandsView {
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

impl From<&Rating> for StandsView {
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
    /// `promote`, `weigh`, `let_go`, `practice`, `clear` or `note`.
    #[schema(example = "promote")]
    what: &'static str,
    #[schema(example = "said in 5 turns of 2 chats")]
    reason: String,
    /// Null for `note`: the memory is new.
    before: Option<StandsView>,
    after: StandsView,
}

impl From<&RatingChange> for StepView {
    fn from(step: &RatingChange) -> Self {
        Self {
            memory_id: step.fact.to_string(),
            content: step.content.clone(),
            what: step.what.as_str(),
            reason: step.reason.clone(),
            before: step.before.as_ref().map(StandsView::from),
            after: StandsView::from(&step.after),
        }
    }
}

/// Result of a consolidation run or dry run.
#[derive(Debug, Serialize, ToSchema)]
pub struct NightView {
    /// The operation that undo reverses as a whole; null if nothing was done.
    operation_id: Option<String>,
    /// How many memories were examined.
    looked_at: usize,
    steps: Vec<StepView>,
}

impl From<&ConsolidationReport> for NightView {
    fn from(report: &ConsolidationReport) -> Self {
        Self {
            operation_id: report.operation.map(|id| id.to_string()),
            looked_at: report.looked_at,
            steps: report.steps.iter().map(StepView::from).collect(),
        }
    }
}

/// Consolidate memories now, as the daily job does.
///
/// Memories that were repeated often are rated higher, those that use has shown to be wrong are
/// rated lower, guesses without support are removed, memories that ended long ago are moved into
/// the trash, and recent topics of the user are saved for a month. No content changes. Undo
/// reverses all of it.
#[utoipa::path(post, path = "/api/consolidate", tag = "learning",
    request_body = Consolidation, responses(
    (status = 200, body = NightView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn consolidate(
    State(app): State<App>,
    Writer(caller): Writer,
    sent: JsonRequest<Consolidation>,
) -> Result<Json<NightView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let dry = sent.body.dry_run;
    let work = async move { engine.consolidation.consolidate(&request, dry).await };
    Ok(Json(NightView::from(&app.detached(work).await?)))
}

/// A memory in a cluster.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClusterMember {
    memory_id: String,
    content: String,
}

/// Related memories.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClusterView {
    /// Its most frequent words.
    #[schema(example = "tomatoes, balcony")]
    name: String,
    memories: Vec<ClusterMember>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ClustersView {
    data: Vec<ClusterView>,
}

/// List clusters of related memories.
///
/// Memories are grouped by their links and by the rare words they share, the largest group first.
/// An unrelated memory is in no group. Computed on each request.
#[utoipa::path(get, path = "/api/clusters", tag = "portraits", responses(
    (status = 200, body = ClustersView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_clusters(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<ClustersView>, Problem> {
    let (clusters, versions) = app.engine().insights.clusters(&caller, clock::now()).await?;
    let words: HashMap<FactId, &str> =
        versions.iter().map(|v| (v.fact, v.claim.content.as_str())).collect();
    let member = |fact: &FactId| ClusterMember {
        memory_id: fact.to_string(),
        content: words.get(fact).copied().unwrap_or_default().to_owned(),
    };
    let view = |cluster: Cluster| ClusterView {
        memories: cluster.facts.iter().map(member).collect(),
        name: cluster.name,
    };
    Ok(Json(ClustersView { data: clusters.into_iter().map(view).collect() }))
}

/// The request that answers an item of the review.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnswerView {
    #[schema(example = "POST")]
    method: &'static str,
    #[schema(example = "/api/memory/mem_01hx3v9d0kf7rtm4q5wz8yb2ca/confirm")]
    path: String,
    body: serde_json::Value,
}

fn post(path: String, body: serde_json::Value) -> AnswerView {
    AnswerView { method: "POST", path, body }
}

/// A question to the user about a memory.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReviewItem {
    /// `proposal`, `contradiction`, `doubt`, `guess` or `learned`.
    #[schema(example = "doubt")]
    kind: &'static str,
    #[schema(example = "Is this still true?")]
    question: &'static str,
    memory: MemoryView,
    /// In a contradiction: the memory that contradicts `memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<MemoryView>,
    yes: AnswerView,
    no: AnswerView,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ReviewView {
    data: Vec<ReviewItem>,
}

impl From<&Review> for ReviewView {
    fn from(review: &Review) -> Self {
        let mut data = Vec::new();
        for memory in &review.proposals {
            data.push(question_about("proposal", "May I remember this?", MemoryView::from(memory)));
        }
        for pair in &review.contradictions {
            let pair = ContradictionView::from(pair);
            let path = format!("/api/memory/{}/resolve", pair.against.id);
            data.push(ReviewItem {
                kind: "contradiction",
                question: "Is the first still true, rather than the second?",
                yes: post(path.clone(), json!({"true": "standing"})),
                no: post(path, json!({"true": "against", "sha256": pair.against.sha256})),
                memory: pair.standing,
                against: Some(pair.against),
            });
        }
        for doubt in &review.doubts {
            let question = match doubt.refuted {
                true => "Using this turned out wrong. Is it still true?",
                false => "You said this long ago. Is it still true?",
            };
            data.push(question_about("doubt", question, MemoryView::from(&doubt.memory)));
        }
        for memory in &review.guesses {
            data.push(question_about(
                "guess",
                "I am only guessing. Is this true?",
                MemoryView::from(memory),
            ));
        }
        for memory in &review.learned {
            data.push(question_about(
                "learned",
                "I learned this lately. Is it right?",
                MemoryView::from(memory),
            ));
        }
        Self { data }
    }
}

/// A question that is answered by confirming the memory, or by rejecting or forgetting it.
fn question_about(kind: &'static str, question: &'static str, memory: MemoryView) -> ReviewItem {
    let at = |verb: &str| format!("/api/memory/{}/{verb}", memory.id);
    let yes = match &memory.sha256 {
        Some(sha256) => post(at("confirm"), json!({"sha256": sha256})),
        None => post(at("confirm"), json!({})),
    };
    let no = match &memory.sha256 {
        Some(_) => post(at("confirm"), json!({"confirm": false})),
        None => post(at("forget"), json!({})),
    };
    ReviewItem { kind, question, memory, against: None, yes, no }
}

/// List memories that the user should review.
///
/// Proposals, contradictions, memories that may no longer be true, guesses, and memories learned in
/// the last thirty days. Each item contains the requests that answer it.
#[utoipa::path(get, path = "/api/review", tag = "proposals", responses(
    (status = 200, body = ReviewView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_review(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<ReviewView>, Problem> {
    Ok(Json(ReviewView::from(&app.engine().review.list(&caller, clock::now()).await?)))
}
