//! The token endpoint, and the revocation of tokens (RFC 7009). Clients are public: possession of a
//! code with its verifier, or of a refresh token, is the proof.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse as _, Response};
use lukasa_core::Permission;
use lukasa_core::oauth::{RequestParams, parse_scope, print_scope};
use lukasa_engine::oauth::{CodeExchange, TokenAnswer, TokenRefresh, TokenRefusal};
use serde_json::json;

use super::{Addresses, EndpointError, NO_STORE, client, read_form};
use crate::api::App;
use crate::clock;

/// Issues tokens for an authorization code or a refresh token.
pub(super) async fn issue(
    State(app): State<App>,
    request: Request,
) -> Result<Response, EndpointError> {
    let Addresses { resource, .. } = Addresses::of(&app)?;
    app.limits().check_throttled()?;
    let form = read_form(&app, request).await?;
    let client_id = registered_client(&app, &form).await?;
    if optional(&form, "resource")?.is_some_and(|given| given != resource) {
        return Err(EndpointError::new("invalid_target", "resource is not this server's /mcp"));
    }
    let answer = match required(&form, "grant_type")? {
        "authorization_code" => exchange_code(&app, &form, client_id, resource).await?,
        "refresh_token" => refresh(&app, &form, client_id, resource).await?,
        _ => {
            let what = "grant_type must be authorization_code or refresh_token";
            return Err(EndpointError::new("unsupported_grant_type", what));
        }
    };
    let issued = match answer {
        Ok(issued) => issued,
        Err(TokenRefusal::InvalidScope) => {
            let what = "the scope is wider than what the user allowed";
            return Err(EndpointError::new("invalid_scope", what));
        }
        Err(TokenRefusal::InvalidGrant(ended)) => {
            tracing::info!(event = "oauth_grant_refused", ended = ended.len(), "security");
            app.forget_credentials(&ended);
            app.limits().count_refused();
            let what = "unknown, used, expired, or for another client: connect again";
            return Err(EndpointError::new("invalid_grant", what));
        }
    };
    let body = json!({
        "access_token": issued.access,
        "token_type": "Bearer",
        "expires_in": issued.seconds,
        "refresh_token": issued.refresh,
        "scope": print_scope(&issued.permissions),
    });
    Ok(([(CACHE_CONTROL, NO_STORE)], Json(body)).into_response())
}

async fn exchange_code(
    app: &App,
    form: &RequestParams,
    client_id: String,
    resource: String,
) -> Result<TokenAnswer, EndpointError> {
    let code = required(form, "code")?.to_owned();
    let verifier = required(form, "code_verifier")?.to_owned();
    let redirect_uri = optional(form, "redirect_uri")?.map(str::to_owned);
    let engine = app.engine().clone();
    let now = app.now();
    let work = async move {
        let exchange = CodeExchange {
            code: &code,
            client_id: &client_id,
            redirect_uri: redirect_uri.as_deref(),
            verifier: &verifier,
            resource: &resource,
        };
        let random = [clock::random(), clock::random()];
        engine.oauth.exchange_code(exchange, &random, now).await
    };
    Ok(app.detached(work).await?)
}

async fn refresh(
    app: &App,
    form: &RequestParams,
    client_id: String,
    resource: String,
) -> Result<TokenAnswer, EndpointError> {
    let token = required(form, "refresh_token")?.to_owned();
    let permissions: Option<Vec<Permission>> = match optional(form, "scope")? {
        None => None,
        scope => Some(parse_scope(scope).map_err(|word| {
            EndpointError::new("invalid_scope", format!("there is no scope {word}"))
        })?),
    };
    let engine = app.engine().clone();
    let now = app.now();
    let work = async move {
        let refresh = TokenRefresh {
            token: &token,
            client_id: &client_id,
            permissions: permissions.as_deref(),
            resource: &resource,
        };
        let random = [clock::random(), clock::random()];
        engine.oauth.refresh(refresh, &random, now).await
    };
    Ok(app.detached(work).await?)
}

/// Revokes a token. The answer is the same whether or not it existed.
pub(super) async fn revoke(
    State(app): State<App>,
    request: Request,
) -> Result<Response, EndpointError> {
    Addresses::of(&app)?;
    app.limits().check_throttled()?;
    let form = read_form(&app, request).await?;
    let client_id = registered_client(&app, &form).await?;
    let token = required(&form, "token")?.to_owned();
    let engine = app.engine().clone();
    let now = app.now();
    let work = async move { engine.oauth.revoke_token(&token, &client_id, now).await };
    let ended = app.detached(work).await?;
    app.forget_credentials(&ended);
    Ok((StatusCode::OK, [(CACHE_CONTROL, NO_STORE)]).into_response())
}

/// The id of the client in a form, if it was registered with this server.
async fn registered_client(app: &App, form: &RequestParams) -> Result<String, EndpointError> {
    let id = required(form, "client_id")?;
    if client::parse_id(app, id).await?.is_none() {
        app.limits().count_refused();
        return Err(EndpointError::OAuth {
            status: StatusCode::UNAUTHORIZED,
            error: "invalid_client",
            description: "the client is not registered with this server".into(),
        });
    }
    Ok(id.to_owned())
}

fn optional<'f>(form: &'f RequestParams, name: &'f str) -> Result<Option<&'f str>, EndpointError> {
    form.get(name).map_err(|name| {
        EndpointError::new("invalid_request", format!("{name} occurs more than once"))
    })
}

fn required<'f>(form: &'f RequestParams, name: &'f str) -> Result<&'f str, EndpointError> {
    let value = optional(form, name)?;
    value.ok_or_else(|| EndpointError::new("invalid_request", format!("{name} is missing")))
}
