//! Policies set by tenants and users, in versions that are never changed.

use std::collections::{BTreeMap, BTreeSet};

use lukasa_core::policy::Patch;
use lukasa_core::{Category, Timestamp};
use tokio_postgres::Row;

use crate::calibration::floors_of;
use crate::error::Result;
use crate::row::{Columns, one};
use crate::scope::{Directory, Param, Scope};

/// A stored policy patch and its version.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PolicyRow {
    pub version: i32,
    pub patch: Patch,
    /// Domains that the user admits inferred memories of; none in a tenant's.
    pub admits_inferred: BTreeSet<String>,
    /// The calibrated minimum confidences; none in a tenant's.
    pub calibrated: BTreeMap<Category, f32>,
}

fn policy_row(row: &Row) -> Result<PolicyRow> {
    let mut c = Columns::of(row, "policy");
    Ok(PolicyRow { version: c.take()?, patch: c.json()?, ..PolicyRow::default() })
}

/// The latest policy patch of the scope's tenant.
pub async fn of_tenant(scope: &Scope) -> Result<PolicyRow> {
    const SQL: &str = "select version, body from tenant_policy where tenant_id = $1 \
                        order by version desc limit 1";
    let rows = scope.query(SQL, &[&scope.tenant().uuid()]).await?;
    Ok(one(&rows, policy_row)?.unwrap_or_default())
}

/// The latest policy patch of the scope's user, the domains they admit inferred memories of, and the
/// calibrated minimum confidences.
pub async fn of_user(scope: &Scope) -> Result<PolicyRow> {
    const SQL: &str = "select coalesce(p.version, 0), coalesce(p.body, '{}'::jsonb), \
                         array(select domain from user_domain where user_id = $1 and admits_inferred), \
                         coalesce((select jsonb_object_agg(category, floor) from calibration \
                           where user_id = $1), '{}'::jsonb) \
                         from (values (1)) one left join lateral (select version, body \
                           from user_policy where user_id = $1 order by version desc limit 1) p on true";
    let rows = scope.query(SQL, &[&scope.user().uuid()]).await?;
    let found = one(&rows, |row| {
        let mut c = Columns::of(row, "policy");
        let (version, patch) = (c.take()?, c.json()?);
        let admits_inferred: Vec<String> = c.take()?;
        let calibrated = floors_of(&c.take()?);
        let admits_inferred = admits_inferred.into_iter().collect();
        Ok(PolicyRow { version, patch, admits_inferred, calibrated })
    })?;
    Ok(found.unwrap_or_default())
}

/// What a write needs to know of its tenant: the policy versions it is made under, and whether
/// webhooks are notified of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteSettings {
    /// The policy versions in force, as they are recorded in operations. `None` if neither the
    /// tenant nor the user has set a policy and the server's default applies.
    pub policy: Option<String>,
    /// Whether the tenant has webhooks.
    pub webhooks: bool,
    /// Whether the user's memory is paused.
    pub paused: bool,
}

/// Reads it in one statement, because every write does, so that having no webhooks costs nothing.
pub async fn write_settings(scope: &Scope) -> Result<WriteSettings> {
    const SQL: &str = "select coalesce((select max(version) from tenant_policy \
                         where tenant_id = $2), 0), coalesce((select max(version) from user_policy \
                         where user_id = $1), 0), \
                         exists (select 1 from webhook where tenant_id = $2), \
                         coalesce((select (body->>'paused')::boolean from user_policy \
                         where user_id = $1 order by version desc limit 1), \
                         (select (body->>'paused')::boolean from tenant_policy \
                         where tenant_id = $2 order by version desc limit 1), false)";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &scope.tenant().uuid()]).await?;
    let found = one(&rows, |row| {
        let mut c = Columns::of(row, "policy");
        Ok((c.take::<i32>()?, c.take::<i32>()?, c.take::<bool>()?, c.take::<bool>()?))
    })?;
    let (tenant, user, webhooks, paused) = found.unwrap_or_default();
    let policy = (tenant > 0 || user > 0).then(|| format!("t{tenant}.u{user}"));
    Ok(WriteSettings { policy, webhooks, paused })
}

/// Whether the user's memory is paused, by the user's own policy or else the tenant's. A server's
/// default policy never pauses it.
pub async fn is_paused(scope: &Scope) -> Result<bool> {
    const SQL: &str = "select coalesce((select (body->>'paused')::boolean from user_policy \
                         where user_id = $1 order by version desc limit 1), \
                         (select (body->>'paused')::boolean from tenant_policy \
                         where tenant_id = $2 order by version desc limit 1), false)";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &scope.tenant().uuid()]).await?;
    Ok(one(&rows, |row| Columns::of(row, "policy").take())?.unwrap_or_default())
}

/// The latest policy patch of the tenant, for its administrators.
pub async fn of_directory(directory: &Directory) -> Result<PolicyRow> {
    const SQL: &str = "select version, body from tenant_policy where tenant_id = $1 \
                        order by version desc limit 1";
    let rows = directory.query(SQL, &[&directory.tenant().uuid()]).await?;
    Ok(one(&rows, policy_row)?.unwrap_or_default())
}

/// Serialises policy changes of a tenant until the end of the transaction: each reads the latest
/// version before it writes the next.
pub async fn lock_tenant(directory: &Directory) -> Result<()> {
    const SQL: &str = "select pg_advisory_xact_lock($1)";
    let (high, _) = directory.tenant().uuid().as_u64_pair();
    directory.query(SQL, &[&high.cast_signed()]).await?;
    Ok(())
}

/// Stores a new version of the tenant's policy patch.
pub async fn set_tenant(
    directory: &Directory,
    new: &PolicyRow,
    by: &str,
    now: Timestamp,
) -> Result<()> {
    const SQL: &str = "insert into tenant_policy (tenant_id, version, body, set_at, set_by) \
                       values ($1, $2, $3, $4, $5)";
    let body = serde_json::to_value(&new.patch).unwrap_or_default();
    let params: [Param<'_>; 5] = [&directory.tenant().uuid(), &new.version, &body, &now, &by];
    directory.query(SQL, &params).await?;
    Ok(())
}

/// Stores a new version of the user's policy patch.
pub async fn set_user(scope: &Scope, new: &PolicyRow, by: &str, now: Timestamp) -> Result<()> {
    const SQL: &str = "insert into user_policy (user_id, tenant_id, version, body, set_at, set_by) \
                       values ($1, $2, $3, $4, $5, $6)";
    let body = serde_json::to_value(&new.patch).unwrap_or_default();
    let params: [Param<'_>; 6] =
        [&scope.user().uuid(), &scope.tenant().uuid(), &new.version, &body, &now, &by];
    scope.query(SQL, &params).await?;
    Ok(())
}
