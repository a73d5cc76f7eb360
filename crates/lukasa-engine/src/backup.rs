//! Backups of the whole database: what it holds in a few numbers, taken at the very instant that the
//! backup shows, and a place to restore one into and look.

use lukasa_store::database;

use crate::Connect;
use crate::error::Result;

pub use lukasa_store::database::{Held, Snapshot};

/// Holds the database still while it is copied and counted.
pub async fn snapshot(connect: &Connect) -> Result<Snapshot> {
    Ok(database::snapshot(connect).await?)
}

/// Counts and digests every table at that instant.
pub async fn held(snapshot: &Snapshot) -> Result<Vec<Held>> {
    Ok(snapshot.held().await?)
}

/// An empty database of this name on the same server.
pub async fn scratch(connect: &Connect, name: &str) -> Result<Connect> {
    let url = database::renamed(&connect.url, name);
    database::ensure(&url).await?;
    Ok(Connect { url, ..connect.clone() })
}

/// Removes a database that was made to look into a backup.
pub async fn remove_scratch(scratch: &Connect) -> Result<()> {
    Ok(database::remove(&scratch.url).await?)
}
