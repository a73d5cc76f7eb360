//! Review: what waits for an answer of the user, with the requests that answer it.

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use lukasa_engine::facts::{ProposalDecision, Target};
use lukasa_engine::review::{MentionedDomain, PeriodicReview, Review, ReviewCounts};
use lukasa_engine::{Engine, Error, IdempotencyKey, Moment, Outcome, Request};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use super::learning::ContradictionView;
use crate::api::App;
use crate::api::auth::{Reader, Writer};
use crate::api::code::ErrorCode;
use crate::api::error::{FieldError, Problem};
use crate::api::request::JsonRequest;
use crate::api::wire::{MemoryView, WriteResult};

/// Answers in one request.
const MAX_ANSWERS: usize = 200;

/// The request that answers an item of the review.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnswerView {
    #[schema(example = "POST")]
    pub(super) method: &'static str,
    #[schema(example = "/api/memory/mem_01hx3v9d0kf7rtm4q5wz8yb2ca/confirm")]
    pub(super) path: String,
    pub(super) body: serde_json::Value,
}

fn post(path: String, body: serde_json::Value) -> AnswerView {
    AnswerView { method: "POST", path, body }
}

/// A question to the user about a memory.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReviewItem {
    /// `proposal`, `contradiction`, `outdated`, `candidate` or `learned`.
    #[schema(example = "outdated")]
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

/// A question to the user whether to open a domain that was mentioned or that the preset in force is
/// about. Nothing of what was said is
/// stored with it.
#[derive(Debug, Serialize, ToSchema)]
pub struct DomainQuestionView {
    #[schema(example = "health")]
    domain: String,
    #[schema(example = "Health")]
    display_name: String,
    #[schema(example = "You mentioned health. Open it?")]
    question: String,
    /// When it was asked first; now, for a consent that nothing has been mentioned for.
    asked_at: Timestamp,
    /// Whether `yes` also lets what is inferred about the domain be used without asking for each
    /// memory, because the preset in force asks for it.
    consent: bool,
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
        let opened = match mentioned.consent {
            true => AnswerView { path: format!("/api/domains/{name}/consent"), ..answer("PUT") },
            false => answer("PUT"),
        };
        Self {
            domain: name.clone(),
            display_name: mentioned.domain.display_name.clone(),
            question: match mentioned.consent {
                true => consent_question(name),
                false => format!("You mentioned {name}. Open it?"),
            },
            asked_at: mentioned.asked_at,
            consent: mentioned.consent,
            yes: opened,
            no: answer("DELETE"),
        }
    }
}

/// How many questions of each kind there are.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReviewCountsView {
    #[schema(example = 3)]
    proposals: usize,
    #[schema(example = 1)]
    contradictions: usize,
    #[schema(example = 0)]
    outdated: usize,
    #[schema(example = 2)]
    candidates: usize,
    #[schema(example = 4)]
    learned: usize,
}

impl From<ReviewCounts> for ReviewCountsView {
    fn from(counts: ReviewCounts) -> Self {
        let ReviewCounts { proposals, contradictions, outdated, candidates, learned } = counts;
        Self { proposals, contradictions, outdated, candidates, learned }
    }
}

/// Whether it is time to go through what is remembered.
#[derive(Debug, Serialize, ToSchema)]
pub struct PeriodicReviewView {
    /// When the user last answered a question of the review, or forgot a memory.
    last: Option<Timestamp>,
    /// Whether that, or the creation of the user, is at least thirty days ago, and something was
    /// learned since. An application should then invite the user to review what is remembered.
    due: bool,
    /// How many active memories were learned since and are not confirmed.
    #[schema(example = 7)]
    learned_since: usize,
}

impl From<PeriodicReview> for PeriodicReviewView {
    fn from(PeriodicReview { last, due, learned_since }: PeriodicReview) -> Self {
        Self { last, due, learned_since }
    }
}

/// The text of the card by which the user consents to what is inferred about a domain.
pub(super) fn consent_question(domain: &str) -> String {
    format!(
        "This preset is about {domain}. Open {domain}, and use what is inferred about it without \
         asking for each memory? Permissions and instructions are still asked about."
    )
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ReviewView {
    /// The first questions: at most 200 contradictions, 50 proposals and candidates together, and 50 of
    /// each other kind.
    data: Vec<ReviewItem>,
    /// How many there are, with those that are not in `data`.
    counts: ReviewCountsView,
    /// Domains that the user mentioned and has not opened. Each is asked about once.
    domains: Vec<DomainQuestionView>,
    /// Whether the user should be invited to go through it.
    periodic: PeriodicReviewView,
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
        for outdated in &review.outdated {
            let question = match outdated.refuted {
                true => "Using this turned out wrong. Is it still true?",
                false => "You said this long ago. Is it still true?",
            };
            data.push(question_about("outdated", question, MemoryView::from(&outdated.memory)));
        }
        for memory in &review.candidates {
            data.push(question_about(
                "candidate",
                "I am only guessing. Is this true?",
                MemoryView::from(memory),
            ));
        }
        for memory in &review.learned {
            data.push(question_about(
                "learned",
                "I learned this recently. Is it right?",
                MemoryView::from(memory),
            ));
        }
        let counts = review.counts.into();
        Self {
            data,
            counts,
            domains: review.domains.iter().map(DomainQuestionView::from).collect(),
            periodic: review.periodic.into(),
        }
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
/// Proposals, contradictions, memories that may no longer be true, candidates, and memories learned in
/// the last thirty days; and domains that the user mentioned and has not opened. Each item contains
/// the requests that answer it. `periodic` says whether it is time to invite the user.
#[utoipa::path(get, path = "/api/review", tag = "proposals", responses(
    (status = 200, body = ReviewView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_review(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<ReviewView>, Problem> {
    Ok(Json(ReviewView::from(&app.engine().review.list(&caller, app.now()).await?)))
}

/// An answer to the question about a memory.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewAnswer {
    #[schema(example = "mem_01hx3v9d0kf7rtm4q5wz8yb2ca")]
    memory_id: String,
    /// Yes or no. No rejects a proposal, and forgets any other memory.
    confirm: bool,
    /// The `sha256` of the memory that was shown to the user; absent if it has none.
    sha256: Option<String>,
}

/// Answers to send together.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerReview {
    /// Between 1 and 200.
    answers: Vec<ReviewAnswer>,
}

/// The result of one answer: what it wrote, or why it was refused.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnswerResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<WriteResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Problem>,
}

/// The results, in the order of the answers.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnswerResults {
    data: Vec<AnswerResult>,
}

/// Answer many questions of the review.
///
/// Each answer is the same as the request of its item in `GET /api/review`: an operation of its own,
/// which is accepted or refused by itself. With an `Idempotency-Key` each is given once. `If-Match`
/// is refused: the `sha256` of an answer says which words were shown.
#[utoipa::path(post, path = "/api/review/answers", tag = "proposals", request_body = AnswerReview, responses(
    (status = 200, body = AnswerResults),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn answer_review(
    State(app): State<App>,
    Writer(caller): Writer,
    sent: JsonRequest<AnswerReview>,
) -> Result<Json<AnswerResults>, Problem> {
    let (engine, clock) = (app.engine().clone(), app.clock().clone());
    let request = sent.request(caller);
    if request.if_match.is_some() {
        let reason = "`If-Match` names the version of one memory; send the `sha256` of each answer";
        return Err(Problem::of(ErrorCode::MalformedHeader).because(reason));
    }
    let answers = sent.body.answers;
    if !(1..=MAX_ANSWERS).contains(&answers.len()) {
        let detail = format!("between 1 and {MAX_ANSWERS} answers");
        let field = FieldError { pointer: "/answers".into(), detail };
        return Err(Problem::of(ErrorCode::InvalidRequest).fields(vec![field]));
    }
    let work = async move {
        let mut data = Vec::with_capacity(answers.len());
        for (place, answer) in answers.into_iter().enumerate() {
            let request = numbered(&request, place, clock.moment());
            let result = match answer_one(&engine, &request, answer).await {
                Ok(outcome) => {
                    AnswerResult { written: Some(WriteResult::from(&outcome)), problem: None }
                }
                // It concerns the rest, too. After an outage, a repeated request continues here.
                Err(error @ (Error::Unavailable(_) | Error::UserGone)) => return Err(error),
                Err(error) => AnswerResult { written: None, problem: Some(error.into()) },
            };
            data.push(result);
        }
        Ok(AnswerResults { data })
    };
    Ok(Json(app.detached(work).await?))
}

async fn answer_one(
    engine: &Engine,
    request: &Request,
    answer: ReviewAnswer,
) -> lukasa_engine::Result<Outcome> {
    let ReviewAnswer { memory_id, confirm, sha256 } = answer;
    let target = Target::Id(memory_id.parse().map_err(|_| Error::MemoryNotFound)?);
    if !confirm && sha256.is_none() {
        return engine.removals.forget(request, &target).await;
    }
    let decision = match confirm {
        true => ProposalDecision::Yes { digest: sha256, edit: Box::default() },
        false => ProposalDecision::No,
    };
    engine.facts.confirm(request, &target, decision).await
}

/// The request of one of several answers, with ids and an idempotency key of its own.
fn numbered(request: &Request, place: usize, moment: Moment) -> Request {
    let key = |given: &IdempotencyKey| {
        let key = hex::encode(Sha256::digest(format!("{place} {}", given.key)));
        IdempotencyKey { key, request_hash: given.request_hash.clone() }
    };
    let idempotency = request.idempotency.as_ref().map(key);
    Request { idempotency, ..Request::new(request.caller.clone(), moment) }
}
