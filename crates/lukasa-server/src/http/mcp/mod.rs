//! MCP endpoint for assistants: `/mcp`, the Model Context Protocol over HTTP.
//!
//! Requests are authenticated like any other and passed to the protocol library. Each is served by
//! itself with its own credential: there is no state that a restart or a second server could lose.
//! The exception are older clients that support elicitation: the older protocol asks the user in
//! the middle of a call, so they get a session, bound to the credential that opened it. A request
//! with an unknown session, or with one of another caller, is served without a session.

mod handler;
mod panel;
mod questions;
mod resources;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::header::WWW_AUTHENTICATE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use lukasa_core::{Caller, CallerKind, Project};
use lukasa_engine::credentials::VerifiedCredential;
use moka::sync::Cache;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;

use super::BODY_BYTES;
use crate::api::auth::USER;
use crate::api::body::{MAX_JSON_VALUES, ReadBody};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::recheck::HeldCredential;
use crate::api::request::project_in;
use crate::api::{App, McpSettings};
use handler::Handler;

const SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");
/// How long an idle session is kept. After that the client is served without one.
const SESSION_IDLE_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// Maximum number of sessions at a time.
const MAX_SESSIONS: u64 = 1_000;

/// The authenticated caller of a request, passed to the handler as a request extension.
#[derive(Clone)]
struct McpCaller {
    admitted: VerifiedCredential,
    caller: Caller,
    credential: HeldCredential,
    /// The project that the client works on.
    project: Option<Project>,
}

/// State of the MCP routes.
#[derive(Clone)]
struct Mcp {
    app: App,
    /// For clients without elicitation in the middle of a call, which is nearly all.
    stateless: StreamableHttpService<Handler, NeverSessionManager>,
    /// For older clients with elicitation.
    stateful: StreamableHttpService<Handler, LocalSessionManager>,
    /// The caller of each session.
    sessions: Cache<String, Caller>,
}

/// The MCP routes, and the metadata that tells clients how to get a credential.
pub fn routes(app: &App) -> Router<App> {
    // Hosts and origins are checked in `answer` before authentication, not again by the library.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(BODY_BYTES);
    let plain = config.clone().with_legacy_session_mode(false).with_json_response(true);
    let mut manager = LocalSessionManager::default();
    let mut session_config = SessionConfig::default();
    session_config.keep_alive = Some(SESSION_IDLE_TIMEOUT);
    manager.session_config = session_config;
    let (one, other) = (app.clone(), app.clone());
    let mcp = Mcp {
        app: app.clone(),
        stateless: StreamableHttpService::new(
            move || Ok(Handler::new(one.clone())),
            Arc::new(NeverSessionManager::default()),
            plain,
        ),
        stateful: StreamableHttpService::new(
            move || Ok(Handler::new(other.clone())),
            Arc::new(manager),
            config,
        ),
        sessions: Cache::builder()
            .max_capacity(MAX_SESSIONS)
            .time_to_idle(SESSION_IDLE_TIMEOUT)
            .build(),
    };
    Router::new()
        .route("/mcp", any(serve))
        .route("/mcp/{user}", any(serve_user))
        .route("/.well-known/oauth-protected-resource", get(describe))
        .route("/.well-known/oauth-protected-resource/{*path}", get(describe))
        .with_state(mcp)
}

async fn serve(State(mcp): State<Mcp>, request: Request) -> Response {
    answer(&mcp, request).await
}

/// Serves a request with the user in the path, for clients that cannot send the header. It has the
/// same meaning as the header: a credential that is bound to a user stays bound.
async fn serve_user(
    State(mcp): State<Mcp>,
    Path(user): Path<String>,
    mut request: Request,
) -> Response {
    let Ok(name) = HeaderValue::from_bytes(user.as_bytes()) else {
        return Problem::of(ErrorCode::MalformedHeader).into_response();
    };
    if request.headers().get(USER).is_some_and(|named| named != name) {
        return Problem::of(ErrorCode::WrongUser).into_response();
    }
    request.headers_mut().insert(USER, name);
    answer(&mcp, request).await
}

async fn answer(mcp: &Mcp, request: Request) -> Response {
    let settings = mcp.app.mcp();
    if !mcp.app.is_local() && !settings.is_allowed(request.headers(), request.uri().host()) {
        return Problem::of(ErrorCode::CrossSite).into_response();
    }
    let caller = match mcp.app.admit_mcp_caller(request.headers()).await {
        Ok((admitted, caller)) => match project_in(request.headers()) {
            Ok(project) => {
                let credential = HeldCredential::of(request.headers(), &admitted);
                McpCaller { admitted, caller, credential, project }
            }
            Err(what) => {
                return Problem::of(ErrorCode::MalformedHeader).because(what).into_response();
            }
        },
        Err(problem) => return refusal(problem, settings, request.headers()),
    };
    let (mut parts, body) = request.into_parts();
    let (read, budget) = (Request::from_parts(parts.clone(), body), &mcp.app.limits().bodies);
    let mut read = match ReadBody::read(budget, read).await {
        Ok(read) => read,
        Err(problem) => return problem.into_response(),
    };
    if let Err(problem) = read.check_json(budget, MAX_JSON_VALUES).await {
        return problem.into_response();
    }
    let bytes = read.bytes.clone();
    parts.extensions.insert(caller.clone());
    let session =
        parts.headers.get(SESSION_HEADER).and_then(|id| id.to_str().ok()).map(str::to_owned);
    let opens_session = session.is_none()
        && parts.method == Method::POST
        && caller.caller.kind == CallerKind::Human
        && opens_with_elicitation(&bytes)
        && mcp.sessions.entry_count() < MAX_SESSIONS;
    // The server sends no notifications, so it opens no stream on GET: that would only delay its
    // shutdown.
    let has_session = parts.method != Method::GET
        && session.is_some_and(|id| mcp.sessions.get(&id).as_ref() == Some(&caller.caller));
    let request = Request::from_parts(parts, Body::from(bytes));
    if !opens_session && !has_session {
        return mcp.stateless.handle(request).await.map(Body::new);
    }
    let response = mcp.stateful.handle(request).await;
    if let (true, Some(id)) =
        (opens_session, response.headers().get(SESSION_HEADER).and_then(|id| id.to_str().ok()))
    {
        mcp.sessions.insert(id.to_owned(), caller.caller);
    }
    response.map(Body::new)
}

/// Whether this message opens the older protocol for a client that supports elicitation.
fn opens_with_elicitation(body: &Bytes) -> bool {
    let message: Value = serde_json::from_slice(body).unwrap_or_default();
    message["method"] == "initialize"
        && message.pointer("/params/capabilities/elicitation").is_some_and(Value::is_object)
}

/// The response to a refused request. A 401 links to the metadata that says how to get a
/// credential.
fn refusal(problem: Problem, settings: &McpSettings, headers: &HeaderMap) -> Response {
    let mut response = problem.into_response();
    if response.status() == StatusCode::UNAUTHORIZED {
        let base = settings.base(headers);
        let challenge =
            format!("Bearer resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\"");
        if let Ok(challenge) = HeaderValue::from_str(&challenge) {
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
    }
    response
}

/// Metadata of the protected resource: its address and its authorization servers (RFC 9728).
async fn describe(State(mcp): State<Mcp>, headers: HeaderMap) -> Response {
    if mcp.app.is_local() {
        return Problem::of(ErrorCode::NotFound).into_response();
    }
    axum::Json(mcp.app.mcp().description(&headers)).into_response()
}
