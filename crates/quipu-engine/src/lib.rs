//! Use cases: what can be done with a memory, and who may do it.
//!
//! The doors (HTTP and the rest) call these functions and contain no `if` about memory; the rules
//! themselves are pure and live in `quipu-core`; rows live in `quipu-store`. This crate names no
//! wire format, no vendor and no SQL. Time and randomness come in with each call as a [`Moment`].
//!
//! [`facts`] has the verbs and the questions about memories, [`access`] who may come in,
//! [`directory`] the tenant's users and domains.

pub mod access;
pub mod directory;
mod error;
pub mod facts;

use quipu_core::{Caller, Timestamp, VersionId};
use quipu_store::Store;

pub use error::{Error, Fault, Result};
pub use quipu_store::health::Health;
pub use quipu_store::{Connect, Migration};

/// A handle on the record. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    store: Store,
}

/// When a call happens, and sixteen random bytes for the ids it will draw.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub now: Timestamp,
    pub seed: [u8; 16],
}

/// A key under which a write's answer is kept, and the digest of the request it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub key: String,
    pub request_hash: Vec<u8>,
}

/// Who writes, when, and under which conditions.
#[derive(Debug, Clone)]
pub struct Request {
    pub caller: Caller,
    pub moment: Moment,
    pub idempotency: Option<IdempotencyKey>,
    /// The version the caller last saw; another one in its place is a conflict.
    pub if_match: Option<VersionId>,
}

impl Request {
    pub fn new(caller: Caller, moment: Moment) -> Self {
        Self { caller, moment, idempotency: None, if_match: None }
    }
}

impl Engine {
    /// Connects lazily: a server can start while its database is away.
    pub fn connect(connect: &Connect) -> Result<Self> {
        Ok(Self { store: Store::connect(connect)? })
    }

    pub async fn health(&self) -> Result<Health> {
        Ok(self.store.health().await?)
    }

    pub async fn is_ready(&self) -> bool {
        self.store.is_ready().await.unwrap_or(false)
    }

    pub fn close(&self) {
        self.store.close();
    }
}

/// Brings the schema up to date.
pub async fn migrate(connect: &Connect) -> Result<Vec<Migration>> {
    Ok(quipu_store::migrate(connect).await?)
}

/// The steps the schema still lacks.
pub async fn pending_migrations(connect: &Connect) -> Result<Vec<Migration>> {
    Ok(quipu_store::pending(connect).await?)
}
