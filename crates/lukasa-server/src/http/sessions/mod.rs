//! Sessions and their turns: open, list and get sessions, append and list turns.

pub mod lifecycle;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use lukasa_core::{
    Caller, CallerKind, Keep, Mark, NewTurn, Role, Session, SessionState, Span, Turn,
};
use lukasa_engine::learning::SessionLearning;
use lukasa_engine::sessions::{HiddenWords, NewSession, SessionFilter, TurnList};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::App;
use crate::api::auth::{Reader, Writer};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::memory::parse_optional_project;
use crate::api::project::AskedProject;
use crate::api::request::{
    JsonRequest, PathParams, QueryParams, page_size, parse_cursor, print_cursor,
};
use crate::api::wire::When;

pub(super) use lukasa_core::domain::hidden_text;

/// A session: one conversation.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionView {
    #[schema(example = "chat-42")]
    id: String,
    title: Option<String>,
    opened_at: Timestamp,
    last_turn_at: Timestamp,
    turns: i32,
    /// `active`, `idle` (closed) or `archived`.
    #[schema(example = "active")]
    state: &'static str,
    closed_at: Option<Timestamp>,
    /// When it was moved into the trash; it can be restored for thirty days.
    trashed_at: Option<Timestamp>,
    /// The last turn that was learned from.
    extracted_through: i32,
    /// A short summary so far.
    summary: Option<String>,
    /// How much of the turns is kept after learning: `full`, `excerpts` or `none`.
    #[schema(example = "full")]
    keep_turns: &'static str,
    /// Whether no turns are stored.
    incognito: bool,
    /// The project it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    /// The domain that the title or the summary is about, if the user has not opened it. They are hidden
    /// then; the user can see them with `show_hidden=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    hidden_domain: Option<String>,
    /// How far learning is. Only in the answer to a request for one session.
    #[serde(skip_serializing_if = "Option::is_none")]
    learning: Option<SessionLearningView>,
}

/// How far learning from a session is, and what came of it.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionLearningView {
    /// `nothing` (there are no turns), `waiting_for_pause` (until the session is closed or there was
    /// no turn for a while), `queued`, `running`, `failed`, `learned`, `off` (only on request),
    /// `waiting_for_model` (only imported turns are left, and there is no chat model) or `no_model`.
    #[schema(example = "waiting_for_pause")]
    state: &'static str,
    /// When it starts, if that is known.
    starts_at: Option<Timestamp>,
    /// When the session was last learned from.
    learned_at: Option<Timestamp>,
    /// How many memories were added, changed or supported.
    learned: i64,
    /// How many memories wait for an answer of the user.
    proposed: i64,
    /// How many proposals of the model were left out, except repetitions of what is known.
    left_out: i64,
}

impl From<SessionLearning> for SessionLearningView {
    fn from(learning: SessionLearning) -> Self {
        let SessionLearning { progress, totals } = learning;
        Self {
            state: progress.state.as_str(),
            starts_at: progress.starts_at,
            learned_at: totals.learned_at,
            learned: totals.learned,
            proposed: totals.proposed,
            left_out: totals.left_out,
        }
    }
}

impl SessionView {
    /// The session, without the words that are about a domain that is not open.
    fn masked(session: &Session, hidden: &HiddenWords) -> Self {
        let shown = |text: &Option<String>, hidden: &Option<String>| match hidden {
            Some(domain) => text.as_ref().map(|_| hidden_text(domain)),
            None => text.clone(),
        };
        Self {
            id: session.id.clone(),
            title: shown(&session.title, &hidden.title),
            opened_at: session.opened_at,
            last_turn_at: session.last_turn_at,
            turns: session.turns,
            state: session.state.as_str(),
            closed_at: session.closed_at,
            trashed_at: session.trashed_at,
            extracted_through: session.extracted_through,
            summary: shown(&session.summary, &hidden.summary),
            keep_turns: session.keep.as_str(),
            incognito: session.incognito,
            project: session.project.as_ref().map(ToString::to_string),
            hidden_domain: hidden.domain().cloned(),
            learning: None,
        }
    }

    /// The session as this caller sees it.
    async fn of(app: &App, caller: &Caller, session: &Session) -> Result<Self, Problem> {
        let hidden = hidden_words(app, caller, std::slice::from_ref(session), false).await?;
        Ok(Self::masked(session, &hidden.into_iter().next().unwrap_or_default()))
    }

    /// The same of several sessions. Nothing is hidden if the user asks so.
    async fn of_all(
        app: &App,
        caller: &Caller,
        sessions: &[Session],
        show_hidden: bool,
    ) -> Result<Vec<Self>, Problem> {
        let hidden = hidden_words(app, caller, sessions, show_hidden).await?;
        let views = sessions.iter().zip(&hidden);
        Ok(views.map(|(session, hidden)| Self::masked(session, hidden)).collect())
    }
}

/// The words of these sessions that are not shown; none if the user asks so.
async fn hidden_words(
    app: &App,
    caller: &Caller,
    sessions: &[Session],
    show_hidden: bool,
) -> Result<Vec<HiddenWords>, Problem> {
    match show_hidden && caller.kind == CallerKind::Human {
        true => Ok(vec![HiddenWords::default(); sessions.len()]),
        false => Ok(app.engine().sessions.hidden_words_of(caller, sessions, app.now()).await?),
    }
}

/// A part of a message that its sender did not write.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SpanView {
    /// Its first character, counted from zero.
    from: usize,
    /// The first character after it.
    to: usize,
    /// `prefilled`, `pasted` or `quoted`. It counts as a document, whatever the role of the
    /// message.
    #[serde(rename = "as")]
    #[schema(example = "pasted")]
    mark: String,
}

/// A turn: one message of a session.
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
    /// Parts that the sender did not write.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub spans: Vec<SpanView>,
    /// The domain that the turn is about, if the user has not opened it. `content` is hidden then;
    /// the user can see it with `show_hidden=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hidden_domain: Option<String>,
}

impl TurnView {
    /// The turn, with its content hidden if it is about a domain that is not open.
    fn masked(turn: &Turn, hidden: Option<String>) -> Self {
        let view = Self::from(turn);
        match hidden {
            None => view,
            Some(domain) => Self {
                content: hidden_text(&domain),
                spans: Vec::new(),
                hidden_domain: Some(domain),
                ..view
            },
        }
    }
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
            spans: turn.spans.iter().map(SpanView::from).collect(),
            hidden_domain: None,
        }
    }
}

impl From<&Span> for SpanView {
    fn from(span: &Span) -> Self {
        Self { from: span.from, to: span.to, mark: span.mark.as_str().to_owned() }
    }
}

/// A session to open.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenSession {
    /// Your own id for it; generated if absent.
    #[schema(example = "chat-42")]
    id: Option<String>,
    title: Option<String>,
    /// How much of the turns is kept after learning: `full`, `excerpts` or `none`. The policy
    /// decides if absent.
    keep_turns: Option<String>,
    /// Store no turns: they are acknowledged and dropped.
    #[serde(default)]
    incognito: bool,
    /// The project it belongs to. It cannot be changed later.
    project: Option<String>,
}

/// Open a session.
///
/// If the session exists, it is returned. Appending a turn opens a session too.
#[utoipa::path(post, path = "/api/sessions", tag = "sessions", request_body = OpenSession, responses(
    (status = 200, body = SessionView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn open_session(
    State(app): State<App>,
    Writer(caller): Writer,
    asked: AskedProject,
    sent: JsonRequest<OpenSession>,
) -> Result<Json<SessionView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller.clone()));
    let OpenSession { id, title, keep_turns, incognito, project } = sent.body;
    let project = parse_optional_project(project.as_deref())?.or_else(|| asked.project());
    let unknown = || Problem::invalid("keep_turns", "one of full, excerpts, none");
    let keep = keep_turns.map(|word| Keep::parse(&word).ok_or_else(unknown)).transpose()?;
    let new = NewSession { id, title, keep, incognito, project };
    let work = async move { engine.sessions.open(&request, new).await };
    Ok(Json(SessionView::of(&app, &caller, &app.detached(work).await?).await?))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SessionsQuery {
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
    /// Only sessions in this state: `active`, `idle` or `archived`.
    state: Option<String>,
    /// List the sessions in the trash instead.
    #[serde(default)]
    trashed: bool,
    /// Only sessions of this project.
    project: Option<String>,
    /// Also show words about domains that are not open. Accepted only from the user.
    #[serde(default)]
    show_hidden: bool,
}

/// A page of sessions, the most recent first.
#[derive(Debug, Serialize, ToSchema)]
pub struct SessionPage {
    data: Vec<SessionView>,
    next_cursor: Option<String>,
}

/// List sessions.
#[utoipa::path(get, path = "/api/sessions", tag = "sessions", params(SessionsQuery), responses(
    (status = 200, body = SessionPage),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_sessions(
    State(app): State<App>,
    Reader(caller): Reader,
    QueryParams(query): QueryParams<SessionsQuery>,
) -> Result<Json<SessionPage>, Problem> {
    let before = query.cursor.as_deref().map(parse_cursor).transpose()?;
    let limit = page_size(query.limit)?;
    let unknown = || {
        Problem::of(ErrorCode::MalformedQuery).because("`state` must be active, idle or archived")
    };
    let state = query.state.map(|word| SessionState::parse(&word).ok_or_else(unknown));
    let project = parse_optional_project(query.project.as_deref())?;
    let which = SessionFilter { trashed: query.trashed, state: state.transpose()?, project };
    let page = app.engine().sessions.list(&caller, which, before, limit, app.now());
    let (sessions, next) = page.await?;
    let data = SessionView::of_all(&app, &caller, &sessions, query.show_hidden).await?;
    Ok(Json(SessionPage { data, next_cursor: next.as_ref().map(print_cursor) }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SessionQuery {
    /// Also show words about domains that are not open. Accepted only from the user.
    #[serde(default)]
    show_hidden: bool,
}

/// Get a session.
#[utoipa::path(get, path = "/api/sessions/{session_id}", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name"), SessionQuery), responses(
    (status = 200, body = SessionView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_session(
    State(app): State<App>,
    Reader(caller): Reader,
    PathParams(id): PathParams<String>,
    QueryParams(query): QueryParams<SessionQuery>,
) -> Result<Json<SessionView>, Problem> {
    let (engine, now) = (app.engine(), app.now());
    let session = engine.sessions.get(&caller, &id, now).await?;
    let learning = engine.learning.progress(&caller, &session, now).await?;
    let one = std::slice::from_ref(&session);
    let hidden = hidden_words(&app, &caller, one, query.show_hidden).await?;
    let view = SessionView::masked(&session, &hidden.into_iter().next().unwrap_or_default());
    Ok(Json(SessionView { learning: Some(learning.into()), ..view }))
}

/// A message to append.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AppendTurn {
    /// `user`, `assistant`, `system` or `tool`. It decides how far the content is trusted.
    #[schema(example = "user")]
    role: String,
    #[schema(example = "I moved to Lisbon in March.")]
    content: String,
    /// The name of the speaker, if several people speak.
    speaker: Option<String>,
    /// When it was said; now if absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    at: Option<When>,
    /// Parts of the message that the sender did not write. Mark text that was pasted, quoted or
    /// prefilled by a link: it is not learned from as the user's own words. An empty list means
    /// that everything was typed. If absent it is guessed: quoted lines, code and very long
    /// paragraphs then do not count as the user's own words.
    spans: Option<Vec<SpanView>>,
    /// Ids of the memories that it cites or relies on.
    #[serde(default)]
    used: Vec<String>,
    /// The retrieval that returned them.
    retrieval_id: Option<String>,
}

impl AppendTurn {
    /// The turn at this place of the request.
    fn into_new(self, place: usize) -> Result<NewTurn, Problem> {
        let invalid = |field: &str, what| Problem::invalid(&format!("turns/{place}/{field}"), what);
        let role = Role::parse(&self.role)
            .ok_or_else(|| invalid("role", "one of user, assistant, system, tool"))?;
        let span = |(number, span): (usize, SpanView)| {
            let unknown = "one of prefilled, pasted, quoted";
            let mark = Mark::parse(&span.mark)
                .ok_or_else(|| invalid(&format!("spans/{number}/as"), unknown))?;
            Ok(Span { from: span.from, to: span.to, mark })
        };
        let used = self.used.iter().map(|id| id.parse());
        let retrieval = self.retrieval_id.map(|id| id.parse()).transpose();
        Ok(NewTurn {
            role,
            speaker: self.speaker,
            content: self.content,
            said_at: self.at.map(|at| at.0),
            marked: self.spans.is_some(),
            spans: self
                .spans
                .unwrap_or_default()
                .into_iter()
                .enumerate()
                .map(span)
                .collect::<Result<_, Problem>>()?,
            used: used
                .collect::<Result<_, _>>()
                .map_err(|_| Problem::of(ErrorCode::MemoryNotFound))?,
            retrieval: retrieval.map_err(|_| Problem::of(ErrorCode::RetrievalNotFound))?,
            reported: false,
        })
    }
}

/// Messages to append, in order: between 1 and 100.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AppendTurns {
    turns: Vec<AppendTurn>,
    /// The project of the session, if it has to be opened. Another one than the session has is refused.
    project: Option<String>,
}

/// Result of appending turns.
#[derive(Debug, Serialize, ToSchema)]
pub struct AppendedTurns {
    session: SessionView,
    /// The ids of the turns, in the order they were sent.
    turn_ids: Vec<String>,
    /// The number of the first appended turn.
    first: i32,
    /// Whether they were stored; in an incognito session, and while memory is paused, they are not.
    kept: bool,
}

/// Append turns.
///
/// The session is opened if it does not exist. Turns are never changed afterwards, and are found by
/// recall as soon as this request is answered. With an `Idempotency-Key` they are appended once.
#[utoipa::path(post, path = "/api/sessions/{session_id}/turns", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name")),
    request_body = AppendTurns, responses(
    (status = 201, body = AppendedTurns),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn append_turns(
    State(app): State<App>,
    Writer(caller): Writer,
    asked: AskedProject,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<AppendTurns>,
) -> Result<Response, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller.clone()));
    let turns = sent.body.turns.into_iter().enumerate();
    let turns: Vec<NewTurn> =
        turns.map(|(place, turn)| turn.into_new(place)).collect::<Result<_, Problem>>()?;
    let project = parse_optional_project(sent.body.project.as_deref())?;
    let project = project.or_else(|| asked.project());
    let work = async move { engine.sessions.append_turns_in(&request, &id, project, turns).await };
    let appended = app.detached(work).await?;
    let view = AppendedTurns {
        session: SessionView::of(&app, &caller, &appended.session).await?,
        turn_ids: appended.turns.iter().map(ToString::to_string).collect(),
        first: appended.first,
        kept: appended.kept,
    };
    Ok((StatusCode::CREATED, Json(view)).into_response())
}

/// A page of turns, in the order they were said.
#[derive(Debug, Serialize, ToSchema)]
pub struct TurnPage {
    data: Vec<TurnView>,
    next_cursor: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct TurnQuery {
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
    /// Also show turns about domains that are not open. Accepted only from the user.
    #[serde(default)]
    show_hidden: bool,
}

/// List the turns of a session.
#[utoipa::path(get, path = "/api/sessions/{session_id}/turns", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name"), TurnQuery), responses(
    (status = 200, body = TurnPage),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_turns(
    State(app): State<App>,
    Reader(caller): Reader,
    PathParams(id): PathParams<String>,
    QueryParams(query): QueryParams<TurnQuery>,
) -> Result<Json<TurnPage>, Problem> {
    let after = query.cursor.as_deref().map(parse_cursor).transpose()?.unwrap_or(0);
    let limit = page_size(query.limit)?;
    let (turns, next) = app.engine().sessions.turns(&caller, &id, after, limit, app.now()).await?;
    let hidden = match query.show_hidden && caller.kind == CallerKind::Human {
        true => vec![None; turns.len()],
        false => {
            let shown = TurnList::Page(&turns);
            app.engine().sessions.closed_domains_of(&caller, shown, app.now()).await?
        }
    };
    let data = turns.iter().zip(hidden).map(|(turn, domain)| TurnView::masked(turn, domain));
    let data = data.collect();
    Ok(Json(TurnPage { data, next_cursor: next.as_ref().map(print_cursor) }))
}
