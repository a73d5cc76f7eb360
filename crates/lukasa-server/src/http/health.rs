//! Liveness and readiness endpoints.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::App;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;

#[derive(Debug, Serialize, ToSchema)]
pub struct Liveness {
    #[schema(example = "ok")]
    status: &'static str,
    #[schema(example = "0.1.0")]
    version: &'static str,
}

const ALIVE: Liveness = Liveness { status: "ok", version: env!("CARGO_PKG_VERSION") };

/// Liveness check: the process is running.
#[utoipa::path(get, path = "/healthz", tag = "health", responses((status = 200, body = Liveness)))]
pub async fn healthz() -> Json<Liveness> {
    Json(ALIVE)
}

/// Readiness check: the database answers, its schema is present, and the server is not stopping.
#[utoipa::path(get, path = "/readyz", tag = "health", responses(
    (status = 200, body = Liveness),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub async fn readyz(State(app): State<App>) -> Response {
    if !app.limits().is_draining() && app.is_ready().await {
        return Json(ALIVE).into_response();
    }
    Problem::of(ErrorCode::Unavailable).into_response()
}
