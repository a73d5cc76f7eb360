//! Sessions and their turns: open, append, list.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use quipu_core::{NewTurn, Role, Session, Turn};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::auth::{Reader, Writer};
use super::error::Problem;
use super::request::{Asked, Named, Sent, page_size, parse_cursor, print_cursor};
use super::wire::When;
use crate::clock;

/// A chat.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionView {
    #[schema(example = "chat-42")]
    id: String,
    title: Option<String>,
    opened_at: Timestamp,
    last_turn_at: Timestamp,
    turns: i32,
}

impl From<&Session> for SessionView {
    fn from(session: &Session) -> Self {
        Self {
            id: session.id.clone(),
            title: session.title.clone(),
            opened_at: session.opened_at,
            last_turn_at: session.last_turn_at,
            turns: session.turns,
        }
    }
}

/// A message of a chat.
#[derive(Debug, Serialize, ToSchema)]
pub struct TurnView {
    #[schema(example = "trn_01hx3v9d0kf7rtm4q5wz8yb2ca")]
    pub id: String,
    pub session_id: String,
    pub number: i32,
    #[schema(example = "user")]
    pub role: &'static str,
    pub speaker: Option<String>,
    pub content: String,
    /// Where the words came from; set by the server.
    #[schema(example = "user_turn")]
    pub origin: &'static str,
    pub said_at: Timestamp,
    pub recorded_at: Timestamp,
}

impl From<&Turn> for TurnView {
    fn from(turn: &Turn) -> Self {
        Self {
            id: turn.id.to_string(),
            session_id: turn.session.clone(),
            number: turn.number,
            role: turn.role.as_str(),
            speaker: turn.speaker.clone(),
            content: turn.content.clone(),
            origin: turn.origin.as_str(),
            said_at: turn.said_at,
            recorded_at: turn.recorded_at,
        }
    }
}

/// A chat to open.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenSession {
    /// Your own name for it; one is drawn if absent.
    #[schema(example = "chat-42")]
    id: Option<String>,
    title: Option<String>,
}

/// Open a session.
///
/// Opening one that is there gives the one that is there. Appending opens it too.
#[utoipa::path(post, path = "/api/sessions", tag = "sessions", request_body = OpenSession, responses(
    (status = 200, body = SessionView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn open_session(
    State(app): State<App>,
    Writer(caller): Writer,
    sent: Sent<OpenSession>,
) -> Result<Json<SessionView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let OpenSession { id, title } = sent.body;
    let work = async move { engine.open_session(&request, id.as_deref(), title.as_deref()).await };
    Ok(Json(SessionView::from(&app.detached(work).await?)))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of sessions, the one last spoken in first.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionPage {
    data: Vec<SessionView>,
    next_cursor: Option<String>,
}

/// List sessions.
#[utoipa::path(get, path = "/api/sessions", tag = "sessions", params(PageQuery), responses(
    (status = 200, body = SessionPage),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_sessions(
    State(app): State<App>,
    Reader(caller): Reader,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<SessionPage>, Problem> {
    let before = query.cursor.as_deref().map(parse_cursor).transpose()?;
    let limit = page_size(query.limit)?;
    let (sessions, next) = app.engine().sessions(&caller, before, limit, clock::now()).await?;
    let data = sessions.iter().map(SessionView::from).collect();
    Ok(Json(SessionPage { data, next_cursor: next.as_ref().map(print_cursor) }))
}

/// Get a session.
#[utoipa::path(get, path = "/api/sessions/{session_id}", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name")), responses(
    (status = 200, body = SessionView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_session(
    State(app): State<App>,
    Reader(caller): Reader,
    Named(id): Named<String>,
) -> Result<Json<SessionView>, Problem> {
    let session = app.engine().session(&caller, &id, clock::now()).await?;
    Ok(Json(SessionView::from(&session)))
}

/// A message to append.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AppendTurn {
    /// `user`, `assistant`, `system` or `tool`. It decides how far the words are trusted.
    #[schema(example = "user")]
    role: String,
    #[schema(example = "I moved to Lisbon in March.")]
    content: String,
    /// The name of whoever said it, where several people speak.
    speaker: Option<String>,
    /// When it was said; now if absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    at: Option<When>,
}

/// Messages to append, in order: between 1 and 100.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AppendTurns {
    turns: Vec<AppendTurn>,
}

/// Where the appended messages stand.
#[derive(Debug, Serialize, ToSchema)]
pub struct AppendedTurns {
    session: SessionView,
    /// The ids of the turns, in the order they were sent.
    turn_ids: Vec<String>,
    /// The number of the first of them.
    first: i32,
}

/// Append turns.
///
/// The session is opened if it is not there. Turns are never changed afterwards, and are found by
/// recall as soon as this answers. With an `Idempotency-Key` they are appended once.
#[utoipa::path(post, path = "/api/sessions/{session_id}/turns", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name")),
    request_body = AppendTurns, responses(
    (status = 201, body = AppendedTurns),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn append_turns(
    State(app): State<App>,
    Writer(caller): Writer,
    Named(id): Named<String>,
    sent: Sent<AppendTurns>,
) -> Result<Response, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let turn = |turn: AppendTurn| {
        let unknown = || {
            Problem::of("malformed_body")
                .because("`role` is one of user, assistant, system and tool")
        };
        Ok(NewTurn {
            role: Role::parse(&turn.role).ok_or_else(unknown)?,
            speaker: turn.speaker,
            content: turn.content,
            said_at: turn.at.map(|at| at.0),
        })
    };
    let turns: Vec<NewTurn> =
        sent.body.turns.into_iter().map(turn).collect::<Result<_, Problem>>()?;
    let work = async move { engine.append_turns(&request, &id, turns).await };
    let appended = app.detached(work).await?;
    let view = AppendedTurns {
        session: SessionView::from(&appended.session),
        turn_ids: appended.turns.iter().map(ToString::to_string).collect(),
        first: appended.first,
    };
    Ok((StatusCode::CREATED, Json(view)).into_response())
}

/// A page of turns, in the order they were said.
#[derive(Debug, Serialize, ToSchema)]
pub struct TurnPage {
    data: Vec<TurnView>,
    next_cursor: Option<String>,
}

/// List the turns of a session.
#[utoipa::path(get, path = "/api/sessions/{session_id}/turns", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name"), PageQuery), responses(
    (status = 200, body = TurnPage),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_turns(
    State(app): State<App>,
    Reader(caller): Reader,
    Named(id): Named<String>,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<TurnPage>, Problem> {
    let after = query.cursor.as_deref().map(parse_cursor).transpose()?.unwrap_or(0);
    let limit = page_size(query.limit)?;
    let (turns, next) = app.engine().turns(&caller, &id, after, limit, clock::now()).await?;
    let data = turns.iter().map(TurnView::from).collect();
    Ok(Json(TurnPage { data, next_cursor: next.as_ref().map(print_cursor) }))
}
