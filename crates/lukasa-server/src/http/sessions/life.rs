//! The life of a chat: close it, learn from it, rename, put aside, throw away, take back, search, and
//! see it as a model will.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use lukasa_core::Permission;
use lukasa_engine::Request;
use lukasa_engine::context::Why;
use lukasa_engine::sessions::{Ending, SessionEdit, WindowAsk};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::super::App;
use super::super::auth::{Reader, Writer};
use super::super::error::Problem;
use super::super::request::{Asked, Named, Sent, page_size, too_large};
use super::super::verbs::Nothing;
use super::super::wire::MemoryView;
use super::{SessionView, TurnView};
use crate::clock;

/// How a session ends.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CloseSession {
    /// Whether anything was said since it was last closed, if you know. `false` asks no model.
    dirty: Option<bool>,
}

/// What closing did.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClosedSession {
    session: SessionView,
    /// Whether what was said is being learned from now.
    learning: bool,
}

impl From<&Ending> for ClosedSession {
    fn from(ending: &Ending) -> Self {
        Self { session: SessionView::from(&ending.session), learning: ending.learning }
    }
}

/// Close a session.
///
/// What was said since the last time is learned from, if a chat model is set up. Closing a session
/// that is closed does nothing. Speaking in it again makes it active.
#[utoipa::path(post, path = "/api/sessions/{session_id}/close", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name")),
    request_body = CloseSession, responses(
    (status = 200, body = ClosedSession),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn close_session(
    State(app): State<App>,
    Writer(caller): Writer,
    Named(id): Named<String>,
    sent: Sent<CloseSession>,
) -> Result<Json<ClosedSession>, Problem> {
    let (engine, request, dirty) = (app.engine().clone(), sent.request(caller), sent.body.dirty);
    let work = async move { engine.close_session(&request, &id, dirty).await };
    Ok(Json(ClosedSession::from(&app.detached(work).await?)))
}

/// What a page sends when it is being closed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Beacon {
    session_id: String,
    dirty: Option<bool>,
    /// The user token: a beacon cannot carry headers.
    token: Option<String>,
}

/// Close a session from a page that is going away.
///
/// For `navigator.sendBeacon`, which sends text without headers and waits for no answer. The answer
/// says nothing about the session.
#[utoipa::path(post, path = "/api/beacon", tag = "sessions",
    request_body(content = Beacon, content_type = "text/plain"), responses(
    (status = 202, description = "Heard"),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn beacon(
    State(app): State<App>,
    mut headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let body = body.map_err(too_large)?;
    let beacon: Beacon = serde_json::from_slice(&body)
        .map_err(|error| Problem::of("malformed_body").because(&error.to_string()))?;
    if let Some(token) = &beacon.token {
        let value = HeaderValue::from_str(&format!("Bearer {token}"));
        let value = value.map_err(|_| Problem::of("unauthenticated"))?;
        headers.insert(header::AUTHORIZATION, value);
    }
    let caller = app.caller(&headers, Permission::Write).await?;
    let (engine, request) = (app.engine().clone(), Request::new(caller, clock::moment()));
    let work =
        async move { engine.close_session(&request, &beacon.session_id, beacon.dirty).await };
    match app.detached(work).await {
        // Nobody reads the answer, and a session that is not there has nothing to close.
        Ok(_) => {}
        Err(problem) if problem.is("session_not_found") => {}
        Err(problem) => return Err(problem),
    }
    Ok(StatusCode::ACCEPTED.into_response())
}

/// Learn from a session now.
///
/// Open or closed, whatever the policy says. Turns that were learned from are not read again.
#[utoipa::path(post, path = "/api/sessions/{session_id}/learn", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name")), responses(
    (status = 200, body = ClosedSession),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn learn_session(
    State(app): State<App>,
    Writer(caller): Writer,
    Named(id): Named<String>,
    sent: Sent<Nothing>,
) -> Result<Json<ClosedSession>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let work = async move { engine.learn_now(&request, &id).await };
    Ok(Json(ClosedSession::from(&app.detached(work).await?)))
}

/// What of a session is to be changed; what is absent stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditSession {
    /// Its new title.
    title: Option<String>,
    /// Put it aside, or take it up again.
    archived: Option<bool>,
}

/// Rename a session, put it aside or take it up again.
#[utoipa::path(patch, path = "/api/sessions/{session_id}", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name")),
    request_body = EditSession, responses(
    (status = 200, body = SessionView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn edit_session(
    State(app): State<App>,
    Writer(caller): Writer,
    Named(id): Named<String>,
    sent: Sent<EditSession>,
) -> Result<Json<SessionView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let EditSession { title, archived } = sent.body;
    let edit = SessionEdit { title: title.map(Some), archived };
    let work = async move { engine.edit_session(&request, &id, edit).await };
    Ok(Json(SessionView::from(&app.detached(work).await?)))
}

/// Move a session to the trash.
///
/// What was said in it is found no more, and what was learned from it alone goes with it. It can be
/// restored for thirty days.
#[utoipa::path(delete, path = "/api/sessions/{session_id}", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name")), responses(
    (status = 200, body = SessionView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn delete_session(
    State(app): State<App>,
    Writer(caller): Writer,
    Named(id): Named<String>,
    sent: Sent<Nothing>,
) -> Result<Json<SessionView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let work = async move { engine.trash_session(&request, &id).await };
    Ok(Json(SessionView::from(&app.detached(work).await?)))
}

/// Take a session out of the trash.
#[utoipa::path(post, path = "/api/sessions/{session_id}/restore", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name")), responses(
    (status = 200, body = SessionView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn restore_session(
    State(app): State<App>,
    Writer(caller): Writer,
    Named(id): Named<String>,
    sent: Sent<Nothing>,
) -> Result<Json<SessionView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let work = async move { engine.restore_session(&request, &id).await };
    Ok(Json(SessionView::from(&app.detached(work).await?)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SearchSessionsQuery {
    /// What was talked about.
    query: String,
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
}

/// A session in which it was talked about.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundSessionView {
    session: SessionView,
    /// The turn that speaks most for it.
    best: Option<TurnView>,
}

/// Sessions that were found, the best first.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundSessions {
    data: Vec<FoundSessionView>,
}

/// Search in all chats.
#[utoipa::path(get, path = "/api/sessions/search", tag = "sessions", params(SearchSessionsQuery), responses(
    (status = 200, body = FoundSessions),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn search_sessions(
    State(app): State<App>,
    Reader(caller): Reader,
    Asked(query): Asked<SearchSessionsQuery>,
) -> Result<Json<FoundSessions>, Problem> {
    let limit = page_size(query.limit)?;
    let found = app.engine().search_sessions(&caller, &query.query, limit, clock::now()).await?;
    let data = found.iter().map(|found| FoundSessionView {
        session: SessionView::from(&found.session),
        best: found.best.as_ref().map(TurnView::from),
    });
    Ok(Json(FoundSessions { data: data.collect() }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WindowQuery {
    /// How many tokens of conversation the model can take; 32,000 if absent.
    budget: Option<usize>,
    /// The share of it above which early turns are summed up; 0.8 if absent.
    threshold: Option<f32>,
}

/// A chat as a model is to see it.
#[derive(Debug, Serialize, ToSchema)]
pub struct WindowView {
    /// What was said before the first of the turns, if it does not fit.
    summary: Option<String>,
    turns: Vec<TurnView>,
    /// How many early turns are not among them.
    left_out: usize,
    tokens: usize,
    /// What to tell the person, if something was left out.
    banner: Option<String>,
}

/// A chat, cut to a model's window.
///
/// Once it fills most of the budget, the early turns come as a summary. No turn is deleted, and no
/// model is asked while you wait: the summary is made behind.
#[utoipa::path(get, path = "/api/sessions/{session_id}/window", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name"), WindowQuery), responses(
    (status = 200, body = WindowView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_window(
    State(app): State<App>,
    Reader(caller): Reader,
    Named(id): Named<String>,
    Asked(query): Asked<WindowQuery>,
) -> Result<Json<WindowView>, Problem> {
    let usual = WindowAsk::default();
    let ask = WindowAsk {
        budget: query.budget.unwrap_or(usual.budget),
        threshold: query.threshold.unwrap_or(usual.threshold),
    };
    let window = app.engine().window(&caller, &id, ask, clock::moment()).await?;
    Ok(Json(WindowView {
        summary: window.summary,
        turns: window.turns.iter().map(TurnView::from).collect(),
        left_out: window.left_out,
        tokens: window.tokens,
        banner: window.banner,
    }))
}

/// A memory behind a turn.
#[derive(Debug, Serialize, ToSchema)]
pub struct GroundsView {
    /// As it was known when the turn was said.
    memory: MemoryView,
    /// `cited` or another use, if the turn said it used it; `given` if it only had it.
    #[schema(example = "cited")]
    how: String,
    influence: Option<String>,
}

/// What is behind a turn.
#[derive(Debug, Serialize, ToSchema)]
pub struct WhyView {
    turn: TurnView,
    memories: Vec<GroundsView>,
    retrieval_id: Option<String>,
    retrieved_at: Option<Timestamp>,
}

impl From<&Why> for WhyView {
    fn from(why: &Why) -> Self {
        let memories = why.grounds.iter().map(|grounds| GroundsView {
            memory: MemoryView::from(&grounds.memory),
            how: grounds.usage.as_ref().map_or("given".into(), |usage| usage.kind.clone()),
            influence: grounds.usage.as_ref().and_then(|usage| usage.influence.clone()),
        });
        Self {
            turn: TurnView::from(&why.turn),
            memories: memories.collect(),
            retrieval_id: why.retrieval.as_ref().map(|retrieval| retrieval.id.to_string()),
            retrieved_at: why.retrieval.as_ref().map(|retrieval| retrieval.at),
        }
    }
}

/// Why did you say this?
///
/// The memories that a turn says it used, then those it had been given, as they were known then.
#[utoipa::path(get, path = "/api/sessions/{session_id}/turns/{number}/why", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name"),
    ("number" = i32, Path, description = "The turn's place in the session")), responses(
    (status = 200, body = WhyView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_why(
    State(app): State<App>,
    Reader(caller): Reader,
    Named((id, number)): Named<(String, i32)>,
) -> Result<Json<WhyView>, Problem> {
    let why = app.engine().why(&caller, &id, number, clock::now()).await?;
    Ok(Json(WhyView::from(&why)))
}
