//! Whether the server is alive, and whether it can do its work.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::App;
use super::error::Problem;

#[derive(Debug, Serialize, ToSchema)]
pub struct Alive {
    #[schema(example = "ok")]
    status: &'static str,
    #[schema(example = "0.1.0")]
    version: &'static str,
}

const ALIVE: Alive = Alive { status: "ok", version: env!("CARGO_PKG_VERSION") };

/// The process is alive.
#[utoipa::path(get, path = "/healthz", tag = "health", responses((status = 200, body = Alive)))]
pub async fn healthz() -> Json<Alive> {
    Json(ALIVE)
}

/// The database answers and its schema is there.
#[utoipa::path(get, path = "/readyz", tag = "health", responses(
    (status = 200, body = Alive),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub async fn readyz(State(app): State<App>) -> Response {
    if app.engine().is_ready().await {
        return Json(ALIVE).into_response();
    }
    Problem::of("unavailable").into_response()
}
