//! PostgreSQL: the only crate that knows SQL.
//!
//! One file per table family. Rows about a user are reached only through a [`Scope`], which opens a
//! transaction for one tenant and one user and cannot be built without both; the tenant's own lists
//! are reached through a [`Directory`]. Row-level security enforces the same isolation in the
//! database. This crate maps rows to values and decides nothing about a memory.

pub mod audit;
pub mod audit_retention;
mod claim;
pub mod comparison;
pub mod consolidation;
pub mod context;
pub mod crash;
pub mod credential;
pub mod database;
pub mod delivery;
pub mod directory;
pub mod domain;
pub mod domain_question;
pub mod episode;
pub mod erasure;
mod error;
pub mod everything;
pub mod fact;
pub mod health;
pub mod idempotency;
pub mod import;
pub mod insights;
pub mod job;
pub mod learning;
pub mod ledger;
pub mod left_out;
pub mod link;
pub mod list;
mod migrate;
pub mod model;
pub mod observation;
pub mod operation;
pub mod passage;
pub mod policy;
mod pool;
pub mod portrait;
pub mod quality;
pub mod recallable;
pub mod removal;
pub mod review;
mod row;
mod scope;
pub mod scrub;
pub mod session;
pub mod tables;
#[cfg(feature = "testing")]
pub mod testing;
mod tls;
mod upkeep;
pub mod webhook;

use lukasa_core::{TenantId, UserId};

pub use error::{Error, Result};
pub use migrate::{Migration, migrate, pending};
pub use pool::{PoolSizes, PoolUsage};
pub use scope::{Batch, Directory, Scope};

/// Connections to the database, in pools by purpose.
#[derive(Clone)]
pub struct Store {
    pools: pool::Pools,
}

/// How to reach the database.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    pub url: String,
    /// Connections for requests.
    pub pool_size: usize,
    /// A file of PEM certificates to trust besides the public ones.
    pub ca_file: Option<std::path::PathBuf>,
}

impl Store {
    /// Prepares the pools. Nothing is connected until the first request, so that a server can
    /// start, report that it is not ready, and recover by itself while the database is down.
    pub fn connect(connect: &ConnectOptions) -> Result<Self> {
        Self::connect_with(connect, PoolSizes::default())
    }

    pub fn connect_with(connect: &ConnectOptions, sizes: PoolSizes) -> Result<Self> {
        Ok(Self { pools: pool::Pools::new(connect, sizes)? })
    }

    /// The same store for work that no request waits for: it uses the background pool.
    #[must_use]
    pub fn in_background(&self) -> Self {
        Self { pools: self.pools.in_background() }
    }

    /// Opens a read transaction on one user's rows.
    pub async fn read(&self, tenant: TenantId, user: UserId) -> Result<Scope> {
        Ok(Scope::reading(self.pools.reads.get().await?, tenant, user))
    }

    /// Opens a read transaction on one user's rows that no write of the user overlaps.
    pub async fn read_settled(&self, tenant: TenantId, user: UserId) -> Result<Scope> {
        Ok(Scope::reading_settled(self.pools.reads.get().await?, tenant, user))
    }

    /// Opens a write transaction on one user's rows. Writes of one user are serialised.
    pub async fn write(&self, tenant: TenantId, user: UserId) -> Result<Scope> {
        let (connection, permit) = self.pools.for_write(user).await?;
        Ok(Scope::writing(connection, tenant, user).with_permit(permit))
    }

    /// Opens a write transaction with `synchronous_commit = off`, for rows that may be lost.
    pub async fn write_lossy(&self, tenant: TenantId, user: UserId) -> Result<Scope> {
        let (connection, permit) = self.pools.for_lossy_write(user).await?;
        Ok(Scope::writing_lossy(connection, tenant, user).with_permit(permit))
    }

    /// Opens a transaction on the tenant's own lists: its users, credentials and domains.
    pub async fn directory(&self, tenant: TenantId) -> Result<Directory> {
        Ok(Directory::of(self.pools.writes.get().await?, tenant))
    }

    /// Finds the credential with this id, for authentication.
    pub async fn find_credential(&self, key_id: &str) -> Result<Option<credential::Credential>> {
        let connection = self.pools.admission.get().await?;
        credential::find(Directory::for_credential(connection, key_id)?, key_id).await
    }

    /// Removes a batch of expired tokens, links and sign-ins of all tenants; returns how many.
    pub async fn sweep_credentials(&self, limit: i64) -> Result<usize> {
        credential::sweep(
            Directory::sweeping(self.pools.in_background().writes.get().await?),
            limit,
        )
        .await
    }

    pub fn close(&self) {
        self.pools.close();
    }
}
