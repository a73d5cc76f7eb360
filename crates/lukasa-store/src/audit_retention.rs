//! Retention of the audit log. Only the owner of the tables can remove records.

use lukasa_core::audit::AuditEntry;
use lukasa_core::{TenantId, Timestamp};

use crate::ConnectOptions;
use crate::audit::{INSERT, values};
use crate::error::Result;
use crate::migrate::owner;
use crate::row::{Columns, one};
use crate::scope::Param;

/// Records that are removed in one transaction. Other writes of the tenant wait for it.
pub const BATCH_SIZE: i64 = 5_000;

/// Removes the oldest of the tenant's records from before a time, as the owner of the tables, and
/// records that. Only the beginning of the chain is removed: nothing after a record that stays.
/// Returns how many were removed: [`BATCH_SIZE`] if there may be more.
pub async fn prune_batch(
    connect: &ConnectOptions,
    tenant: TenantId,
    before: Timestamp,
    entry: &AuditEntry,
) -> Result<u64> {
    const LAST: &str = "select number, hash from audit where tenant_id = $1 and number < \
                          coalesce((select min(number) from audit where tenant_id = $1 and at >= $2), \
                                   9223372036854775807) \
                          and number < (select min(number) from audit where tenant_id = $1) + $3 \
                        order by number desc limit 1";
    let mut client = owner(connect).await?;
    let transaction = client.transaction().await?;
    let settings = format!(
        "set local app.tenant = '{}'; set local app.directory = 'on'; \
         set local app.audit_retention = 'on'",
        tenant.uuid()
    );
    transaction.batch_execute(&settings).await?;
    let lock = "select number from audit_head where tenant_id = $1 for update";
    transaction.query(lock, &[&tenant.uuid()]).await?;
    let rows = transaction.query(LAST, &[&tenant.uuid(), &before, &BATCH_SIZE]).await?;
    let last = one(&rows, |row| {
        let mut c = Columns::of(row, "audit");
        Ok((c.take::<i64>()?, c.take::<Vec<u8>>()?))
    })?;
    let Some((number, hash)) = last else { return Ok(0) };
    let delete = "delete from audit where tenant_id = $1 and number <= $2";
    let removed = transaction.execute(delete, &[&tenant.uuid(), &number]).await?;
    let update = "update audit_head set pruned_number = $2, pruned_hash = $3 where tenant_id = $1";
    transaction.execute(update, &[&tenant.uuid(), &number, &hash]).await?;
    let entry = entry.clone().subject(number).detail(&format!("removed={removed}"));
    let owned = values(tenant, &entry);
    let params: Vec<Param<'_>> = owned.iter().map(|value| &**value as Param<'_>).collect();
    transaction.execute(INSERT, &params).await?;
    transaction.commit().await?;
    Ok(removed)
}
