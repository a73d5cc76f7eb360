//! Backups of the whole database: row counts and digests from the same snapshot as the backup, a
//! scratch database to restore a backup into for inspection, and an empty one to restore it for use.

use lukasa_store::database;

use crate::error::Result;
use crate::{ConnectOptions, Migration};

pub use lukasa_store::database::{DatabaseContents, Snapshot, TableDigest};

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

/// What is in a database that a backup is to be restored into.
pub async fn contents(connect: &ConnectOptions) -> Result<DatabaseContents> {
    Ok(database::contents(connect).await?)
}

/// Applies the pending migrations to this database alone, not to the cells that it lists: in a
/// restored copy these may be those of the live deployment.
pub async fn migrate_one(connect: &ConnectOptions) -> Result<Vec<Migration>> {
    Ok(lukasa_store::migrate(connect).await?)
}

/// Removes the tables of a database without users, before a backup is restored into it.
pub async fn clear(connect: &ConnectOptions) -> Result<()> {
    Ok(database::clear(connect).await?)
}
