//! PostgreSQL: the only crate that knows SQL.
//!
//! One file per table family. Rows about a user are reached only through a [`Scope`], which opens a
//! transaction for one tenant and one user and cannot be built without both; the tenant's own lists
//! are reached through a [`Directory`]. Row-level security enforces the same isolation in the
//! database. This crate maps rows to values and decides nothing about a memory.

pub mod audit;
pub mod audit_retention;
pub mod blocks;
pub mod calibration;
pub mod cell_admin;
mod cells;
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
pub mod mover;
pub mod observation;
pub mod operation;
pub mod packed;
pub mod passage;
pub mod passage_blocks;
pub mod policy;
mod pool;
pub mod portrait;
pub mod quality;
pub mod recall_opening;
pub mod recallable;
pub mod removal;
pub mod retrieval_batch;
pub mod review;
mod rollback;
pub mod rotation;
mod row;
mod schema_check;
mod scope;
pub mod scrub;
pub mod session;
pub mod space;
pub mod standby;
pub mod tables;
#[cfg(feature = "testing")]
pub mod testing;
mod tls;
mod upkeep;
pub mod vector;
pub mod webhook;

use std::sync::Arc;

use deadpool_postgres::Object;
use lukasa_core::{TenantId, UserId};

use cells::{Cell, Cells};
use pool::Purpose;
use scope::{Access, RouteToUser};

/// The target of the spans that are exported as traces.
pub const TRACE_TARGET: &str = "lukasa_trace";

pub use error::{Error, Result};
pub use migrate::{Migration, migrate, pending};
pub use pool::{PoolSizes, PoolUsage};
pub use scope::{Batch, Directory, Scope};

/// Connections to the cells, in pools by purpose.
#[derive(Clone)]
pub struct Store {
    cells: Cells,
    /// A standby of the main cell that whole users may be read from.
    standby: Option<Cell>,
    in_background: bool,
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
        Ok(Self { cells: Cells::new(connect, sizes)?, standby: None, in_background: false })
    }

    /// The same store for work that no request waits for: it uses the background pools.
    #[must_use]
    pub fn in_background(&self) -> Self {
        Self { in_background: true, ..self.clone() }
    }

    /// Opens a read transaction on one user's rows.
    pub async fn read(&self, tenant: TenantId, user: UserId) -> Result<Scope> {
        self.open(Access::Read, tenant, user).await
    }

    /// Opens a read transaction on one user's rows that no write of the user overlaps.
    pub async fn read_settled(&self, tenant: TenantId, user: UserId) -> Result<Scope> {
        self.open(Access::Settled, tenant, user).await
    }

    /// Opens a write transaction on one user's rows. Writes of one user are serialised.
    pub async fn write(&self, tenant: TenantId, user: UserId) -> Result<Scope> {
        self.open(Access::Write, tenant, user).await
    }

    /// Opens a write transaction with `synchronous_commit = off`, for rows that may be lost.
    pub async fn write_lossy(&self, tenant: TenantId, user: UserId) -> Result<Scope> {
        self.open(Access::Lossy, tenant, user).await
    }

    async fn open(&self, access: Access, tenant: TenantId, user: UserId) -> Result<Scope> {
        let permit = match access {
            Access::Write => Some(self.cells.gates().enter(user).await?),
            // The permits are for writes that a request waits for; lossy ones must not delay those.
            Access::Lossy | Access::Read | Access::Settled => None,
        };
        let mut step = self.cells.first_step(tenant, user)?;
        let purpose = match access {
            Access::Read | Access::Settled => self.purpose(Purpose::Reads),
            Access::Write => self.purpose(Purpose::Writes),
            Access::Lossy => Purpose::Background,
        };
        let connection = match step.cell.connection(purpose).await {
            Err(error) if !step.cell.is_main() => {
                // Its URL may have changed, or its users may have been moved away.
                self.cells.refresh().await;
                let again = self.cells.first_step(tenant, user)?;
                if again.cell.pools.url == step.cell.pools.url {
                    return Err(error);
                }
                step = again;
                step.cell.connection(purpose).await?
            }
            other => other?,
        };
        let cells = self.cells.clone();
        let route = RouteToUser { cells, purpose, access, tenant, user, step };
        Ok(Scope::open(connection, route, permit))
    }

    /// The pool for a purpose. Work that no request waits for uses the background pool.
    fn purpose(&self, purpose: Purpose) -> Purpose {
        if self.in_background { Purpose::Background } else { purpose }
    }

    /// The name of the cell that holds a user, by the cached map.
    pub fn cell_of(&self, tenant: TenantId, user: UserId) -> Arc<str> {
        self.cells.name_of(tenant, user)
    }

    /// A connection to the directory's database.
    async fn directory_connection(&self, purpose: Purpose) -> Result<Object> {
        self.cells.main().connection(self.purpose(purpose)).await
    }

    /// A connection to every cell, the directory's first.
    async fn connections(&self, purpose: Purpose) -> Result<Vec<Object>> {
        let mut connections = Vec::new();
        for cell in self.cells.all().await? {
            connections.push(cell.connection(self.purpose(purpose)).await?);
        }
        Ok(connections)
    }

    /// Opens a transaction on the tenant's own lists: its users, credentials and domains.
    pub async fn directory(&self, tenant: TenantId) -> Result<Directory> {
        self.directory_of(self.cells.main(), tenant).await
    }

    async fn directory_of(&self, cell: &Cell, tenant: TenantId) -> Result<Directory> {
        let connection = cell.connection(self.purpose(Purpose::Writes)).await?;
        Ok(Directory::of(connection, cell, tenant))
    }

    /// Opens a transaction on the tenant's lists in every cell, the directory's first: its users,
    /// and the deliveries of its webhooks.
    pub async fn directories(&self, tenant: TenantId) -> Result<Vec<Directory>> {
        let mut directories = Vec::new();
        for cell in self.cells.all().await? {
            directories.push(self.directory_of(&cell, tenant).await?);
        }
        Ok(directories)
    }

    /// Opens a transaction on the tenant's lists in one cell; `None` if there is no such cell.
    pub async fn directory_in(&self, tenant: TenantId, cell: &str) -> Result<Option<Directory>> {
        let cells = self.cells.all().await?;
        let Some(cell) = cells.iter().find(|known| &*known.name == cell) else { return Ok(None) };
        self.directory_of(cell, tenant).await.map(Some)
    }

    /// Finds the credential with this id, for authentication.
    pub async fn find_credential(&self, key_id: &str) -> Result<Option<credential::Credential>> {
        let main = self.cells.main();
        let connection = main.connection(Purpose::Auth).await?;
        credential::find(Directory::for_credential(connection, main, key_id)?, key_id).await
    }

    /// Removes a batch of expired tokens, links and sign-ins of all tenants; returns how many.
    pub async fn sweep_credentials(&self, limit: i64) -> Result<usize> {
        let main = self.cells.main();
        let connection = main.connection(Purpose::Background).await?;
        credential::sweep(Directory::sweeping(connection, main), limit).await
    }

    pub fn close(&self) {
        self.cells.close();
        if let Some(standby) = &self.standby {
            standby.pools.close();
        }
    }
}
