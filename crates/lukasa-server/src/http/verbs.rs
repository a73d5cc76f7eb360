//! The verbs for going away, each with its own word: forget, delete, restore, purge, erase.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;

use super::App;
use super::auth::{Eraser, Writer};
use super::error::Problem;
use super::memory::{target, written_in_place};
use super::request::{Named, Sent};
use super::wire::Written;

/// These verbs take no fields.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Forget this.
///
/// Ends the memory now. It is never put into a prompt again, stays in the history, and can be
/// restored.
#[utoipa::path(post, path = "/api/memory/{id}/forget", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory")), responses(
    (status = 200, body = Written),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn forget_memory(
    State(app): State<App>,
    Writer(caller): Writer,
    Named(id): Named<String>,
    sent: Sent<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request, target) = (app.engine().clone(), sent.request(caller), target(&id));
    let outcome = app.detached(async move { engine.forget(&request, &target).await }).await?;
    Ok(written_in_place(&outcome))
}

/// Delete this.
///
/// Moves the memory into the trash. It can be restored for thirty days and is then removed for good.
#[utoipa::path(delete, path = "/api/memory/{id}", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory")), responses(
    (status = 200, body = Written),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn delete_memory(
    State(app): State<App>,
    Writer(caller): Writer,
    Named(id): Named<String>,
    sent: Sent<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request, target) = (app.engine().clone(), sent.request(caller), target(&id));
    let outcome = app.detached(async move { engine.delete(&request, &target).await }).await?;
    Ok(written_in_place(&outcome))
}

/// Bring back what was forgotten or deleted, exactly as it was.
#[utoipa::path(post, path = "/api/memory/{id}/restore", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id")), responses(
    (status = 200, body = Written),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn restore_memory(
    State(app): State<App>,
    Writer(caller): Writer,
    Named(id): Named<String>,
    sent: Sent<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request, target) = (app.engine().clone(), sent.request(caller), target(&id));
    let outcome = app.detached(async move { engine.restore(&request, &target).await }).await?;
    Ok(written_in_place(&outcome))
}

/// Erase this, now and everywhere.
///
/// Removes every version, link and piece of evidence and the kept answers that quote it. What stays
/// is a receipt that says how much was removed, and nothing of what it said. It cannot be undone.
#[utoipa::path(post, path = "/api/memory/{id}/erase", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory")), responses(
    (status = 200, body = Written),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn erase_memory(
    State(app): State<App>,
    Eraser(caller): Eraser,
    Named(id): Named<String>,
    sent: Sent<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request, target) = (app.engine().clone(), sent.request(caller), target(&id));
    let outcome = app.detached(async move { engine.erase(&request, &target).await }).await?;
    Ok(written_in_place(&outcome))
}

/// Remove for good what has lain in the trash for thirty days.
#[utoipa::path(post, path = "/api/memory/purge", tag = "memory", responses(
    (status = 200, body = Written),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn purge_trash(
    State(app): State<App>,
    Eraser(caller): Eraser,
    sent: Sent<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let outcome = app.detached(async move { engine.purge(&request).await }).await?;
    Ok(written_in_place(&outcome))
}
