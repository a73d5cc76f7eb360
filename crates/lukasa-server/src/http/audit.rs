//! The tenant's audit log.

use axum::Json;
use axum::extract::State;
use lukasa_core::audit::{AuditEvent, AuditRecord, print_hash};
use lukasa_core::placement::MAIN_CELL;
use lukasa_core::{Timestamp, UserId};
use lukasa_engine::audit::AuditFilter;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::App;
use crate::api::auth::Admin;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::request::{QueryParams, page_size, parse_cursor, print_cursor};

/// One record of the audit log: ids, words and numbers, without names or content.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditView {
    /// Its position in the tenant's chain, from 1.
    number: i64,
    at: Timestamp,
    /// What was done: `sign_in`, `sign_in.end`, `link.create`, `key.create`, `key.revoke`,
    /// `key.rotate`, `webhook.create`, `webhook.edit`, `webhook.remove`, `webhook.rotate`,
    /// `signing_key.rotate`, `connector.create`, `connector.end`, `policy.tenant`, `policy.user`,
    /// `export`, `import`, `import.undo`, `erase`, `user.erase`, `space.create`, `space.grant`,
    /// `space.accept`, `space.end` or `audit.prune`.
    #[schema(example = "key.create")]
    event: String,
    /// `done` or `refused`.
    #[schema(example = "done")]
    result: String,
    /// `human` for a sign-in or token, `key`, `connector`, `link`, `provider`, `local`, `operator`
    /// for the command line, or `job`.
    #[schema(example = "human")]
    actor_kind: String,
    /// The id of the credential.
    actor: String,
    /// The id of the user it is about.
    user_id: Option<String>,
    /// The id of what it is about: a credential, an import, an operation, an erasure, or the version
    /// of a policy.
    subject: String,
    /// Such as the permissions of a new credential.
    #[schema(example = "read,write")]
    detail: String,
    /// The hash of the record before it, in hexadecimal digits.
    previous: String,
    /// The hash of this record.
    hash: String,
}

impl From<AuditRecord> for AuditView {
    fn from(record: AuditRecord) -> Self {
        Self {
            number: record.number,
            at: record.at,
            event: record.event,
            result: record.result,
            actor_kind: record.actor_kind,
            actor: record.actor,
            user_id: record.user_id.map(|user| user.to_string()),
            subject: record.subject,
            detail: record.detail,
            previous: print_hash(&record.previous),
            hash: print_hash(&record.hash),
        }
    }
}

/// A page of the audit log, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditPage {
    data: Vec<AuditView>,
    next_cursor: Option<String>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Only records of this event, such as `key.create`.
    event: Option<String>,
    /// Only records from this time on.
    since: Option<Timestamp>,
    /// Only records before this time.
    until: Option<Timestamp>,
    /// Only records about this user, by your own id.
    user: Option<String>,
    /// The cell whose records are listed, in a deployment with several; `main` if absent.
    cell: Option<String>,
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// List the tenant's audit log, newest first.
///
/// It records sign-ins, keys, connectors, policies, exports, imports and erasures. Only
/// administrators of the tenant can read it. `lukasa audit verify` verifies its chain of hashes.
#[utoipa::path(get, path = "/api/audit", tag = "keys", params(AuditQuery), responses(
    (status = 200, body = AuditPage),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_audit(
    State(app): State<App>,
    Admin(admitted): Admin,
    QueryParams(query): QueryParams<AuditQuery>,
) -> Result<Json<AuditPage>, Problem> {
    let before = query.cursor.as_deref().map(parse_cursor::<i64>).transpose()?;
    let limit = page_size(query.limit)?;
    if query.event.as_deref().is_some_and(|event| AuditEvent::parse(event).is_none()) {
        return Err(Problem::of(ErrorCode::MalformedQuery).because("`event` is not known"));
    }
    let filter = AuditFilter {
        event: query.event,
        since: query.since,
        until: query.until,
        user: query.user.map(|name| UserId::named(admitted.tenant, &name)),
    };
    let cell = query.cell.as_deref().unwrap_or(MAIN_CELL);
    let log = &app.engine().audit;
    let (records, next) = log.list(admitted.tenant, cell, &filter, before, limit).await?;
    Ok(Json(AuditPage {
        data: records.into_iter().map(AuditView::from).collect(),
        next_cursor: next.as_ref().map(print_cursor),
    }))
}
