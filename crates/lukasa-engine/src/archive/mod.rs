//! Export and import of a whole memory: export, import of an export, import from other programs,
//! the user's decision about an import, and undo of an import. The interfaces define the file
//! formats; the core decides what may be imported, and how far it is trusted.
//!
//! An import is many short transactions under one id. Each of them records what it imported, so an
//! interrupted import resumes where it stopped, and a second run imports nothing.

mod chats;
mod consents;
mod decide;
mod export;
mod items;
mod restore;
mod sessions;
mod undo;

use std::sync::Arc;

use lukasa_core::audit::{AuditActor, AuditEntry, AuditEvent};
use lukasa_core::import::{Format, ImportCounts};
use lukasa_core::time::micros;
use lukasa_core::{Caller, CallerKind, ImportId, OperationId, Timestamp};
use lukasa_store::{Batch, Scope, audit, import};

use crate::admission;
use crate::audit::AuditLog;
use crate::embeddings::Embeddings;
use crate::error::Result;
use crate::parts::Parts;
use crate::policy::Policies;
use crate::removal::Removals;
use crate::request::Request;
use crate::sessions::Sessions;
use crate::signing::Signatures;
use crate::transaction::Transactions;
use crate::undo::OperationUndo;

pub use decide::{DECISIONS_AT_ONCE, DecidedImport, ImportDecision};
pub use export::ExportSnapshot;
pub use items::ITEMS_AT_ONCE;
pub use lukasa_store::blocks::Blocks;
pub use lukasa_store::context::Usage;
pub use lukasa_store::import::{ImportRecord, ImportWaiting, Importer};
pub use restore::{Archive, ImportOptions};
pub use sessions::Estimate;
pub use undo::UndoneImport;

/// Source of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportSource {
    pub format: Format,
    /// A digest of its content, or any other name that is the same for the same source.
    pub digest: String,
    /// The user's name for it.
    pub name: String,
}

/// How far an export is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveTrust {
    /// Whether this installation signed it for this user, and it has not been changed since.
    pub signed_here: bool,
    /// Whether its origins, consents and log are kept: a human imported it, and it was signed here
    /// or they declared that they trust it.
    pub trusted: bool,
}

/// Result of one import request or dry run.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportReport {
    pub import: ImportId,
    /// The operations it wrote, in order.
    pub operations: Vec<OperationId>,
    pub counts: ImportCounts,
    /// Estimated cost of learning from the imported sessions.
    pub estimate: Estimate,
    /// `None` if the source is not a Lukasa export.
    pub archive: Option<ArchiveTrust>,
}

impl ImportReport {
    fn empty(import: ImportId) -> Self {
        let (operations, counts) = (Vec::new(), ImportCounts::default());
        Self { import, operations, counts, estimate: Estimate::default(), archive: None }
    }

    /// Adds the result of another request of the same import.
    fn add(&mut self, other: ImportReport) {
        self.operations.extend(other.operations);
        self.counts.add(&other.counts);
        self.estimate.add(other.estimate);
    }
}

/// Export and import.
#[derive(Clone)]
pub struct Archives {
    parts: Arc<Parts>,
    transactions: Transactions,
    policies: Policies,
    embeddings: Embeddings,
    removals: Removals,
    sessions: Sessions,
    undo: OperationUndo,
    signatures: Signatures,
    audit: AuditLog,
}

impl Archives {
    #[expect(clippy::too_many_arguments, reason = "one for each module that it calls")]
    pub(crate) fn new(
        parts: Arc<Parts>,
        transactions: Transactions,
        policies: Policies,
        embeddings: Embeddings,
        removals: Removals,
        sessions: Sessions,
        undo: OperationUndo,
        signatures: Signatures,
        audit: AuditLog,
    ) -> Self {
        Self {
            parts,
            transactions,
            policies,
            embeddings,
            removals,
            sessions,
            undo,
            signatures,
            audit,
        }
    }

    /// Opens a write scope for an import.
    async fn write(&self, request: &Request) -> Result<Scope> {
        let scope = self.transactions.write(request).await?;
        admission::check_not_paused(&scope, &request.caller).await?;
        Ok(scope)
    }

    /// The latest imports, each with the number of its memories that wait for the user.
    pub async fn imports(
        &self,
        caller: &Caller,
        now: Timestamp,
    ) -> Result<Vec<(ImportRecord, ImportWaiting)>> {
        let scope = self.transactions.read(caller, now).await?;
        let imports = import::list(&scope, 200).await?;
        let ids: Vec<ImportId> = imports.iter().map(|import| import.id).collect();
        let waiting = import::waiting(&scope, &ids, now).await?;
        let of = |import: &ImportRecord| waiting.get(&import.id).copied().unwrap_or_default();
        Ok(imports.into_iter().map(|import| (import.clone(), of(&import))).collect())
    }
}

/// The import of a source: the existing one, or a new one. With the second value true it is new, or
/// was undone.
async fn import_of(
    scope: &Scope,
    request: &Request,
    source: &ImportSource,
) -> Result<(ImportRecord, bool)> {
    let id = ImportId::of(request.caller.user, source.format.as_str(), &source.digest);
    let now = micros(request.moment.now);
    let new = || ImportRecord {
        id,
        format: source.format.as_str().to_owned(),
        name: source.name.clone(),
        started_at: now,
        last_at: now,
        operations: Vec::new(),
        counts: ImportCounts::default(),
        undone_at: None,
        importer: None,
    };
    let there = import::find(scope, id).await?;
    let begins = there.as_ref().is_none_or(|import| import.undone_at.is_some());
    let there = there.unwrap_or_else(new);
    let own = importer_of(&request.caller);
    let importer = if begins { own } else { joint_importer(there.importer.clone(), own) };
    Ok((ImportRecord { last_at: now, undone_at: None, importer, ..there }, begins))
}

/// The caller as it is recorded with an import. In a space there is none: the members who wrote there
/// are recorded with the operations, which the erasure of a member changes.
fn importer_of(caller: &Caller) -> Option<Importer> {
    let own = || Importer { caller: caller.kind, credential: caller.author().to_owned() };
    caller.member.is_none().then(own)
}

/// The importer of a source that was begun by one caller and is continued by another; `None` unless it
/// is the same, or both are the user.
fn joint_importer(first: Option<Importer>, next: Option<Importer>) -> Option<Importer> {
    let (first, next) = first.zip(next)?;
    let is_user = |importer: &Importer| importer.caller == CallerKind::Human;
    (first == next || (is_user(&first) && is_user(&next))).then_some(first)
}

/// Stores an import, and records in the audit log that it begins.
fn put_import(
    batch: &mut Batch,
    scope: &Scope,
    request: &Request,
    import: &ImportRecord,
    begins: bool,
) {
    import::put(batch, scope, import);
    if begins {
        let actor = AuditActor::of(&request.caller);
        let entry = AuditEntry::done(AuditEvent::Import, actor, micros(request.moment.now));
        let entry = entry.about(scope.user()).subject(import.id).detail(&import.format);
        audit::append(batch, scope, &entry);
    }
}
