//! OAuth 2.1 authorization server for assistants that connect to `/mcp` by URL.
//!
//! It is on if the public address of the server is configured (RFC 8414 metadata, dynamic
//! registration of public clients, authorization codes with PKCE, refresh and revocation). The
//! credentials are the engine's; this module only speaks the protocol. Nothing is derived from the
//! `Host` of a request.

mod authorize;
mod client;
mod consent;
mod page;
mod token;

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use lukasa_core::oauth::{RequestParams, SCOPES};
use serde_json::json;

use crate::api::App;
use crate::api::body::ReadBody;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;

/// Maximum size of a body: a consent contains a whole authorization request.
const BODY_BYTES: usize = 32 * 1024;
pub(super) use page::{Page, escape};

const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

pub fn routes() -> Router<App> {
    Router::new()
        .route("/.well-known/oauth-authorization-server", get(describe))
        .route("/oauth/register", post(client::register))
        .route("/oauth/authorize", get(authorize::authorize))
        .route("/oauth/consent", get(consent::show).post(consent::decide))
        .route("/oauth/token", post(token::issue))
        .route("/oauth/revoke", post(token::revoke))
        .layer(DefaultBodyLimit::max(BODY_BYTES))
}

/// The addresses of a server whose OAuth is on.
struct Addresses {
    issuer: String,
    /// The MCP endpoint.
    resource: String,
}

impl Addresses {
    fn of(app: &App) -> Result<Self, Problem> {
        let found = app.issuer().zip(app.resource());
        let (issuer, resource) = found.ok_or_else(|| Problem::of(ErrorCode::NotFound))?;
        Ok(Self { issuer, resource })
    }
}

/// Metadata of the authorization server (RFC 8414).
async fn describe(State(app): State<App>) -> Result<Response, Problem> {
    let Addresses { issuer, .. } = Addresses::of(&app)?;
    let metadata = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/oauth/authorize"),
        "token_endpoint": format!("{issuer}/oauth/token"),
        "registration_endpoint": format!("{issuer}/oauth/register"),
        "revocation_endpoint": format!("{issuer}/oauth/revoke"),
        "scopes_supported": SCOPES.map(|permission| permission.as_str()),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    });
    Ok(Json(metadata).into_response())
}

/// An error of an endpoint that programs call: in the format of OAuth, or a problem of the server.
enum EndpointError {
    OAuth { status: StatusCode, error: &'static str, description: String },
    Problem(Problem),
}

impl EndpointError {
    fn new(error: &'static str, description: impl Into<String>) -> Self {
        let description = description.into();
        Self::OAuth { status: StatusCode::BAD_REQUEST, error, description }
    }
}

impl From<Problem> for EndpointError {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl IntoResponse for EndpointError {
    fn into_response(self) -> Response {
        match self {
            Self::OAuth { status, error, description } => {
                let body = json!({ "error": error, "error_description": description });
                (status, [(CACHE_CONTROL, NO_STORE)], Json(body)).into_response()
            }
            Self::Problem(problem) => problem.into_response(),
        }
    }
}

/// Reads the parameters of a form.
async fn read_form(app: &App, request: Request) -> Result<RequestParams, EndpointError> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    if kind.trim() != "application/x-www-form-urlencoded" {
        let what = "send the parameters as application/x-www-form-urlencoded";
        return Err(EndpointError::new("invalid_request", what));
    }
    let read = ReadBody::read(&app.limits().bodies, request).await?;
    Ok(RequestParams::parse(&read.bytes))
}
