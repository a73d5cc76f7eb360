//! The door for assistants: `/mcp`, the Model Context Protocol over HTTP.
//!
//! Requests come in here, are let in like any other, and go to the protocol's own library. Each is
//! served by itself, with the credential it came with: there is no state that a restart or a second
//! server could lose. The one exception are older clients that can put a question to their person;
//! the older protocol asks in the middle of a call, so they get a session, bound to the credential
//! that opened it. Whoever names a session that is not theirs, or that is gone, is served without.

mod handler;
mod panel;
mod questions;
mod resources;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::header::WWW_AUTHENTICATE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use lukasa_core::{Caller, CallerKind};
use lukasa_engine::access::Admitted;
use moka::sync::Cache;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;

use super::auth::USER;
use super::body::{MAX_JSON_VALUES, ReadBody};
use super::error::Problem;
use super::{App, BODY_BYTES};
use handler::Handler;
pub use settings::McpSettings;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// How long a session waits for its client. After that the client is served without one.
const SESSION_TIME: Duration = Duration::from_secs(60 * 60);
/// More people than these are not asked at a time.
const SESSIONS: u64 = 1_000;

/// Who came in with a request; travels with it to the handler.
#[derive(Clone)]
struct Arriving {
    admitted: Admitted,
    caller: Caller,
}

/// What the door needs.
#[derive(Clone)]
struct Mcp {
    app: App,
    /// For clients that cannot be asked anything in the middle of a call, which is nearly all.
    plain: StreamableHttpService<Handler, NeverSessionManager>,
    /// For older clients that can.
    asking: StreamableHttpService<Handler, LocalSessionManager>,
    /// Whose each session is.
    sessions: Cache<String, Caller>,
}

/// The routes of the door, and of the description that tells clients how to be let in.
pub fn routes(app: &App) -> Router<App> {
    // Hosts and origins are checked here, before anybody is let in, and not once more.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(BODY_BYTES);
    let plain = config.clone().with_legacy_session_mode(false).with_json_response(true);
    let mut manager = LocalSessionManager::default();
    let mut lasting = SessionConfig::default();
    lasting.keep_alive = Some(SESSION_TIME);
    manager.session_config = lasting;
    let (one, other) = (app.clone(), app.clone());
    let mcp = Mcp {
        app: app.clone(),
        plain: StreamableHttpService::new(
            move || Ok(Handler::new(one.clone())),
            Arc::new(NeverSessionManager::default()),
            plain,
        ),
        asking: StreamableHttpService::new(
            move || Ok(Handler::new(other.clone())),
            Arc::new(manager),
            config,
        ),
        sessions: Cache::builder().max_capacity(SESSIONS).time_to_idle(SESSION_TIME).build(),
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

/// The same with the user in the path, for clients that cannot send a header of their own. It says
/// no more than the header does: a credential that is bound to somebody stays bound.
async fn serve_user(
    State(mcp): State<Mcp>,
    Path(user): Path<String>,
    mut request: Request,
) -> Response {
    let Ok(name) = HeaderValue::from_bytes(user.as_bytes()) else {
        return Problem::of("malformed_header").into_response();
    };
    if request.headers().get(USER).is_some_and(|named| named != name) {
        return Problem::of("wrong_user").into_response();
    }
    request.headers_mut().insert(USER, name);
    answer(&mcp, request).await
}

async fn answer(mcp: &Mcp, request: Request) -> Response {
    let settings = mcp.app.mcp();
    if !mcp.app.is_local_door() && !settings.lets_in(request.headers(), request.uri().host()) {
        return Problem::of("cross_site").into_response();
    }
    let arriving = match mcp.app.arriving(request.headers()).await {
        Ok((admitted, caller)) => Arriving { admitted, caller },
        Err(problem) => return refused(problem, settings, request.headers()),
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
    parts.extensions.insert(arriving.clone());
    let session = parts.headers.get(SESSION).and_then(|id| id.to_str().ok()).map(str::to_owned);
    let opens = session.is_none()
        && parts.method == Method::POST
        && arriving.caller.kind == CallerKind::Human
        && can_be_asked(&bytes)
        && mcp.sessions.entry_count() < SESSIONS;
    // Nothing is ever said unasked, so nobody is given a stream to listen on: it would only keep the
    // server from stopping.
    let known = parts.method != Method::GET
        && session.is_some_and(|id| mcp.sessions.get(&id).as_ref() == Some(&arriving.caller));
    let request = Request::from_parts(parts, Body::from(bytes));
    if !opens && !known {
        return mcp.plain.handle(request).await.map(Body::new);
    }
    let response = mcp.asking.handle(request).await;
    if let (true, Some(id)) =
        (opens, response.headers().get(SESSION).and_then(|id| id.to_str().ok()))
    {
        mcp.sessions.insert(id.to_owned(), arriving.caller);
    }
    response.map(Body::new)
}

/// Whether this opens the older protocol for a client that can put a question to its person.
fn can_be_asked(body: &Bytes) -> bool {
    let message: Value = serde_json::from_slice(body).unwrap_or_default();
    message["method"] == "initialize"
        && message.pointer("/params/capabilities/elicitation").is_some_and(Value::is_object)
}

/// A refusal. Where a credential is missing, it says where to read how to get one.
fn refused(problem: Problem, settings: &McpSettings, headers: &HeaderMap) -> Response {
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

/// What this door is and who gives out credentials for it (RFC 9728).
async fn describe(State(mcp): State<Mcp>, headers: HeaderMap) -> Response {
    if mcp.app.is_local_door() {
        return Problem::of("not_found").into_response();
    }
    axum::Json(mcp.app.mcp().description(&headers)).into_response()
}
