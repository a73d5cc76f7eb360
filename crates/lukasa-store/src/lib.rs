//! PostgreSQL: the only crate that knows SQL.
//!
//! One file per table family. Rows about a user are reached only through a [`Scope`], which opens a
//! transaction for one tenant and one user and cannot be built without both; the tenant's own lists
//! are reached through a [`Directory`]. Row-level security holds the same line in the database.
//! This crate knows values, not use cases: it decides nothing about a memory.

pub mod cascade;
mod claim;
pub mod consolidation;
pub mod context;
pub mod crash;
pub mod credential;
pub mod database;
pub mod delivery;
pub mod directory;
pub mod domain;
pub mod erase;
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
pub mod link;
pub mod list;
mod migrate;
pub mod model;
pub mod operation;
pub mod passage;
pub mod policy;
mod pool;
pub mod portrait;
pub mod recallable;
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
pub use pool::PoolSizes;
pub use scope::{Batch, Directory, Scope};

/// Connections to the database, in pools by purpose.
#[derive(Clone)]
pub struct Store {
    pools: pool::Pools,
}

/// How to reach the database.
#[derive(Debug, Clone)]
pub struct Connect {
    pub url: String,
    /// Connections for requests.
    pub pool_size: usize,
    /// A file of PEM certificates to trust besides the public ones.
    pub ca_file: Option<std::path::PathBuf>,
}

impl Store {
    /// Prepares the pools. Nothing is connected until the first request, so that a server can start,
    /// say that it is not ready, and recover on its own while the database is away.
    pub fn connect(connect: &Connect) -> Result<Self> {
        Self::connect_with(connect, PoolSizes::default())
    }

    pub fn connect_with(connect: &Connect, sizes: PoolSizes) -> Result<Self> {
        Ok(Self { pools: pool::Pools::new(connect, sizes)? })
    }

    /// The same database for work that no request waits for. It uses the background's connections.
    #[must_use]
    pub fn in_background(&self) -> Self {
        Self { pools: self.pools.in_background() }
    }

    /// One user's rows, to read.
    pub async fn read(&self, tenant: TenantId, user: UserId) -> Result<Scope> {
        Ok(Scope::reading(self.pools.reads.get().await?, tenant, user))
    }

    /// One user's rows, to read while no write of the user is under way.
    pub async fn read_settled(&self, tenant: TenantId, user: UserId) -> Result<Scope> {
        Ok(Scope::reading_settled(self.pools.reads.get().await?, tenant, user))
    }

    /// One user's rows, to write. Writes of one user take turns.
    pub async fn write(&self, tenant: TenantId, user: UserId) -> Result<Scope> {
        let (connection, turn) = self.pools.to_write(user).await?;
        Ok(Scope::writing(connection, tenant, user).holding(turn))
    }

    /// One user's rows, to note something that can be lost.
    pub async fn note(&self, tenant: TenantId, user: UserId) -> Result<Scope> {
        let (connection, turn) = self.pools.to_note(user).await?;
        Ok(Scope::noting(connection, tenant, user).holding(turn))
    }

    /// The tenant's own lists: its users, credentials and domains.
    pub async fn directory(&self, tenant: TenantId) -> Result<Directory> {
        Ok(Directory::of(self.pools.writes.get().await?, tenant))
    }

    /// The one credential with this id, for the door to check.
    pub async fn at_the_door(&self, key_id: &str) -> Result<Option<credential::Credential>> {
        let connection = self.pools.admission.get().await?;
        credential::find(Directory::at_the_door(connection, key_id)?, key_id).await
    }

    /// Removes a batch of expired tokens, links and sign-ins of all tenants; says how many.
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
