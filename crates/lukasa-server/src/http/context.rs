//! Context: what to put into the prompt for a message, what a session was given, and which domains a
//! message is about.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::ETAG;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use lukasa_core::context::Budget;
use lukasa_core::context::block::{Item, LeftOut, Source};
use lukasa_core::detect::Detected;
use lukasa_engine::context::{Ask, BaselineRecord, Context, Part, RetrievalRecord};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::App;
use super::auth::Reader;
use super::error::Problem;
use super::request::{Named, Sent};
use super::search::{TimeView, TookView, point, zone};
use super::wire::When;
use crate::clock;

/// What a context is asked for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetrieveRequest {
    /// The person's message.
    #[schema(example = "Book me a flight to Porto for Friday")]
    #[serde(default)]
    query: String,
    /// The domains it is about; told from the message if absent.
    domains: Option<Vec<String>>,
    /// The session it is part of. Its baseline is rendered once and stays the same, byte for byte.
    session_id: Option<String>,
    /// False for a baseline that follows every change.
    freeze: Option<bool>,
    /// `compact` (1,500 tokens, the default), `standard` (4,000), `deep` (16,000), or a number.
    #[schema(inline)]
    budget: Option<BudgetWish>,
    /// The model's context window in tokens: memory takes at most 15 % of it.
    window: Option<usize>,
    /// How many memories besides the baseline; told from the message if absent.
    limit: Option<usize>,
    /// How many turns of earlier sessions; told from the message if absent.
    turns: Option<usize>,
    min_confidence: Option<f32>,
    /// Only memories that the message names, besides the baseline.
    precise: Option<bool>,
    /// What held at this instant; now if absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    as_of: Option<When>,
    /// What Lukasa knew at this instant; now if absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    known_at: Option<When>,
    /// The zone in which the person says "yesterday"; UTC if absent.
    #[schema(example = "Europe/Lisbon")]
    timezone: Option<String>,
    /// How long it may take, in milliseconds; 2,000 if absent. What was confirmed by then is the answer.
    deadline_ms: Option<u64>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
enum BudgetWish {
    Tokens(usize),
    Name(String),
}

impl RetrieveRequest {
    fn ask(self) -> Result<Ask, Problem> {
        let refuse = |what: &str| Problem::of("malformed_body").because(what);
        let tokens = match self.budget {
            None => Budget::COMPACT,
            Some(BudgetWish::Tokens(tokens)) if tokens <= 100_000 => tokens,
            Some(BudgetWish::Name(name)) => match name.as_str() {
                "compact" => Budget::COMPACT,
                "standard" => Budget::STANDARD,
                "deep" => Budget::DEEP,
                _ => return Err(refuse("`budget` is compact, standard, deep or a number")),
            },
            Some(_) => return Err(refuse("`budget` is at most 100000")),
        };
        if self.limit.unwrap_or(0) > 200 || self.turns.unwrap_or(0) > 200 {
            return Err(refuse("`limit` and `turns` are at most 200"));
        }
        if self.query.chars().count() > super::search::QUERY_CHARS {
            return Err(refuse("`query` has at most 20000 characters"));
        }
        let mut ask = Ask::about(&self.query);
        ask.domains = self.domains;
        ask.session = self.session_id;
        ask.freeze = self.freeze.unwrap_or(true);
        (ask.tokens, ask.window) = (tokens, self.window);
        (ask.memories, ask.turns) = (self.limit, self.turns);
        ask.filter.min_confidence = self.min_confidence;
        ask.precise = self.precise.unwrap_or(false);
        ask.point = point(self.as_of, self.known_at);
        ask.zone = zone(self.timezone.as_deref())?;
        if let Some(deadline) = self.deadline_ms {
            ask.within = Duration::from_millis(deadline.clamp(1, 60_000));
        }
        Ok(ask)
    }
}

/// What to put into the prompt, and why.
#[derive(Debug, Serialize, ToSchema)]
pub struct ContextView {
    #[schema(example = "ret_01hx3v9d0kf7rtm4q5wz8yb2ca")]
    retrieval_id: String,
    /// Both parts, ready to paste: the baseline first.
    context: String,
    /// The same for the whole session: put it where the provider's prefix cache keeps it.
    baseline: PartView,
    /// For this message only: put it after everything that is cached.
    dynamic: PartView,
    /// Whether the baseline is the session's own from before.
    frozen: bool,
    /// The rules among it all, which must be respected.
    hard: Vec<CitationView>,
    /// The rest, for judgment.
    soft: Vec<CitationView>,
    domains: Vec<DomainDetected>,
    budget: BudgetView,
    /// The times the message speaks of.
    times: Vec<TimeView>,
    /// How many memories and turns were looked at.
    considered: usize,
    /// `hit` if the same message was answered in this session a moment ago and nothing has changed.
    #[schema(example = "miss")]
    cache: &'static str,
    /// What had to be done without: `embedder`, `reranker`, `older_turns`, `database`.
    degraded: Vec<&'static str>,
    model: Option<String>,
    took_ms: TookView,
}

/// One part of a context.
#[derive(Debug, Serialize, ToSchema)]
pub struct PartView {
    content: String,
    /// A name for exactly these bytes.
    etag: Option<String>,
    /// Marks the fence of this block; text between its marks was put there by Lukasa.
    nonce: Option<String>,
    tokens: usize,
    citations: Vec<CitationView>,
    left_out: Vec<LeftOutView>,
}

/// A line that went into the prompt, and what stands behind it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CitationView {
    #[schema(example = "m1")]
    mark: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_id: Option<String>,
    /// The other memories it says, where there was no room for a line of each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also_memory_ids: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    section: &'static str,
    text: String,
    tokens: usize,
    /// How well it fits the message, between 0 and 1; null in the baseline, which fits always.
    relevance: Option<f32>,
}

/// Something that did not go in, and why.
#[derive(Debug, Serialize, ToSchema)]
pub struct LeftOutView {
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_id: Option<String>,
    #[schema(example = "over the budget")]
    reason: &'static str,
    relevance: Option<f32>,
}

/// A domain a message is about.
#[derive(Debug, Serialize, ToSchema)]
pub struct DomainDetected {
    #[schema(example = "travel")]
    domain: String,
    score: f32,
    /// The words that speak for it.
    words: Vec<String>,
}

/// How the budget was spent, in tokens.
#[derive(Debug, Serialize, ToSchema)]
pub struct BudgetView {
    limit: usize,
    used: usize,
    baseline: usize,
    dynamic: usize,
}

fn source(source: &Source) -> [Option<String>; 4] {
    match source {
        Source::Memory { fact, version } => {
            [Some(fact.to_string()), Some(version.to_string()), None, None]
        }
        Source::Turn { turn, session } => {
            [None, None, Some(turn.to_string()), Some(session.clone())]
        }
    }
}

impl From<&Item> for CitationView {
    fn from(item: &Item) -> Self {
        let [memory_id, version_id, turn_id, session_id] = source(&item.source);
        Self {
            mark: item.mark.clone(),
            memory_id,
            also_memory_ids: item.also.iter().map(ToString::to_string).collect(),
            version_id,
            turn_id,
            session_id,
            section: item.section,
            text: item.line.clone(),
            tokens: item.tokens,
            relevance: item.relevance,
        }
    }
}

impl From<&LeftOut> for LeftOutView {
    fn from(left: &LeftOut) -> Self {
        let [memory_id, _, turn_id, _] = source(&left.source);
        Self { memory_id, turn_id, reason: left.reason, relevance: left.relevance }
    }
}

impl From<&Part> for PartView {
    fn from(part: &Part) -> Self {
        let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        Self {
            content: part.content.clone(),
            etag: some(&part.etag).filter(|_| !part.content.is_empty()),
            nonce: some(&part.nonce),
            tokens: part.tokens,
            citations: part.items.iter().map(CitationView::from).collect(),
            left_out: part.left_out.iter().map(LeftOutView::from).collect(),
        }
    }
}

impl From<&Detected> for DomainDetected {
    fn from(found: &Detected) -> Self {
        Self { domain: found.domain.clone(), score: found.score, words: found.words.clone() }
    }
}

impl From<&Context> for ContextView {
    fn from(context: &Context) -> Self {
        let items = context.baseline.items.iter().chain(&context.dynamic.items);
        let (hard, soft): (Vec<&Item>, Vec<&Item>) =
            items.partition(|item| item.section.starts_with("Hard"));
        let spent = context.spent;
        Self {
            retrieval_id: context.id.to_string(),
            context: format!("{}{}", context.baseline.content, context.dynamic.content),
            baseline: (&context.baseline).into(),
            dynamic: (&context.dynamic).into(),
            frozen: context.frozen,
            hard: hard.into_iter().map(CitationView::from).collect(),
            soft: soft.into_iter().map(CitationView::from).collect(),
            domains: context.domains.iter().map(DomainDetected::from).collect(),
            budget: BudgetView {
                limit: spent.limit,
                used: spent.baseline + spent.dynamic,
                baseline: spent.baseline,
                dynamic: spent.dynamic,
            },
            times: context.times.iter().map(TimeView::from).collect(),
            considered: context.considered,
            cache: if context.cached { "hit" } else { "miss" },
            degraded: context.degraded.clone(),
            model: context.model.clone(),
            took_ms: (&context.took).into(),
        }
    }
}

/// The context for a message.
///
/// A baseline that stays the same for the session, then what bears on this message, inside one
/// budget, with a mark on every line to cite it by. The answer comes in time even if something
/// behind it does not: `degraded` says what had to be done without.
#[utoipa::path(post, path = "/api/memory/retrieve", tag = "recall", request_body = RetrieveRequest, responses(
    (status = 200, body = ContextView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn retrieve_context(
    State(app): State<App>,
    Reader(caller): Reader,
    sent: Sent<RetrieveRequest>,
) -> Result<Response, Problem> {
    let ask = sent.body.ask()?;
    let context = app.engine().retrieve(&caller, &ask, clock::moment()).await?;
    let tag = HeaderValue::from_str(&format!("\"{}\"", context.baseline.etag));
    let mut response = Json(ContextView::from(&context)).into_response();
    if let (Ok(tag), false) = (tag, context.baseline.content.is_empty()) {
        response.headers_mut().insert(ETAG, tag);
    }
    Ok(response)
}

/// A message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DetectRequest {
    #[schema(example = "Book a flight and keep it under my budget")]
    query: String,
}

/// The domains a message is about, best first.
#[derive(Debug, Serialize, ToSchema)]
pub struct DetectAnswer {
    data: Vec<DomainDetected>,
}

/// Which domains is this message about?
#[utoipa::path(post, path = "/api/domains/detect", tag = "recall", request_body = DetectRequest, responses(
    (status = 200, body = DetectAnswer),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn detect_domains(
    State(app): State<App>,
    Reader(caller): Reader,
    sent: Sent<DetectRequest>,
) -> Result<Json<DetectAnswer>, Problem> {
    if sent.body.query.chars().count() > super::search::QUERY_CHARS {
        return Err(Problem::of("malformed_body").because("`query` has at most 20000 characters"));
    }
    let found = app.engine().detect_domains(&caller, &sent.body.query, clock::now()).await?;
    Ok(Json(DetectAnswer { data: found.iter().map(DomainDetected::from).collect() }))
}

/// Exactly what a session was given.
#[derive(Debug, Serialize, ToSchema)]
pub struct GivenView {
    baselines: Vec<BaselineView>,
    /// Newest first, at most 200.
    retrievals: Vec<RetrievalView>,
}

/// A baseline as it was given, byte for byte.
#[derive(Debug, Serialize, ToSchema)]
pub struct BaselineView {
    content: String,
    etag: String,
    memory_ids: Vec<String>,
    rendered_at: Timestamp,
}

/// One retrieval: what it added to the baseline, and its trace.
#[derive(Debug, Serialize, ToSchema)]
pub struct RetrievalView {
    #[schema(example = "ret_01hx3v9d0kf7rtm4q5wz8yb2ca")]
    id: String,
    session_id: Option<String>,
    at: Timestamp,
    /// The baseline it went with.
    baseline_etag: Option<String>,
    dynamic: String,
    memory_ids: Vec<String>,
    /// What was found (`found`: its rank with each arm, when they were brought together, and at last),
    /// what was injected, and what was left out and why, with tokens and times.
    trace: serde_json::Value,
}

impl From<&BaselineRecord> for BaselineView {
    fn from(baseline: &BaselineRecord) -> Self {
        Self {
            content: baseline.content.clone(),
            etag: baseline.etag.clone(),
            memory_ids: baseline.facts.iter().map(ToString::to_string).collect(),
            rendered_at: baseline.rendered_at,
        }
    }
}

impl From<&RetrievalRecord> for RetrievalView {
    fn from(retrieval: &RetrievalRecord) -> Self {
        Self {
            id: retrieval.id.to_string(),
            session_id: retrieval.session.clone(),
            at: retrieval.at,
            baseline_etag: retrieval.etag.clone(),
            dynamic: retrieval.dynamic.clone(),
            memory_ids: retrieval.facts.iter().map(ToString::to_string).collect(),
            trace: retrieval.trace.clone(),
        }
    }
}

/// What was this session given?
#[utoipa::path(get, path = "/api/sessions/{session_id}/context", tag = "recall", params(
    ("session_id" = String, Path, description = "The session's name")), responses(
    (status = 200, body = GivenView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_session_context(
    State(app): State<App>,
    Reader(caller): Reader,
    Named(id): Named<String>,
) -> Result<Json<GivenView>, Problem> {
    let given = app.engine().given(&caller, &id, clock::now()).await?;
    Ok(Json(GivenView {
        baselines: given.baselines.iter().map(BaselineView::from).collect(),
        retrievals: given.retrievals.iter().map(RetrievalView::from).collect(),
    }))
}

/// Get a retrieval with its trace.
#[utoipa::path(get, path = "/api/retrievals/{retrieval_id}", tag = "recall", params(
    ("retrieval_id" = String, Path, description = "The retrieval's id")), responses(
    (status = 200, body = RetrievalView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_retrieval(
    State(app): State<App>,
    Reader(caller): Reader,
    Named(id): Named<String>,
) -> Result<Json<RetrievalView>, Problem> {
    let id = id.parse().map_err(|_| Problem::of("retrieval_not_found"))?;
    let retrieval = app.engine().retrieval(&caller, id, clock::now()).await?;
    Ok(Json(RetrievalView::from(&retrieval)))
}
