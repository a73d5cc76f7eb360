//! The consent page: shows a signed-in user which assistant wants to connect and what it may do, and
//! records the answer.
//!
//! The answer is accepted only from this page: from its origin, with the cookie of the sign-in that
//! it was shown to, and with a code that seals the sign-in, the request and a time. So another site
//! cannot answer, and the answer is to exactly what was shown.

use axum::extract::{RawQuery, Request, State};
use axum::http::header::{CACHE_CONTROL, LOCATION, ORIGIN};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use lukasa_core::Permission;
use lukasa_core::secret::constant_time_eq;
use lukasa_engine::credentials::VerifiedCredential;
use lukasa_engine::oauth::{CONNECTOR_DAYS, NewConnector};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::authorize::{AuthorizationRequest, RequestFault, check};
use super::page::{Page, escape};
use super::{Addresses, NO_STORE, read_form};
use crate::api::App;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::clock;

/// How long the page can be answered.
const PAGE_SECONDS: i64 = 10 * 60;

/// The sign-in of a request that comes from this server's own page. `None` if there is none.
async fn signed_in(
    app: &App,
    headers: &HeaderMap,
) -> Result<Option<VerifiedCredential>, RequestFault> {
    match app.admit(headers).await {
        Ok(admitted) if admitted.signed_in && admitted.user.is_some() => Ok(Some(admitted)),
        Ok(_) => Ok(None),
        Err(problem) if problem.is(ErrorCode::Unauthenticated) => Ok(None),
        Err(problem) => Err(problem.into()),
    }
}

/// What of the request the sign-in can allow.
fn allowed(request: &AuthorizationRequest, by: &VerifiedCredential) -> Vec<Permission> {
    request.permissions.iter().copied().filter(|permission| by.may(*permission)).collect()
}

/// Shows the page, or leads to the sign-in and back.
pub(super) async fn show(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    match page(&app, query.as_deref(), &headers).await {
        Ok(response) => response,
        Err(fault) => fault.respond(),
    }
}

async fn page(
    app: &App,
    query: Option<&str>,
    headers: &HeaderMap,
) -> Result<Response, RequestFault> {
    let request = check(app, query).await?;
    let Some(by) = signed_in(app, headers).await? else {
        let back = format!("/oauth/consent?{}", request.query);
        let back = utf8_percent_encode(&back, NON_ALPHANUMERIC);
        return Ok(redirect(&format!("/sign-in?to={back}")));
    };
    let permissions = allowed(&request, &by);
    if permissions.is_empty() {
        let body = "<p>Your sign-in may not do what the assistant asks for.</p>";
        let page = Page::new("This cannot be allowed", body.to_owned());
        return Ok(page.respond(StatusCode::FORBIDDEN));
    }
    let token = print_token(app, &by, &request.query).await?;
    let user = by.user.as_ref().map(|(_, name)| name.as_str()).unwrap_or_default();
    let body = render(&request, &permissions, user, &token);
    let page = Page::new("Connect an assistant", body).with_form_to(&request.redirect.uri);
    Ok(page.respond(StatusCode::OK))
}

/// The text of the page.
fn render(
    request: &AuthorizationRequest,
    permissions: &[Permission],
    user: &str,
    token: &str,
) -> String {
    let uri = &request.redirect.uri;
    let place = match uri.is_loopback() {
        true => format!("a program on this computer ({})", uri.host()),
        false => uri.host(),
    };
    let items: String = permissions
        .iter()
        .map(|permission| format!("<li>{}</li>", escape(describe(*permission))))
        .collect();
    format!(
        "<p>An assistant that calls itself <b><bdi>{name}</bdi></b> wants to use the memory of \
         <b><bdi>{user}</bdi></b>.</p>\
         <p>The answer is sent to <b><bdi>{place}</bdi></b>. Allow it only if you have just started \
         this there: the name is chosen by the assistant and is not verified.</p>\
         <p>It may:</p><ul>{items}</ul>\
         <p>It cannot answer proposals, open closed domains, erase anything, or manage users and keys. \
         The permission ends after {CONNECTOR_DAYS} days, or when you end it in the console.</p>\
         <form method=\"post\" action=\"/oauth/consent\">\
         <input type=\"hidden\" name=\"request\" value=\"{request}\">\
         <input type=\"hidden\" name=\"token\" value=\"{token}\">\
         <button name=\"decision\" value=\"allow\">Allow</button> \
         <button name=\"decision\" value=\"deny\">Deny</button></form>",
        name = escape(&request.client.name),
        user = escape(user),
        place = escape(&place),
        request = escape(&request.query),
        token = escape(token),
    )
}

/// A permission in plain words.
fn describe(permission: Permission) -> &'static str {
    match permission {
        Permission::Read => "Read and search your memories",
        Permission::Write => {
            "Save, change and forget memories; every change is listed and can be undone"
        }
        Permission::Propose => "Propose memories, which you accept or reject",
        Permission::Erase => "Erase memories",
        Permission::Admin => "Manage users and keys",
        Permission::Chat => "Use the chat models behind this server",
    }
}

/// Records the answer and sends it to the assistant.
pub(super) async fn decide(State(app): State<App>, request: Request) -> Response {
    match answer(&app, request).await {
        Ok(address) => redirect(&address),
        Err(fault) => fault.respond(),
    }
}

async fn answer(app: &App, request: Request) -> Result<String, RequestFault> {
    let foreign = || RequestFault::from(Problem::of(ErrorCode::CrossSite));
    let headers = request.headers().clone();
    let Addresses { issuer, .. } = Addresses::of(app)?;
    let is_own = headers.get(ORIGIN).is_some_and(|origin| origin.as_bytes() == issuer.as_bytes());
    if !is_own {
        return Err(foreign());
    }
    let by = signed_in(app, &headers).await?;
    let by = by.ok_or_else(|| RequestFault::from(Problem::of(ErrorCode::Unauthenticated)))?;
    let malformed = || RequestFault::from(Problem::of(ErrorCode::MalformedBody));
    let form = read_form(app, request).await.map_err(|_| malformed())?;
    let field = |name| form.get(name).ok().flatten().ok_or_else(malformed);
    let request = check(app, Some(field("request")?)).await?;
    if !opens_token(app, &by, &request.query, field("token")?).await? {
        return Err(foreign());
    }
    if field("decision")? != "allow" {
        return Ok(request.redirect.answer(&[("error", "access_denied")]));
    }
    let engine = app.engine().clone();
    let permissions = allowed(&request, &by);
    let redirect = request.redirect;
    let now = app.now();
    let work = async move {
        let new = NewConnector {
            name: &request.client.name,
            client_id: &request.client_id,
            redirect_uri: &request.redirect_uri,
            challenge: &request.challenge,
            resource: &request.resource,
            permissions: &permissions,
        };
        let random = [clock::random(), clock::random()];
        engine.oauth.approve(&by, new, &random, now).await
    };
    let code = app.detached(work).await?;
    tracing::info!(event = "connector_approved", "security");
    Ok(redirect.answer(&[("code", &code)]))
}

/// A code for one form: it seals the sign-in, the request and the time until which it is accepted.
async fn print_token(
    app: &App,
    by: &VerifiedCredential,
    query: &str,
) -> Result<String, RequestFault> {
    let expires = app.now().as_second() + PAGE_SECONDS;
    Ok(format!("{expires}.{}", seal(app, &sealed_text(by, query, expires)).await?))
}

/// Whether a code was made for this sign-in and this request, and is not too old.
async fn opens_token(
    app: &App,
    by: &VerifiedCredential,
    query: &str,
    token: &str,
) -> Result<bool, RequestFault> {
    let Some((expires, given)) = token.split_once('.') else { return Ok(false) };
    let Ok(expires) = expires.parse::<i64>() else { return Ok(false) };
    let made = accepted_seals(app, &sealed_text(by, query, expires)).await?;
    let is_ours = made.iter().any(|seal| constant_time_eq(seal.as_bytes(), given.as_bytes()));
    Ok(app.now().as_second() <= expires && is_ours)
}

async fn seal(app: &App, text: &str) -> Result<String, Problem> {
    Ok(app.engine().credentials.seal(text).await?)
}

async fn accepted_seals(app: &App, text: &str) -> Result<Vec<String>, Problem> {
    Ok(app.engine().credentials.accepted_seals(text).await?)
}

fn sealed_text(by: &VerifiedCredential, query: &str, expires: i64) -> String {
    format!("oauth consent\n{}\n{expires}\n{query}", by.key_id)
}

fn redirect(address: &str) -> Response {
    let headers = [(LOCATION, address.to_owned())];
    (StatusCode::SEE_OTHER, [(CACHE_CONTROL, NO_STORE)], headers).into_response()
}
