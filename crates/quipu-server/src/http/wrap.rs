//! What wraps every request: an id, a version, and one line in the log without content.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::error::Problem;
use crate::clock;

/// The dated version of the API; every answer carries it.
pub const VERSION: &str = "2026-11-15";

const VERSION_HEADER: HeaderName = HeaderName::from_static("quipu-version");
const REQUEST_ID: HeaderName = HeaderName::from_static("quipu-request-id");

pub async fn every_request(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = format!("req_{:032x}", u128::from_be_bytes(clock::random()));
    let method = request.method().clone();
    // The route's template, never the path itself: a path can hold words of a memory.
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let asked = request.headers().get(VERSION_HEADER);
    let mut response = if asked.is_some_and(|version| version != VERSION) {
        Problem::of("unsupported_version").into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    headers.insert(VERSION_HEADER, HeaderValue::from_static(VERSION));
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, value);
    }
    tracing::info!(
        request_id = %id,
        %method,
        route = route.as_deref().unwrap_or("-"),
        status = response.status().as_u16(),
        micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
        "request"
    );
    response
}
