//! A memory as files: written out, compared, and taken in again. What the files say and what became of
//! them is decided in the core; here it is read, applied and written as one operation, which undo
//! takes back as a whole.

mod apply;
mod command;

use std::collections::BTreeSet;

use futures_util::try_join;
use lukasa_core::vault::{self, File, Held, Kept, Missing, Plan, Read};
use lukasa_core::{Caller, CallerKind, FactId, OperationId, Timestamp, Verb};
use lukasa_store::{Scope, erase, everything, learning, operation};

use crate::error::{Error, Result};
use crate::facts::{Begun, Outcome};
use crate::{Engine, Request};

use apply::Applying;
pub use command::{Answered, Command};

/// How much one sync can do: every change draws an id or two, and an operation has only so many.
const AT_ONCE: usize = 20_000;

/// What a sync did.
#[derive(Debug, Clone)]
pub struct Synced {
    /// The operation to undo it by; nothing if there was nothing to write.
    pub operation: Option<OperationId>,
    /// What was done, what is in conflict, and what could not be taken in.
    pub plan: Plan,
    /// The files as they now are: what could not be taken in stands there as it did.
    pub files: Vec<File>,
}

impl Engine {
    /// All of a memory as files.
    pub async fn vault_export(&self, caller: &Caller, now: Timestamp) -> Result<Vec<File>> {
        let scope = self.reading(caller, now).await?;
        let files = vault::render(&held(&scope).await?, now, &Kept::default());
        drop(scope);
        self.sign_base(caller.tenant, caller.user, files).await
    }

    /// What a sync of these files would do.
    pub async fn vault_plan(
        &self,
        caller: &Caller,
        files: &[File],
        now: Timestamp,
    ) -> Result<Plan> {
        let base_signed = self.has_signed_base(caller.tenant, caller.user, files).await?;
        let scope = self.reading(caller, now).await?;
        let (_, plan) = planned(&scope, &vault::read(files), now).await?;
        Ok(Plan { base_signed, ..plan })
    }

    /// Takes in what was edited in the files, as one operation, and gives the files as they now are.
    ///
    /// What comes back from a base keeps its origin and consent only if this installation signed the
    /// base for this user, or if a person says that they trust it. Any other base brings imports, and
    /// accepts and confirms nothing.
    pub async fn vault_apply(
        &self,
        request: &Request,
        files: &[File],
        trust: bool,
    ) -> Result<Synced> {
        let (caller, now) = (&request.caller, request.moment.now);
        let base_signed = self.has_signed_base(caller.tenant, caller.user, files).await?;
        let trusted = base_signed || (trust && caller.kind == CallerKind::Human);
        let read = vault::read(files);
        let (plan, operation) = match self.begin(request).await? {
            Begun::New(writing) => {
                let (held, plan) = planned(&writing.scope, &read, now).await?;
                let (plan, outcome) = Applying::start(writing, &held, trusted).run(plan).await?;
                (plan, outcome.operation)
            }
            // Done before; whatever may have been edited since waits for another request.
            Begun::Again(outcome) => {
                let scope = self.reading(&request.caller, now).await?;
                let (_, mut plan) = planned(&scope, &read, now).await?;
                for step in std::mem::take(&mut plan.steps) {
                    plan.held.extend(step.fact);
                    plan.kept.extend(step.entry);
                }
                (plan, outcome.operation)
            }
        };
        let scope = self.reading(caller, now).await?;
        let kept = kept(&read, &plan);
        let mut files = vault::render(&held(&scope).await?, now, &kept);
        drop(scope);
        // What is carried over from a base that was not signed must not be signed now.
        if base_signed || !carries_over(&kept) {
            files = self.sign_base(caller.tenant, caller.user, files).await?;
        }
        Ok(Synced { operation, plan: Plan { base_signed, ..plan }, files })
    }
}

/// Everything that a vault shows.
pub(crate) async fn held(scope: &Scope) -> Result<Held> {
    let (versions, links, episodes) = try_join!(
        everything::versions(scope),
        everything::links(scope),
        everything::episodes(scope)
    )?;
    Ok(Held { versions, links, episodes })
}

async fn planned(scope: &Scope, read: &Read, now: Timestamp) -> Result<(Held, Plan)> {
    let held = held(scope).await?;
    let known: BTreeSet<FactId> = held.versions.iter().map(|v| v.fact).collect();
    let based: BTreeSet<FactId> = read.base.memories.iter().map(|b| b.memory.fact).collect();
    let unknown: Vec<FactId> = based.difference(&known).copied().collect();
    let mut missing = Missing::default();
    if !unknown.is_empty() {
        let ever = erase::ever(scope, &unknown).await?;
        missing.facts = unknown.into_iter().filter(|fact| !ever.contains(fact)).collect();
    }
    missing.everything = !read.base.episodes.is_empty() && is_untouched(scope, &held).await?;
    let plan = vault::plan(read, &held, &missing, now);
    if plan.restores.len() + plan.links.len() + plan.steps.len() > AT_ONCE {
        return Err(Error::invalid("files", "at most 20000 changes in one sync"));
    }
    Ok((held, plan))
}

/// Whether nothing was ever done with this memory: a chat that was removed leaves no other trace than
/// that something was, and must not come back.
async fn is_untouched(scope: &Scope, held: &Held) -> Result<bool> {
    if !held.versions.is_empty() || !held.episodes.is_empty() {
        return Ok(false);
    }
    let (last, sessions, passes) = try_join!(
        operation::last_at(scope),
        everything::sessions(scope),
        learning::passes(scope, None, 1)
    )?;
    Ok(last.is_none() && sessions.is_empty() && passes.is_empty())
}

/// What of the files stays as it is after a sync.
fn kept<'a>(read: &'a Read, plan: &Plan) -> Kept<'a> {
    let waits = |fact: &FactId| plan.held.contains(fact);
    let links = read.base.links.iter().filter(|link| waits(&link.from) || waits(&link.to));
    Kept {
        base: Some(&read.base),
        facts: plan.held.clone(),
        entries: plan.kept.iter().filter_map(|index| read.entries.get(*index)).collect(),
        notes: &read.notes,
        fronts: read.fronts.clone(),
        links: links.cloned().collect(),
    }
}

/// Whether the next base holds rows of the one before.
fn carries_over(kept: &Kept<'_>) -> bool {
    let memories = kept.base.into_iter().flat_map(|base| &base.memories);
    !kept.links.is_empty() || memories.into_iter().any(|b| kept.facts.contains(&b.memory.fact))
}

/// The answer that is kept of a sync. It counts, and quotes nothing.
fn outcome(plan: &Plan) -> Outcome {
    let restored: BTreeSet<FactId> = plan.restores.iter().map(|v| v.fact).collect();
    let message = format!("Synced: {}", plan.steps.len() + restored.len());
    Outcome::of(Verb::Sync, message)
}
