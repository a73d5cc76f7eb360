//! Extractors of a request: its body and conditional headers, query parameters, path parameters,
//! and cursors.

use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header::{CONTENT_TYPE, IF_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lukasa_core::admission::project_fault;
use lukasa_core::{Caller, Project, VersionId};
use lukasa_engine::facts::{Cursor, HistoryPlace};
use lukasa_engine::{IdempotencyKey, Request as EngineRequest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::App;
use super::body::{BodyPermit, MAX_JSON_VALUES, ReadBody};
use super::code::ErrorCode;
use super::error::Problem;
use super::wire::is_storable;
use crate::clock::ServerClock;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A JSON body with the `Idempotency-Key` and `If-Match` headers.
pub struct JsonRequest<T> {
    pub body: T,
    idempotency: Option<IdempotencyKey>,
    if_match: Option<VersionId>,
    clock: ServerClock,
    /// The memory reserved for the body, until the request is answered.
    _permit: BodyPermit,
}

impl<T> JsonRequest<T> {
    /// Builds the engine's request for this caller, now.
    pub fn request(&self, caller: Caller) -> EngineRequest {
        EngineRequest {
            idempotency: self.idempotency.clone(),
            if_match: self.if_match,
            ..EngineRequest::new(caller, self.clock.moment())
        }
    }
}

impl<T> JsonRequest<T> {
    /// A name for this request of this credential by its idempotency key, if it has one.
    pub fn once(&self, key_id: &str) -> Option<String> {
        let IdempotencyKey { key, request_hash } = self.idempotency.as_ref()?;
        Some(format!("{key_id} {} {key}", URL_SAFE_NO_PAD.encode(request_hash)))
    }
}

impl<T: DeserializeOwned + Send + 'static> FromRequest<App> for JsonRequest<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let headers = request.headers().clone();
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let budget = &app.limits().bodies;
        let mut read = ReadBody::read(budget, request).await?;
        let if_match = if_match(&headers)?;
        let key = idempotency_key(&headers)?;
        read.check_json(budget, MAX_JSON_VALUES).await?;
        let (large, ReadBody { bytes, permit, .. }) = (read.is_large(), read);
        let work = move || {
            let body = parse(&headers, &bytes)?;
            let idempotency = key.map(|key| {
                let mut hash = Sha256::new();
                for part in [method.as_str().as_bytes(), uri.to_string().as_bytes(), &bytes] {
                    hash.update((part.len() as u64).to_be_bytes());
                    hash.update(part);
                }
                IdempotencyKey { key, request_hash: hash.finalize().to_vec() }
            });
            Ok::<_, Problem>((body, idempotency))
        };
        let (body, idempotency) = if large {
            let work = tokio::task::spawn_blocking(work);
            work.await.map_err(|_| Problem::of(ErrorCode::Internal))??
        } else {
            work()?
        };
        let clock = app.clock().clone();
        Ok(Self { body, idempotency, if_match, clock, _permit: permit })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "map_err passes the error by value")]
pub fn too_large(rejection: BytesRejection) -> Problem {
    match rejection.status().as_u16() {
        413 => Problem::of(ErrorCode::BodyTooLarge),
        _ => Problem::of(ErrorCode::MalformedBody),
    }
}

fn parse<T: DeserializeOwned>(headers: &HeaderMap, bytes: &[u8]) -> Result<T, Problem> {
    if bytes.is_empty() {
        // An operation whose fields are all optional may be called without a body.
        return serde_json::from_str("{}").map_err(|e| malformed(&e));
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    // Only JSON: another site can post a form without a CORS preflight, but not JSON.
    if kind.split(';').next().map(str::trim) != Some("application/json") {
        return Err(Problem::of(ErrorCode::UnsupportedMediaType));
    }
    serde_json::from_slice(bytes).map_err(|e| malformed(&e))
}

fn malformed(error: &serde_json::Error) -> Problem {
    Problem::of(ErrorCode::MalformedBody).because(&error.to_string())
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    let text = value.to_str().unwrap_or("");
    if (1..=255).contains(&text.len()) {
        return Ok(Some(text.to_owned()));
    }
    Err(Problem::of(ErrorCode::MalformedHeader))
}

fn if_match(headers: &HeaderMap) -> Result<Option<VersionId>, Problem> {
    let Some(value) = headers.get(IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or("").trim();
    if text == "*" {
        return Ok(None);
    }
    let tag = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or("");
    // An unknown tag matches no version, which is a mismatch.
    tag.parse().map(Some).map_err(|_| Problem::of(ErrorCode::VersionMismatch))
}

/// Query parameters; errors are problems in the API's format.
pub struct QueryParams<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<App> for QueryParams<T> {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(query)) => Ok(Self(query)),
            Err(error) => Err(Problem::of(ErrorCode::MalformedQuery).because(&error.body_text())),
        }
    }
}

/// Path parameters. A value that is not valid text is answered with `not_found`.
pub struct PathParams<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for PathParams<T> {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        // PostgreSQL rejects U+0000 in a text, so no session has such a name.
        let path = parts.uri.path();
        if path.starts_with("/api/sessions/") && path.contains("%00") {
            return Err(Problem::of(ErrorCode::SessionNotFound));
        }
        match Path::from_request_parts(parts, app).await {
            Ok(Path(names)) => Ok(Self(names)),
            Err(_) => Err(Problem::of(ErrorCode::NotFound)),
        }
    }
}

/// Checks a page size: 50 by default, at most 200.
pub fn page_size(limit: Option<usize>) -> Result<usize, Problem> {
    match limit.unwrap_or(50) {
        size @ 1..=200 => Ok(size),
        _ => {
            Err(Problem::of(ErrorCode::MalformedQuery).because("`limit` must be between 1 and 200"))
        }
    }
}

/// Prints an opaque cursor. It carries no rights: the credential decides on each request whose list
/// is continued.
pub fn print_cursor<T: Serialize>(cursor: &T) -> String {
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(cursor).unwrap_or_default())
}

pub fn parse_cursor<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    let refused = || Problem::of(ErrorCode::MalformedCursor);
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| refused())?;
    serde_json::from_slice(&bytes).map_err(|_| refused())
}

/// Parses a cursor in a list of memories.
pub fn parse_memory_cursor(text: &str) -> Result<Cursor, Problem> {
    let cursor: Cursor = parse_cursor(text)?;
    let is_valid = is_storable(cursor.at.valid) && is_storable(cursor.at.known);
    if is_valid { Ok(cursor) } else { Err(Problem::of(ErrorCode::MalformedCursor)) }
}

/// Parses a cursor in the history of a memory.
pub fn parse_history_cursor(text: &str) -> Result<HistoryPlace, Problem> {
    let place: HistoryPlace = parse_cursor(text)?;
    let is_valid = is_storable(place.known_from) && is_storable(place.valid_from);
    if is_valid { Ok(place) } else { Err(Problem::of(ErrorCode::MalformedCursor)) }
}

/// Header with the project that a client works on.
pub(super) const PROJECT: HeaderName = HeaderName::from_static("x-lukasa-project");

/// The project in the headers of a request; an empty one means none. The error says what is wrong.
pub(crate) fn project_in(headers: &HeaderMap) -> Result<Option<Project>, &'static str> {
    match named_project(headers)? {
        Some(project) if project_fault(&project).is_some() => {
            Err("`X-Lukasa-Project` must be a name, and no order or secret")
        }
        project => Ok(project),
    }
}

/// The same for a chat, which goes on without a project that is an order or a secret.
pub(crate) fn chat_project_in(headers: &HeaderMap) -> Result<Option<Project>, &'static str> {
    let project = named_project(headers)?;
    let fault = project.as_ref().and_then(project_fault);
    if fault.is_some() {
        tracing::warn!("`X-Lukasa-Project` is ignored: it must be a name, and no order or secret");
    }
    Ok(project.filter(|_| fault.is_none()))
}

fn named_project(headers: &HeaderMap) -> Result<Option<Project>, &'static str> {
    let Some(value) = headers.get(PROJECT) else { return Ok(None) };
    let invalid =
        "`X-Lukasa-Project` must have 1 to 64 characters, none of them a control character";
    let name = std::str::from_utf8(value.as_bytes()).map_err(|_| invalid)?.trim();
    if name.is_empty() {
        return Ok(None);
    }
    Project::parse(name).map(Some).ok_or(invalid)
}
