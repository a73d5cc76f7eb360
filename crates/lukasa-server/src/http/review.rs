//! Review: what waits for an answer of the user, with the requests that answer it.

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use lukasa_engine::review::{MentionedDomain, Review};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::learning::ContradictionView;
use crate::api::App;
use crate::api::auth::Reader;
use crate::api::error::Problem;
use crate::api::wire::MemoryView;
use crate::clock;

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
    /// In a contradiction: the answer that both are true.
    #[serde(skip_serializing_if = "Option::is_none")]
    both: Option<AnswerView>,
}

/// A question to the user whether to open a domain that was mentioned. Nothing of what was said is
/// stored with it.
#[derive(Debug, Serialize, ToSchema)]
pub struct DomainQuestionView {
    #[schema(example = "health")]
    domain: String,
    #[schema(example = "Health")]
    display_name: String,
    #[schema(example = "You mentioned health. Open it?")]
    question: String,
    asked_at: Timestamp,
    /// Opens the domain, and learns what was left out.
    yes: AnswerView,
    /// Keeps it closed. The domain is not asked about again.
    no: AnswerView,
}

impl From<&MentionedDomain> for DomainQuestionView {
    fn from(mentioned: &MentionedDomain) -> Self {
        let name = &mentioned.domain.name;
        let path = format!("/api/domains/{name}/opt-in");
        let answer = |method| AnswerView { method, path: path.clone(), body: json!({}) };
        Self {
            domain: name.clone(),
            display_name: mentioned.domain.display_name.clone(),
            question: format!("You mentioned {name}. Open it?"),
            asked_at: mentioned.asked_at,
            yes: answer("PUT"),
            no: answer("DELETE"),
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ReviewView {
    data: Vec<ReviewItem>,
    /// Domains that the user mentioned and has not opened. Each is asked about once.
    domains: Vec<DomainQuestionView>,
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
                no: post(path.clone(), json!({"true": "against", "sha256": pair.against.sha256})),
                both: Some(post(path, json!({"true": "both", "sha256": pair.against.sha256}))),
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
        Self { data, domains: review.domains.iter().map(DomainQuestionView::from).collect() }
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
    ReviewItem { kind, question, memory, against: None, yes, no, both: None }
}

/// List memories that the user should review.
///
/// Proposals, contradictions, memories that may no longer be true, guesses, and memories learned in
/// the last thirty days; and domains that the user mentioned and has not opened. Each item contains
/// the requests that answer it.
#[utoipa::path(get, path = "/api/review", tag = "proposals", responses(
    (status = 200, body = ReviewView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_review(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<ReviewView>, Problem> {
    Ok(Json(ReviewView::from(&app.engine().review.list(&caller, clock::now()).await?)))
}
