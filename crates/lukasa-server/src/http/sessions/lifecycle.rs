//! Session lifecycle: close, learn, rename, archive, delete, restore and search sessions, and get
//! one cut to a model's context window.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use lukasa_core::{Caller, CallerKind, Permission, ProjectScope};
use lukasa_engine::Request;
use lukasa_engine::context::TurnExplanation;
use lukasa_engine::sessions::{CloseResult, SessionEdit, TurnList, WindowRequest};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::super::removal::Nothing;
use super::{SessionView, TurnView, hidden_text};
use crate::api::App;
use crate::api::auth::{Reader, Writer};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::memory::parse_optional_project;
use crate::api::request::{JsonRequest, PathParams, QueryParams, page_size, too_large};
use crate::api::wire::MemoryView;

/// Options of closing a session.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CloseSession {
    /// Whether there are new turns since it was last closed, if known. `false` calls no model.
    has_new_turns: Option<bool>,
}

/// Result of closing a session.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClosedSession {
    session: SessionView,
    /// Whether learning from the new turns has started.
    learning: bool,
}

impl ClosedSession {
    async fn of(app: &App, caller: &Caller, ending: &CloseResult) -> Result<Self, Problem> {
        let session = SessionView::of(app, caller, &ending.session).await?;
        Ok(Self { session, learning: ending.learning })
    }
}

/// Close a session.
///
/// The turns since the last time are learned from, with a chat model or by rules. Closing a closed
/// session does nothing. A new turn makes it active again.
#[utoipa::path(post, path = "/api/sessions/{session_id}/close", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name")),
    request_body = CloseSession, responses(
    (status = 200, body = ClosedSession),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn close_session(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<CloseSession>,
) -> Result<Json<ClosedSession>, Problem> {
    let request = sent.request(caller.clone());
    let (engine, has_new_turns) = (app.engine().clone(), sent.body.has_new_turns);
    let work = async move { engine.sessions.close(&request, &id, has_new_turns).await };
    Ok(Json(ClosedSession::of(&app, &caller, &app.detached(work).await?).await?))
}

/// What a page sends with `navigator.sendBeacon` when it is closed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Beacon {
    session_id: String,
    /// Whether there are new turns since it was last closed, if known. `false` calls no model.
    has_new_turns: Option<bool>,
    /// The user token: a beacon cannot carry headers.
    token: Option<String>,
}

/// Close a session from a page that is being closed.
///
/// For `navigator.sendBeacon`, which sends text without headers and does not wait for the answer.
/// The answer does not tell whether the session exists.
#[utoipa::path(post, path = "/api/beacon", tag = "sessions",
    request_body(content = Beacon, content_type = "text/plain"), responses(
    (status = 202, description = "Accepted"),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn beacon(
    State(app): State<App>,
    mut headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let body = body.map_err(too_large)?;
    let beacon: Beacon = serde_json::from_slice(&body)
        .map_err(|error| Problem::of(ErrorCode::MalformedBody).because(&error.to_string()))?;
    if let Some(token) = &beacon.token {
        let value = HeaderValue::from_str(&format!("Bearer {token}"));
        let value = value.map_err(|_| Problem::of(ErrorCode::Unauthenticated))?;
        headers.insert(header::AUTHORIZATION, value);
    }
    let caller = app.caller(&headers, Permission::Write).await?;
    let (engine, request) = (app.engine().clone(), Request::new(caller, app.moment()));
    let work = async move {
        engine.sessions.close(&request, &beacon.session_id, beacon.has_new_turns).await
    };
    match app.detached(work).await {
        // The client does not read the answer, and a missing session needs no closing.
        Ok(_) => {}
        Err(problem) if problem.is(ErrorCode::SessionNotFound) => {}
        Err(problem) => return Err(problem),
    }
    Ok(StatusCode::ACCEPTED.into_response())
}

/// Learn from a session now.
///
/// Works for open and closed sessions, whatever the policy says. Turns that were learned from
/// already are not read again.
#[utoipa::path(post, path = "/api/sessions/{session_id}/learn", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name")), responses(
    (status = 200, body = ClosedSession),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn learn_session(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Json<ClosedSession>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller.clone()));
    let work = async move { engine.sessions.learn_now(&request, &id).await };
    Ok(Json(ClosedSession::of(&app, &caller, &app.detached(work).await?).await?))
}

/// Changes to a session. An absent field stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditSession {
    /// The new title.
    title: Option<String>,
    /// Archive the session, or make it active again.
    archived: Option<bool>,
}

/// Rename, archive or unarchive a session.
#[utoipa::path(patch, path = "/api/sessions/{session_id}", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name")),
    request_body = EditSession, responses(
    (status = 200, body = SessionView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn edit_session(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<EditSession>,
) -> Result<Json<SessionView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller.clone()));
    let EditSession { title, archived } = sent.body;
    let edit = SessionEdit { title: title.map(Some), archived };
    let work = async move { engine.sessions.edit(&request, &id, edit).await };
    Ok(Json(SessionView::of(&app, &caller, &app.detached(work).await?).await?))
}

/// Move a session to the trash.
///
/// Its turns are no longer found, and what was learned from it alone is removed with it. It can be
/// restored for thirty days.
#[utoipa::path(delete, path = "/api/sessions/{session_id}", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name")), responses(
    (status = 200, body = SessionView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn delete_session(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Json<SessionView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller.clone()));
    let work = async move { engine.sessions.trash(&request, &id).await };
    Ok(Json(SessionView::of(&app, &caller, &app.detached(work).await?).await?))
}

/// Restore a session from the trash.
#[utoipa::path(post, path = "/api/sessions/{session_id}/restore", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name")), responses(
    (status = 200, body = SessionView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn restore_session(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Json<SessionView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller.clone()));
    let work = async move { engine.undo.restore_session(&request, &id).await };
    Ok(Json(SessionView::of(&app, &caller, &app.detached(work).await?).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SearchSessionsQuery {
    /// The search text.
    query: String,
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
    /// Only sessions of this project and of none; all if absent.
    project: Option<String>,
}

/// A session found by a search.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundSessionView {
    session: SessionView,
    /// The best matching turn.
    best: Option<TurnView>,
}

/// Found sessions, best match first.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundSessions {
    data: Vec<FoundSessionView>,
}

/// Search in all sessions.
#[utoipa::path(get, path = "/api/sessions/search", tag = "sessions", params(SearchSessionsQuery), responses(
    (status = 200, body = FoundSessions),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn search_sessions(
    State(app): State<App>,
    Reader(caller): Reader,
    QueryParams(query): QueryParams<SearchSessionsQuery>,
) -> Result<Json<FoundSessions>, Problem> {
    let limit = page_size(query.limit)?;
    let project = parse_optional_project(query.project.as_deref())?;
    let projects = project.map_or(ProjectScope::All, ProjectScope::One);
    let sessions = &app.engine().sessions;
    let found = sessions.search(&caller, &query.query, projects, limit, app.now()).await?;
    let (sessions, best): (Vec<_>, Vec<_>) =
        found.into_iter().map(|found| (found.session, found.best)).unzip();
    let views = SessionView::of_all(&app, &caller, &sessions, false).await?;
    let data = views.into_iter().zip(best).map(|(session, best)| FoundSessionView {
        session,
        best: best.as_ref().map(|turn| TurnView::masked(turn, None)),
    });
    Ok(Json(FoundSessions { data: data.collect() }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WindowQuery {
    /// The model's budget for the conversation, in tokens; 32,000 if absent.
    budget: Option<usize>,
    /// The share of the budget above which early turns are summarized; 0.8 if absent.
    threshold: Option<f32>,
    /// Also show words about domains that are not open. Accepted only from the user.
    #[serde(default)]
    show_hidden: bool,
}

/// A session, cut to a model's context window.
#[derive(Debug, Serialize, ToSchema)]
pub struct WindowView {
    /// Summary of the turns before the first one, if they do not fit.
    summary: Option<String>,
    turns: Vec<TurnView>,
    /// How many early turns were left out.
    left_out: usize,
    tokens: usize,
    /// A notice for the user, if turns were left out.
    banner: Option<String>,
}

/// Get a session, cut to a model's context window.
///
/// Once it fills most of the budget, early turns are replaced by a summary. No turn is deleted, and
/// the request calls no model: the summary is made in the background.
#[utoipa::path(get, path = "/api/sessions/{session_id}/window", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name"), WindowQuery), responses(
    (status = 200, body = WindowView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_window(
    State(app): State<App>,
    Reader(caller): Reader,
    PathParams(id): PathParams<String>,
    QueryParams(query): QueryParams<WindowQuery>,
) -> Result<Json<WindowView>, Problem> {
    let default = WindowRequest::default();
    let ask = WindowRequest {
        budget: query.budget.unwrap_or(default.budget),
        threshold: query.threshold.unwrap_or(default.threshold),
    };
    let sessions = &app.engine().sessions;
    let window = sessions.window(&caller, &id, ask, app.moment()).await?;
    let (summary, hidden) = match query.show_hidden && caller.kind == CallerKind::Human {
        true => (window.summary, vec![None; window.turns.len()]),
        false => {
            let own = std::slice::from_ref(&window.session);
            let words = sessions.hidden_words_of(&caller, own, app.now()).await?;
            let domain = words.into_iter().next().and_then(|words| words.summary);
            let turns = TurnList::Window(&window.turns);
            let hidden = sessions.closed_domains_of(&caller, turns, app.now()).await?;
            let shown = |text| domain.as_deref().map_or(text, hidden_text);
            (window.summary.map(shown), hidden)
        }
    };
    let turns = window.turns.iter().zip(hidden);
    Ok(Json(WindowView {
        summary,
        turns: turns.map(|(turn, hidden)| TurnView::masked(turn, hidden)).collect(),
        left_out: window.left_out,
        tokens: window.tokens,
        banner: window.banner,
    }))
}

/// A memory that a turn used or was given.
#[derive(Debug, Serialize, ToSchema)]
pub struct GroundsView {
    /// The memory as it was at the time of the turn.
    memory: MemoryView,
    /// `cited` or another use, if the turn reported it; `given` if it was only in the context.
    #[schema(example = "cited")]
    how: String,
    influence: Option<String>,
}

/// The memories behind a turn.
#[derive(Debug, Serialize, ToSchema)]
pub struct WhyView {
    turn: TurnView,
    memories: Vec<GroundsView>,
    retrieval_id: Option<String>,
    retrieved_at: Option<Timestamp>,
    /// Phrases of an answer that judge the user instead of repeating what they said, such as
    /// `you believe`.
    judging: Vec<&'static str>,
}

impl WhyView {
    fn of(why: &TurnExplanation, hidden: Option<String>) -> Self {
        let memories = why.grounds.iter().map(|grounds| GroundsView {
            memory: MemoryView::from(&grounds.memory),
            how: grounds.usage.as_ref().map_or("given".into(), |usage| usage.kind.clone()),
            influence: grounds.usage.as_ref().and_then(|usage| usage.influence.clone()),
        });
        Self {
            turn: TurnView::masked(&why.turn, hidden),
            memories: memories.collect(),
            retrieval_id: why.retrieval.as_ref().map(|retrieval| retrieval.id.to_string()),
            retrieved_at: why.retrieval.as_ref().map(|retrieval| retrieval.at),
            judging: why.judging.clone(),
        }
    }
}

/// Explain a turn.
///
/// Lists the memories that the turn reports as used, then those it was given, as they were at the
/// time.
#[utoipa::path(get, path = "/api/sessions/{session_id}/turns/{number}/why", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name"),
    ("number" = i32, Path, description = "The turn's number in the session")), responses(
    (status = 200, body = WhyView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_why(
    State(app): State<App>,
    Reader(caller): Reader,
    PathParams((id, number)): PathParams<(String, i32)>,
) -> Result<Json<WhyView>, Problem> {
    let why = app.engine().context.why(&caller, &id, number, app.now()).await?;
    let turn = std::slice::from_ref(&why.turn);
    let shown = TurnList::Page(turn);
    let hidden = app.engine().sessions.closed_domains_of(&caller, shown, app.now()).await?;
    Ok(Json(WhyView::of(&why, hidden.into_iter().next().flatten())))
}
