//! Signing in to the console with an identity provider: the authorization request and the callback;
//! and ending the browser's session at the provider.
//!
//! A sealed cookie binds the two requests to one browser. State, nonce and PKCE verifier are derived
//! from the random value in it, so the server stores nothing. A response works once, because the
//! provider's code does. The cookie is `SameSite=Lax`, because the callback is opened from the
//! provider's site. What follows is an ordinary sign-in.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::header::{COOKIE, LOCATION, RETRY_AFTER, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lukasa_core::oauth::RequestParams;
use lukasa_core::oidc::own_path;
use lukasa_core::secret::constant_time_eq;
use lukasa_core::{TenantId, Timestamp};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use super::oauth::{Page, escape};
use super::sign_in::sign_in_cookie;
use crate::api::App;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::clock;
use crate::oidc::{AuthorizationValues, OidcProvider, ProviderCode};

/// Cookie of a pending sign-in.
const PENDING_COOKIE: &str = "__Host-lukasa-oidc";
/// Cookie of a pending sign-out.
const SIGN_OUT_COOKIE: &str = "__Host-lukasa-oidc-out";
/// How long a sign-in or a sign-out at the provider may take.
const PENDING_SECONDS: i64 = 600;
/// Maximum length of the provider's response.
const QUERY_BYTES: usize = 8 * 1024;

pub fn routes() -> Router<App> {
    Router::new()
        .route("/oidc/begin", get(begin))
        .route("/oidc/callback", get(callback))
        .route("/oidc/sign-out", get(begin_sign_out))
        .route("/oidc/signed-out", get(end_sign_out))
}

/// An identity provider that users can sign in with.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProviderView {
    /// Its name on the sign-in page.
    #[schema(example = "id.example.com")]
    name: String,
    /// The page of this server that leads there.
    #[schema(example = "/oidc/begin")]
    href: &'static str,
}

/// The ways to sign in to the console besides keys and links.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignInMethods {
    providers: Vec<ProviderView>,
}

/// List the identity providers that users can sign in to the console with.
#[utoipa::path(get, path = "/api/sign-in/methods", tag = "sign-in", responses(
    (status = 200, body = SignInMethods),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_sign_in_methods(State(app): State<App>) -> Json<SignInMethods> {
    let view = |provider: &Arc<OidcProvider>| ProviderView {
        name: provider.name().to_owned(),
        href: "/oidc/begin",
    };
    Json(SignInMethods { providers: app.oidc().map(view).into_iter().collect() })
}

/// A sign-in, or a sign-out, that one browser has begun at the provider.
struct PendingSignIn {
    random: [u8; 32],
    to: String,
    until: i64,
}

impl PendingSignIn {
    fn new(to: &str, now: Timestamp) -> Self {
        let until = now.as_second() + PENDING_SECONDS;
        Self { random: clock::random(), to: to.to_owned(), until }
    }

    /// A value for one purpose, which reveals nothing about those for the others.
    fn derive(&self, purpose: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(purpose);
        hash.update([0]);
        hash.update(self.random);
        URL_SAFE_NO_PAD.encode(hash.finalize())
    }

    fn print(&self) -> String {
        let [random, to] =
            [&self.random[..], self.to.as_bytes()].map(|b| URL_SAFE_NO_PAD.encode(b));
        format!("{random}.{to}.{}", self.until)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let mut decoded = || URL_SAFE_NO_PAD.decode(parts.next()?).ok();
        let (random, to) = (decoded()?.try_into().ok()?, String::from_utf8(decoded()?).ok()?);
        let until = parts.next()?.parse().ok()?;
        Some(Self { random, to, until })
    }
}

async fn seal(app: &App, text: &str) -> Result<String, Problem> {
    Ok(app.engine().credentials.seal(&sealed_text(text)).await?)
}

fn sealed_text(text: &str) -> String {
    format!("oidc\n{text}")
}

/// Reads what this browser has begun, if its cookie of this name is genuine and not too old.
async fn read_pending(
    app: &App,
    headers: &HeaderMap,
    cookie: &str,
) -> Result<Option<PendingSignIn>, Problem> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.split_once('='));
    let found = pairs.find(|(name, _)| name.trim() == cookie);
    let Some((text, code)) = found.and_then(|(_, text)| text.trim().rsplit_once('.')) else {
        return Ok(None);
    };
    let seals = app.engine().credentials.accepted_seals(&sealed_text(text)).await?;
    if !seals.iter().any(|seal| constant_time_eq(seal.as_bytes(), code.as_bytes())) {
        return Ok(None);
    }
    Ok(PendingSignIn::parse(text).filter(|pending| app.now().as_second() < pending.until))
}

fn pending_cookie(name: &str, value: &str, seconds: i64) -> Result<HeaderValue, Problem> {
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}; Secure; HttpOnly; SameSite=Lax");
    let mut value = HeaderValue::from_str(&text).map_err(|_| Problem::of(ErrorCode::Internal))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Refuses a request that a page of another site caused, in browsers that send `Sec-Fetch-Site`.
fn check_own_page(headers: &HeaderMap) -> Result<(), Problem> {
    let site = headers.get("sec-fetch-site").map_or("none", |site| site.to_str().unwrap_or("?"));
    if ["same-origin", "none"].contains(&site) {
        Ok(())
    } else {
        Err(Problem::of(ErrorCode::CrossSite))
    }
}

/// Sends the browser to an address of the provider, with the cookie that its return is compared with.
async fn lead_to_provider(
    app: &App,
    address: &str,
    cookie: &str,
    pending: &PendingSignIn,
) -> Result<Response, Problem> {
    let text = pending.print();
    let sealed = format!("{text}.{}", seal(app, &text).await?);
    let address = HeaderValue::from_str(address).map_err(|_| Problem::of(ErrorCode::Internal))?;
    let mut response = StatusCode::SEE_OTHER.into_response();
    response.headers_mut().insert(LOCATION, address);
    let cookie = pending_cookie(cookie, &sealed, PENDING_SECONDS)?;
    response.headers_mut().insert(SET_COOKIE, cookie);
    Ok(response)
}

/// Sends the browser to the provider to sign in. Another site cannot make it begin.
async fn begin(
    State(app): State<App>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let Some(provider) = app.oidc() else { return Err(Problem::of(ErrorCode::NotFound)) };
    check_own_page(&headers)?;
    app.limits().check_throttled()?;
    let params = RequestParams::parse(query.unwrap_or_default().as_bytes());
    let pending = PendingSignIn::new(own_path(params.get("to").ok().flatten()), app.now());
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(pending.derive("verifier")));
    let (state, nonce) = (pending.derive("state"), pending.derive("nonce"));
    let request = AuthorizationValues { state: &state, nonce: &nonce, challenge: &challenge };
    let address = match provider.authorization_url(request).await {
        Ok(address) => address,
        Err(fault) if fault.is_outage() => return Ok(unavailable(fault.as_str())),
        // No credential was presented yet, so none counts as refused.
        Err(fault) => return Ok(refusal(fault.as_str())),
    };
    lead_to_provider(&app, &address, PENDING_COOKIE, &pending).await
}

/// Signs in the user whom the provider's response names.
async fn callback(
    State(app): State<App>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let Some(provider) = app.oidc().cloned() else {
        return Err(Problem::of(ErrorCode::NotFound));
    };
    app.limits().check_throttled()?;
    let query = query.filter(|query| query.len() <= QUERY_BYTES).unwrap_or_default();
    let params = RequestParams::parse(query.as_bytes());
    let param = |name| params.get(name).ok().flatten();
    let Some(pending) = read_pending(&app, &headers, PENDING_COOKIE).await? else {
        return Ok(refuse(&app, "not_begun_here"));
    };
    let state = pending.derive("state");
    if !constant_time_eq(param("state").unwrap_or_default().as_bytes(), state.as_bytes()) {
        // The response of another request: the one of this browser stays pending.
        return Ok(refuse(&app, "state"));
    }
    let Some(code) = param("code").filter(|_| param("error").is_none()) else {
        return Ok(end_pending(refuse(&app, "no_code")));
    };
    let (verifier, nonce) = (pending.derive("verifier"), pending.derive("nonce"));
    let exchange = ProviderCode { code, verifier: &verifier, nonce: &nonce, iss: param("iss") };
    let tenant = TenantId::named(provider.tenant());
    let identity = match provider.exchange(exchange, app.now()).await {
        Ok(identity) => identity,
        // The sign-in stays pending: the browser can send the response again.
        Err(fault) if fault.is_outage() => return Ok(unavailable(fault.as_str())),
        Err(fault) => {
            if fault.is_signed() {
                record_refused(&app, tenant, fault.as_str()).await?;
            }
            return Ok(end_pending(refuse(&app, fault.as_str())));
        }
    };
    let engine = app.engine().clone();
    let now = app.now();
    let work = async move {
        let random = clock::random();
        engine.credentials.sign_in_verified(tenant, &identity, &random, now).await
    };
    let issued = match app.detached(work).await {
        Ok(issued) => issued,
        Err(problem) if problem.is(ErrorCode::UserNotFound) => {
            record_refused(&app, tenant, "deleted_user").await?;
            return Ok(end_pending(refuse(&app, "deleted_user")));
        }
        Err(problem) => return Err(problem),
    };
    // A page of this server opens the console: after a redirect from the provider's site the browser
    // would not send the strict cookie.
    let body = format!("<p><a href=\"{}\">Continue</a></p>", escape(&pending.to));
    let mut response = Page::new("Signed in", body).leading_to(&pending.to).respond(StatusCode::OK);
    response.headers_mut().append(SET_COOKIE, sign_in_cookie(&issued, app.now())?);
    Ok(end_pending(response))
}

/// Sends the browser to the provider to end its session there. It ends nothing here: the console has
/// signed out before. Nothing of the request is passed on, so it always returns to this server.
async fn begin_sign_out(State(app): State<App>, headers: HeaderMap) -> Result<Response, Problem> {
    let Some(provider) = app.oidc() else { return Err(Problem::of(ErrorCode::NotFound)) };
    check_own_page(&headers)?;
    app.limits().check_throttled()?;
    let pending = PendingSignIn::new("/sign-in", app.now());
    let address = match provider.sign_out_url(&pending.derive("sign-out")).await {
        Ok(Some(address)) => address,
        Ok(None) => return Ok(sign_out_failed(StatusCode::NOT_FOUND, "not_offered")),
        Err(fault) if fault.is_outage() => {
            return Ok(sign_out_failed(StatusCode::SERVICE_UNAVAILABLE, fault.as_str()));
        }
        Err(fault) => return Ok(sign_out_failed(StatusCode::BAD_GATEWAY, fault.as_str())),
    };
    lead_to_provider(&app, &address, SIGN_OUT_COOKIE, &pending).await
}

/// The return from the provider's sign-out. It only shows a page.
async fn end_sign_out(
    State(app): State<App>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    if app.oidc().is_none() {
        return Err(Problem::of(ErrorCode::NotFound));
    }
    app.limits().check_throttled()?;
    let query = query.filter(|query| query.len() <= QUERY_BYTES).unwrap_or_default();
    let params = RequestParams::parse(query.as_bytes());
    let state = params.get("state").ok().flatten().unwrap_or_default();
    let pending = read_pending(&app, &headers, SIGN_OUT_COOKIE).await?;
    let expected = pending.map(|pending| pending.derive("sign-out")).unwrap_or_default();
    if expected.is_empty() || !constant_time_eq(expected.as_bytes(), state.as_bytes()) {
        return Ok(sign_out_failed(StatusCode::FORBIDDEN, "state"));
    }
    let body = "<p>You are signed out at the identity provider too.</p>\
                <p><a href=\"/sign-in\">Sign in</a></p>";
    let mut response = Page::new("Signed out", body.to_owned()).respond(StatusCode::OK);
    response.headers_mut().append(SET_COOKIE, pending_cookie(SIGN_OUT_COOKIE, "", 0)?);
    Ok(response)
}

/// The page of a sign-out that did not reach the provider.
fn sign_out_failed(status: StatusCode, reason: &'static str) -> Response {
    tracing::warn!(event = "oidc_sign_out_failed", reason, "no sign-out at the identity provider");
    let body = "<p>The session at the identity provider was not ended: sign out there, or close the \
                browser.</p><p><a href=\"/sign-in\">Sign in</a></p>";
    Page::new("Not signed out at the identity provider", body.to_owned()).respond(status)
}

/// Records in the audit log that a token which the provider signed was refused.
async fn record_refused(app: &App, tenant: TenantId, reason: &'static str) -> Result<(), Problem> {
    let engine = app.engine().clone();
    let now = app.now();
    let work = async move { engine.credentials.record_refused_provider(tenant, reason, now).await };
    app.detached(work).await
}

/// Removes the cookie of the pending sign-in.
fn end_pending(mut response: Response) -> Response {
    if let Ok(ended) = pending_cookie(PENDING_COOKIE, "", 0) {
        response.headers_mut().append(SET_COOKIE, ended);
    }
    response
}

/// Counts a refused sign-in against the address of the request.
fn refuse(app: &App, reason: &'static str) -> Response {
    app.limits().count_refused();
    refusal(reason)
}

/// The page of a sign-in that was refused. The reason is in the log: to the browser all are the same.
fn refusal(reason: &'static str) -> Response {
    tracing::warn!(event = "oidc_refused", reason, "security");
    let body = "<p>The sign-in was not completed.</p><p><a href=\"/sign-in\">Try again</a>, or ask \
                your administrator: the server's log has the reason.</p>";
    Page::new("Not signed in", body.to_owned()).respond(StatusCode::FORBIDDEN)
}

/// The page of a sign-in that has to wait for the provider. It counts as no refusal.
fn unavailable(reason: &'static str) -> Response {
    tracing::warn!(event = "oidc_unavailable", reason, "the identity provider does not respond");
    let body = "<p>The identity provider does not respond. Try again in a minute: reload this page, or \
                <a href=\"/sign-in\">sign in again</a>.</p>";
    let page = Page::new("Sign-in is temporarily unavailable", body.to_owned());
    let mut response = page.respond(StatusCode::SERVICE_UNAVAILABLE);
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("10"));
    response
}
