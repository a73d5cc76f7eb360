//! Spaces: memories that users of the tenant share. Administrators create them and grant them; users
//! accept, and leave. Memories of a space are read and written by the operations on memories, with the
//! header `X-Lukasa-Space`.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use lukasa_core::audit::AuditActor;
use lukasa_core::{SpaceAccess, SpaceGrant, SpaceName, Timestamp};
use lukasa_engine::spaces::{Membership, SpaceMember, parse_space_name};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::removal::Nothing;
use crate::api::App;
use crate::api::auth::{Admin, Reader, Writer};
use crate::api::error::Problem;
use crate::api::request::{JsonRequest, PathParams};
use crate::api::space::find_space;

/// How long a request waits for the removal of a space's rows.
const ERASURE_BUDGET: Duration = Duration::from_secs(10);

/// A space: memories that its members share.
#[derive(Debug, Serialize, ToSchema)]
pub struct SpaceView {
    /// Its name, as sent in `X-Lukasa-Space`.
    #[schema(example = "family")]
    space: String,
}

impl From<&SpaceName> for SpaceView {
    fn from(space: &SpaceName) -> Self {
        Self { space: space.to_string() }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SpaceList {
    data: Vec<SpaceView>,
}

/// The grant of a space to a user.
#[derive(Debug, Serialize, ToSchema)]
pub struct GrantView {
    /// `read`, or `write` for both.
    #[schema(example = "write")]
    access: &'static str,
    /// `offered` until the user accepts it, then `accepted`, or `ended`. Only an accepted grant allows
    /// anything.
    #[schema(example = "accepted")]
    state: &'static str,
    granted_at: Timestamp,
    accepted_at: Option<Timestamp>,
    ended_at: Option<Timestamp>,
}

impl From<&SpaceGrant> for GrantView {
    fn from(grant: &SpaceGrant) -> Self {
        Self {
            access: grant.access.as_str(),
            state: grant.state().as_str(),
            granted_at: grant.granted_at,
            accepted_at: grant.accepted_at,
            ended_at: grant.ended_at,
        }
    }
}

/// A member of a space.
#[derive(Debug, Serialize, ToSchema)]
pub struct SpaceMemberView {
    /// Your own id for the user; null if it cannot be read now.
    #[schema(example = "anna")]
    user: Option<String>,
    grant: GrantView,
}

impl From<&SpaceMember> for SpaceMemberView {
    fn from(member: &SpaceMember) -> Self {
        Self { user: member.user.clone(), grant: (&member.grant).into() }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SpaceMemberList {
    data: Vec<SpaceMemberView>,
}

/// A space that has granted to the user.
#[derive(Debug, Serialize, ToSchema)]
pub struct MembershipView {
    #[schema(example = "family")]
    space: String,
    grant: GrantView,
}

impl From<&Membership> for MembershipView {
    fn from(membership: &Membership) -> Self {
        Self { space: membership.space.to_string(), grant: (&membership.grant).into() }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct MembershipList {
    data: Vec<MembershipView>,
    /// How many further spaces cannot be read now.
    unavailable: usize,
}

/// List the tenant's spaces, by name; at most 1,000.
#[utoipa::path(get, path = "/api/spaces", tag = "spaces", responses(
    (status = 200, body = SpaceList),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_spaces(
    State(app): State<App>,
    Admin(admitted): Admin,
) -> Result<Json<SpaceList>, Problem> {
    let spaces = app.engine().spaces.list(admitted.tenant).await?;
    Ok(Json(SpaceList { data: spaces.iter().map(SpaceView::from).collect() }))
}

/// A space to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateSpace {
    /// 1 to 64 characters. Spaces and users have names of their own: both may have the same.
    #[schema(example = "family")]
    space: String,
}

/// Create a space without members. One that exists stays as it is.
#[utoipa::path(post, path = "/api/spaces", tag = "spaces", request_body = CreateSpace, responses(
    (status = 201, body = SpaceView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn create_space(
    State(app): State<App>,
    Admin(admitted): Admin,
    sent: JsonRequest<CreateSpace>,
) -> Result<(StatusCode, Json<SpaceView>), Problem> {
    let space = parse_space_name("space", &sent.body.space)?;
    let (engine, by) = (app.engine().clone(), AuditActor::from(&admitted));
    let view = SpaceView::from(&space);
    let now = app.now();
    app.detached(async move { engine.spaces.create(by, &space, now).await }).await?;
    Ok((StatusCode::CREATED, Json(view)))
}

/// Result of erasing a space.
#[derive(Debug, Serialize, ToSchema)]
pub struct SpaceErased {
    /// `done`, or `running` while rows are left, which are removed in the background.
    #[schema(example = "done")]
    status: &'static str,
    erasure_id: String,
}

/// Erase a space with all its memories and grants, now. It cannot be undone.
#[utoipa::path(delete, path = "/api/spaces/{space}", tag = "spaces", params(
    ("space" = String, Path, description = "The space")), responses(
    (status = 200, body = SpaceErased),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn erase_space(
    State(app): State<App>,
    Admin(admitted): Admin,
    PathParams(name): PathParams<String>,
    _sent: JsonRequest<Nothing>,
) -> Result<Json<SpaceErased>, Problem> {
    let (space, by) = (find_space(&name)?, AuditActor::from(&admitted));
    let engine = app.engine().clone();
    let moment = app.moment();
    let work =
        async move { engine.erasures.erase_space_within(by, &space, moment, ERASURE_BUDGET).await };
    let erased = app.detached(work).await?;
    let status = if erased.receipt.is_some() { "done" } else { "running" };
    Ok(Json(SpaceErased { status, erasure_id: erased.id.to_string() }))
}

/// List the members of a space, including those whose grant was ended.
#[utoipa::path(get, path = "/api/spaces/{space}/members", tag = "spaces", params(
    ("space" = String, Path, description = "The space")), responses(
    (status = 200, body = SpaceMemberList),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_space_members(
    State(app): State<App>,
    Admin(admitted): Admin,
    PathParams(name): PathParams<String>,
) -> Result<Json<SpaceMemberList>, Problem> {
    let space = find_space(&name)?;
    let members = app.engine().spaces.members(admitted.tenant, &space, app.now()).await?;
    Ok(Json(SpaceMemberList { data: members.iter().map(SpaceMemberView::from).collect() }))
}

/// What a grant allows.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GrantSpace {
    /// `read`, or `write` for both.
    #[schema(example = "read")]
    access: String,
}

/// Grant a space to a user, or change what the grant allows.
///
/// It allows nothing until the user accepts it with `PUT /api/memberships/{space}`.
#[utoipa::path(put, path = "/api/spaces/{space}/members/{user}", tag = "spaces", params(
    ("space" = String, Path, description = "The space"),
    ("user" = String, Path, description = "Your own id for the user")), request_body = GrantSpace, responses(
    (status = 200, body = SpaceMemberView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn grant_space(
    State(app): State<App>,
    Admin(admitted): Admin,
    PathParams((name, user)): PathParams<(String, String)>,
    sent: JsonRequest<GrantSpace>,
) -> Result<Json<SpaceMemberView>, Problem> {
    let (space, by) = (find_space(&name)?, AuditActor::from(&admitted));
    let unknown = || Problem::invalid("access", "one of read, write");
    let access = SpaceAccess::parse(&sent.body.access).ok_or_else(unknown)?;
    let engine = app.engine().clone();
    let now = app.now();
    let work = async move { engine.spaces.grant(by, &space, &user, access, now).await };
    Ok(Json(SpaceMemberView::from(&app.detached(work).await?)))
}

/// End the grant of a space to a user, for every request from then on.
///
/// What the user has written in the space stays.
#[utoipa::path(delete, path = "/api/spaces/{space}/members/{user}", tag = "spaces", params(
    ("space" = String, Path, description = "The space"),
    ("user" = String, Path, description = "Your own id for the user")), responses(
    (status = 204, description = "Ended"),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn end_space_grant(
    State(app): State<App>,
    Admin(admitted): Admin,
    PathParams((name, user)): PathParams<(String, String)>,
    _sent: JsonRequest<Nothing>,
) -> Result<StatusCode, Problem> {
    let (space, by) = (find_space(&name)?, AuditActor::from(&admitted));
    let engine = app.engine().clone();
    let now = app.now();
    app.detached(async move { engine.spaces.end(by, &space, &user, now).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// List the spaces that have granted to the user, accepted or not.
#[utoipa::path(get, path = "/api/memberships", tag = "spaces", responses(
    (status = 200, body = MembershipList),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_memberships(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<MembershipList>, Problem> {
    let listed = app.engine().spaces.memberships(&caller, app.now()).await?;
    let data = listed.found.iter().map(MembershipView::from).collect();
    Ok(Json(MembershipList { data, unavailable: listed.unavailable }))
}

/// Accept the grant of a space.
///
/// Only the user can do it: with a user token, signed in, or on a local server.
#[utoipa::path(put, path = "/api/memberships/{space}", tag = "spaces", params(
    ("space" = String, Path, description = "The space")), responses(
    (status = 200, body = MembershipView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn accept_membership(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(name): PathParams<String>,
    _sent: JsonRequest<Nothing>,
) -> Result<Json<MembershipView>, Problem> {
    let (space, engine) = (find_space(&name)?, app.engine().clone());
    let now = app.now();
    let work = async move { engine.spaces.accept(&caller, &space, now).await };
    Ok(Json(MembershipView::from(&app.detached(work).await?)))
}

/// Leave a space, or decline its grant. Only the user can do it.
///
/// What the user has written in the space stays.
#[utoipa::path(delete, path = "/api/memberships/{space}", tag = "spaces", params(
    ("space" = String, Path, description = "The space")), responses(
    (status = 204, description = "Ended"),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn leave_space(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(name): PathParams<String>,
    _sent: JsonRequest<Nothing>,
) -> Result<StatusCode, Problem> {
    let (space, engine) = (find_space(&name)?, app.engine().clone());
    let now = app.now();
    app.detached(async move { engine.spaces.leave(&caller, &space, now).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}
