//! Keys for applications and tokens for users' browsers. Secrets are shown once.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use lukasa_core::secret::OVERLAP_HOURS;
use lukasa_core::{Origin, Permission, Timestamp};
use lukasa_engine::credentials::rotation::RotatedKey;
use lukasa_engine::credentials::{IssuedCredential, KeyRecord, NewKey, NewToken, TOKEN_MINUTES};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::removal::Nothing;
use super::webhooks::RotateSecret;
use crate::api::App;
use crate::api::auth::Admin;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::request::{JsonRequest, PathParams};
use crate::api::wire::When;
use crate::clock;

/// A key, without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub struct KeyView {
    id: String,
    name: String,
    /// The user it is bound to; null for all of the tenant's users.
    user: Option<String>,
    permissions: Vec<&'static str>,
    /// The most trusted origin of its writes.
    origin: &'static str,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    revoked_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
}

impl From<&KeyRecord> for KeyView {
    fn from(key: &KeyRecord) -> Self {
        Self {
            id: key.key_id.clone(),
            name: key.name.clone(),
            user: key.user.as_ref().map(|(_, name)| name.clone()),
            permissions: key.permissions.iter().map(|permission| permission.as_str()).collect(),
            origin: key.origin.as_str(),
            created_at: key.created_at,
            expires_at: key.expires_at,
            revoked_at: key.revoked_at,
            last_used_at: key.last_used_at,
        }
    }
}

/// A key or token with its secret, which is shown only once.
#[derive(Debug, Serialize, ToSchema)]
pub struct IssuedView {
    /// Send it as `Authorization: Bearer ...`. It cannot be shown again.
    secret: String,
    #[serde(flatten)]
    key: KeyView,
}

impl From<&IssuedCredential> for IssuedView {
    fn from(issued: &IssuedCredential) -> Self {
        Self { secret: issued.text.clone(), key: KeyView::from(&issued.record) }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Keys {
    data: Vec<KeyView>,
}

/// List the tenant's keys, without their secrets.
#[utoipa::path(get, path = "/api/keys", tag = "keys", responses(
    (status = 200, body = Keys),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_keys(
    State(app): State<App>,
    Admin(admitted): Admin,
) -> Result<Json<Keys>, Problem> {
    let keys = app.engine().credentials.keys(admitted.tenant).await?;
    Ok(Json(Keys { data: keys.iter().map(KeyView::from).collect() }))
}

/// A key to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateKey {
    #[schema(example = "my assistant")]
    name: String,
    /// The user it is bound to; absent for all of the tenant's users.
    user: Option<String>,
    /// Any of `read`, `write`, `propose`, `erase`, `admin`, `chat`; `read`, `write` and `propose`
    /// if absent. `chat` allows the use of the models behind `/v1`.
    permissions: Option<Vec<String>>,
    /// How far its content is trusted: `assistant` (the default), `user_said` for an application
    /// that sends only what the user typed, `tool`, `document` or `import`.
    origin: Option<String>,
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<When>,
}

fn permissions(texts: Option<&[String]>) -> Result<Vec<Permission>, Problem> {
    let Some(texts) = texts else {
        return Ok(vec![Permission::Read, Permission::Write, Permission::Propose]);
    };
    let mut list = Vec::new();
    for text in texts {
        let known = Permission::parse(text);
        let all = "each one of read, write, propose, erase, admin, chat";
        list.push(known.ok_or_else(|| Problem::invalid("permissions", all))?);
    }
    list.sort_unstable();
    list.dedup();
    Ok(list)
}

/// Create a key. Its secret is shown only in this answer.
#[utoipa::path(post, path = "/api/keys", tag = "keys", request_body = CreateKey, responses(
    (status = 201, body = IssuedView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn create_key(
    State(app): State<App>,
    Admin(admitted): Admin,
    sent: JsonRequest<CreateKey>,
) -> Result<(StatusCode, Json<IssuedView>), Problem> {
    let once = sent.once(&admitted.key_id);
    let body = sent.body;
    let origin = match body.origin.as_deref() {
        None => Origin::Assistant,
        Some(text) => Origin::parse_of_key(text).ok_or_else(|| {
            let known = Origin::OF_KEYS.map(Origin::as_str).join(", ");
            Problem::invalid("origin", &format!("one of {known}"))
        })?,
    };
    let new = NewKey {
        permissions: permissions(body.permissions.as_deref())?,
        name: body.name,
        user: body.user,
        origin,
        expires_at: body.expires_at.map(|at| at.0),
    };
    let engine = app.engine().clone();
    let now = app.now();
    let work =
        async move { engine.credentials.create_key(&admitted, new, &clock::random(), now).await };
    let issued = app.detached_once(once, work).await?;
    Ok((StatusCode::CREATED, Json(IssuedView::from(&issued))))
}

/// A new key with its secret, which is shown only once, and the key that it replaces.
#[derive(Debug, Serialize, ToSchema)]
pub struct RotatedKeyView {
    /// Send it as `Authorization: Bearer ...`. It cannot be shown again.
    secret: String,
    #[serde(flatten)]
    key: KeyView,
    /// The old key, with its new end.
    replaced: KeyView,
}

/// Replace a key by a new one with the same name, user, permissions and origin.
///
/// The old key stays valid for the overlap. Tokens and sign-ins made with it keep their own ends; revoke
/// the old key to end them too. A key that was replaced cannot be rotated again. The new secret is shown
/// only in this answer.
#[utoipa::path(post, path = "/api/keys/{id}/rotate", tag = "keys", request_body = RotateSecret, params(
    ("id" = String, Path, description = "The key's id, not its secret")), responses(
    (status = 200, body = RotatedKeyView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn rotate_key(
    State(app): State<App>,
    Admin(admitted): Admin,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<RotateSecret>,
) -> Result<Json<RotatedKeyView>, Problem> {
    if !id.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Err(Problem::of(ErrorCode::KeyNotFound));
    }
    let (engine, hours) = (app.engine().clone(), sent.body.overlap_hours.unwrap_or(OVERLAP_HOURS));
    let (random, now) = (clock::random(), app.now());
    let work =
        async move { engine.credentials.rotate_key(&admitted, &id, hours, &random, now).await };
    let RotatedKey { issued, replaced } = app.detached(work).await?;
    app.forget_credentials(std::slice::from_ref(&replaced.key_id));
    let IssuedView { secret, key } = IssuedView::from(&issued);
    let replaced = KeyView::from(&replaced);
    Ok(Json(RotatedKeyView { secret, key, replaced }))
}

/// Revoked credentials.
#[derive(Debug, Serialize, ToSchema)]
pub struct Revoked {
    /// The ids of the credential and of everything made from it.
    pub(super) revoked: Vec<String>,
}

/// Revoke a key and everything made from it: tokens, links and sign-ins.
#[utoipa::path(delete, path = "/api/keys/{id}", tag = "keys", params(
    ("id" = String, Path, description = "The key's id, not its secret")), responses(
    (status = 200, body = Revoked),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn revoke_key(
    State(app): State<App>,
    Admin(admitted): Admin,
    PathParams(id): PathParams<String>,
    _sent: JsonRequest<Nothing>,
) -> Result<Json<Revoked>, Problem> {
    if !id.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Err(Problem::of(ErrorCode::KeyNotFound));
    }
    let engine = app.engine().clone();
    let now = app.now();
    let work = async move { engine.credentials.revoke(&admitted, &id, now).await };
    let revoked = app.detached(work).await?;
    app.forget_credentials(&revoked);
    Ok(Json(Revoked { revoked }))
}

/// Whether a text is an origin as browsers send it in `Origin`.
fn is_origin(text: &str) -> bool {
    let Ok(url) = text.parse::<reqwest::Url>() else { return false };
    ["http", "https"].contains(&url.scheme()) && url.origin().ascii_serialization() == text
}

/// A token to mint for one user's browser.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MintToken {
    /// Your own id for the user.
    #[schema(example = "alice")]
    user: String,
    /// A subset of the key's own, never `admin`; `read` and `write` if absent.
    permissions: Option<Vec<String>>,
    /// Between 1 and 15; 15 if absent.
    minutes: Option<i64>,
    /// The only origin it may be used from: scheme, host and port, as browsers send it. Any if
    /// absent.
    #[schema(example = "https://app.example")]
    page: Option<String>,
}

/// Mint a short-lived token for one user's browser.
///
/// It is bound to that user, expires, and acts as the user, which no key does: it can answer
/// proposals and open domains.
#[utoipa::path(post, path = "/api/tokens", tag = "keys", request_body = MintToken, responses(
    (status = 201, body = IssuedView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn mint_token(
    State(app): State<App>,
    Admin(admitted): Admin,
    sent: JsonRequest<MintToken>,
) -> Result<(StatusCode, Json<IssuedView>), Problem> {
    let rights = match sent.body.permissions.as_deref() {
        None => vec![Permission::Read, Permission::Write],
        listed => permissions(listed)?,
    };
    let engine = app.engine().clone();
    let MintToken { user, minutes, page, .. } = sent.body;
    if page.as_deref().is_some_and(|page| !is_origin(page)) {
        return Err(Problem::invalid("page", "only scheme, host and port, as https://app.example"));
    }
    let now = app.now();
    let work = async move {
        let new = NewToken {
            user: &user,
            permissions: &rights,
            minutes: minutes.unwrap_or(TOKEN_MINUTES),
            page: page.as_deref(),
        };
        engine.credentials.mint_token(&admitted, new, &clock::random(), now).await
    };
    Ok((StatusCode::CREATED, Json(IssuedView::from(&app.detached(work).await?))))
}
