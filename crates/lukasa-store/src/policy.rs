//! Policies: what the tenant and the user have said, in versions that are never changed.

use lukasa_core::Timestamp;
use lukasa_core::policy::Patch;
use tokio_postgres::Row;

use crate::error::Result;
use crate::row::{Columns, one};
use crate::scope::{Directory, Param, Scope};

/// What somebody said, and in which version.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    pub version: i32,
    pub patch: Patch,
}

fn said(row: &Row) -> Result<Said> {
    let mut c = Columns::of(row, "policy");
    Ok(Said { version: c.take()?, patch: c.json()? })
}

/// What the scope's tenant has said last.
pub async fn of_tenant(scope: &Scope) -> Result<Said> {
    const SQL: &str = "select version, body from tenant_policy where tenant_id = $1 \
                        order by version desc limit 1";
    let rows = scope.query(SQL, &[&scope.tenant().uuid()]).await?;
    Ok(one(&rows, said)?.unwrap_or_default())
}

/// What the scope's user has said last.
pub async fn of_user(scope: &Scope) -> Result<Said> {
    const SQL: &str = "select version, body from user_policy where user_id = $1 \
                        order by version desc limit 1";
    let rows = scope.query(SQL, &[&scope.user().uuid()]).await?;
    Ok(one(&rows, said)?.unwrap_or_default())
}

/// What a write has to know of its tenant: the policy it is made under, and whether anybody outside is
/// told of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing {
    /// The versions that are in force, as they are stamped on operations. Where nobody has said
    /// anything the server's own policy holds, and there is nothing to stamp.
    pub policy: Option<String>,
    /// Whether the tenant has webhooks.
    pub webhooks: bool,
}

/// Asked by every write, in one statement, so that having no webhooks costs nothing.
pub async fn standing(scope: &Scope) -> Result<Standing> {
    const SQL: &str = "select coalesce((select max(version) from tenant_policy \
                         where tenant_id = $2), 0), coalesce((select max(version) from user_policy \
                         where user_id = $1), 0), \
                         exists (select 1 from webhook where tenant_id = $2)";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &scope.tenant().uuid()]).await?;
    let found = one(&rows, |row| {
        let mut c = Columns::of(row, "policy");
        Ok((c.take::<i32>()?, c.take::<i32>()?, c.take::<bool>()?))
    })?;
    let (tenant, user, webhooks) = found.unwrap_or_default();
    let policy = (tenant > 0 || user > 0).then(|| format!("t{tenant}.u{user}"));
    Ok(Standing { policy, webhooks })
}

/// What the tenant has said last, for its administrators.
pub async fn of_directory(directory: &Directory) -> Result<Said> {
    const SQL: &str = "select version, body from tenant_policy where tenant_id = $1 \
                        order by version desc limit 1";
    let rows = directory.query(SQL, &[&directory.tenant().uuid()]).await?;
    Ok(one(&rows, said)?.unwrap_or_default())
}

/// Has those who speak for a tenant take turns until the end of the transaction: each reads which
/// version is the last before it writes the next.
pub async fn take_turns(directory: &Directory) -> Result<()> {
    const SQL: &str = "select pg_advisory_xact_lock($1)";
    let (high, _) = directory.tenant().uuid().as_u64_pair();
    directory.query(SQL, &[&high.cast_signed()]).await?;
    Ok(())
}

/// The tenant says something new.
pub async fn set_tenant(directory: &Directory, new: &Said, by: &str, now: Timestamp) -> Result<()> {
    const SQL: &str = "insert into tenant_policy (tenant_id, version, body, set_at, set_by) \
                       values ($1, $2, $3, $4, $5)";
    let body = serde_json::to_value(&new.patch).unwrap_or_default();
    let params: [Param<'_>; 5] = [&directory.tenant().uuid(), &new.version, &body, &now, &by];
    directory.query(SQL, &params).await?;
    Ok(())
}

/// The user says something new.
pub async fn set_user(scope: &Scope, new: &Said, by: &str, now: Timestamp) -> Result<()> {
    const SQL: &str = "insert into user_policy (user_id, tenant_id, version, body, set_at, set_by) \
                       values ($1, $2, $3, $4, $5, $6)";
    let body = serde_json::to_value(&new.patch).unwrap_or_default();
    let params: [Param<'_>; 6] =
        [&scope.user().uuid(), &scope.tenant().uuid(), &new.version, &body, &now, &by];
    scope.query(SQL, &params).await?;
    Ok(())
}
