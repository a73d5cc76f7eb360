//! Liveness and readiness endpoints.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use utoipa::ToSchema;

use super::App;
use super::error::Problem;

/// How long the result of a database check is cached.
const READINESS_TTL: Duration = Duration::from_secs(1);
/// Timeout of the database check.
const READINESS_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Debug, Serialize, ToSchema)]
pub struct Alive {
    #[schema(example = "ok")]
    status: &'static str,
    #[schema(example = "0.1.0")]
    version: &'static str,
}

const ALIVE: Alive = Alive { status: "ok", version: env!("CARGO_PKG_VERSION") };

/// The last result of the database check and its time. Concurrent checks share one connection.
#[derive(Default)]
pub struct Readiness(Mutex<Option<(Instant, bool)>>);

impl Readiness {
    async fn check(&self, app: &App) -> bool {
        let mut last = self.0.lock().await;
        if let Some((at, ready)) = *last
            && at.elapsed() < READINESS_TTL
        {
            return ready;
        }
        let ready = timeout(READINESS_TIMEOUT, app.engine().is_ready()).await.unwrap_or(false);
        *last = Some((Instant::now(), ready));
        ready
    }
}

/// Liveness check: the process is running.
#[utoipa::path(get, path = "/healthz", tag = "health", responses((status = 200, body = Alive)))]
pub async fn healthz() -> Json<Alive> {
    Json(ALIVE)
}

/// Readiness check: the database answers, its schema is present, and the server is not stopping.
#[utoipa::path(get, path = "/readyz", tag = "health", responses(
    (status = 200, body = Alive),
    (status = 503, body = Problem, content_type = "application/problem+json")))]
pub async fn readyz(State(app): State<App>) -> Response {
    if !app.limits().is_draining() && app.0.readiness.check(&app).await {
        return Json(ALIVE).into_response();
    }
    Problem::of("unavailable").into_response()
}
