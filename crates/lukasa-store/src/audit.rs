//! The audit log of tenants. The database computes the chain of hashes; rows are only ever appended,
//! and removed from the oldest on by [`crate::audit_retention`].
//!
//! An append locks the end of the tenant's chain until the end of its transaction. So it is sent right
//! before the commit: it waits for no other lock while it holds this one, and nothing slow follows.

use lukasa_core::audit::{AuditEntry, AuditRecord, ChainPosition};
use lukasa_core::{TenantId, Timestamp, UserId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Directory, Owned, Param, Scope};

pub(crate) const INSERT: &str = "insert into audit (tenant_id, at, event, result, actor_kind, actor, user_id, \
                      subject, detail) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

/// The parameters of [`INSERT`].
pub(crate) fn values(tenant: TenantId, new: &AuditEntry) -> Vec<Owned> {
    vec![
        Box::new(tenant.uuid()),
        Box::new(new.at),
        Box::new(new.event.as_str()),
        Box::new(new.result.as_str()),
        Box::new(new.actor.kind.as_str()),
        Box::new(new.actor.credential.clone()),
        Box::new(new.user.map(UserId::uuid)),
        Box::new(new.subject.clone()),
        Box::new(new.detail.clone()),
    ]
}

/// Appends a record in the transaction of a user's write, right before the commit.
pub fn append(batch: &mut Batch, scope: &Scope, new: &AuditEntry) {
    batch.push_last(INSERT, values(scope.tenant(), new));
}

/// Appends a record in a transaction on the tenant's lists, as its last statement.
pub async fn append_to(directory: &Directory, new: &AuditEntry) -> Result<()> {
    let owned = values(directory.tenant(), new);
    let params: Vec<Param<'_>> = owned.iter().map(|value| &**value as Param<'_>).collect();
    directory.query(INSERT, &params).await?;
    Ok(())
}

macro_rules! audit_columns {
    () => {
        "tenant_id, number, at, event, result, actor_kind, actor, user_id, subject, detail, \
         previous, hash"
    };
}

fn record(row: &Row) -> Result<AuditRecord> {
    let mut c = Columns::of(row, "audit");
    Ok(AuditRecord {
        tenant_id: TenantId::from_uuid(c.take()?),
        number: c.take()?,
        at: c.take()?,
        event: c.take()?,
        result: c.take()?,
        actor_kind: c.take()?,
        actor: c.take()?,
        user_id: c.take::<Option<Uuid>>()?.map(UserId::from_uuid),
        subject: c.take()?,
        detail: c.take()?,
        previous: hash(c.take()?)?,
        hash: hash(c.take()?)?,
    })
}

fn hash(bytes: &[u8]) -> Result<[u8; 32]> {
    let what = || Error::Corrupt { table: "audit", what: "a hash of another length".into() };
    bytes.try_into().map_err(|_| what())
}

/// Which records to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only records of this event.
    pub event: Option<String>,
    pub since: Option<Timestamp>,
    /// Only records before this time.
    pub until: Option<Timestamp>,
    pub user: Option<UserId>,
}

/// The tenant's records before a number, newest first.
pub async fn list(
    directory: &Directory,
    filter: &AuditFilter,
    before: Option<i64>,
    limit: i64,
) -> Result<Vec<AuditRecord>> {
    const SQL: &str = concat!(
        "select ",
        audit_columns!(),
        " from audit where tenant_id = $1 and number < $2 and ($3::text is null or event = $3) \
           and ($4::timestamptz is null or at >= $4) and ($5::timestamptz is null or at < $5) \
           and ($6::uuid is null or user_id = $6) order by number desc limit $7"
    );
    let (before, user) = (before.unwrap_or(i64::MAX), filter.user.map(UserId::uuid));
    let params: [Param<'_>; 7] = [
        &directory.tenant().uuid(),
        &before,
        &filter.event,
        &filter.since,
        &filter.until,
        &user,
        &limit,
    ];
    all(&directory.query(SQL, &params).await?, record)
}

/// The tenant's records after a number, oldest first.
pub async fn after(directory: &Directory, number: i64, limit: i64) -> Result<Vec<AuditRecord>> {
    const SQL: &str = concat!(
        "select ",
        audit_columns!(),
        " from audit where tenant_id = $1 and number > $2 order by number limit $3"
    );
    let params: [Param<'_>; 3] = [&directory.tenant().uuid(), &number, &limit];
    all(&directory.query(SQL, &params).await?, record)
}

/// The ends of a tenant's chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainEnds {
    /// The last record that was removed by retention; the chain continues after it.
    pub pruned: ChainPosition,
    /// The last record.
    pub head: ChainPosition,
}

fn ends(row: &Row) -> Result<ChainEnds> {
    let mut c = Columns::of(row, "audit_head");
    let pruned = ChainPosition { number: c.take()?, hash: hash(c.take()?)? };
    Ok(ChainEnds { pruned, head: ChainPosition { number: c.take()?, hash: hash(c.take()?)? } })
}

/// The ends of the tenant's chain; without records both are its start.
pub async fn chain_ends(directory: &Directory) -> Result<ChainEnds> {
    const SQL: &str = "select pruned_number, pruned_hash, number, hash from audit_head \
                       where tenant_id = $1";
    let start = ChainEnds { pruned: ChainPosition::START, head: ChainPosition::START };
    let found = one(&directory.query(SQL, &[&directory.tenant().uuid()]).await?, ends)?;
    Ok(found.unwrap_or(start))
}
