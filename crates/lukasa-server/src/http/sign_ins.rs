//! Lists and ends the active sign-ins of a tenant or of one user: browsers that are signed in,
//! minted tokens, unused links, and assistants that are connected by OAuth.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use lukasa_core::audit::AuditActor;
use lukasa_core::{Permission, TenantId, Timestamp, UserId};
use lukasa_engine::credentials::KeyRecord;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::keys::Revoked;
use super::removal::Nothing;
use crate::api::App;
use crate::api::auth::{forbidden, is_admin};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::request::{JsonRequest, PathParams, QueryParams};

/// A caller that may manage sign-ins: an administrator those of the whole tenant, a user their own.
pub struct SignInOwner {
    tenant: TenantId,
    /// Who asks, for the audit log.
    by: AuditActor,
    /// The user whose sign-ins may be managed; `None` for all of the tenant's.
    user: Option<UserId>,
    /// The credential of this request.
    key_id: String,
}

impl FromRequestParts<App> for SignInOwner {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let admitted = app.admit(&parts.headers).await?;
        let user = match &admitted.user {
            _ if is_admin(&admitted) => None,
            Some((user, _)) if admitted.human => Some(*user),
            _ => return Err(forbidden(Permission::Admin)),
        };
        let by = AuditActor::from(&admitted);
        Ok(Self { tenant: admitted.tenant, by, user, key_id: admitted.key_id })
    }
}

impl SignInOwner {
    /// The user whose sign-ins are requested. An administrator may name one.
    fn selected_user(&self, name: Option<&str>) -> Result<Option<UserId>, Problem> {
        let named = name.map(|name| UserId::named(self.tenant, name));
        match (self.user, named) {
            (Some(own), Some(named)) if own != named => Err(forbidden(Permission::Admin)),
            (Some(own), _) => Ok(Some(own)),
            (None, named) => Ok(named),
        }
    }
}

/// A sign-in, a token, a link or a connector, without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignInEntry {
    id: String,
    /// `sign_in` for a browser in the console, `token` for one that `POST /api/tokens` made, `link`
    /// for an unused link, `connector` for an assistant that the user connected by OAuth.
    #[schema(example = "sign_in")]
    kind: &'static str,
    /// What it is for; of a connector the name that the assistant gave itself.
    #[schema(example = "Claude")]
    name: String,
    user: String,
    permissions: Vec<&'static str>,
    /// The id of the credential that made it; null if the command line did.
    made_by: Option<String>,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
    /// Whether it is the credential of this request.
    current: bool,
}

impl SignInEntry {
    fn of(record: KeyRecord, key_id: &str) -> Self {
        Self {
            kind: record.kind.as_str(),
            name: record.name,
            current: record.key_id == key_id,
            id: record.key_id,
            user: record.user.map(|(_, name)| name).unwrap_or_default(),
            permissions: record.permissions.iter().map(|p| p.as_str()).collect(),
            made_by: record.minted_by,
            created_at: record.created_at,
            expires_at: record.expires_at,
            last_used_at: record.last_used_at,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SignIns {
    data: Vec<SignInEntry>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SignInsQuery {
    /// Only this user's. A user sees their own without it.
    user: Option<String>,
}

/// List active sign-ins, tokens, links and connectors.
///
/// An administrator sees the tenant's, a user their own. The latest 1,000.
#[utoipa::path(get, path = "/api/sign-ins", tag = "sign-in", params(SignInsQuery), responses(
    (status = 200, body = SignIns),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_sign_ins(
    State(app): State<App>,
    owner: SignInOwner,
    QueryParams(query): QueryParams<SignInsQuery>,
) -> Result<Json<SignIns>, Problem> {
    let user = owner.selected_user(query.user.as_deref())?;
    let records = app.engine().credentials.sign_ins(owner.tenant, user, app.now()).await?;
    let data = records.into_iter().map(|record| SignInEntry::of(record, &owner.key_id)).collect();
    Ok(Json(SignIns { data }))
}

/// End all sign-ins, tokens, links and connectors of one user, and everything made from them.
///
/// A user ends their own, including this one; an administrator names the user.
#[utoipa::path(delete, path = "/api/sign-ins", tag = "sign-in", params(SignInsQuery), responses(
    (status = 200, body = Revoked),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn end_sign_ins(
    State(app): State<App>,
    owner: SignInOwner,
    QueryParams(query): QueryParams<SignInsQuery>,
    _sent: JsonRequest<Nothing>,
) -> Result<Json<Revoked>, Problem> {
    let user = owner.selected_user(query.user.as_deref())?;
    let user = user
        .ok_or_else(|| Problem::of(ErrorCode::UserRequired).because("Name the user as `?user=`"))?;
    end(&app, owner.by, Some(user), None).await
}

/// End one sign-in, token, link or connector, and everything made from it.
#[utoipa::path(delete, path = "/api/sign-ins/{id}", tag = "sign-in", params(
    ("id" = String, Path, description = "Its id, as listed")), responses(
    (status = 200, body = Revoked),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn end_sign_in(
    State(app): State<App>,
    owner: SignInOwner,
    PathParams(id): PathParams<String>,
    _sent: JsonRequest<Nothing>,
) -> Result<Json<Revoked>, Problem> {
    end(&app, owner.by, owner.user, Some(id)).await
}

async fn end(
    app: &App,
    by: AuditActor,
    user: Option<UserId>,
    id: Option<String>,
) -> Result<Json<Revoked>, Problem> {
    let engine = app.engine().clone();
    let now = app.now();
    let work = async move { engine.credentials.end_sign_ins(&by, user, id.as_deref(), now).await };
    let revoked = app.detached(work).await?;
    app.forget_credentials(&revoked);
    Ok(Json(Revoked { revoked }))
}
