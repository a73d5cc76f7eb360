//! What a write sends: its body, and the conditions in its headers.

use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header::{CONTENT_TYPE, IF_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lukasa_core::{Caller, VersionId};
use lukasa_engine::facts::Cursor;
use lukasa_engine::{IdempotencyKey, Request as EngineRequest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use super::App;
use super::body::{BodyPermit, MAX_JSON_VALUES, ReadBody};
use super::error::Problem;
use super::wire::is_kept;
use crate::clock;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// A body, and the conditions under which it is to be acted upon.
pub struct Sent<T> {
    pub body: T,
    idempotency: Option<IdempotencyKey>,
    if_match: Option<VersionId>,
    /// The memory reserved for the body, until the request is answered.
    _permit: BodyPermit,
}

impl<T> Sent<T> {
    /// The engine's request for this caller, now.
    pub fn request(&self, caller: Caller) -> EngineRequest {
        EngineRequest {
            caller,
            moment: clock::moment(),
            idempotency: self.idempotency.clone(),
            if_match: self.if_match,
        }
    }
}

impl<T: DeserializeOwned + Send + 'static> FromRequest<App> for Sent<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let headers = request.headers().clone();
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let budget = &app.limits().bodies;
        let mut read = ReadBody::read(budget, request).await?;
        let if_match = if_match(&headers)?;
        let key = idempotency_key(&headers)?;
        read.check_json(budget, MAX_JSON_VALUES).await?;
        let (large, ReadBody { bytes, permit }) = (read.is_large(), read);
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
            work.await.map_err(|_| Problem::of("internal"))??
        } else {
            work()?
        };
        Ok(Self { body, idempotency, if_match, _permit: permit })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err asks for")]
pub fn too_large(rejection: BytesRejection) -> Problem {
    match rejection.status().as_u16() {
        413 => Problem::of("body_too_large"),
        _ => Problem::of("malformed_body"),
    }
}

fn parse<T: DeserializeOwned>(headers: &HeaderMap, bytes: &[u8]) -> Result<T, Problem> {
    if bytes.is_empty() {
        // An operation whose fields are all optional may be called without a body.
        return serde_json::from_str("{}").map_err(|e| malformed(&e));
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    // A form that another site can post without asking is never JSON.
    if kind.split(';').next().map(str::trim) != Some("application/json") {
        return Err(Problem::of("unsupported_media_type"));
    }
    serde_json::from_slice(bytes).map_err(|e| malformed(&e))
}

fn malformed(error: &serde_json::Error) -> Problem {
    Problem::of("malformed_body").because(&error.to_string())
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    let text = value.to_str().unwrap_or("");
    if (1..=255).contains(&text.len()) {
        return Ok(Some(text.to_owned()));
    }
    Err(Problem::of("malformed_header"))
}

fn if_match(headers: &HeaderMap) -> Result<Option<VersionId>, Problem> {
    let Some(value) = headers.get(IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or("").trim();
    if text == "*" {
        return Ok(None);
    }
    let tag = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or("");
    // A tag that is not ours matches nothing, which is just what the header is there to find out.
    tag.parse().map(Some).map_err(|_| Problem::of("version_mismatch"))
}

/// Query parameters, refused with a problem of our own shape.
pub struct Asked<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<App> for Asked<T> {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(query)) => Ok(Self(query)),
            Err(error) => Err(Problem::of("malformed_query").because(&error.body_text())),
        }
    }
}

/// The names in the path. What is not even text names nothing.
pub struct Named<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Named<T> {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        // PostgreSQL keeps no U+0000 in a text, so no session has such a name.
        let path = parts.uri.path();
        if path.starts_with("/api/sessions/") && path.contains("%00") {
            return Err(Problem::of("session_not_found"));
        }
        match Path::from_request_parts(parts, app).await {
            Ok(Path(names)) => Ok(Self(names)),
            Err(_) => Err(Problem::of("not_found")),
        }
    }
}

/// A page size: 50 unless asked, at most 200.
pub fn page_size(asked: Option<usize>) -> Result<usize, Problem> {
    match asked.unwrap_or(50) {
        size @ 1..=200 => Ok(size),
        _ => Err(Problem::of("malformed_query").because("`limit` is between 1 and 200")),
    }
}

/// A cursor is opaque to its holder. It carries no rights: whose list it goes on with is said by the
/// credential each time.
pub fn print_cursor<T: Serialize>(cursor: &T) -> String {
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(cursor).unwrap_or_default())
}

pub fn parse_cursor<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    let refused = || Problem::of("malformed_cursor");
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| refused())?;
    serde_json::from_slice(&bytes).map_err(|_| refused())
}

/// Where in a list of memories to go on.
pub fn parse_place(text: &str) -> Result<Cursor, Problem> {
    let cursor: Cursor = parse_cursor(text)?;
    let kept = is_kept(cursor.at.valid) && is_kept(cursor.at.known);
    if kept { Ok(cursor) } else { Err(Problem::of("malformed_cursor")) }
}
