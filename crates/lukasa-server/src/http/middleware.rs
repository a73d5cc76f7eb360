//! Middleware of every request: a request id, the API version, security headers, and one log line
//! without content.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use lukasa_engine::telemetry::TRACE_TARGET;
use tracing::Instrument as _;

use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::clock;
use crate::gateway::{GATEWAY_PATH, GatewayError};
use crate::telemetry::{NO_ROUTE, method_name, record_request};

/// The dated version of the API, sent with every response.
pub const VERSION: &str = "2026-11-15";

const VERSION_HEADER: HeaderName = HeaderName::from_static("lukasa-version");
const REQUEST_ID: HeaderName = HeaderName::from_static("lukasa-request-id");

/// Paths whose responses contain memories, keys or sessions.
const DATA_PATHS: [&str; 5] = ["/api/", "/v1/", "/mem0/", "/mcp", "/openapi.json"];
/// Content security policy of data responses: a browser may only hand them to the caller.
const DATA_CSP: HeaderValue =
    HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'; sandbox");

/// For one year, and only for this name: others below it may be served by something else.
const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Adds headers that forbid caching, content sniffing and rendering as a page.
fn add_security_headers(headers: &mut HeaderMap) {
    let no_store = HeaderValue::from_static("no-store");
    headers.entry(header::CACHE_CONTROL).or_insert(no_store);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONTENT_SECURITY_POLICY, DATA_CSP);
}

/// The answer to a method that a route does not have.
pub async fn no_method(uri: Uri) -> Response {
    let problem = Problem::of(ErrorCode::MethodNotAllowed);
    match uri.path().starts_with(GATEWAY_PATH) {
        true => GatewayError::from(problem).into_response(),
        false => problem.into_response(),
    }
}

/// Tells browsers to use HTTPS alone from now on: for a server whose public address has it.
pub async fn require_https(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
    response
}

pub async fn wrap_request(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = format!("req_{:032x}", u128::from_be_bytes(clock::random()));
    let method = request.method().clone();
    // The route's template, never the path itself: a path can contain text of a memory.
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let span = tracing::trace_span!(
        target: TRACE_TARGET,
        "request",
        otel.kind = "server",
        http.request.method = method_name(&method),
        http.route = route.as_deref().unwrap_or(NO_ROUTE),
        http.response.status_code = tracing::field::Empty,
        request_id = %id,
    );
    let is_data = DATA_PATHS.iter().any(|start| request.uri().path().starts_with(start));
    let asked = request.headers().get(VERSION_HEADER);
    let mut response = if asked.is_some_and(|version| version != VERSION) {
        Problem::of(ErrorCode::UnsupportedVersion).into_response()
    } else {
        next.run(request).instrument(span.clone()).await
    };
    let headers = response.headers_mut();
    if is_data {
        add_security_headers(headers);
    }
    headers.insert(VERSION_HEADER, HeaderValue::from_static(VERSION));
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, value);
    }
    let took = started.elapsed();
    span.record("http.response.status_code", response.status().as_u16());
    record_request(&method, route.as_deref(), response.status(), took);
    tracing::info!(
        request_id = %id,
        %method,
        route = route.as_deref().unwrap_or("-"),
        status = response.status().as_u16(),
        micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        "request"
    );
    response
}
