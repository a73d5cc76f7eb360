//! The log of operations, and undo.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lukasa_core::{Caller, Operation, UserId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::memory::write_response;
use super::removal::Nothing;
use crate::api::App;
use crate::api::auth::{SpaceReader, SpaceWriter};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::request::{
    JsonRequest, PathParams, QueryParams, page_size, parse_cursor, print_cursor,
};
use crate::api::wire::{OperationView, When, WriteResult};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct OperationsQuery {
    /// Only operations on this memory.
    memory_id: Option<String>,
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// A page of operations.
#[derive(Debug, Serialize, ToSchema)]
pub struct OperationPage {
    data: Vec<OperationView>,
    next_cursor: Option<String>,
}

/// List operations, newest first.
#[utoipa::path(get, path = "/api/operations", tag = "operations", params(OperationsQuery), responses(
    (status = 200, body = OperationPage),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_operations(
    State(app): State<App>,
    SpaceReader(caller): SpaceReader,
    QueryParams(query): QueryParams<OperationsQuery>,
) -> Result<Json<OperationPage>, Problem> {
    let before = query.cursor.as_deref().map(parse_cursor::<When>).transpose()?;
    let memory = query.memory_id.as_deref().map(str::parse).transpose();
    let memory = memory
        .map_err(|_| Problem::of(ErrorCode::MalformedQuery).because("`memory_id` is not an id"))?;
    let limit = page_size(query.limit)?;
    let page = app
        .engine()
        .facts
        .operations(&caller, memory, before.map(|at| at.0), limit, app.now())
        .await?;
    Ok(Json(OperationPage {
        data: views(&app, &caller, &page.operations).await?,
        next_cursor: page.next.as_ref().map(print_cursor),
    }))
}

/// Get one operation.
#[utoipa::path(get, path = "/api/operations/{id}", tag = "operations", params(
    ("id" = String, Path, description = "The operation's id")), responses(
    (status = 200, body = OperationView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_operation(
    State(app): State<App>,
    SpaceReader(caller): SpaceReader,
    PathParams(id): PathParams<String>,
) -> Result<Json<OperationView>, Problem> {
    let id = id.parse().map_err(|_| Problem::of(ErrorCode::OperationNotFound))?;
    let found = app.engine().facts.operation(&caller, id, app.now()).await?;
    let mut found = views(&app, &caller, std::slice::from_ref(&found)).await?;
    found.pop().map(Json).ok_or_else(|| Problem::of(ErrorCode::OperationNotFound))
}

/// Views of operations; in a space, with the names of the members who wrote them.
async fn views(
    app: &App,
    caller: &Caller,
    operations: &[Operation],
) -> Result<Vec<OperationView>, Problem> {
    let members: Vec<UserId> = operations.iter().filter_map(|operation| operation.member).collect();
    let names = app.engine().spaces.names_of(caller.tenant, &members).await?;
    let view = |operation: &Operation| OperationView {
        member: operation.member.and_then(|member| names.get(&member).cloned()),
        ..OperationView::from(operation)
    };
    Ok(operations.iter().map(view).collect())
}

/// Undo an operation as a whole.
///
/// Every version it closed is opened again, and every version it opened is closed. The undo is
/// itself an operation, so it can be undone.
#[utoipa::path(post, path = "/api/operations/{id}/undo", tag = "operations", params(
    ("id" = String, Path, description = "The operation's id, or `last` for the newest that is not undone")), responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn undo_operation(
    State(app): State<App>,
    SpaceWriter(caller): SpaceWriter,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    if id == "last" {
        let outcome = app.detached(async move { engine.undo.undo_last(&request).await }).await?;
        return Ok(write_response(&outcome));
    }
    let id = id.parse().map_err(|_| Problem::of(ErrorCode::OperationNotFound))?;
    let outcome = app.detached(async move { engine.undo.undo(&request, id).await }).await?;
    Ok(write_response(&outcome))
}
