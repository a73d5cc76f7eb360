//! Signing in to the console: who is looking, and how they came in. What a browser holds afterwards is
//! a cookie that no script can read, and that counts only for requests of our own page.

use axum::Json;
use axum::extract::State;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use lukasa_core::{Permission, Timestamp};
use lukasa_engine::access::{Admitted, Issued, SIGN_IN_DAYS};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::App;
use super::auth::{Admin, COOKIE_NAME, forbidden, is_admin, user_of};
use super::error::{FieldError, Problem};
use super::request::Sent;
use super::verbs::Nothing;
use crate::clock;

/// Who is signed in.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignInView {
    /// Whose memory is looked at.
    user: String,
    /// Whether it is the person themselves, who can answer proposals and open domains.
    human: bool,
    /// Whether they may look after the tenant's users, keys and domains.
    admin: bool,
    /// Whether this server knows its person by their machine: nobody signs in or out.
    local: bool,
    permissions: Vec<&'static str>,
    /// When the sign-in ends; null if it does not.
    expires_at: Option<Timestamp>,
    /// The server's own version.
    version: &'static str,
}

impl SignInView {
    fn of(app: &App, admitted: &Admitted, user: String) -> Self {
        Self {
            user,
            human: admitted.human,
            admin: is_admin(admitted),
            local: app.is_local_door(),
            permissions: admitted.permissions.iter().map(|p| p.as_str()).collect(),
            expires_at: admitted.expires_at,
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// Who am I here?
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
    app.engine().greet(&admitted.caller(&user), clock::now()).await?;
    Ok(Json(SignInView::of(&app, &admitted, user)))
}

/// How somebody signs in: with a key and a user, with a link, or, for an operator who is signed in,
/// with another user alone.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    /// A key that is admin, and so could mint tokens for its tenant's users.
    key: Option<String>,
    /// A link's secret: what stands behind the `#` of its address. It works once.
    link: Option<String>,
    /// Whose memory to look at.
    #[schema(example = "alice")]
    user: Option<String>,
}

/// Sign in. The answer sets a cookie; nothing else is needed from then on.
#[utoipa::path(post, path = "/api/sign-in", tag = "sign-in", request_body = SignIn, responses(
    (status = 201, body = SignInView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn sign_in(
    State(app): State<App>,
    headers: HeaderMap,
    sent: Sent<SignIn>,
) -> Result<Response, Problem> {
    let SignIn { key, link, user } = sent.body;
    if app.is_local_door() {
        return Err(Problem::of("invalid_request").because("This server knows you already"));
    }
    let (engine, random) = (app.engine().clone(), clock::random());
    if let Some(link) = link {
        // Login CSRF: a link of another user would switch the memory without the user noticing.
        if app.admit(&headers).await.is_ok_and(|admitted| admitted.signed_in) {
            return Err(Problem::of("signed_in_already"));
        }
        let work = async move { engine.follow_link(&link, &random, clock::now()).await };
        app.limits().check_throttled()?;
        let issued = app.detached(work).await.inspect_err(|problem| {
            if problem.is("unauthenticated") {
                app.note_refused_link();
            }
        })?;
        return entered(&app, &issued).await;
    }
    let by = match key {
        Some(key) => app.admit_showing(key.trim()).await?,
        None => app.admit(&headers).await?,
    };
    if !is_admin(&by) {
        return Err(forbidden(Permission::Admin).because(
            "A key of an application cannot stand for a person: sign in with a link, or with a key \
             that may mint tokens",
        ));
    }
    let user = user.ok_or_else(|| {
        let field =
            FieldError { pointer: "/user".into(), detail: "whose memory to look at".into() };
        Problem::of("invalid_request").fields(vec![field])
    })?;
    let before: Vec<String> = by.signed_in.then(|| by.key_id.clone()).into_iter().collect();
    let work = async move { engine.sign_in(&by, user.trim(), &random, clock::now()).await };
    let issued = app.detached(work).await?;
    app.forget_admissions(&before);
    entered(&app, &issued).await
}

/// The answer to somebody who has just come in.
async fn entered(app: &App, issued: &Issued) -> Result<Response, Problem> {
    let admitted = app.engine().authenticate(&issued.text, clock::now()).await?;
    let user = admitted.user.as_ref().map(|(_, name)| name.clone()).unwrap_or_default();
    let view = SignInView::of(app, &admitted, user);
    let seconds = SIGN_IN_DAYS * 24 * 60 * 60;
    let mut response = (StatusCode::CREATED, Json(view)).into_response();
    response.headers_mut().insert(SET_COOKIE, cookie(&issued.text, seconds)?);
    Ok(response)
}

fn cookie(value: &str, seconds: i64) -> Result<HeaderValue, Problem> {
    let text = format!(
        "{COOKIE_NAME}={value}; Path=/; Max-Age={seconds}; Secure; HttpOnly; SameSite=Strict"
    );
    let mut value = HeaderValue::from_str(&text).map_err(|_| Problem::of("internal"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Sign out, here and for good. What was made with this sign-in stays: links, tokens and the sign-ins
/// of others.
#[utoipa::path(delete, path = "/api/sign-in", tag = "sign-in", responses(
    (status = 204, description = "Signed out"),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn sign_out(
    State(app): State<App>,
    headers: HeaderMap,
    _sent: Sent<Nothing>,
) -> Result<Response, Problem> {
    // Somebody who is out already is signed out all the same.
    if let Ok(admitted) = app.admit(&headers).await
        && admitted.signed_in
    {
        let (engine, ended) = (app.engine().clone(), admitted.key_id.clone());
        let work =
            async move { engine.sign_out(admitted.tenant, &admitted.key_id, clock::now()).await };
        app.detached(work).await?;
        app.forget_admissions(&[ended]);
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    response.headers_mut().insert(SET_COOKIE, cookie("", 0)?);
    Ok(response)
}

/// Whom a link is to let in.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MakeLink {
    /// Your own id for the person.
    #[schema(example = "alice")]
    user: String,
}

/// A link, shown this once.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignInLink {
    /// Put it behind the address of this server. It works once.
    #[schema(example = "/sign-in#lk_link_...")]
    href: String,
    user: String,
    expires_at: Option<Timestamp>,
}

/// Make a link that signs one person in, once, within a quarter of an hour. Send it to nobody else.
#[utoipa::path(post, path = "/api/sign-in/links", tag = "sign-in", request_body = MakeLink,
    responses(
    (status = 201, body = SignInLink),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn make_sign_in_link(
    State(app): State<App>,
    Admin(admitted): Admin,
    sent: Sent<MakeLink>,
) -> Result<(StatusCode, Json<SignInLink>), Problem> {
    let engine = app.engine().clone();
    let user = sent.body.user;
    let work = async move {
        // What a person may do with their own memory, as far as whoever lets them in may.
        let rights: Vec<Permission> =
            admitted.permissions.iter().copied().filter(|p| *p != Permission::Admin).collect();
        let (by, random) = (Some(&admitted), clock::random());
        engine.make_link(admitted.tenant, by, &user, &rights, &random, clock::now()).await
    };
    let issued = app.detached(work).await?;
    Ok((StatusCode::CREATED, Json(SignInLink::from(&issued))))
}

impl From<&Issued> for SignInLink {
    fn from(issued: &Issued) -> Self {
        Self {
            href: format!("/sign-in#{}", issued.text),
            user: issued.record.user.as_ref().map(|(_, name)| name.clone()).unwrap_or_default(),
            expires_at: issued.record.expires_at,
        }
    }
}
