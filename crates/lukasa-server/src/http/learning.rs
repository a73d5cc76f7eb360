//! Learning: episodes, extraction passes and contradictions; background jobs and model costs.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use jiff::Timestamp;
use lukasa_core::{Caller, CallerKind, Episode, EpisodeEdit, EpisodeId, Job, JobId, PassId};
use lukasa_engine::chat::{ModelCall, ModelSum};
use lukasa_engine::learning::{AboutEpisode, LeftOutItem, PassRecord};
use lukasa_engine::review::{Contradiction, ContradictionChoice};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::left_out::LeftSentenceView;
use super::memory::write_response;
use super::removal::Nothing;
use super::sessions::hidden_text;
use crate::api::App;
use crate::api::auth::{Reader, Writer};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::request::{
    JsonRequest, PathParams, QueryParams, page_size, parse_cursor, print_cursor,
};
use crate::api::wire::{MemoryEvent, MemoryView, WriteResult, present};
use crate::api::words_schema;

/// Summary of a part of a conversation.
#[derive(Debug, Serialize, ToSchema)]
pub struct EpisodeView {
    #[schema(example = "epi_01hx3v9d0kf7rtm4q5wz8yb2ca")]
    id: String,
    session_id: String,
    /// The turns it is about.
    first_turn: i32,
    last_turn: i32,
    title: Option<String>,
    summary: String,
    /// The least trusted origin of its turns.
    origin: &'static str,
    started_at: Timestamp,
    ended_at: Timestamp,
    /// The prompt it was made with, and its version; `edited` if its words are the user's.
    #[schema(example = "extract/4")]
    prompt: String,
    /// The domains it is about: those of the memories learned from it, and those that its words
    /// name.
    #[schema(example = json!(["travel"]))]
    domains: Vec<String>,
    /// Whether it is a month old and everything learned from it is strong or stated by now, so that
    /// it is no longer needed. An absorbed episode is listed, but not found by search and not put
    /// into prompts.
    absorbed: bool,
    /// The domain that it is about, if the user has not opened it. `title` and `summary` are hidden
    /// then; the user can see them with `show_hidden=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden_domain: Option<String>,
}

impl EpisodeView {
    /// The episode, with its words hidden if it is about a domain that is not open.
    pub(super) fn of(episode: &Episode, about: &AboutEpisode) -> Self {
        let AboutEpisode { domains, absorbed, hidden_domain } = about.clone();
        let view = Self::shown(episode, domains, absorbed);
        match hidden_domain {
            None => view,
            Some(domain) => Self {
                title: view.title.as_ref().map(|_| hidden_text(&domain)),
                summary: hidden_text(&domain),
                hidden_domain: Some(domain),
                ..view
            },
        }
    }

    fn shown(episode: &Episode, domains: Vec<String>, absorbed: bool) -> Self {
        Self {
            absorbed,
            domains,
            hidden_domain: None,
            id: episode.id.to_string(),
            session_id: episode.session.clone(),
            first_turn: episode.first_turn,
            last_turn: episode.last_turn,
            title: episode.title.clone(),
            summary: episode.summary.clone(),
            origin: episode.origin.as_str(),
            started_at: episode.started_at,
            ended_at: episode.ended_at,
            prompt: episode.prompt.clone(),
        }
    }
}

/// What is derived from the memories learned from each of these episodes. The words of none of them
/// are hidden if the user asks so.
pub(super) async fn about_episodes(
    app: &App,
    caller: &Caller,
    episodes: &[Episode],
    show_hidden: bool,
) -> Result<Vec<AboutEpisode>, Problem> {
    let mut about = app.engine().learning.about_episodes(caller, episodes, app.now()).await?;
    if show_hidden && caller.kind == CallerKind::Human {
        about.iter_mut().for_each(|about| about.hidden_domain = None);
    }
    Ok(about)
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EpisodesQuery {
    /// Only those of this session.
    session_id: Option<String>,
    /// Only those about this domain. A page can then be shorter than `limit`.
    domain: Option<String>,
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
    /// Also show the words of episodes about domains that are not open. Accepted only from the user.
    #[serde(default)]
    show_hidden: bool,
}

/// Episodes, the latest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct EpisodePage {
    data: Vec<EpisodeView>,
    next_cursor: Option<String>,
}

/// List episodes, the latest first.
#[utoipa::path(get, path = "/api/episodes", tag = "learning", params(EpisodesQuery), responses(
    (status = 200, body = EpisodePage),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_episodes(
    State(app): State<App>,
    Reader(caller): Reader,
    QueryParams(query): QueryParams<EpisodesQuery>,
) -> Result<Json<EpisodePage>, Problem> {
    let before = query.cursor.as_deref().map(parse_cursor).transpose()?;
    let limit = page_size(query.limit)?;
    let session = query.session_id.as_deref();
    let now = app.now();
    let page = app.engine().learning.episodes(&caller, session, before, limit, now);
    let (episodes, next) = page.await?;
    let about = about_episodes(&app, &caller, &episodes, query.show_hidden).await?;
    let is_asked = |about: &AboutEpisode| {
        query.domain.as_ref().is_none_or(|domain| about.domains.contains(domain))
    };
    let data = episodes.iter().zip(&about).filter(|(_, about)| is_asked(about));
    let data = data.map(|(episode, about)| EpisodeView::of(episode, about)).collect();
    Ok(Json(EpisodePage { data, next_cursor: next.as_ref().map(print_cursor) }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EpisodeQuery {
    /// Show its words even if it is about a domain that is not open. Accepted only from the user.
    #[serde(default)]
    show_hidden: bool,
}

/// Get an episode.
#[utoipa::path(get, path = "/api/episodes/{id}", tag = "learning", params(
    ("id" = String, Path, description = "The episode's id"), EpisodeQuery), responses(
    (status = 200, body = EpisodeView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_episode(
    State(app): State<App>,
    Reader(caller): Reader,
    PathParams(id): PathParams<String>,
    QueryParams(query): QueryParams<EpisodeQuery>,
) -> Result<Json<EpisodeView>, Problem> {
    let id: EpisodeId = id.parse().map_err(|_| Problem::of(ErrorCode::EpisodeNotFound))?;
    let episode = app.engine().learning.episode(&caller, id, app.now()).await?;
    let one = std::slice::from_ref(&episode);
    let about = about_episodes(&app, &caller, one, query.show_hidden).await?;
    Ok(Json(EpisodeView::of(&episode, &about.into_iter().next().unwrap_or_default())))
}

/// New words for an episode. An absent field stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateEpisode {
    /// Null removes the title.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<String>)]
    title: Option<Option<String>>,
    summary: Option<String>,
}

/// The episode that took the place of an edited one, and the request that undoes the edit.
#[derive(Debug, Serialize, ToSchema)]
pub struct EditedEpisodeView {
    episode: EpisodeView,
    event: MemoryEvent,
}

/// Edit an episode.
///
/// The episode with the user's words takes the place of the old one, under a new id. It stays when a
/// turn of it is moved to the trash; when a turn is erased it is summarised again without the turn,
/// like every episode. Only the user edits episodes. Undo restores the old words.
#[utoipa::path(patch, path = "/api/episodes/{id}", tag = "learning", params(
    ("id" = String, Path, description = "The episode's id")), request_body = UpdateEpisode, responses(
    (status = 200, body = EditedEpisodeView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn edit_episode(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<UpdateEpisode>,
) -> Result<Json<EditedEpisodeView>, Problem> {
    let id: EpisodeId = id.parse().map_err(|_| Problem::of(ErrorCode::EpisodeNotFound))?;
    let (engine, request) = (app.engine().clone(), sent.request(caller.clone()));
    let edit = EpisodeEdit { title: sent.body.title, summary: sent.body.summary };
    let work = async move { engine.learning.edit_episode(&request, id, &edit).await };
    let (episode, outcome) = app.detached(work).await?;
    let about = about_episodes(&app, &caller, std::slice::from_ref(&episode), true).await?;
    let about = about.into_iter().next().unwrap_or_default();
    let event = WriteResult::from(&outcome).event;
    Ok(Json(EditedEpisodeView { episode: EpisodeView::of(&episode, &about), event }))
}

/// One extraction pass over a part of a conversation, and its outcome.
#[derive(Debug, Serialize, ToSchema)]
pub struct PassView {
    #[schema(example = "pas_01hx3v9d0kf7rtm4q5wz8yb2ca")]
    id: String,
    session_id: String,
    first_turn: i32,
    last_turn: i32,
    prompt: String,
    model: String,
    applied_at: Option<Timestamp>,
    /// The operation with everything it learned; undo it to reverse the pass.
    operation_id: Option<String>,
    /// Counts of what was learned and how, and of what was left out and why.
    #[schema(value_type = Object)]
    outcome: Option<serde_json::Value>,
    /// What was said and left out, at most 20 sentences.
    left_out: Vec<LeftSentenceView>,
    /// How many more were left out that are not listed: no sentence was found for them, their turn
    /// was removed, or there were more than 20. Repetitions of what is known are not counted.
    left_out_more: u64,
}

impl PassView {
    fn new(pass: &PassRecord, items: &[LeftOutItem]) -> Self {
        let left_out: Vec<LeftSentenceView> =
            items.iter().filter(|item| item.pass == pass.id).map(LeftSentenceView::from).collect();
        let counts = pass.outcome.as_ref().and_then(|outcome| outcome["left"].as_object());
        let known = |reason: &str| reason == "known_already" || reason == "skipped";
        let counts = counts.into_iter().flatten().filter(|(reason, _)| !known(reason));
        let all: u64 = counts.filter_map(|(_, count)| count.as_u64()).sum();
        Self {
            left_out_more: all.saturating_sub(left_out.len() as u64),
            left_out,
            id: pass.id.to_string(),
            session_id: pass.session.clone(),
            first_turn: pass.first_turn,
            last_turn: pass.last_turn,
            prompt: pass.prompt.clone(),
            model: pass.model.clone(),
            applied_at: pass.applied_at,
            operation_id: pass.operation.map(|id| id.to_string()),
            outcome: pass.outcome.clone(),
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PassesQuery {
    /// Only those over this session.
    session_id: Option<String>,
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
}

/// Passes, the latest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct PassList {
    data: Vec<PassView>,
}

/// List extraction passes, the latest first.
#[utoipa::path(get, path = "/api/passes", tag = "learning", params(PassesQuery), responses(
    (status = 200, body = PassList),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_passes(
    State(app): State<App>,
    Reader(caller): Reader,
    QueryParams(query): QueryParams<PassesQuery>,
) -> Result<Json<PassList>, Problem> {
    let limit = page_size(query.limit)?;
    let session = query.session_id.as_deref();
    let passes = app.engine().learning.passes(&caller, session, limit, app.now()).await?;
    let ids: Vec<PassId> = passes.iter().map(|pass| pass.id).collect();
    let left_out = app.engine().learning.left_out(&caller, &ids, app.now()).await?;
    let data = passes.iter().map(|pass| PassView::new(pass, &left_out)).collect();
    Ok(Json(PassList { data }))
}

/// Two memories that cannot both be true.
#[derive(Debug, Serialize, ToSchema)]
pub struct ContradictionView {
    since: Timestamp,
    /// The memory that is in use; the older one, if both are.
    pub(super) standing: MemoryView,
    /// The memory that contradicts it: one that waits for a decision, or the newer of two in use.
    pub(super) against: MemoryView,
}

impl From<&Contradiction> for ContradictionView {
    fn from(pair: &Contradiction) -> Self {
        Self {
            since: pair.since,
            standing: MemoryView::from(&pair.standing),
            against: MemoryView::from(&pair.against),
        }
    }
}

/// Contradictions that wait for the user's decision, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct ContradictionList {
    data: Vec<ContradictionView>,
}

/// List contradictions between memories, newest first; at most 200.
#[utoipa::path(get, path = "/api/memory/contradictions", tag = "proposals", responses(
    (status = 200, body = ContradictionList),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_contradictions(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<ContradictionList>, Problem> {
    let pairs = app.engine().review.contradictions(&caller, app.now()).await?;
    Ok(Json(ContradictionList { data: pairs.iter().map(ContradictionView::from).collect() }))
}

/// The decision about a contradiction.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveContradiction {
    /// `standing`, `against`, or `both` if the two do not contradict each other.
    #[schema(example = "against")]
    #[serde(rename = "true")]
    which: String,
    /// The `sha256` of the memory that was shown as `against`. Required if that one is true and
    /// waits for a decision.
    sha256: Option<String>,
}

/// Resolve a contradiction: say which of the two memories is true.
///
/// It is identified by the memory listed as `against`. Only the user can do it. If that memory is
/// true, it replaces the other; if the other one is, it is rejected or forgotten. This is one
/// operation, which can be undone.
#[utoipa::path(post, path = "/api/memory/{id}/resolve", tag = "proposals", params(
    ("id" = String, Path, description = "The id of the memory listed as `against`")),
    request_body = ResolveContradiction, responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn resolve_contradiction(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<ResolveContradiction>,
) -> Result<Response, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let fact = id.parse().map_err(|_| Problem::of(ErrorCode::MemoryNotFound))?;
    let Some(which) = ContradictionChoice::parse(&sent.body.which) else {
        return Err(Problem::invalid("true", "one of standing, against, both"));
    };
    let digest = sent.body.sha256.unwrap_or_default();
    let work = async move { engine.review.resolve(&request, fact, which, &digest).await };
    Ok(write_response(&app.detached(work).await?))
}

/// A background job that waits, runs, or has failed.
#[derive(Debug, Serialize, ToSchema)]
pub struct JobView {
    #[schema(example = "job_01hx3v9d0kf7rtm4q5wz8yb2ca")]
    id: String,
    /// `close`, `statement`, `extract`, `relearn`, `title`, `compress`, `retell`, `upkeep` or
    /// `deliver`.
    #[schema(example = "extract")]
    kind: &'static str,
    /// The session it is about, if it is about one.
    session_id: Option<String>,
    /// `waiting`, `running` or `dead` (failed; it can be retried).
    #[schema(example = "waiting")]
    state: &'static str,
    queued_at: Timestamp,
    run_at: Timestamp,
    attempts: i32,
    last_error: Option<String>,
}

impl From<&Job> for JobView {
    fn from(job: &Job) -> Self {
        Self {
            id: job.id.to_string(),
            kind: job.kind.as_str(),
            session_id: Some(job.key.clone()).filter(|key| !key.is_empty()),
            state: job.state.as_str(),
            queued_at: job.queued_at,
            run_at: job.run_at,
            attempts: job.attempts,
            last_error: job.last_error.clone(),
        }
    }
}

/// Jobs, failed ones first.
#[derive(Debug, Serialize, ToSchema)]
pub struct JobList {
    data: Vec<JobView>,
}

/// List background jobs, failed ones first; at most 200.
#[utoipa::path(get, path = "/api/jobs", tag = "learning", responses(
    (status = 200, body = JobList),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_jobs(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<JobList>, Problem> {
    let jobs = app.engine().queue.list(&caller, app.now()).await?;
    Ok(Json(JobList { data: jobs.iter().map(JobView::from).collect() }))
}

/// Retry a failed job.
#[utoipa::path(post, path = "/api/jobs/{id}/retry", tag = "learning", params(
    ("id" = String, Path, description = "The job's id")), responses(
    (status = 200, body = JobView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn retry_job(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Json<JobView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let id: JobId = id.parse().map_err(|_| Problem::of(ErrorCode::JobNotFound))?;
    let work = async move { engine.queue.retry(&request, id).await };
    Ok(Json(JobView::from(&app.detached(work).await?)))
}

/// One call of a chat model, whether it answered or not.
#[derive(Debug, Serialize, ToSchema)]
pub struct ModelCallView {
    at: Timestamp,
    /// What the model was called for.
    #[schema(schema_with = words_schema::call_purpose)]
    purpose: &'static str,
    model: String,
    /// `answered`, `unavailable`, `malformed`, `missing` or `refused`.
    outcome: String,
    input_tokens: i32,
    output_tokens: i32,
    /// Millionths of the currency of the configured prices.
    cost_micros: i64,
    took_ms: i32,
}

impl From<&ModelCall> for ModelCallView {
    fn from(call: &ModelCall) -> Self {
        Self {
            at: call.at,
            purpose: call.purpose.as_str(),
            model: call.model.clone(),
            outcome: call.outcome.clone(),
            input_tokens: call.input_tokens,
            output_tokens: call.output_tokens,
            cost_micros: call.cost_micros,
            took_ms: call.took_ms,
        }
    }
}

/// Total cost of one purpose with one model over thirty days.
#[derive(Debug, Serialize, ToSchema)]
pub struct ModelSumView {
    #[schema(schema_with = words_schema::call_purpose)]
    purpose: &'static str,
    model: String,
    calls: i64,
    failed: i64,
    input_tokens: i64,
    output_tokens: i64,
    cost_micros: i64,
}

impl From<&ModelSum> for ModelSumView {
    fn from(sum: &ModelSum) -> Self {
        Self {
            purpose: sum.purpose.as_str(),
            model: sum.model.clone(),
            calls: sum.calls,
            failed: sum.failed,
            input_tokens: sum.input_tokens,
            output_tokens: sum.output_tokens,
            cost_micros: sum.cost_micros,
        }
    }
}

/// Calls of chat models.
#[derive(Debug, Serialize, ToSchema)]
pub struct ModelCalls {
    /// By purpose and model, over the last thirty days.
    totals: Vec<ModelSumView>,
    /// The latest, newest first.
    data: Vec<ModelCallView>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CallsQuery {
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
}

/// List calls of chat models and their cost.
#[utoipa::path(get, path = "/api/model-calls", tag = "learning", params(CallsQuery), responses(
    (status = 200, body = ModelCalls),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_model_calls(
    State(app): State<App>,
    Reader(caller): Reader,
    QueryParams(query): QueryParams<CallsQuery>,
) -> Result<Json<ModelCalls>, Problem> {
    let limit = page_size(query.limit)?;
    let (calls, sums) = app.engine().chat.model_calls(&caller, limit, app.now()).await?;
    Ok(Json(ModelCalls {
        totals: sums.iter().map(ModelSumView::from).collect(),
        data: calls.iter().map(ModelCallView::from).collect(),
    }))
}
