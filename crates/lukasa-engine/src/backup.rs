//! Backups of the whole database: row counts and digests from the same snapshot as the backup, and
//! a scratch database to restore a backup into for inspection.

use lukasa_store::database;

use crate::ConnectOptions;
use crate::error::Result;

pub use lukasa_store::database::{Snapshot, TableDigest};

/// Opens a snapshot that stays consistent while the database is copied and counted.
pub async fn snapshot(connect: &ConnectOptions) -> Result<Snapshot> {
    Ok(database::snapshot(connect).await?)
}

/// Counts and digests every table in that snapshot.
pub async fn table_digests(snapshot: &Snapshot) -> Result<Vec<TableDigest>> {
    Ok(snapshot.table_digests().await?)
}

/// Creates an empty database with this name on the same server.
pub async fn scratch(connect: &ConnectOptions, name: &str) -> Result<ConnectOptions> {
    let url = database::renamed(&connect.url, name);
    database::ensure(&url).await?;
    Ok(ConnectOptions { url, ..connect.clone() })
}

/// Removes a scratch database.
pub async fn remove_scratch(scratch: &ConnectOptions) -> Result<()> {
    Ok(database::remove(&scratch.url).await?)
}
