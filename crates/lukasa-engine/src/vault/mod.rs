//! A memory as files: export, comparison, and sync. The core defines the file format and the
//! comparison; this module reads the memory, applies the edits and writes them as one operation,
//! which undo reverses as a whole.

mod apply;
mod command;
mod conversations;
mod fact_blocks;
mod files;
mod related;

use std::collections::BTreeSet;
use std::sync::Arc;

use lukasa_core::vault::{
    self, File, KeptRows, MissingContent, ParsedVault, PreservedParts, SyncPlan, VaultContents,
    VisiblePart,
};
use lukasa_core::{Caller, CallerKind, FactId, OperationId, Timestamp, Verb};
use lukasa_store::blocks;
use sha2::Sha256;

use crate::audit::AuditLog;
use crate::error::{Error, Result};
use crate::parts::Parts;
use crate::portraits::Portraits;
use crate::request::Request;
use crate::sessions::Sessions;
use crate::signing::Signatures;
use crate::state::unwritten;
use crate::transaction::{Outcome, Transactions, WriteStart};
use apply::PlanRun;
use related::RelatedContents;

pub use command::{Command, CommandAnswer};
pub use files::FileSink;
pub(crate) use files::{FileList, MemoryFiles};

/// Maximum number of changes per sync: every change needs an id or two, and the ids of an operation
/// are limited.
const MAX_CHANGES: usize = 20_000;

/// Result of a sync, with the sink of its files.
#[derive(Debug, Clone)]
pub struct SyncReport<S = Vec<File>> {
    /// The operation to undo; `None` if nothing was written.
    pub operation: Option<OperationId>,
    /// What was applied, what is in conflict, and what was refused.
    pub plan: SyncPlan,
    /// The files after the sync: lines that were refused are unchanged.
    pub files: S,
}

/// A memory as files.
#[derive(Clone)]
pub struct Vault {
    parts: Arc<Parts>,
    transactions: Transactions,
    sessions: Sessions,
    portraits: Portraits,
    signatures: Signatures,
    audit: AuditLog,
}

impl Vault {
    pub(crate) fn new(
        parts: Arc<Parts>,
        transactions: Transactions,
        sessions: Sessions,
        portraits: Portraits,
        signatures: Signatures,
        audit: AuditLog,
    ) -> Self {
        Self { parts, transactions, sessions, portraits, signatures, audit }
    }

    /// Writes all of a memory as files into a sink, with more files such as its conversations.
    pub async fn export<S: FileSink>(
        &self,
        caller: &Caller,
        mut more: Vec<File>,
        now: Timestamp,
        sink: S,
    ) -> Result<S> {
        more.extend(self.portrait_files(caller, &[], now).await?);
        drop(self.transactions.read(caller, now).await?);
        // Before the snapshot is opened, because it needs a connection of its own.
        self.audit.record_export(caller, "vault", now).await?;
        let scope = self.transactions.read(caller, now).await?;
        blocks::allow_long_statements(&scope).await?;
        let files = MemoryFiles::open(&scope, &self.parts.cpu, &VisiblePart::all(), now).await?;
        let outline = Arc::clone(files.outline());
        let list = move || FileList::of(&outline, &PreservedParts::default(), more);
        let list = self.parts.cpu.run(list).await?;
        let sink = files.write(list, Vec::new(), sink).await?;
        let (sink, digest) = files.write_base(KeptRows::default(), sink).await?;
        // Signing may need a connection of its own.
        drop(scope);
        self.sign_base(caller, digest, sink).await
    }

    /// The portraits as files; those that were edited stay as they are.
    async fn portrait_files(
        &self,
        caller: &Caller,
        edited: &[File],
        now: Timestamp,
    ) -> Result<Vec<File>> {
        let portraits = self.portraits.list(caller, now).await?;
        let mut files = vault::portrait_files(portraits.iter().map(|compiled| &compiled.portrait));
        files.retain(|file| edited.iter().all(|edited| edited.path != file.path));
        files.extend_from_slice(edited);
        Ok(files)
    }

    /// Adds the signature of a base that was written last.
    async fn sign_base<S: FileSink>(
        &self,
        caller: &Caller,
        digest: Sha256,
        mut sink: S,
    ) -> Result<S> {
        let signature = self.signatures.sign_base(caller.tenant, caller.user, digest).await?;
        let row = vault::signature_row(signature);
        sink.write(&row).map_err(|error| unwritten(&error))?;
        Ok(sink)
    }

    /// Previews a sync of these files.
    pub async fn plan(&self, caller: &Caller, files: &[File], now: Timestamp) -> Result<SyncPlan> {
        let base_signed =
            self.signatures.has_signed_base(caller.tenant, caller.user, files).await?;
        let read = self.read(files).await?;
        let scope = self.transactions.read(caller, now).await?;
        let related =
            RelatedContents::load(&scope, &self.parts.cpu, &read, &VisiblePart::all(), now).await?;
        let missing = related.missing(&scope, &read).await?;
        drop(scope);
        let (_, plan) = self.make_plan(read, related.contents, missing, now).await?;
        Ok(SyncPlan { base_signed, ..plan })
    }

    /// Applies the edits in the files as one operation, and returns the files after it.
    ///
    /// What is restored from a base keeps its origin and consent only if this installation signed
    /// the base for this user, or if a human declares that they trust it. From any other base,
    /// memories are restored as imports, and nothing is accepted or confirmed.
    pub async fn apply<S: FileSink>(
        &self,
        request: &Request,
        files: &[File],
        trust: bool,
        sink: S,
    ) -> Result<SyncReport<S>> {
        let (caller, now) = (&request.caller, request.moment.now);
        let base_signed =
            self.signatures.has_signed_base(caller.tenant, caller.user, files).await?;
        let trusted = base_signed || (trust && caller.kind == CallerKind::Human);
        let read = self.read(files).await?;
        let (cpu, all) = (&self.parts.cpu, VisiblePart::all());
        let (plan, operation) = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => {
                let related = RelatedContents::load(&writing.scope, cpu, &read, &all, now).await?;
                let missing = related.missing(&writing.scope, &read).await?;
                let (contents, plan) =
                    self.make_plan(Arc::clone(&read), related.contents, missing, now).await?;
                let run = PlanRun::start(writing, contents.versions, &plan, trusted).await?;
                let (plan, outcome) = run.run(plan).await?;
                (plan, outcome.operation)
            }
            // A repeated request: edits made since wait for another request.
            WriteStart::Repeated(outcome) => {
                let scope = self.transactions.read(&request.caller, now).await?;
                let related = RelatedContents::load(&scope, cpu, &read, &all, now).await?;
                let missing = related.missing(&scope, &read).await?;
                drop(scope);
                let (_, mut plan) =
                    self.make_plan(Arc::clone(&read), related.contents, missing, now).await?;
                for step in std::mem::take(&mut plan.steps) {
                    plan.held.extend(step.fact);
                    plan.kept.extend(step.entry);
                }
                (plan, outcome.operation)
            }
        };
        let stay = files.iter().filter(|file| plan.kept_files.contains(&file.path));
        let stay: Vec<File> = stay.cloned().collect();
        let portraits = self.portrait_files(caller, &read.edited_portraits, now).await?;
        let scope = self.transactions.read(caller, now).await?;
        let mut written = MemoryFiles::open(&scope, cpu, &all, now).await?;
        written.leave_out(&plan.held);
        let outline = Arc::clone(written.outline());
        let list = move || {
            let kept = preserved_parts(&read, &plan);
            let list = FileList::of(&outline, &kept, portraits);
            (list, kept.rows(), carries_over(&kept), plan)
        };
        let (list, kept, carries_over, plan) = cpu.run(list).await?;
        let sink = written.write(list, stay, sink).await?;
        let (mut sink, digest) = written.write_base(kept, sink).await?;
        drop(scope);
        // Rows carried over from an unsigned base must not be signed now.
        if base_signed || !carries_over {
            sink = self.sign_base(caller, digest, sink).await?;
        }
        Ok(SyncReport { operation, plan: SyncPlan { base_signed, ..plan }, files: sink })
    }

    /// Parses files.
    async fn read(&self, files: &[File]) -> Result<Arc<ParsedVault>> {
        let files = files.to_vec();
        self.parts.cpu.run(move || Arc::new(vault::read(&files))).await
    }

    /// Computes what files with all of the contents change. Returns the contents too.
    async fn make_plan(
        &self,
        read: Arc<ParsedVault>,
        contents: VaultContents,
        missing: MissingContent,
        now: Timestamp,
    ) -> Result<(VaultContents, SyncPlan)> {
        let plan = move || {
            let plan = vault::plan(&read, &contents, &missing, now);
            (contents, plan)
        };
        let (contents, plan) = self.parts.cpu.run(plan).await?;
        check_size(&plan)?;
        Ok((contents, plan))
    }
}

/// Refuses a plan with more changes than one operation can have.
fn check_size(plan: &SyncPlan) -> Result<()> {
    if plan.restores.len() + plan.links.len() + plan.steps.len() > MAX_CHANGES {
        return Err(Error::invalid("files", "at most 20000 changes in one sync"));
    }
    Ok(())
}

/// The parts of the files that stay unchanged after a sync.
fn preserved_parts<'a>(read: &'a ParsedVault, plan: &SyncPlan) -> PreservedParts<'a> {
    let waits = |fact: &FactId| plan.held.contains(fact);
    let links = read.base.links.iter().filter(|link| waits(&link.from) || waits(&link.to));
    PreservedParts {
        base: Some(&read.base),
        facts: plan.held.clone(),
        entries: plan.kept.iter().filter_map(|index| read.entries.get(*index)).collect(),
        notes: &read.notes,
        fronts: read.fronts.clone(),
        links: links.cloned().collect(),
    }
}

/// Whether the next base contains rows of the previous one.
fn carries_over(kept: &PreservedParts<'_>) -> bool {
    let memories = kept.base.into_iter().flat_map(|base| &base.memories);
    !kept.links.is_empty() || memories.into_iter().any(|b| kept.facts.contains(&b.memory.fact))
}

/// The stored answer of a sync. It has counts, and quotes nothing.
fn outcome(plan: &SyncPlan) -> Outcome {
    let restored: BTreeSet<FactId> = plan.restores.iter().map(|v| v.fact).collect();
    let message = format!("SyncReport: {}", plan.steps.len() + restored.len());
    Outcome::of(Verb::Sync, message)
}
