//! The tenant's users.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use lukasa_core::{Caller, Timestamp};
use lukasa_engine::directory::{UserRecord, UserRowCounts};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::erasures::SignedReceiptView;
use super::removal::Nothing;
use crate::api::App;
use crate::api::auth::{Admin, UserEraser};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::request::{
    JsonRequest, PathParams, QueryParams, page_size, parse_cursor, print_cursor,
};

/// How long a request waits for the removal of a user's rows.
const ERASURE_BUDGET: Duration = Duration::from_secs(10);

/// A user whom memories are about.
#[derive(Debug, Serialize, ToSchema)]
pub struct UserView {
    /// Your own id for the user, as sent in `X-Lukasa-User`.
    #[schema(example = "alice")]
    user: String,
    id: String,
    created_at: Timestamp,
    /// For a temporary user: when everything about them counts as deleted.
    expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<Counts>,
    /// The user's time zone, from the hard memory under `personal` / `timezone`.
    #[serde(skip_serializing_if = "Option::is_none")]
    timezone: Option<String>,
}

/// Counts of what is stored about a user.
#[derive(Debug, Serialize, ToSchema)]
pub struct Counts {
    memories: i64,
    versions: i64,
    links: i64,
    operations: i64,
}

impl From<UserRowCounts> for Counts {
    fn from(counts: UserRowCounts) -> Self {
        Self {
            memories: counts.facts,
            versions: counts.versions,
            links: counts.links,
            operations: counts.operations,
        }
    }
}

impl From<UserRecord> for UserView {
    fn from(user: UserRecord) -> Self {
        Self {
            user: user.name,
            id: user.id.to_string(),
            created_at: user.created_at,
            expires_at: user.expires_at,
            counts: None,
            timezone: None,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Users {
    data: Vec<UserView>,
    next_cursor: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct UsersQuery {
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// List the tenant's users, by name.
#[utoipa::path(get, path = "/api/users", tag = "users", params(UsersQuery), responses(
    (status = 200, body = Users),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_users(
    State(app): State<App>,
    Admin(admitted): Admin,
    QueryParams(query): QueryParams<UsersQuery>,
) -> Result<Json<Users>, Problem> {
    let after = query.cursor.as_deref().map(parse_cursor::<String>).transpose()?;
    // PostgreSQL rejects U+0000 in a text, so no user name contains it.
    if after.as_deref().is_some_and(|name| name.contains('\0')) {
        return Err(Problem::of(ErrorCode::MalformedCursor));
    }
    let limit = page_size(query.limit)?;
    let (users, next) =
        app.engine().directory.users(admitted.tenant, after.as_deref(), limit).await?;
    Ok(Json(Users {
        data: users.into_iter().map(UserView::from).collect(),
        next_cursor: next.as_ref().map(print_cursor),
    }))
}

/// A user to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateUser {
    /// Your own id for the user.
    #[schema(example = "alice")]
    user: String,
    /// For a demo or a trial: after this many minutes the user counts as deleted.
    expires_in_minutes: Option<i64>,
}

/// Create a user before their first memory, or create a deleted user again, without memories.
///
/// This is optional: the first memory about a user creates them.
#[utoipa::path(post, path = "/api/users", tag = "users", request_body = CreateUser, responses(
    (status = 201, body = UserView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn create_user(
    State(app): State<App>,
    Admin(admitted): Admin,
    sent: JsonRequest<CreateUser>,
) -> Result<(StatusCode, Json<UserView>), Problem> {
    let engine = app.engine().clone();
    let CreateUser { user, expires_in_minutes } = sent.body;
    let now = app.now();
    let work = async move {
        engine.directory.create_user(admitted.tenant, &user, expires_in_minutes, now).await
    };
    Ok((StatusCode::CREATED, Json(app.detached(work).await?.into())))
}

/// Get one user, with counts of what is stored about them.
#[utoipa::path(get, path = "/api/users/{user}", tag = "users", params(
    ("user" = String, Path, description = "Your own id for the user")), responses(
    (status = 200, body = UserView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_user(
    State(app): State<App>,
    Admin(admitted): Admin,
    PathParams(name): PathParams<String>,
) -> Result<Json<UserView>, Problem> {
    let now = app.now();
    let (user, counts) = app.engine().directory.user(admitted.tenant, &name, now).await?;
    let caller: Caller = admitted.caller(&name);
    let timezone = app.engine().facts.timezone(&caller, now).await?;
    Ok(Json(UserView { counts: Some(counts.into()), timezone, ..user.into() }))
}

/// Result of deleting a user.
#[derive(Debug, Serialize, ToSchema)]
pub struct UserDeleted {
    /// `done`, or `running` while rows are left: requests about the user are refused already, and
    /// the rest is removed in the background.
    #[schema(example = "done")]
    status: &'static str,
    erasure_id: String,
    removed: Counts,
    /// Keys and tokens bound to the user that have ended.
    credentials_ended: usize,
    /// Absent while rows are left; then it is in `GET /api/users/{user}/erasures`.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<SignedReceiptView>,
}

/// Erase a user and everything stored about them, now.
///
/// Only a signed receipt stays, and a row without a name, because of which requests about the user
/// are refused until they are created again. It cannot be undone. The user may do it too, signed in
/// or with a token that may erase. For a user with very much data the answer is 202: requests about
/// the user are refused from then on, the rows are removed in the background, and `GET
/// /api/users/{user}/erasures` has the progress and then the receipt.
#[utoipa::path(delete, path = "/api/users/{user}", tag = "users", params(
    ("user" = String, Path, description = "Your own id for the user")), responses(
    (status = 200, body = UserDeleted),
    (status = 202, body = UserDeleted),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn delete_user(
    State(app): State<App>,
    UserEraser { by, name, .. }: UserEraser,
    _sent: JsonRequest<Nothing>,
) -> Result<(StatusCode, Json<UserDeleted>), Problem> {
    let engine = app.engine().clone();
    let moment = app.moment();
    let work =
        async move { engine.erasures.erase_user_within(by, &name, moment, ERASURE_BUDGET).await };
    let erased = app.detached(work).await?;
    app.forget_credentials(&erased.ended);
    let (code, status) = match erased.receipt {
        Some(_) => (StatusCode::OK, "done"),
        None => (StatusCode::ACCEPTED, "running"),
    };
    let deleted = UserDeleted {
        status,
        erasure_id: erased.id.to_string(),
        removed: erased.counts().into(),
        credentials_ended: erased.ended.len(),
        receipt: erased.receipt.map(SignedReceiptView::from),
    };
    Ok((code, Json(deleted)))
}
