//! The audit log: reading it, verifying its chain of hashes, and removing old records. Records are
//! appended by the modules that do what is recorded, in the same transaction where they write; so
//! each cell has a chain of its own.

use std::sync::Arc;

use lukasa_core::audit::{
    AuditActor, AuditEntry, AuditEvent, AuditRecord, ChainFault, ChainPosition,
};
use lukasa_core::time::micros;
use lukasa_core::{Caller, TenantId, Timestamp};
use lukasa_store::{ConnectOptions, Directory, audit, audit_retention};

use crate::error::{Error, Result};
use crate::parts::Parts;

pub use lukasa_store::audit::{AuditFilter, ChainEnds};

/// Records read from the database at a time.
const PAGE_SIZE: i64 = 1_000;

/// Result of verifying a tenant's chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainReport {
    /// Records that were verified.
    pub records: u64,
    /// The first fault, if there is one.
    pub fault: Option<ChainFault>,
    pub ends: ChainEnds,
}

/// The audit logs of tenants.
#[derive(Clone)]
pub struct AuditLog {
    parts: Arc<Parts>,
}

impl AuditLog {
    pub(crate) fn new(parts: Arc<Parts>) -> Self {
        Self { parts }
    }

    async fn directory(&self, tenant: TenantId, cell: &str) -> Result<Directory> {
        let found = self.parts.store.directory_in(tenant, cell).await?;
        found.ok_or_else(|| Error::invalid("cell", "there is no cell with this name"))
    }

    /// The tenant's records before a number, newest first, and the number to continue with.
    pub async fn list(
        &self,
        tenant: TenantId,
        cell: &str,
        filter: &AuditFilter,
        before: Option<i64>,
        limit: usize,
    ) -> Result<(Vec<AuditRecord>, Option<i64>)> {
        let directory = self.directory(tenant, cell).await?;
        let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let mut records = audit::list(&directory, filter, before, wanted).await?;
        let more = records.len() > limit;
        records.truncate(limit);
        let next = records.last().filter(|_| more).map(|record| record.number);
        Ok((records, next))
    }

    /// The tenant's next records after a number, oldest first; none at the end.
    pub async fn page(&self, tenant: TenantId, cell: &str, after: i64) -> Result<Vec<AuditRecord>> {
        let directory = self.directory(tenant, cell).await?;
        Ok(audit::after(&directory, after, PAGE_SIZE).await?)
    }

    /// Computes the tenant's chain again and compares it with the stored hashes and its end.
    pub async fn verify(&self, tenant: TenantId, cell: &str) -> Result<ChainReport> {
        loop {
            let report = self.verify_once(tenant, cell).await?;
            // Records that were removed by retention in the meantime are not a fault.
            if report.fault.is_none() || self.ends(tenant, cell).await?.pruned == report.ends.pruned
            {
                return Ok(report);
            }
        }
    }

    async fn ends(&self, tenant: TenantId, cell: &str) -> Result<ChainEnds> {
        Ok(audit::chain_ends(&self.directory(tenant, cell).await?).await?)
    }

    async fn verify_once(&self, tenant: TenantId, cell: &str) -> Result<ChainReport> {
        let ends = self.ends(tenant, cell).await?;
        let (mut at, mut report) = (ends.pruned, ChainReport { records: 0, fault: None, ends });
        while at.number < ends.head.number {
            let mut page = self.page(tenant, cell, at.number).await?;
            // Records that were appended since the end was read are left to the next time.
            page.retain(|record| record.number <= ends.head.number);
            if page.is_empty() {
                break;
            }
            for record in &page {
                if let Err(fault) = at.follow(record) {
                    return Ok(ChainReport { fault: Some(fault), ..report });
                }
                report.records += 1;
            }
        }
        report.fault = at.check_end(ends.head).err();
        Ok(report)
    }

    /// Records an export, before anything is read: no export is without its record.
    pub(crate) async fn record_export(
        &self,
        caller: &Caller,
        format: &str,
        now: Timestamp,
    ) -> Result<()> {
        let entry = AuditEntry::done(AuditEvent::Export, AuditActor::of(caller), micros(now));
        self.record(&entry.about(caller.user).detail(format)).await
    }

    /// Records what is not a write itself.
    async fn record(&self, entry: &AuditEntry) -> Result<()> {
        let directory = self.parts.store.directory(entry.actor.tenant).await?;
        audit::append_to(&directory, entry).await?;
        Ok(directory.commit().await?)
    }
}

/// Removes a tenant's records from before a time, as the owner of the tables; returns how many.
pub async fn prune(
    connect: &ConnectOptions,
    tenant: TenantId,
    before: Timestamp,
    now: Timestamp,
) -> Result<u64> {
    let entry = AuditEntry::done(AuditEvent::Prune, tenant.into(), micros(now));
    let mut removed = 0;
    loop {
        let batch = audit_retention::prune_batch(connect, tenant, before, &entry).await?;
        removed += batch;
        // The records of this removal stay, also with a time in the future.
        if batch < audit_retention::BATCH_SIZE.unsigned_abs() {
            return Ok(removed);
        }
    }
}

/// Verifies exported records, from the first of them on: an export may begin after removed records.
pub fn verify_records<E>(
    records: impl Iterator<Item = std::result::Result<AuditRecord, E>>,
) -> std::result::Result<(u64, Option<ChainFault>, ChainPosition), E> {
    let (mut count, mut at) = (0, ChainPosition::START);
    for record in records {
        let record = record?;
        if count == 0 {
            at = ChainPosition { number: record.number - 1, hash: record.previous };
        }
        if let Err(fault) = at.follow(&record) {
            return Ok((count, Some(fault), at));
        }
        count += 1;
    }
    Ok((count, None, at))
}
