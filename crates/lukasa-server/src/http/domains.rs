//! Domains, and the user's opt-in to those that need one.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lukasa_core::{Domain, Timestamp};
use lukasa_engine::Request;
use lukasa_engine::directory::{OptIn, UserDomain};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::memory::write_response;
use super::removal::Nothing;
use crate::api::App;
use crate::api::auth::{Admin, Reader, Writer};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::request::{JsonRequest, PathParams};
use crate::api::wire::WriteResult;

/// A domain: an area of the user's life.
#[derive(Debug, Serialize, ToSchema)]
pub struct DomainView {
    #[schema(example = "health")]
    name: String,
    display_name: String,
    /// Nothing inferred is stored here without the user's consent.
    sensitive: bool,
    /// Nothing at all is stored here until the user opens it.
    requires_opt_in: bool,
    default_expiration_days: Option<i32>,
    builtin: bool,
    /// When the user opened it; null if it is not open.
    opted_in_at: Option<Timestamp>,
    /// Whether the user lets what is inferred about it be used without asking for each memory.
    admits_inferred: bool,
}

impl From<UserDomain> for DomainView {
    fn from(view: UserDomain) -> Self {
        let domain = view.domain;
        Self {
            name: domain.name,
            display_name: domain.display_name,
            sensitive: domain.sensitive,
            requires_opt_in: domain.requires_opt_in,
            default_expiration_days: domain.default_expiration_days,
            builtin: domain.builtin,
            opted_in_at: view.opted_in_at,
            admits_inferred: view.admits_inferred,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Domains {
    pub(super) data: Vec<DomainView>,
}

impl From<Vec<UserDomain>> for Domains {
    fn from(domains: Vec<UserDomain>) -> Self {
        Self { data: domains.into_iter().map(DomainView::from).collect() }
    }
}

/// List all domains, and which of them the user has opened.
#[utoipa::path(get, path = "/api/domains", tag = "domains", responses(
    (status = 200, body = Domains),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_domains(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<Domains>, Problem> {
    Ok(Json(app.engine().directory.domains(&caller, app.now()).await?.into()))
}

/// A domain that the tenant defines.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutDomain {
    display_name: String,
    #[serde(default)]
    sensitive: bool,
    #[serde(default)]
    requires_opt_in: bool,
    default_expiration_days: Option<i32>,
}

/// Add or change a domain of the tenant.
#[utoipa::path(put, path = "/api/domains/{name}", tag = "domains", params(
    ("name" = String, Path, description = "A short lower-case word")), request_body = PutDomain, responses(
    (status = 200, body = DomainView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn put_domain(
    State(app): State<App>,
    Admin(admitted): Admin,
    PathParams(name): PathParams<String>,
    sent: JsonRequest<PutDomain>,
) -> Result<Json<DomainView>, Problem> {
    let domain = Domain {
        name,
        display_name: sent.body.display_name,
        sensitive: sent.body.sensitive,
        requires_opt_in: sent.body.requires_opt_in,
        default_expiration_days: sent.body.default_expiration_days,
        builtin: false,
    };
    let engine = app.engine().clone();
    let work = async move {
        engine.directory.put_domain(admitted.tenant, &domain).await?;
        Ok(DomainView::from(UserDomain { domain, opted_in_at: None, admits_inferred: false }))
    };
    Ok(Json(app.detached(work).await?))
}

/// Open a domain.
///
/// Opening is consent, so only the user can do it: with a user token, or on a local server. What was
/// left out of conversations because the domain was not open is then learned by background jobs.
#[utoipa::path(put, path = "/api/domains/{name}/opt-in", tag = "domains", params(
    ("name" = String, Path, description = "The domain")), responses(
    (status = 200, body = DomainView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn open_domain(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(name): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Json<DomainView>, Problem> {
    set_opt_in(app, sent.request(caller), name, OptIn::Open).await
}

/// Close a domain again. What is already stored stays until it is deleted.
///
/// If the user does it, the review does not ask about the domain again.
#[utoipa::path(delete, path = "/api/domains/{name}/opt-in", tag = "domains", params(
    ("name" = String, Path, description = "The domain")), responses(
    (status = 200, body = DomainView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn close_domain(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(name): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Json<DomainView>, Problem> {
    set_opt_in(app, sent.request(caller), name, OptIn::Close).await
}

/// Consent to what is inferred about a domain.
///
/// Opens the domain if it is not open, and lets memories that are inferred about it be used without
/// asking for each of them. What gives orders, or lets another party act for the user, is still asked
/// about. Only the user consents: with a user token, or on a local server. Undo withdraws it.
#[utoipa::path(put, path = "/api/domains/{name}/consent", tag = "domains", params(
    ("name" = String, Path, description = "The domain")), responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn give_consent(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(name): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    set_consent(app, sent.request(caller), name, true).await
}

/// Withdraw the consent to what is inferred about a domain.
///
/// What is inferred from then on is a proposal again. The domain stays open, and the memories stay.
#[utoipa::path(delete, path = "/api/domains/{name}/consent", tag = "domains", params(
    ("name" = String, Path, description = "The domain")), responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn withdraw_consent(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(name): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    set_consent(app, sent.request(caller), name, false).await
}

async fn set_consent(
    app: App,
    request: Request,
    name: String,
    gives: bool,
) -> Result<Response, Problem> {
    if !lukasa_core::domain::is_name(&name) {
        return Err(Problem::of(ErrorCode::DomainNotFound));
    }
    let engine = app.engine().clone();
    let work = async move {
        match gives {
            true => engine.consents.give(&request, &name).await,
            false => engine.consents.withdraw(&request, &name).await,
        }
    };
    Ok(write_response(&app.detached(work).await?))
}

async fn set_opt_in(
    app: App,
    request: Request,
    name: String,
    open: OptIn,
) -> Result<Json<DomainView>, Problem> {
    if !lukasa_core::domain::is_name(&name) {
        return Err(Problem::of(ErrorCode::DomainNotFound));
    }
    let engine = app.engine().clone();
    let work = async move { engine.directory.set_opt_in(&request, &name, open).await };
    Ok(Json(app.detached(work).await?.into()))
}
