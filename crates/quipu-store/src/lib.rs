//! PostgreSQL: the only crate that knows SQL.
//!
//! One file per table family. Rows about a user are reached only through a [`Scope`], which opens a
//! transaction for one tenant and one user and cannot be built without both; the tenant's own lists
//! are reached through a [`Directory`]. Row-level security holds the same line in the database.
//! This crate knows values, not use cases: it decides nothing about a memory.

pub mod cascade;
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
pub mod portrait;
pub mod recallable;
pub mod review;
mod row;
mod scope;
pub mod scrub;
pub mod session;
#[cfg(feature = "testing")]
pub mod testing;
mod tls;
mod upkeep;
pub mod webhook;

use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use quipu_core::{TenantId, UserId};

pub use error::{Error, Result};
pub use migrate::{Migration, migrate, pending};
pub use scope::{Batch, Directory, Scope};

/// A pool of connections that serve requests.
#[derive(Clone)]
pub struct Store {
    pool: Pool,
}

/// How to reach the database.
#[derive(Debug, Clone)]
pub struct Connect {
    pub url: String,
    pub pool_size: usize,
    /// A file of PEM certificates to trust besides the public ones.
    pub ca_file: Option<std::path::PathBuf>,
}

impl Store {
    /// Prepares a pool. Nothing is connected until the first request, so that a server can start,
    /// say that it is not ready, and recover on its own while the database is away.
    pub fn connect(connect: &Connect) -> Result<Self> {
        let mut config: tokio_postgres::Config =
            connect.url.parse().map_err(|e| Error::Configuration(format!("DATABASE_URL: {e}")))?;
        let given = config.get_options().unwrap_or_default().to_owned();
        // The role that neither owns tables nor bypasses row-level security is taken on before the
        // first statement. The time limits keep a lost client from holding a user's lock.
        config.options(format!(
            "{given} -c role=quipu_serve -c timezone=UTC -c statement_timeout=15s \
             -c lock_timeout=10s -c idle_in_transaction_session_timeout=30s"
        ));
        config.application_name("quipu");
        config.connect_timeout(Duration::from_secs(5));
        let manager = Manager::from_config(
            config,
            tls::connector(connect.ca_file.as_deref())?,
            ManagerConfig { recycling_method: RecyclingMethod::Fast },
        );
        let pool = Pool::builder(manager)
            .max_size(connect.pool_size.max(1))
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts {
                wait: Some(Duration::from_secs(5)),
                create: Some(Duration::from_secs(5)),
                recycle: Some(Duration::from_secs(5)),
            })
            .build()
            .map_err(|e| Error::Configuration(e.to_string()))?;
        Ok(Self { pool })
    }

    /// One user's rows, to read.
    pub async fn read(&self, tenant: TenantId, user: UserId) -> Result<Scope> {
        Ok(Scope::reading(self.pool.get().await?, tenant, user))
    }

    /// One user's rows, to read while no write of the user is under way.
    pub async fn read_settled(&self, tenant: TenantId, user: UserId) -> Result<Scope> {
        Ok(Scope::reading_settled(self.pool.get().await?, tenant, user))
    }

    /// One user's rows, to write. Writes of one user take turns.
    pub async fn write(&self, tenant: TenantId, user: UserId) -> Result<Scope> {
        Ok(Scope::writing(self.pool.get().await?, tenant, user))
    }

    /// One user's rows, to note something that can be lost.
    pub async fn note(&self, tenant: TenantId, user: UserId) -> Result<Scope> {
        Ok(Scope::noting(self.pool.get().await?, tenant, user))
    }

    /// The tenant's own lists: its users, credentials and domains.
    pub async fn directory(&self, tenant: TenantId) -> Result<Directory> {
        Ok(Directory::of(self.pool.get().await?, tenant))
    }

    /// The one credential with this id, for the door to check.
    pub async fn at_the_door(&self, key_id: &str) -> Result<Option<credential::Credential>> {
        credential::find(Directory::at_the_door(self.pool.get().await?, key_id)?, key_id).await
    }

    /// Removes a batch of expired tokens, links and sign-ins of all tenants; says how many.
    pub async fn sweep_credentials(&self, limit: i64) -> Result<usize> {
        credential::sweep(Directory::sweeping(self.pool.get().await?), limit).await
    }

    pub fn close(&self) {
        self.pool.close();
    }
}
