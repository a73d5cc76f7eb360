//! Signing in to the console with a key or a link. The browser then holds a cookie that no script
//! can read and that is accepted only from the console's own page.

use axum::Json;
use axum::extract::State;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use lukasa_core::{Permission, Timestamp};
use lukasa_engine::credentials::{IssuedCredential, VerifiedCredential};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::removal::Nothing;
use crate::api::App;
use crate::api::auth::{Admin, COOKIE_NAME, forbidden, is_admin, user_of};
use crate::api::code::ErrorCode;
use crate::api::error::{FieldError, Problem};
use crate::api::request::JsonRequest;
use crate::clock;

/// The current sign-in.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignInView {
    /// The user whose memory is shown.
    user: String,
    /// Whether the caller acts as the user, who can answer proposals and open domains.
    human: bool,
    /// Whether the caller may manage the tenant's users, keys and domains.
    admin: bool,
    /// Whether the server runs without authentication for one local user: there is no sign-in or
    /// sign-out.
    local: bool,
    permissions: Vec<&'static str>,
    /// When the sign-in ends; null if it does not.
    expires_at: Option<Timestamp>,
    /// The server's own version.
    version: &'static str,
}

impl SignInView {
    fn of(app: &App, admitted: &VerifiedCredential, user: String) -> Self {
        Self {
            user,
            human: admitted.human,
            admin: is_admin(admitted),
            local: app.is_local(),
            permissions: admitted.permissions.iter().map(|p| p.as_str()).collect(),
            expires_at: admitted.expires_at,
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// Get the current sign-in.
#[utoipa::path(get, path = "/api/sign-in", tag = "sign-in", responses(
    (status = 200, body = SignInView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_sign_in(
    State(app): State<App>,
    headers: HeaderMap,
) -> Result<Json<SignInView>, Problem> {
    let admitted = app.admit(&headers).await?;
    if !admitted.may(Permission::Read) {
        return Err(forbidden(Permission::Read));
    }
    let user = user_of(&app, &admitted, &headers)?;
    app.engine().credentials.check_user_not_deleted(&admitted.caller(&user), app.now()).await?;
    Ok(Json(SignInView::of(&app, &admitted, user)))
}

/// A sign-in request: a key and a user, a link, or, from an operator who is signed in, only another
/// user.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// A key with the permission `admin`, which could also mint tokens for its tenant's users.
    key: Option<String>,
    /// The secret of a link: the part after the `#` of its address. It works once.
    link: Option<String>,
    /// The user whose memory to show.
    #[schema(example = "alice")]
    user: Option<String>,
}

/// Sign in.
///
/// The answer sets a cookie; no other credential is needed from then on.
#[utoipa::path(post, path = "/api/sign-in", tag = "sign-in", request_body = SignIn, responses(
    (status = 201, body = SignInView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn sign_in(
    State(app): State<App>,
    headers: HeaderMap,
    sent: JsonRequest<SignIn>,
) -> Result<Response, Problem> {
    let SignIn { key, link, user } = sent.body;
    if app.is_local() {
        let what = "This server runs without authentication, so there is no sign-in";
        return Err(Problem::of(ErrorCode::InvalidRequest).because(what));
    }
    let (engine, random) = (app.engine().clone(), clock::random());
    if let Some(link) = link {
        // Login CSRF: a link of another user would switch the memory without the user noticing.
        if app.admit(&headers).await.is_ok_and(|admitted| admitted.signed_in) {
            return Err(Problem::of(ErrorCode::SignedInAlready));
        }
        let now = app.now();
        let work = async move { engine.credentials.follow_link(&link, &random, now).await };
        app.limits().check_throttled()?;
        let issued = app.detached(work).await.inspect_err(|problem| {
            if problem.is(ErrorCode::Unauthenticated) {
                app.count_refused_link();
            }
        })?;
        return sign_in_response(&app, &issued).await;
    }
    let by = match key {
        Some(key) => app.admit_key(key.trim()).await?,
        None => app.admit(&headers).await?,
    };
    if !is_admin(&by) {
        return Err(forbidden(Permission::Admin).because(
            "A key of an application cannot act as a user: sign in with a link, or with a key that \
             may mint tokens",
        ));
    }
    let user = user.ok_or_else(|| {
        let field =
            FieldError { pointer: "/user".into(), detail: "the user whose memory to show".into() };
        Problem::of(ErrorCode::InvalidRequest).fields(vec![field])
    })?;
    let old_key_ids: Vec<String> = by.signed_in.then(|| by.key_id.clone()).into_iter().collect();
    let now = app.now();
    let work = async move { engine.credentials.sign_in(&by, user.trim(), &random, now).await };
    let issued = app.detached(work).await?;
    app.forget_credentials(&old_key_ids);
    sign_in_response(&app, &issued).await
}

/// The response to a new sign-in, with its cookie.
async fn sign_in_response(app: &App, issued: &IssuedCredential) -> Result<Response, Problem> {
    let admitted = app.engine().credentials.authenticate(&issued.text, app.now()).await?;
    let user = admitted.user.as_ref().map(|(_, name)| name.clone()).unwrap_or_default();
    let view = SignInView::of(app, &admitted, user);
    let mut response = (StatusCode::CREATED, Json(view)).into_response();
    response.headers_mut().insert(SET_COOKIE, sign_in_cookie(issued, app.now())?);
    Ok(response)
}

/// The cookie of a new sign-in. It ends with the sign-in.
pub(super) fn sign_in_cookie(
    issued: &IssuedCredential,
    now: Timestamp,
) -> Result<HeaderValue, Problem> {
    let until = issued.record.expires_at.unwrap_or(now);
    cookie(&issued.text, until.duration_since(now).as_secs())
}

fn cookie(value: &str, seconds: i64) -> Result<HeaderValue, Problem> {
    let text = format!(
        "{COOKIE_NAME}={value}; Path=/; Max-Age={seconds}; Secure; HttpOnly; SameSite=Strict"
    );
    let mut value = HeaderValue::from_str(&text).map_err(|_| Problem::of(ErrorCode::Internal))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Sign out permanently in this browser.
///
/// Links, tokens and other sign-ins that were made with this sign-in stay valid.
#[utoipa::path(delete, path = "/api/sign-in", tag = "sign-in", responses(
    (status = 204, description = "Signed out"),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn sign_out(
    State(app): State<App>,
    headers: HeaderMap,
    _sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    // Signing out twice is not an error.
    if let Ok(admitted) = app.admit(&headers).await
        && admitted.signed_in
    {
        let (engine, ended) = (app.engine().clone(), admitted.key_id.clone());
        let now = app.now();
        let work = async move { engine.credentials.sign_out(&admitted, now).await };
        app.detached(work).await?;
        app.forget_credentials(&[ended]);
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    response.headers_mut().insert(SET_COOKIE, cookie("", 0)?);
    Ok(response)
}

/// A sign-in link to make.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MakeLink {
    /// Your own id for the user.
    #[schema(example = "alice")]
    user: String,
}

/// A link, shown only once.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignInLink {
    /// Append it to the address of this server. It works once.
    #[schema(example = "/sign-in#lk_link_...")]
    href: String,
    user: String,
    expires_at: Option<Timestamp>,
}

/// Make a link that signs one user in.
///
/// It works once, within fifteen minutes. Send it only to that user.
#[utoipa::path(post, path = "/api/sign-in/links", tag = "sign-in", request_body = MakeLink,
    responses(
    (status = 201, body = SignInLink),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn make_sign_in_link(
    State(app): State<App>,
    Admin(admitted): Admin,
    sent: JsonRequest<MakeLink>,
) -> Result<(StatusCode, Json<SignInLink>), Problem> {
    let engine = app.engine().clone();
    let user = sent.body.user;
    let now = app.now();
    let work = async move {
        // The link gets the permissions of its maker, without the administration of the tenant.
        let rights: Vec<Permission> =
            admitted.permissions.iter().copied().filter(|p| *p != Permission::Admin).collect();
        let (by, random) = (Some(&admitted), clock::random());
        engine.credentials.make_link(admitted.tenant, by, &user, &rights, &random, now).await
    };
    let issued = app.detached(work).await?;
    Ok((StatusCode::CREATED, Json(SignInLink::from(&issued))))
}

impl From<&IssuedCredential> for SignInLink {
    fn from(issued: &IssuedCredential) -> Self {
        Self {
            href: format!("/sign-in#{}", issued.text),
            user: issued.record.user.as_ref().map(|(_, name)| name.clone()).unwrap_or_default(),
            expires_at: issued.record.expires_at,
        }
    }
}
