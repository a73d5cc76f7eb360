//! What time makes of what is remembered: consolidation, on demand and dry, and the review in which
//! its person is asked.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use lukasa_core::FactId;
use lukasa_core::cluster::Cluster;
use lukasa_engine::consolidate::{Night, Restood, Stands};
use lukasa_engine::facts::Review;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::App;
use super::auth::{Reader, Writer};
use super::error::Problem;
use super::learning::ContradictionView;
use super::request::Sent;
use super::wire::MemoryView;
use crate::clock;

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
    #[serde(rename = "type")]
    #[schema(example = "procedural")]
    memory_type: &'static str,
    importance: f32,
    confidence: f32,
}

impl From<&Stands> for StandsView {
    fn from(stands: &Stands) -> Self {
        Self {
            state: stands.state.as_str(),
            tier: stands.tier.as_str(),
            memory_type: stands.memory_type.as_str(),
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
    /// `promote`, `weigh`, `let_go`, `practice`, `clear` or `note`.
    #[schema(example = "promote")]
    what: &'static str,
    #[schema(example = "said in 5 turns of 2 chats")]
    reason: String,
    /// Null for a note, which was not there before.
    before: Option<StandsView>,
    after: StandsView,
}

impl From<&Restood> for StepView {
    fn from(step: &Restood) -> Self {
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
/// to be wrong sinks, guesses that nothing supports go, what ended long ago is put into the trash, and
/// what the person talks about lately is noted for a month. No words change, and undo takes all of it
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

/// A memory of a cluster.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClusterMember {
    memory_id: String,
    content: String,
}

/// Memories that belong together.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClusterView {
    /// Its commonest words.
    #[schema(example = "tomatoes, balcony")]
    name: String,
    memories: Vec<ClusterMember>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ClustersView {
    data: Vec<ClusterView>,
}

/// Which memories belong together? They are grouped by their links and by the rare words they share,
/// the largest group first; a memory that stands alone is in none. Worked out each time it is asked.
#[utoipa::path(get, path = "/api/clusters", tag = "portraits", responses(
    (status = 200, body = ClustersView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_clusters(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<ClustersView>, Problem> {
    let (clusters, versions) = app.engine().clusters(&caller, clock::now()).await?;
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

/// How an item of the review is answered.
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

/// Something its person may be asked about.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReviewItem {
    /// `proposal`, `contradiction`, `doubt`, `guess` or `learned`.
    #[schema(example = "doubt")]
    kind: &'static str,
    #[schema(example = "Is this still true?")]
    question: &'static str,
    memory: MemoryView,
    /// In a contradiction: what speaks against `memory`.
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
            data.push(asked("proposal", "May I remember this?", MemoryView::from(memory)));
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
            data.push(asked("doubt", question, MemoryView::from(&doubt.memory)));
        }
        for memory in &review.guesses {
            data.push(asked(
                "guess",
                "I am only guessing. Is this true?",
                MemoryView::from(memory),
            ));
        }
        for memory in &review.learned {
            data.push(asked(
                "learned",
                "I learned this lately. Is it right?",
                MemoryView::from(memory),
            ));
        }
        Self { data }
    }
}

/// A question that is answered by confirming a memory, or by turning it down or forgetting it.
fn asked(kind: &'static str, question: &'static str, memory: MemoryView) -> ReviewItem {
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

/// What should I look at? What waits for a yes, what contradicts what, what may not be true any more,
/// what is only a guess, and what was learned in the last thirty days. Each item says how to answer it
/// in one call.
#[utoipa::path(get, path = "/api/review", tag = "proposals", responses(
    (status = 200, body = ReviewView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_review(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<ReviewView>, Problem> {
    Ok(Json(ReviewView::from(&app.engine().review(&caller, clock::now()).await?)))
}
