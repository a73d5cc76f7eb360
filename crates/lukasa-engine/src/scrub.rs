//! Scrubbing: rewrites the database's files without erased data, as the owner of the tables.

use std::sync::Arc;

use lukasa_core::Timestamp;
use lukasa_core::time::micros;
use lukasa_store::{ConnectOptions, PoolSizes, Store, scrub};

use crate::error::Result;
use crate::modules::{Modules, State};
use crate::parts::Parts;

pub use lukasa_store::scrub::{ScrubProgress, ScrubReport};

/// Scrubs erased data from the database files, as the owner. Without erasures since the last scrub
/// there is nothing to do, unless `always`.
pub async fn scrub(
    connect: &ConnectOptions,
    now: Timestamp,
    always: bool,
    tell: impl Fn(ScrubProgress) + Send + Sync,
) -> Result<ScrubReport> {
    let connect_once = ConnectOptions { pool_size: 1, ..connect.clone() };
    let parts = Parts::new(Store::connect_with(&connect_once, PoolSizes::default())?);
    Modules::new(&Arc::new(parts), &State::default()).erasures.sweep_erased().await?;
    Ok(scrub::scrub(connect, micros(now), always, tell).await?)
}

/// Rights that the login role lacks for a scrub, as text; empty if it has all.
pub async fn lacking_rights(connect: &ConnectOptions) -> Result<Vec<String>> {
    Ok(scrub::lacking_rights(connect).await?)
}

/// Number of erasures that are not yet scrubbed from the database files.
pub async fn unscrubbed(connect: &ConnectOptions) -> Result<usize> {
    Ok(scrub::pending(connect).await?)
}
