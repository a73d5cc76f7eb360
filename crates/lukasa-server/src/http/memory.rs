//! Memories: list, save, get and update them, and their history.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::header::ETAG;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use lukasa_core::{Caller, FactId, Verb};
use lukasa_engine::context::MemoryRating;
use lukasa_engine::facts::{Listing, NewMemory};
use lukasa_engine::{Memory, Outcome, Point};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::App;
use crate::api::auth::{SpaceReader, SpaceWriter};
use crate::api::error::Problem;
use crate::api::memory::{CreateMemory, ListQuery, UpdateMemory, find_similar, target};
use crate::api::project::AskedProject;
use crate::api::request::{
    JsonRequest, PathParams, QueryParams, page_size, parse_history_cursor, print_cursor,
};
use crate::api::wire::{History, MemoryPage, MemoryView, SimilarView, When, WriteResult};

/// List memories, newest first.
///
/// With `as_of` and `known_at` it answers for any point on both time axes, and the same pair always
/// gives the same list. `status=all` lists memories in every state. Without a project it lists the
/// memories of every project.
#[utoipa::path(get, path = "/api/memory", tag = "memory", params(ListQuery), responses(
    (status = 200, body = MemoryPage),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_memories(
    State(app): State<App>,
    SpaceReader(caller): SpaceReader,
    asked: AskedProject,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Json<MemoryPage>, Problem> {
    let listing = match asked.scope() {
        Some(scope) => query.listing_in(scope)?,
        None => query.listing()?,
    };
    Ok(Json(list_page(&app, &caller, &listing).await?))
}

/// One page of a list of memories, with the user's ratings.
pub(super) async fn list_page(
    app: &App,
    caller: &Caller,
    listing: &Listing,
) -> Result<MemoryPage, Problem> {
    let now = app.now();
    let page = app.engine().facts.list(caller, listing, now).await?;
    Ok(MemoryPage {
        data: page.memories.into_iter().map(|memory| rated(memory, &page.ratings)).collect(),
        next_cursor: page.next.as_ref().map(print_cursor),
    })
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SaveQuery {
    /// Also return memories with so similar a meaning that this may be a duplicate.
    #[serde(default)]
    similar: bool,
}

/// Save a memory.
///
/// The memory is active at once. Saving the same content again returns the existing memory, and
/// saving a rule under an existing key changes the rule. With
/// `similar=true` the answer also lists possible duplicates: update one of these instead, or keep
/// both.
#[utoipa::path(post, path = "/api/memory", tag = "memory", params(SaveQuery), request_body = CreateMemory, responses(
    (status = 201, body = WriteResult), (status = 200, body = WriteResult, description = "The memory exists already"),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn save_memory(
    State(app): State<App>,
    SpaceWriter(caller): SpaceWriter,
    asked: AskedProject,
    QueryParams(query): QueryParams<SaveQuery>,
    sent: JsonRequest<CreateMemory>,
) -> Result<Response, Problem> {
    let request = sent.request(caller.clone());
    let new = NewMemory { active_project: asked.project(), ..sent.body.into_saved()? };
    let engine = app.engine().clone();
    let outcome =
        app.detached(async move { engine.facts.save_or_change(&request, new).await }).await?;
    let is_new = matches!(outcome.verb, Verb::Save | Verb::Propose) && outcome.operation.is_some();
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    let mut view = WriteResult::from(&outcome);
    if query.similar {
        view.similar =
            find_similar(&app, &caller, &outcome).await.iter().map(SimilarView::from).collect();
    }
    let headers = outcome.memories.first().map(etag).unwrap_or_default();
    Ok((status, headers, Json(view)).into_response())
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PointQuery {
    /// Only what was valid at this instant; now if absent.
    #[param(value_type = Option<String>, format = DateTime)]
    as_of: Option<When>,
    /// What Lukasa knew at this instant; now if absent.
    #[param(value_type = Option<String>, format = DateTime)]
    known_at: Option<When>,
}

/// Get one memory, now or at a point on both time axes.
#[utoipa::path(get, path = "/api/memory/{id}", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory"),
    PointQuery), responses(
    (status = 200, body = MemoryView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_memory(
    State(app): State<App>,
    SpaceReader(caller): SpaceReader,
    asked: AskedProject,
    PathParams(id): PathParams<String>,
    QueryParams(query): QueryParams<PointQuery>,
) -> Result<Response, Problem> {
    let point =
        Point { as_of: query.as_of.map(|at| at.0), known_at: query.known_at.map(|at| at.0) };
    let now = app.now();
    let memory = app.engine().facts.get(&caller, &asked.target(&id), point, now).await?;
    let ratings = app.engine().context.ratings(&caller, &[memory.version.fact], now).await?;
    Ok((etag(&memory), Json(rated(memory, &ratings))).into_response())
}

/// Which versions of a history to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HistoryQuery {
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// A memory with the user's rating.
pub(super) fn rated(memory: Memory, ratings: &BTreeMap<FactId, MemoryRating>) -> MemoryView {
    let rating = ratings.get(&memory.version.fact).map(|rating| rating.as_str());
    MemoryView { rating, ..MemoryView::from(memory) }
}

/// List every version of a memory, in the order they became known.
#[utoipa::path(get, path = "/api/memory/{id}/history", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory"),
    HistoryQuery), responses(
    (status = 200, body = History),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_memory_history(
    State(app): State<App>,
    SpaceReader(caller): SpaceReader,
    PathParams(id): PathParams<String>,
    QueryParams(query): QueryParams<HistoryQuery>,
) -> Result<Json<History>, Problem> {
    let after = query.cursor.as_deref().map(parse_history_cursor).transpose()?;
    let place = (after, page_size(query.limit)?);
    let page = app.engine().facts.history(&caller, &target(&id), place, app.now()).await?;
    Ok(Json(History {
        data: page.entries.iter().map(MemoryView::from).collect(),
        next_cursor: page.next.as_ref().map(print_cursor),
    }))
}

/// Change or correct a memory.
///
/// Nothing is overwritten: a new version is opened and the old one closed, on both time axes. With
/// `If-Match` the update happens only if the memory has not changed since.
#[utoipa::path(patch, path = "/api/memory/{id}", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory")),
    request_body = UpdateMemory, responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn update_memory(
    State(app): State<App>,
    SpaceWriter(caller): SpaceWriter,
    asked: AskedProject,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<UpdateMemory>,
) -> Result<Response, Problem> {
    let request = sent.request(caller);
    let update = sent.body.into_update()?;
    let engine = app.engine().clone();
    let target = asked.target(&id);
    let outcome =
        app.detached(async move { engine.facts.update(&request, &target, update).await }).await?;
    Ok(write_response(&outcome))
}

fn etag(memory: &Memory) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_str(&format!("\"{}\"", memory.version.id)) {
        headers.insert(ETAG, value);
    }
    headers
}

/// The response to a write that creates something: 201, or 200 if it existed.
pub fn create_response(outcome: &Outcome) -> Response {
    let status = if outcome.operation.is_some() { StatusCode::CREATED } else { StatusCode::OK };
    (status, write_response(outcome)).into_response()
}

/// The response to a write on something that exists.
pub fn write_response(outcome: &Outcome) -> Response {
    let headers = outcome.memories.first().map(etag).unwrap_or_default();
    (headers, Json(WriteResult::from(outcome))).into_response()
}
