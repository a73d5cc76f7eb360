//! Scrubbing: rewrites the database's files without erased data, as the owner of the tables.

use std::sync::Arc;

use lukasa_core::Timestamp;
use lukasa_core::time::micros;
use lukasa_store::{ConnectOptions, PoolSizes, Store, cell_admin, scrub};

use crate::error::Result;
use crate::modules::{Modules, State};
use crate::parts::Parts;

pub use lukasa_store::scrub::{ScrubProgress, ScrubReport};

/// Scrubs erased data from the files of all cells, as the owner. Without erasures since the last
/// scrub there is nothing to do, unless `always`. A cell that users were moved away from has their
/// rows in its files, so it is rewritten before any erasure is marked as scrubbed.
pub async fn scrub(
    connect: &ConnectOptions,
    now: Timestamp,
    always: bool,
    tell: impl Fn(ScrubProgress) + Send + Sync,
) -> Result<ScrubReport> {
    let connect_once = ConnectOptions { pool_size: 1, ..connect.clone() };
    let parts = Parts::new(Store::connect_with(&connect_once, PoolSizes::default())?);
    Modules::new(&Arc::new(parts), &State::default()).erasures.sweep_erased().await?;
    let cells = cell_admin::list(connect).await?;
    let mut sum = ScrubReport::default();
    for cell in cells.iter().filter(|cell| cell.moved_from_at.is_some()) {
        let done = scrub::rewrite_files(&cell.connect, micros(now), &tell).await?;
        cell_admin::lock(connect).await?.mark_moved_from(&cell.name, None).await?;
        sum = sum.plus(&done);
    }
    for cell in &cells {
        sum = sum.plus(&scrub::scrub(&cell.connect, micros(now), always, &tell).await?);
    }
    Ok(sum)
}

/// Rights that the login role lacks for a scrub, as text; empty if it has all.
pub async fn lacking_rights(connect: &ConnectOptions) -> Result<Vec<String>> {
    let mut lacking = Vec::new();
    for cell in cell_admin::list(connect).await? {
        lacking.extend(scrub::lacking_rights(&cell.connect).await?);
    }
    lacking.dedup();
    Ok(lacking)
}

/// Number of erasures that are not yet scrubbed from the database files.
pub async fn unscrubbed(connect: &ConnectOptions) -> Result<usize> {
    let mut pending = 0;
    for cell in cell_admin::list(connect).await? {
        pending += scrub::pending(&cell.connect).await?;
    }
    Ok(pending)
}
