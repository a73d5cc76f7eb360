//! A memory as files: export, comparison, and sync. The core defines the file format and the
//! comparison; this module reads the memory, applies the edits and writes them as one operation,
//! which undo reverses as a whole.

mod apply;
mod command;
mod conversations;

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::try_join;
use lukasa_core::vault::{
    self, File, MissingContent, ParsedVault, PreservedParts, SyncPlan, VaultContents,
};
use lukasa_core::{Caller, CallerKind, FactId, OperationId, ProjectScope, Timestamp, Verb};
use lukasa_store::{Scope, everything, fact, learning, operation, passage};

use crate::audit::AuditLog;
use crate::error::{Error, Result};
use crate::parts::Parts;
use crate::portraits::Portraits;
use crate::request::Request;
use crate::sessions::Sessions;
use crate::signing::Signatures;
use crate::transaction::{Outcome, Transactions, WriteStart};
use apply::PlanRun;

pub use command::{Command, CommandAnswer};

/// Maximum number of changes per sync: every change needs an id or two, and the ids of an operation
/// are limited.
const MAX_CHANGES: usize = 20_000;

/// Result of a sync.
#[derive(Debug, Clone)]
pub struct SyncReport {
    /// The operation to undo; `None` if nothing was written.
    pub operation: Option<OperationId>,
    /// What was applied, what is in conflict, and what was refused.
    pub plan: SyncPlan,
    /// The files after the sync: lines that were refused are unchanged.
    pub files: Vec<File>,
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

    /// All of a memory as files, without its conversations.
    pub async fn export(&self, caller: &Caller, now: Timestamp) -> Result<Vec<File>> {
        let mut files = self.export_pages(caller, &ProjectScope::All, now).await?;
        vault::add_files(&mut files, self.portrait_files(caller, &[], now).await?);
        Ok(files)
    }

    /// The files of the memories and episodes of these projects, and the base.
    async fn export_pages(
        &self,
        caller: &Caller,
        projects: &ProjectScope,
        now: Timestamp,
    ) -> Result<Vec<File>> {
        let scope = self.transactions.read(caller, now).await?;
        self.audit.record_export(caller, "vault", now).await?;
        let (contents, hidden) = load_contents_in(&scope, projects).await?;
        drop(scope);
        let projects = projects.clone();
        let render = move || {
            let seen = seen_contents(&contents, &projects, &hidden, now);
            vault::render(seen.as_ref().unwrap_or(&contents), now, &PreservedParts::default())
        };
        let files = self.parts.cpu.run(render).await?;
        self.signatures.sign_base(caller.tenant, caller.user, files).await
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

    /// Previews a sync of these files.
    pub async fn plan(&self, caller: &Caller, files: &[File], now: Timestamp) -> Result<SyncPlan> {
        let base_signed =
            self.signatures.has_signed_base(caller.tenant, caller.user, files).await?;
        let read = self.read(files).await?;
        let scope = self.transactions.read(caller, now).await?;
        let contents = load_contents(&scope).await?;
        let missing = missing_content(&scope, &read, &contents).await?;
        drop(scope);
        let (_, plan) = self.make_plan(read, contents, missing, now).await?;
        Ok(SyncPlan { base_signed, ..plan })
    }

    /// Applies the edits in the files as one operation, and returns the files after it.
    ///
    /// What is restored from a base keeps its origin and consent only if this installation signed
    /// the base for this user, or if a human declares that they trust it. From any other base,
    /// memories are restored as imports, and nothing is accepted or confirmed.
    pub async fn apply(
        &self,
        request: &Request,
        files: &[File],
        trust: bool,
    ) -> Result<SyncReport> {
        let (caller, now) = (&request.caller, request.moment.now);
        let base_signed =
            self.signatures.has_signed_base(caller.tenant, caller.user, files).await?;
        let trusted = base_signed || (trust && caller.kind == CallerKind::Human);
        let read = self.read(files).await?;
        let (plan, operation) = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => {
                let contents = load_contents(&writing.scope).await?;
                let missing = missing_content(&writing.scope, &read, &contents).await?;
                let (contents, plan) =
                    self.make_plan(Arc::clone(&read), contents, missing, now).await?;
                let (plan, outcome) = PlanRun::start(writing, &contents, trusted).run(plan).await?;
                (plan, outcome.operation)
            }
            // A repeated request: edits made since wait for another request.
            WriteStart::Repeated(outcome) => {
                let scope = self.transactions.read(&request.caller, now).await?;
                let contents = load_contents(&scope).await?;
                let missing = missing_content(&scope, &read, &contents).await?;
                drop(scope);
                let (_, mut plan) =
                    self.make_plan(Arc::clone(&read), contents, missing, now).await?;
                for step in std::mem::take(&mut plan.steps) {
                    plan.held.extend(step.fact);
                    plan.kept.extend(step.entry);
                }
                (plan, outcome.operation)
            }
        };
        let scope = self.transactions.read(caller, now).await?;
        let contents = load_contents(&scope).await?;
        drop(scope);
        let parsed = Arc::clone(&read);
        let render = move || {
            let kept = preserved_parts(&parsed, &plan);
            let (written, carries_over) =
                (vault::render(&contents, now, &kept), carries_over(&kept));
            (written, carries_over, plan)
        };
        let (mut written, carries_over, plan) = self.parts.cpu.run(render).await?;
        let stays = |path: &str| plan.kept_files.contains(path);
        written.retain(|file| !stays(&file.path));
        let stay = files.iter().filter(|file| stays(&file.path)).cloned().collect();
        // Rows carried over from an unsigned base must not be signed now.
        if base_signed || !carries_over {
            written = self.signatures.sign_base(caller.tenant, caller.user, written).await?;
        }
        vault::add_files(&mut written, stay);
        let portraits = self.portrait_files(caller, &read.edited_portraits, now).await?;
        vault::add_files(&mut written, portraits);
        Ok(SyncReport { operation, plan: SyncPlan { base_signed, ..plan }, files: written })
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

/// Loads everything that a vault shows.
pub(crate) async fn load_contents(scope: &Scope) -> Result<VaultContents> {
    let (versions, links, episodes) = try_join!(
        everything::versions(scope),
        everything::links(scope),
        everything::episodes(scope)
    )?;
    Ok(VaultContents { versions, links, episodes })
}

/// Loads everything, and the names of the sessions that are not seen in these projects.
async fn load_contents_in(
    scope: &Scope,
    projects: &ProjectScope,
) -> Result<(VaultContents, BTreeSet<String>)> {
    let contents = load_contents(scope).await?;
    if *projects == ProjectScope::All {
        return Ok((contents, BTreeSet::new()));
    }
    let sessions = passage::session_projects(scope).await?.into_iter();
    let hidden = sessions.filter(|(_, project)| !projects.admits(Some(project)));
    Ok((contents, hidden.map(|(session, _)| session).collect()))
}

/// The part of the contents that is seen in these projects; `None` if it is all of them.
fn seen_contents(
    contents: &VaultContents,
    projects: &ProjectScope,
    hidden: &BTreeSet<String>,
    now: Timestamp,
) -> Option<VaultContents> {
    let is_part = *projects != ProjectScope::All;
    is_part.then(|| contents.seen_in(projects, hidden, now))
}

/// What files with a base have that this memory never had.
async fn missing_content(
    scope: &Scope,
    read: &ParsedVault,
    contents: &VaultContents,
) -> Result<MissingContent> {
    let known: BTreeSet<FactId> = contents.versions.iter().map(|v| v.fact).collect();
    let based: BTreeSet<FactId> = read.base.memories.iter().map(|b| b.memory.fact).collect();
    let unknown: Vec<FactId> = based.difference(&known).copied().collect();
    let mut missing = MissingContent::default();
    if !unknown.is_empty() {
        let ever = fact::ever_existing(scope, &unknown).await?;
        missing.facts = unknown.into_iter().filter(|fact| !ever.contains(fact)).collect();
    }
    missing.everything = !read.base.episodes.is_empty() && is_untouched(scope, contents).await?;
    Ok(missing)
}

/// Refuses a plan with more changes than one operation can have.
fn check_size(plan: &SyncPlan) -> Result<()> {
    if plan.restores.len() + plan.links.len() + plan.steps.len() > MAX_CHANGES {
        return Err(Error::invalid("files", "at most 20000 changes in one sync"));
    }
    Ok(())
}

/// Whether nothing was ever written to this memory: a removed session leaves no trace except its
/// operation, and must not be restored.
async fn is_untouched(scope: &Scope, contents: &VaultContents) -> Result<bool> {
    if !contents.versions.is_empty() || !contents.episodes.is_empty() {
        return Ok(false);
    }
    let (last, sessions, passes) = try_join!(
        operation::last_at(scope),
        everything::has_sessions(scope),
        learning::passes(scope, None, 1)
    )?;
    Ok(last.is_none() && !sessions && passes.is_empty())
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
