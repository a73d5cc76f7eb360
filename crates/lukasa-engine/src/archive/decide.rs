//! The user's decision about the memories of an import. Imported memories are found by search, but
//! are in no prompt until the user agrees to them; a decision agrees to many of them in one
//! operation. Proposals are not part of it: each needs its own answer.

use std::collections::BTreeSet;

use lukasa_core::{CallerKind, Changes, FactId, ImportId, Refusal, Verb, record};
use lukasa_store::import::{self, ImportWaiting};
use lukasa_store::{fact, operation};

use super::Archives;
use crate::error::{Error, Result};
use crate::request::Request;
use crate::transaction::{Effect, Outcome, WriteStart};

/// Maximum number of memories per operation. A larger import is decided in several parts.
pub const DECISIONS_AT_ONCE: usize = 1_000;

/// Which memories of an import to use in prompts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportDecision {
    /// Every memory that waits for the decision.
    All,
    /// These of them; the others keep waiting.
    Chosen(Vec<FactId>),
}

/// Result of a decision about an import.
#[derive(Debug, Clone, PartialEq)]
pub struct DecidedImport {
    /// The operation to undo, if anything was confirmed.
    pub outcome: Outcome,
    /// The memories that this call confirmed.
    pub confirmed: Vec<FactId>,
    /// What still waits.
    pub waiting: ImportWaiting,
}

impl Archives {
    /// Confirms memories of an import in the words in which they were imported, as one operation.
    /// Memories that were changed, removed or confirmed since are left as they are, so a second
    /// call confirms nothing more. Only a human decides. Undoing the import undoes the decision.
    pub async fn decide_import(
        &self,
        request: &Request,
        id: ImportId,
        decision: &ImportDecision,
    ) -> Result<DecidedImport> {
        let chosen = match decision {
            ImportDecision::All => None,
            ImportDecision::Chosen(facts) => Some(checked(facts)?),
        };
        let mut writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return self.repeated(request, id, outcome).await,
        };
        if request.caller.kind != CallerKind::Human {
            return Err(Refusal::NeedsHuman.into());
        }
        let found = import::find(&writing.scope, id).await?;
        let mut import = found.ok_or(Error::ImportNotFound)?;
        let distinct: BTreeSet<FactId> = chosen.unwrap_or_default().iter().copied().collect();
        let distinct: Vec<FactId> = distinct.into_iter().collect();
        if fact::count_existing(&writing.scope, &distinct).await? != distinct.len() {
            return Err(Error::MemoryNotFound);
        }
        let at = writing.stamp.at;
        let limit = i64::try_from(DECISIONS_AT_ONCE).unwrap_or(i64::MAX);
        let versions = import::undecided(&writing.scope, id, chosen, at, limit).await?;
        let mut waiting = import::waiting(&writing.scope, &[id], at).await?;
        let mut waiting = waiting.remove(&id).unwrap_or_default();
        let mut changes = Changes::default();
        for version in &versions {
            let known = std::slice::from_ref(version);
            let confirmed = record::confirm(known, true, &mut writing.stamp)?;
            changes.closes.extend(confirmed.closes);
            changes.opens.extend(confirmed.opens);
        }
        let confirmed: Vec<FactId> = versions.iter().map(|version| version.fact).collect();
        waiting.undecided = waiting.undecided.saturating_sub(confirmed.len());
        let outcome = Outcome::of(Verb::Confirm, format!("Confirmed: {}", confirmed.len()));
        let outcome = if confirmed.is_empty() {
            writing.answer(outcome).await?
        } else {
            let mut effect = Effect::of(changes);
            import.operations.push(writing.stamp.operation);
            import::put(&mut effect.with, &writing.scope, &import);
            writing.finish(Verb::Confirm, effect, outcome).await?
        };
        Ok(DecidedImport { outcome, confirmed, waiting })
    }

    /// The result of a repeated request: what the first one confirmed, and what waits now.
    async fn repeated(
        &self,
        request: &Request,
        id: ImportId,
        outcome: Outcome,
    ) -> Result<DecidedImport> {
        let now = request.moment.now;
        let scope = self.transactions.read(&request.caller, now).await?;
        let confirmed = match outcome.operation {
            Some(operation) => operation::find(&scope, operation).await?.map(|o| o.facts),
            None => None,
        };
        let waiting = import::waiting(&scope, &[id], now).await?.remove(&id).unwrap_or_default();
        Ok(DecidedImport { outcome, confirmed: confirmed.unwrap_or_default(), waiting })
    }

    /// Up to [`DECISIONS_AT_ONCE`] memories of an import that wait for the user's decision.
    pub async fn undecided(&self, request: &Request, id: ImportId) -> Result<Vec<FactId>> {
        let now = request.moment.now;
        let scope = self.transactions.read(&request.caller, now).await?;
        import::find(&scope, id).await?.ok_or(Error::ImportNotFound)?;
        let limit = i64::try_from(DECISIONS_AT_ONCE).unwrap_or(i64::MAX);
        let versions = import::undecided(&scope, id, None, now, limit).await?;
        Ok(versions.into_iter().map(|version| version.fact).collect())
    }
}

fn checked(facts: &[FactId]) -> Result<&[FactId]> {
    if facts.is_empty() || facts.len() > DECISIONS_AT_ONCE {
        return Err(Error::invalid("memory_ids", "between 1 and 1,000 memories"));
    }
    Ok(facts)
}
