//! Handlers that remove or restore memories: forget, delete, restore, purge, erase.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;

use super::memory::write_response;
use crate::api::App;
use crate::api::auth::{Eraser, SpaceEraser, SpaceWriter};
use crate::api::error::Problem;
use crate::api::memory::target;
use crate::api::project::AskedProject;
use crate::api::request::{JsonRequest, PathParams};
use crate::api::wire::WriteResult;

/// An empty body: these operations take no fields.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Forget a memory.
///
/// Ends the memory now. It is never put into a prompt again, stays in the history, and can be
/// restored.
#[utoipa::path(post, path = "/api/memory/{id}/forget", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory")), responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn forget_memory(
    State(app): State<App>,
    SpaceWriter(caller): SpaceWriter,
    asked: AskedProject,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request, target) = (app.engine().clone(), sent.request(caller), asked.target(&id));
    let outcome =
        app.detached(async move { engine.removals.forget(&request, &target).await }).await?;
    Ok(write_response(&outcome))
}

/// Delete a memory.
///
/// Moves the memory into the trash. It can be restored for thirty days and is then removed
/// permanently.
#[utoipa::path(delete, path = "/api/memory/{id}", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory")), responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn delete_memory(
    State(app): State<App>,
    SpaceWriter(caller): SpaceWriter,
    asked: AskedProject,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request, target) = (app.engine().clone(), sent.request(caller), asked.target(&id));
    let outcome =
        app.detached(async move { engine.removals.delete(&request, &target).await }).await?;
    Ok(write_response(&outcome))
}

/// Restore a forgotten or deleted memory exactly as it was.
#[utoipa::path(post, path = "/api/memory/{id}/restore", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id")), responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn restore_memory(
    State(app): State<App>,
    SpaceWriter(caller): SpaceWriter,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request, target) = (app.engine().clone(), sent.request(caller), target(&id));
    let outcome =
        app.detached(async move { engine.removals.restore(&request, &target).await }).await?;
    Ok(write_response(&outcome))
}

/// Erase a memory, now and everywhere.
///
/// Removes every version, link and piece of evidence, and the stored responses that quote it. Only
/// a receipt stays, with counts of what was removed and none of its content. It cannot be undone.
#[utoipa::path(post, path = "/api/memory/{id}/erase", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory")), responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn erase_memory(
    State(app): State<App>,
    SpaceEraser(caller): SpaceEraser,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request, target) = (app.engine().clone(), sent.request(caller), target(&id));
    let outcome =
        app.detached(async move { engine.removals.erase(&request, &target).await }).await?;
    Ok(write_response(&outcome))
}

/// Permanently remove memories that have been in the trash for thirty days.
#[utoipa::path(post, path = "/api/memory/purge", tag = "memory", responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn purge_trash(
    State(app): State<App>,
    Eraser(caller): Eraser,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let outcome = app.detached(async move { engine.removals.purge(&request).await }).await?;
    Ok(write_response(&outcome))
}
