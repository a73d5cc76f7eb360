//! Dynamic registration of public clients (RFC 7591). Nothing is stored: the id of a client contains
//! what it registered, with a message authentication code of this installation. So registrations
//! cannot fill the database, and need no removal.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lukasa_core::oauth::{InvalidRedirectUri, OAuthClient, SCOPES, print_scope};
use lukasa_core::secret::constant_time_eq;
use serde::Deserialize;
use serde_json::json;

use super::{Addresses, EndpointError, NO_STORE};
use crate::api::App;
use crate::api::body::{MAX_JSON_VALUES, ReadBody};
use crate::api::error::Problem;

/// Prefix of the ids of clients.
const PREFIX: &str = "lkc_";
/// Maximum length of an id; registration never makes a longer one.
const ID_BYTES: usize = 4_096;
/// Hexadecimal digits of the authentication code in an id: 128 bits.
const SEAL_DIGITS: usize = 32;

/// The metadata that a client sends. Other fields are ignored, as RFC 7591 requires.
#[derive(Deserialize)]
struct ClientMetadata {
    #[serde(default)]
    redirect_uris: Vec<String>,
    client_name: Option<String>,
    grant_types: Option<Vec<String>>,
    response_types: Option<Vec<String>>,
}

/// Registers a client. It is always public: a requested client secret is not issued, and the answer
/// says so.
pub(super) async fn register(
    State(app): State<App>,
    request: Request,
) -> Result<Response, EndpointError> {
    Addresses::of(&app)?;
    app.limits().count_registration()?;
    let invalid = |what: String| EndpointError::new("invalid_client_metadata", what);
    let budget = &app.limits().bodies;
    let mut read = ReadBody::read(budget, request).await?;
    read.check_json(budget, MAX_JSON_VALUES).await?;
    let metadata: ClientMetadata = serde_json::from_slice(&read.bytes)
        .map_err(|error| invalid(format!("the metadata is not valid: {error}")))?;
    let includes = |list: Option<Vec<String>>, word: &str| {
        list.is_none_or(|list| list.iter().any(|one| one == word))
    };
    if !includes(metadata.grant_types, "authorization_code")
        || !includes(metadata.response_types, "code")
    {
        return Err(invalid("only the grant type authorization_code is supported".into()));
    }
    let client = OAuthClient::register(metadata.client_name.as_deref(), metadata.redirect_uris);
    let client = client
        .map_err(|InvalidRedirectUri(what)| EndpointError::new("invalid_redirect_uri", what))?;
    let answer = json!({
        "client_id": print_id(&app, &client).await?,
        "client_id_issued_at": app.now().as_second(),
        "client_name": client.name,
        "redirect_uris": client.redirect_uris,
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "scope": print_scope(&SCOPES),
    });
    Ok((StatusCode::CREATED, [(CACHE_CONTROL, NO_STORE)], Json(answer)).into_response())
}

/// The id of a client, which contains its name and its redirect addresses.
async fn print_id(app: &App, client: &OAuthClient) -> Result<String, Problem> {
    let content = json!([client.name, client.redirect_uris]).to_string();
    let content = URL_SAFE_NO_PAD.encode(content);
    let seal = seal(app, &content).await?;
    Ok(format!("{PREFIX}{content}.{seal}"))
}

/// The client with this id, if it was registered with this installation.
pub(super) async fn parse_id(app: &App, id: &str) -> Result<Option<OAuthClient>, Problem> {
    let parts = id.strip_prefix(PREFIX).filter(|_| id.len() <= ID_BYTES);
    let Some((content, given)) = parts.and_then(|parts| parts.split_once('.')) else {
        return Ok(None);
    };
    let seals = app.engine().credentials.accepted_seals(&sealed_text(content)).await?;
    let is_ours =
        |seal: &String| constant_time_eq(&seal.as_bytes()[..SEAL_DIGITS], given.as_bytes());
    if !seals.iter().any(is_ours) {
        return Ok(None);
    }
    let content = URL_SAFE_NO_PAD.decode(content).ok();
    let parsed = content.and_then(|content| serde_json::from_slice(&content).ok());
    Ok(parsed.map(|(name, redirect_uris)| OAuthClient { name, redirect_uris }))
}

async fn seal(app: &App, content: &str) -> Result<String, Problem> {
    let mut seal = app.engine().credentials.seal(&sealed_text(content)).await?;
    seal.truncate(SEAL_DIGITS);
    Ok(seal)
}

fn sealed_text(content: &str) -> String {
    format!("oauth client\n{content}")
}
