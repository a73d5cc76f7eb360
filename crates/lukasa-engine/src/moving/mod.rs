//! The way out and the way in for a whole memory: export, taking an export in again, taking in what other
//! programs have remembered, and taking an import back. How the files look is the doors' business; what
//! may come in, and how far it is trusted, is decided in the core.
//!
//! An import is many short transactions under one id. Each of them notes what it brought, so whatever
//! breaks off goes on where it was, and a second run brings nothing.

mod chats;
mod export;
mod items;
mod restore;
mod undo;

use lukasa_core::import::{Counts, Format};
use lukasa_core::time::micros;
use lukasa_core::{Caller, ImportId, OperationId, Timestamp};
use lukasa_store::{Scope, import};
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::{Engine, Request};

pub use chats::Estimate;
pub use export::Export;
pub use items::ITEMS_AT_ONCE;
pub use lukasa_store::context::Usage;
pub use lukasa_store::import::Import;
pub use restore::{Archive, Importing};
pub use undo::Undone;

/// Where something is taken in from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub format: Format,
    /// A digest of all of it, or any other name that is the same for the same source.
    pub digest: String,
    /// What its person calls it.
    pub name: String,
}

/// How far an export is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveTrust {
    /// Whether this installation signed it for this user, and it has not been changed since.
    pub signed_here: bool,
    /// Whether its origins, consents and log were kept: a person brought it, and it was signed here
    /// or they said that they trust it.
    pub trusted: bool,
}

/// What one request took in, or would.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    pub import: ImportId,
    /// What it wrote, in order.
    pub operations: Vec<OperationId>,
    pub counts: Counts,
    /// What learning from the chats among it will ask of a chat model.
    pub estimate: Estimate,
    /// Nothing for what is no export of ours.
    pub archive: Option<ArchiveTrust>,
}

impl Taken {
    fn nothing(import: ImportId) -> Self {
        let (operations, counts) = (Vec::new(), Counts::default());
        Self { import, operations, counts, estimate: Estimate::default(), archive: None }
    }

    /// The same, and what another request of the same import took in.
    fn and(&mut self, other: Taken) {
        self.operations.extend(other.operations);
        self.counts.add(&other.counts);
        self.estimate.add(other.estimate);
    }
}

impl Engine {
    /// The latest imports.
    pub async fn imports(&self, caller: &Caller, now: Timestamp) -> Result<Vec<Import>> {
        let scope = self.reading(caller, now).await?;
        Ok(import::list(&scope, 200).await?)
    }
}

/// The import of a source as it stands: the one that is there, or a new one.
async fn import_of(scope: &Scope, request: &Request, source: &Source) -> Result<Import> {
    let id = ImportId::of(request.caller.user, source.format.as_str(), &source.digest);
    let now = micros(request.moment.now);
    let new = || Import {
        id,
        format: source.format.as_str().to_owned(),
        name: source.name.clone(),
        started_at: now,
        last_at: now,
        operations: Vec::new(),
        counts: Counts::default(),
        undone_at: None,
    };
    let there = import::find(scope, id).await?.unwrap_or_else(new);
    Ok(Import { last_at: now, undone_at: None, ..there })
}

/// The same request with other ids to draw, for one of the many transactions of an import.
fn part(request: &Request, number: usize) -> Request {
    let mut part = request.clone();
    (part.idempotency, part.if_match) = (None, None);
    let mut hash = Sha256::new();
    hash.update(request.moment.seed);
    hash.update((number as u64).to_be_bytes());
    part.moment.seed.copy_from_slice(&hash.finalize()[..16]);
    part
}
