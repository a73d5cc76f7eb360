//! Context: retrieves the memory for a prompt, lists what a session was given, and detects the
//! domains of a message.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::ETAG;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use lukasa_core::SpaceName;
use lukasa_core::context::block::{LeftOut, LineSource, PromptLine};
use lukasa_core::context::{Budget, RuleConflict, Section};
use lukasa_core::recall::Degraded;
use lukasa_engine::context::{
    BaselineRecord, Context, ContextPart, ContextRequest, RetrievalRecord,
};
use lukasa_text::detect::DetectedDomain;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::search::{TimeView, TimingsView};
use crate::api::App;
use crate::api::auth::Reader;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::memory::parse_optional_project;
use crate::api::project::AskedProject;
use crate::api::request::{JsonRequest, PathParams};
use crate::api::search::{
    MAX_BUDGET_TOKENS, MAX_RESULTS, QUERY_CHARS, budget_named, long_query, point, zone,
};
use crate::api::space::parse_spaces;
use crate::api::wire::When;
use crate::api::words_schema;

/// A request for context.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetrieveRequest {
    /// The user's message.
    #[schema(example = "Book me a flight to Porto for Friday")]
    #[serde(default)]
    query: String,
    /// The domains it is about; detected from the message if absent.
    domains: Option<Vec<String>>,
    /// The session it is part of. Its baseline is rendered once and stays the same, byte for byte.
    session_id: Option<String>,
    /// False for a baseline that is updated with every change.
    freeze: Option<bool>,
    /// `compact` (1,500 tokens, the default), `standard` (4,000), `deep` (16,000), or a number.
    #[schema(inline)]
    budget: Option<BudgetValue>,
    /// The model's context window in tokens: memory takes at most 15 % of it.
    window: Option<usize>,
    /// How many memories besides the baseline; chosen from the message if absent.
    limit: Option<usize>,
    /// How many turns of earlier sessions; chosen from the message if absent.
    turns: Option<usize>,
    /// How many summaries of earlier sessions; as many as turns, and at most 5, if absent.
    episodes: Option<usize>,
    min_confidence: Option<f32>,
    /// Only memories that the message names, besides the baseline.
    precise: Option<bool>,
    /// Only what was valid at this instant; now if absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    as_of: Option<When>,
    /// What Lukasa knew at this instant; now if absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    known_at: Option<When>,
    /// The user's time zone, for words such as "yesterday"; the remembered one if absent, or UTC.
    #[schema(example = "Europe/Lisbon")]
    timezone: Option<String>,
    /// Deadline in milliseconds; 2,000 if absent. The answer contains what was confirmed by then.
    deadline_ms: Option<u64>,
    /// The project it is about; that of the session if absent. Only memories and turns of this
    /// project, and of none, are used.
    project: Option<String>,
    /// Spaces whose memories are used too, at most 5; the user is a member of each. What they need is
    /// taken from the rest of the budget.
    spaces: Option<Vec<String>>,
    /// True to look at the context without using it: the retrieval is not counted in statistics
    /// and is not a use of a memory.
    preview: Option<bool>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
enum BudgetValue {
    Tokens(usize),
    Name(String),
}

impl RetrieveRequest {
    fn ask(self) -> Result<ContextRequest, Problem> {
        let tokens = match self.budget {
            None => Budget::COMPACT,
            Some(BudgetValue::Tokens(tokens)) if tokens <= MAX_BUDGET_TOKENS => tokens,
            Some(BudgetValue::Name(name)) => match budget_named(&name) {
                Some(tokens) => tokens,
                None => {
                    let known = "compact, standard, deep or a number";
                    return Err(Problem::invalid("budget", known));
                }
            },
            Some(_) => {
                return Err(Problem::invalid("budget", &format!("at most {MAX_BUDGET_TOKENS}")));
            }
        };
        let counts = [("limit", self.limit), ("turns", self.turns), ("episodes", self.episodes)];
        for (name, count) in counts {
            if count.is_some_and(|count| count > MAX_RESULTS) {
                return Err(Problem::invalid(name, &format!("at most {MAX_RESULTS}")));
            }
        }
        if self.query.chars().count() > QUERY_CHARS {
            return Err(long_query());
        }
        let mut ask = ContextRequest::about(&self.query);
        ask.domains = self.domains;
        ask.session = self.session_id;
        ask.freeze = self.freeze.unwrap_or(true);
        (ask.tokens, ask.window) = (tokens, self.window);
        (ask.memories, ask.turns, ask.episodes) = (self.limit, self.turns, self.episodes);
        ask.filter.min_confidence = self.min_confidence;
        ask.precise = self.precise.unwrap_or(false);
        ask.point = point(self.as_of, self.known_at);
        ask.zone = self.timezone.as_deref().map(zone).transpose()?;
        ask.project = parse_optional_project(self.project.as_deref())?;
        ask.preview = self.preview.unwrap_or(false);
        if let Some(deadline) = self.deadline_ms {
            ask.within = Duration::from_millis(deadline.clamp(1, 60_000));
        }
        Ok(ask)
    }
}

/// Text to put into the prompt, with its citations.
#[derive(Debug, Serialize, ToSchema)]
pub struct ContextView {
    #[schema(example = "ret_01hx3v9d0kf7rtm4q5wz8yb2ca")]
    retrieval_id: String,
    /// All parts, ready to paste: the baseline first.
    context: String,
    /// The same for the whole session: put it where the provider's prefix cache covers it.
    baseline: PartView,
    /// For this message only: put it after everything that is cached.
    dynamic: PartView,
    /// The memories of the spaces that the request asked for, for this message only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    spaces: Vec<SpaceContextView>,
    /// Whether the baseline was rendered earlier in the session and reused.
    frozen: bool,
    /// The rules in both parts, which must be respected.
    #[serde(serialize_with = "citations")]
    #[schema(value_type = Vec<CitationView>)]
    hard: Vec<Arc<CitationView>>,
    /// The other memories, as context for judgment.
    #[serde(serialize_with = "citations")]
    #[schema(value_type = Vec<CitationView>)]
    soft: Vec<Arc<CitationView>>,
    /// The rules that the message, or another line, is against: to be settled with the user first.
    conflicts: Vec<ConflictView>,
    domains: Vec<DomainDetected>,
    budget: BudgetView,
    /// The times that the message mentions.
    times: Vec<TimeView>,
    /// How many memories, turns and episodes were considered.
    considered: usize,
    /// `hit` if the same message was answered in this session recently and nothing has changed.
    #[schema(example = "miss")]
    cache: &'static str,
    /// What was not available, so that the answer may be incomplete.
    #[schema(schema_with = words_schema::degraded)]
    degraded: Vec<&'static str>,
    model: Option<String>,
    took_ms: TimingsView,
}

/// The memories of a space in a context. Each line names the member who said it; none is a rule. What
/// another member said and directs assistants is left out.
#[derive(Debug, Serialize, ToSchema)]
pub struct SpaceContextView {
    #[schema(example = "family")]
    space: String,
    part: PartView,
}

/// One part of a context.
#[derive(Debug, Serialize, ToSchema)]
pub struct PartView {
    content: String,
    /// Identifies exactly these bytes.
    etag: Option<String>,
    /// The nonce in the markers around this block; text between them was written by Lukasa.
    nonce: Option<String>,
    tokens: usize,
    #[serde(serialize_with = "citations")]
    #[schema(value_type = Vec<CitationView>)]
    citations: Vec<Arc<CitationView>>,
    left_out: Vec<LeftOutView>,
}

/// Writes citations that more than one list of an answer has.
fn citations<S: serde::Serializer>(
    list: &[Arc<CitationView>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(list.iter().map(Arc::as_ref))
}

/// A line of the prompt, and its source.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CitationView {
    #[schema(example = "m1")]
    mark: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_id: Option<String>,
    /// Other memories in the same line, if the budget did not allow a line for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also_memory_ids: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_id: Option<String>,
    /// The summary of an earlier session that it contains.
    #[serde(skip_serializing_if = "Option::is_none")]
    episode_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    section: &'static str,
    text: String,
    tokens: usize,
    /// Relevance to the message, between 0 and 1; null in the baseline, which does not depend on
    /// it.
    relevance: Option<f32>,
}

/// A memory, turn or episode that was left out, and why.
#[derive(Debug, Serialize, ToSchema)]
pub struct LeftOutView {
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    episode_id: Option<String>,
    #[schema(schema_with = words_schema::left_out_reason)]
    reason: &'static str,
    relevance: Option<f32>,
}

/// A rule that the message, or another line, is against.
#[derive(Debug, Serialize, ToSchema)]
pub struct ConflictView {
    /// The mark of the rule.
    #[schema(example = "m1")]
    rule: String,
    /// The mark of the line that is against it; absent if it is the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<String>,
    /// What it is about.
    #[schema(example = "peanuts")]
    about: String,
}

impl From<&RuleConflict> for ConflictView {
    fn from(conflict: &RuleConflict) -> Self {
        let RuleConflict { rule, memory, about } = conflict.clone();
        Self { rule, memory, about }
    }
}

/// A domain a message is about.
#[derive(Debug, Serialize, ToSchema)]
pub struct DomainDetected {
    #[schema(example = "travel")]
    domain: String,
    score: f32,
    /// The words that indicate it.
    words: Vec<String>,
}

/// Use of the budget, in tokens.
#[derive(Debug, Serialize, ToSchema)]
pub struct BudgetView {
    limit: usize,
    used: usize,
    baseline: usize,
    dynamic: usize,
    /// The cost of the used tokens as input of the first chat model (`LUKASA_CHAT`), in millionths of
    /// the currency of its price; null without a price.
    cost_micros: Option<u64>,
}

/// The ids of a source.
#[derive(Default)]
struct SourceIds {
    memory: Option<String>,
    version: Option<String>,
    turn: Option<String>,
    episode: Option<String>,
    session: Option<String>,
}

impl From<LineSource> for SourceIds {
    fn from(source: LineSource) -> Self {
        let mut ids = Self::default();
        match source {
            LineSource::Memory { fact, version } => {
                (ids.memory, ids.version) = (Some(fact.to_string()), Some(version.to_string()));
            }
            LineSource::Turn { turn, session } => {
                (ids.turn, ids.session) = (Some(turn.to_string()), Some(session));
            }
            LineSource::Episode { episode, session } => {
                (ids.episode, ids.session) = (Some(episode.to_string()), Some(session));
            }
        }
        ids
    }
}

impl From<PromptLine> for CitationView {
    fn from(item: PromptLine) -> Self {
        let ids = SourceIds::from(item.source);
        Self {
            mark: item.mark,
            memory_id: ids.memory,
            also_memory_ids: item.also.iter().map(ToString::to_string).collect(),
            version_id: ids.version,
            turn_id: ids.turn,
            episode_id: ids.episode,
            session_id: ids.session,
            section: item.section.as_str(),
            text: item.line,
            tokens: item.tokens,
            relevance: item.relevance,
        }
    }
}

impl From<LeftOut> for LeftOutView {
    fn from(left: LeftOut) -> Self {
        let (mut memory_id, mut turn_id, mut episode_id) = (None, None, None);
        match left.source {
            LineSource::Memory { fact, .. } => memory_id = Some(fact.to_string()),
            LineSource::Turn { turn, .. } => turn_id = Some(turn.to_string()),
            LineSource::Episode { episode, .. } => episode_id = Some(episode.to_string()),
        }
        let (reason, relevance) = (left.reason.as_str(), left.relevance);
        Self { memory_id, turn_id, episode_id, reason, relevance }
    }
}

impl From<ContextPart> for PartView {
    fn from(part: ContextPart) -> Self {
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        let is_empty = part.content.is_empty();
        Self {
            content: part.content,
            etag: some(part.etag).filter(|_| !is_empty),
            nonce: some(part.nonce),
            tokens: part.tokens,
            citations: part.items.into_iter().map(|item| Arc::new(item.into())).collect(),
            left_out: part.left_out.into_iter().map(LeftOutView::from).collect(),
        }
    }
}

impl From<&DetectedDomain> for DomainDetected {
    fn from(found: &DetectedDomain) -> Self {
        Self { domain: found.domain.clone(), score: found.score, words: found.words.clone() }
    }
}

impl From<Context> for ContextView {
    fn from(context: Context) -> Self {
        let spent = context.spent;
        let conflicts = context.dynamic.conflicts.iter().map(ConflictView::from).collect();
        let text = format!("{}{}", context.baseline.content, context.dynamic.content);
        let (baseline, dynamic) =
            (PartView::from(context.baseline), PartView::from(context.dynamic));
        let both = baseline.citations.iter().chain(&dynamic.citations).cloned();
        let (hard, soft) = both.partition(|citation| citation.section == Section::Hard.as_str());
        Self {
            retrieval_id: context.id.to_string(),
            context: text,
            baseline,
            dynamic,
            spaces: Vec::new(),
            frozen: context.frozen,
            hard,
            soft,
            conflicts,
            domains: context.domains.iter().map(DomainDetected::from).collect(),
            budget: BudgetView {
                limit: spent.limit,
                used: spent.baseline + spent.dynamic,
                baseline: spent.baseline,
                dynamic: spent.dynamic,
                cost_micros: spent.cost_micros,
            },
            times: context.times.iter().map(TimeView::from).collect(),
            considered: context.considered,
            cache: if context.cached { "hit" } else { "miss" },
            degraded: context.degraded.iter().map(|part| part.as_str()).collect(),
            model: context.model,
            took_ms: (&context.took).into(),
        }
    }
}

impl ContextView {
    /// Adds the part of a space; `None` if the database did not answer in time.
    fn add_space(&mut self, space: &SpaceName, part: Option<ContextPart>) {
        let missing = Degraded::Database.as_str();
        if part.is_none() && !self.degraded.contains(&missing) {
            self.degraded.push(missing);
        }
        let part = part.unwrap_or_default();
        self.context.push_str(&part.content);
        self.budget.used += part.tokens;
        self.spaces.push(SpaceContextView { space: space.to_string(), part: part.into() });
    }
}

/// Get the context for a message.
///
/// A baseline that stays the same for the session, then memories relevant to this message, within
/// one budget, with a mark on every line to cite it by. The deadline is met even if a component is
/// slow or unavailable: `degraded` lists what is missing.
#[utoipa::path(post, path = "/api/memory/retrieve", tag = "recall", request_body = RetrieveRequest, responses(
    (status = 200, body = ContextView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn retrieve_context(
    State(app): State<App>,
    Reader(caller): Reader,
    asked: AskedProject,
    sent: JsonRequest<RetrieveRequest>,
) -> Result<Response, Problem> {
    let spaces = parse_spaces(sent.body.spaces.as_deref())?;
    let mut ask = sent.body.ask()?;
    ask.project = ask.project.or_else(|| asked.project());
    let contexts = &app.engine().context;
    let (context, parts) =
        contexts.retrieve_with_spaces(&caller, &spaces, &ask, app.moment()).await?;
    let tag = HeaderValue::from_str(&format!("\"{}\"", context.baseline.etag));
    let has_baseline = !context.baseline.content.is_empty();
    let mut view = ContextView::from(context);
    for (space, part) in spaces.iter().zip(parts) {
        view.add_space(space, part);
    }
    let mut response = Json(view).into_response();
    if let (Ok(tag), true) = (tag, has_baseline) {
        response.headers_mut().insert(ETAG, tag);
    }
    Ok(response)
}

/// A message to detect domains in.
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
    /// The domain that a memory of these words is filed under; null if they are clearly about none, or
    /// about one that is not open.
    #[schema(example = "travel")]
    filed_under: Option<String>,
}

/// Detect the domains that a message is about.
#[utoipa::path(post, path = "/api/domains/detect", tag = "recall", request_body = DetectRequest, responses(
    (status = 200, body = DetectAnswer),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn detect_domains(
    State(app): State<App>,
    Reader(caller): Reader,
    sent: JsonRequest<DetectRequest>,
) -> Result<Json<DetectAnswer>, Problem> {
    if sent.body.query.chars().count() > QUERY_CHARS {
        return Err(long_query());
    }
    let (found, filed_under) =
        app.engine().context.detect_domains(&caller, &sent.body.query, app.now()).await?;
    Ok(Json(DetectAnswer { data: found.iter().map(DomainDetected::from).collect(), filed_under }))
}

/// The exact context that a session was given.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionContextView {
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
    /// The baseline it was used with.
    baseline_etag: Option<String>,
    dynamic: String,
    memory_ids: Vec<String>,
    /// What was found (`found`: its rank in each arm, after fusion, and at the end), what was
    /// injected, and what was left out and why, with tokens and durations.
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

/// Get the exact context that a session was given.
#[utoipa::path(get, path = "/api/sessions/{session_id}/context", tag = "recall", params(
    ("session_id" = String, Path, description = "The session's name")), responses(
    (status = 200, body = SessionContextView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_session_context(
    State(app): State<App>,
    Reader(caller): Reader,
    PathParams(id): PathParams<String>,
) -> Result<Json<SessionContextView>, Problem> {
    let given = app.engine().context.session_retrievals(&caller, &id, app.now()).await?;
    Ok(Json(SessionContextView {
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
    PathParams(id): PathParams<String>,
) -> Result<Json<RetrievalView>, Problem> {
    let id = id.parse().map_err(|_| Problem::of(ErrorCode::RetrievalNotFound))?;
    let retrieval = app.engine().context.retrieval(&caller, id, app.now()).await?;
    Ok(Json(RetrievalView::from(&retrieval)))
}
