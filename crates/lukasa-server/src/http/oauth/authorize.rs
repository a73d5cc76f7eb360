//! The authorization endpoint: checks a request and leads to the consent page.
//!
//! Requests come from other sites, which may be hostile, and any site can register as a client. So
//! an error is shown to the user and never sent on without their click: otherwise the endpoint
//! would redirect to any address (RFC 9700, 4.11).

use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use lukasa_core::Permission;
use lukasa_core::oauth::{OAuthClient, RedirectUri, RequestParams, is_challenge, parse_scope};

use super::page::{Page, escape};
use super::{Addresses, client};
use crate::api::App;
use crate::api::error::Problem;

/// Maximum length of the query of an authorization request.
const QUERY_BYTES: usize = 8 * 1024;
/// The parameters that are read. Others are dropped.
const PARAMS: [&str; 9] = [
    "response_type",
    "response_mode",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
    "resource",
];

/// A checked authorization request.
pub(super) struct AuthorizationRequest {
    pub client: OAuthClient,
    pub client_id: String,
    pub redirect: ClientAddress,
    /// The address as it was sent.
    pub redirect_uri: String,
    pub challenge: String,
    pub permissions: Vec<Permission>,
    pub resource: String,
    /// The whole request in one canonical form.
    pub query: String,
}

/// Where the answer to a request is sent.
pub(super) struct ClientAddress {
    pub uri: RedirectUri,
    state: Option<String>,
    issuer: String,
}

impl ClientAddress {
    /// The address of an answer, with the state of the request and the issuer (RFC 9207).
    pub fn answer(&self, params: &[(&str, &str)]) -> String {
        let mut params = params.to_vec();
        params.extend(self.state.as_deref().map(|state| ("state", state)));
        params.push(("iss", &self.issuer));
        self.uri.with_params(&params)
    }
}

/// Why a request cannot be put to the user.
pub(super) enum RequestFault {
    /// The client or its address is not known, so nothing may be sent there.
    UnknownClient(&'static str),
    /// The client made a mistake, and may be told.
    OfClient {
        redirect: Box<ClientAddress>,
        error: &'static str,
        description: String,
    },
    Problem(Problem),
}

impl From<Problem> for RequestFault {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl RequestFault {
    /// The page that tells the user.
    pub fn respond(self) -> Response {
        match self {
            Self::UnknownClient(what) => {
                let body = format!(
                    "<p>{}.</p><p>Start again from your assistant. If it happens again, remove the \
                     connection there and add it again.</p>",
                    escape(what)
                );
                Page::new("This request cannot be answered", body).respond(StatusCode::BAD_REQUEST)
            }
            Self::OfClient { redirect, error, description } => {
                let params = [("error", error), ("error_description", description.as_str())];
                let (href, host) = (redirect.answer(&params), redirect.uri.host());
                let body = format!(
                    "<p>The assistant sent a request that is not valid: {}.</p>\
                     <p><a href=\"{}\">Back to {}</a></p>",
                    escape(&description),
                    escape(&href),
                    escape(&host)
                );
                Page::new("This request is not valid", body).respond(StatusCode::BAD_REQUEST)
            }
            Self::Problem(problem) => problem.into_response(),
        }
    }
}

/// Checks an authorization request.
pub(super) async fn check(
    app: &App,
    query: Option<&str>,
) -> Result<AuthorizationRequest, RequestFault> {
    let Addresses { issuer, resource } = Addresses::of(app)?;
    let query = query.unwrap_or_default();
    if query.len() > QUERY_BYTES {
        return Err(RequestFault::UnknownClient("The request is too long"));
    }
    let params = RequestParams::parse(query.as_bytes());
    let single = |name| {
        let value = params.get(name).map_err(|_| "A parameter occurs more than once");
        value.map_err(RequestFault::UnknownClient)
    };
    let missing = RequestFault::UnknownClient("The assistant did not say who it is");
    let client_id = single("client_id")?.ok_or(missing)?;
    let unknown = RequestFault::UnknownClient("The assistant is not registered with this server");
    let client = client::parse_id(app, client_id).await?.ok_or(unknown)?;
    let foreign =
        RequestFault::UnknownClient("The assistant did not register the address for its answer");
    let redirect_uri = single("redirect_uri")?;
    let uri = redirect_uri.and_then(|uri| client.redirect_uri(uri));
    let (Some(redirect_uri), Some(uri)) = (redirect_uri, uri) else { return Err(foreign) };
    let state = single("state")?.map(str::to_owned);
    let redirect = ClientAddress { uri, state, issuer };
    match check_params(&params, &resource) {
        Ok((challenge, permissions)) => Ok(AuthorizationRequest {
            client_id: client_id.to_owned(),
            redirect_uri: redirect_uri.to_owned(),
            client,
            redirect,
            challenge,
            permissions,
            resource,
            query: params.query(&PARAMS),
        }),
        Err((error, description)) => {
            Err(RequestFault::OfClient { redirect: Box::new(redirect), error, description })
        }
    }
}

/// Checks what a known client requests; returns the challenge and the permissions.
fn check_params(
    params: &RequestParams,
    resource: &str,
) -> Result<(String, Vec<Permission>), (&'static str, String)> {
    let invalid = |what: &str| ("invalid_request", what.to_owned());
    let single =
        |name| params.get(name).map_err(|name| invalid(&format!("{name} occurs more than once")));
    if single("response_type")? != Some("code") {
        return Err(("unsupported_response_type", "response_type must be code".into()));
    }
    if single("response_mode")?.is_some_and(|mode| mode != "query") {
        return Err(invalid("response_mode must be query"));
    }
    if single("code_challenge_method")? != Some("S256") {
        return Err(invalid("code_challenge_method must be S256"));
    }
    let challenge = single("code_challenge")?.filter(|challenge| is_challenge(challenge));
    let challenge = challenge.ok_or_else(|| invalid("code_challenge must be an S256 challenge"))?;
    let permissions = parse_scope(single("scope")?)
        .map_err(|word| ("invalid_scope", format!("there is no scope {word}")))?;
    // Clients of the first version of the protocol send none.
    if single("resource")?.is_some_and(|given| given != resource) {
        return Err(("invalid_target", "resource is not the address of this server".into()));
    }
    Ok((challenge.to_owned(), permissions))
}

/// Leads to the consent page by a navigation of this server's own page: the cookie of a sign-in is
/// not sent with a navigation that another site started.
pub(super) async fn authorize(State(app): State<App>, RawQuery(query): RawQuery) -> Response {
    match check(&app, query.as_deref()).await {
        Ok(request) => {
            let next = format!("/oauth/consent?{}", request.query);
            let body = format!("<p><a href=\"{}\">Continue</a></p>", escape(&next));
            Page::new("Connect an assistant", body).leading_to(&next).respond(StatusCode::OK)
        }
        Err(fault) => fault.respond(),
    }
}
