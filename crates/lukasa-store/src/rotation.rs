//! Rotation of the installation's signing key. Only the owner of the tables can replace it; servers
//! read the keys, see [`crate::Store::signing_seeds`].

use lukasa_core::audit::AuditEntry;
use lukasa_core::{TenantId, Timestamp};
use tokio_postgres::{Client, Transaction};
use uuid::Uuid;

use crate::ConnectOptions;
use crate::audit::{INSERT, values};
use crate::error::{Error, Result};
use crate::migrate::owner;
use crate::row::{Columns, all, one};
use crate::scope::Param;

/// A signing key of the installation.
pub struct SigningKey {
    pub seed: Vec<u8>,
    pub created_at: Option<Timestamp>,
    /// Until when it is accepted; `None` for the key in use.
    pub accepted_until: Option<Timestamp>,
}

async fn begin(client: &mut Client) -> Result<Transaction<'_>> {
    let transaction = client.transaction().await?;
    transaction
        .batch_execute("set local app.signing = 'on'; set local app.rotation = 'on'")
        .await?;
    Ok(transaction)
}

/// The accepted keys, the one in use first.
pub async fn signing_keys(connect: &ConnectOptions) -> Result<Vec<SigningKey>> {
    const SQL: &str = "select seed, created_at, null::timestamptz from signing_key union all \
                       (select seed, null, accepted_until from retired_signing_key \
                         where accepted_until > now() order by accepted_until desc)";
    let mut client = owner(connect).await?;
    let rows = begin(&mut client).await?.query(SQL, &[]).await?;
    all(&rows, |row| {
        let mut c = Columns::of(row, "signing_key");
        Ok(SigningKey { seed: c.take()?, created_at: c.take()?, accepted_until: c.take()? })
    })
}

/// Replaces the key in use, which is accepted for `overlap_days` more, and appends a record to the
/// audit log of every tenant.
pub async fn replace_signing_key(
    connect: &ConnectOptions,
    seed: &[u8; 32],
    overlap_days: i32,
    entry: impl Fn(TenantId) -> AuditEntry,
) -> Result<()> {
    const RETIRE: &str = "insert into retired_signing_key (seed, retired_at, accepted_until) \
                          values ($1, now(), now() + make_interval(days => $2))";
    let mut client = owner(connect).await?;
    let transaction = begin(&mut client).await?;
    let rows = transaction.query("select seed from signing_key for update", &[]).await?;
    let old = one(&rows, |row| Columns::of(row, "signing_key").take::<Vec<u8>>())?;
    let missing = || Error::Corrupt { table: "signing_key", what: "no key".into() };
    let old = old.ok_or_else(missing)?;
    let expired = "delete from retired_signing_key where accepted_until <= now()";
    transaction.execute(expired, &[]).await?;
    if overlap_days > 0 {
        transaction.execute(RETIRE, &[&old, &overlap_days]).await?;
    }
    let replace = "update signing_key set seed = $1, created_at = now()";
    transaction.execute(replace, &[&seed.as_slice()]).await?;
    let tenants = transaction.query("select tenant_id from tenant order by tenant_id", &[]).await?;
    for tenant in all(&tenants, |row| Columns::of(row, "tenant").take::<Uuid>())? {
        let tenant = TenantId::from_uuid(tenant);
        transaction.batch_execute(&format!("set local app.tenant = '{}'", tenant.uuid())).await?;
        let owned = values(tenant, &entry(tenant));
        let params: Vec<Param<'_>> = owned.iter().map(|value| &**value as Param<'_>).collect();
        transaction.execute(INSERT, &params).await?;
    }
    Ok(transaction.commit().await?)
}
