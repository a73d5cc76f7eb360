//! The removal verbs: forget ends a memory, delete moves it to the trash, restore reverses both,
//! purge empties the trash, erase removes it now and everywhere.

use futures_util::try_join;
use jiff::SignedDuration;
use lukasa_core::admission::{Writer, may_forget};
use lukasa_core::archive::CREDENTIAL_PREFIX;
use lukasa_core::limits::{IDEMPOTENCY_DAYS, TRASH_DAYS, USAGE_DAYS};
use lukasa_core::{
    CallerKind, FactId, Operation, Origin, Refusal, State, Verb, Version, Voice, record,
};
use lukasa_store::erasure::Erasure;
use lukasa_store::policy::{self, WriteSettings};
use lukasa_store::{context, erasure, fact, idempotency, operation, removal};

use super::Removals;
use super::{new_erasure, record_erasures};
use crate::error::{Error, Result};
use crate::facts::{Target, check_other_member, remaining};
use crate::journal::JournalEntry;
use crate::request::Request;
use crate::telemetry::record_removal;
use crate::transaction::{Effect, ErasureSummary, Outcome, WriteStart, Writing};

/// Maximum number of facts per purge, so that its transaction stays short.
const PURGE_BATCH_SIZE: i64 = 500;

impl Removals {
    /// Ends a memory: restorable, audited, never in a prompt again.
    pub async fn forget(&self, request: &Request, target: &Target) -> Result<Outcome> {
        self.forget_or_delete(request, target, Verb::Forget).await
    }

    /// Moves a memory into the trash for thirty days.
    pub async fn delete(&self, request: &Request, target: &Target) -> Result<Outcome> {
        self.forget_or_delete(request, target, Verb::Delete).await
    }

    async fn forget_or_delete(
        &self,
        request: &Request,
        target: &Target,
        verb: Verb,
    ) -> Result<Outcome> {
        let mut writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        let known = target.known(&writing.scope, request.moment.now).await?;
        writing.check_match(&known)?;
        let voice = permit_removal(request, &known)?;
        let (changes, word) = match verb {
            Verb::Forget => (record::forget(&known, voice, &mut writing.stamp)?, "Forgotten"),
            _ => (record::delete(&known, voice, &mut writing.stamp)?, "Moved to the trash"),
        };
        let after = remaining(&known, &changes);
        let shown = writing.shown(&after);
        let content = shown.as_ref().map_or("", |memory| &memory.version.claim.content);
        let mut outcome = Outcome::of(verb, format!("{word}: {content}"));
        outcome.memories.extend(shown);
        writing.finish(verb, Effect::of(changes), outcome).await
    }

    /// Restores a forgotten or deleted memory exactly as it was. What a human removed only a human
    /// restores, and an agent only what its own credential removed.
    pub async fn restore(&self, request: &Request, target: &Target) -> Result<Outcome> {
        let mut writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        let known = target.known(&writing.scope, request.moment.now).await?;
        writing.check_match(&known)?;
        let gone: Vec<Version> = known.iter().filter(|v| is_gone(v)).cloned().collect();
        let (fact, root) = gone.first().map(|v| (v.fact, v.root())).ok_or(Refusal::NotGone)?;
        let history = fact::history(&writing.scope, fact).await?;
        // An undo or a restore may have reopened the removed version. The removal is the operation
        // that opened the first of these rows; if a human is behind any of them, a human must
        // restore it.
        let mut removal = None;
        for row in history.iter().filter(|v| v.root() == root) {
            let by = operation::find(&writing.scope, row.opened_by).await?;
            check_reverser(request, &by.ok_or(Error::OperationNotFound)?)?;
            removal = removal.or(Some(row.opened_by));
        }
        let closed: Vec<Version> = history
            .iter()
            .filter(|v| removal.is_some() && v.closed_by == removal)
            .cloned()
            .collect();
        if closed.is_empty() {
            return Err(Refusal::NotGone.into());
        }
        let changes = record::reverse(&gone, &closed, &mut writing.stamp);
        check_other_member(&writing, &changes.opens).await?;
        let after = remaining(&known, &changes);
        let claim = closed[0].claim.clone();
        let from = closed[0].valid.from;
        let mut outcome = Outcome::of(Verb::Restore, format!("Restored: {}", claim.content));
        outcome.memories.extend(writing.shown(&after));
        let restored = writing.finish(Verb::Restore, Effect::of(changes), outcome).await;
        self.facts.add_key_holder(request, &claim, from, Some(fact), restored).await
    }

    /// Permanently removes what has been in the trash for thirty days, what expired as long ago as
    /// the policy says, and retrieval records older than ninety days.
    pub async fn purge(&self, request: &Request) -> Result<Outcome> {
        let writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        let days = |count: i64| SignedDuration::from_hours(24 * count);
        let before = writing.stamp.at - days(TRASH_DAYS);
        idempotency::forget_before(&writing.scope, writing.stamp.at - days(IDEMPOTENCY_DAYS))
            .await?;
        context::forget_before(&writing.scope, writing.stamp.at - days(USAGE_DAYS)).await?;
        let mut facts =
            removal::facts_trashed_before(&writing.scope, before, PURGE_BATCH_SIZE).await?;
        let (policy, _) = self.policies.load(&writing.scope).await?;
        if let Some(history) = policy.history() {
            let room = PURGE_BATCH_SIZE.saturating_sub_unsigned(facts.len() as u64);
            let before = writing.stamp.at - history;
            facts.extend(removal::facts_ended_before(&writing.scope, before, room).await?);
        }
        if facts.is_empty() {
            let outcome = Outcome::of(Verb::Purge, "Nothing is old enough to be removed.".into());
            return writing.answer(outcome).await;
        }
        let message = format!("Permanently removed: {}", facts.len());
        remove(writing, Verb::Purge, facts, message, None).await
    }

    /// Removes a memory now and everywhere, with a receipt that counts the rows and quotes nothing.
    pub async fn erase(&self, request: &Request, target: &Target) -> Result<Outcome> {
        let writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        let id = target.fact(&writing.scope, request.moment.now).await?;
        if !fact::exists(&writing.scope, id).await? {
            return Err(Error::MemoryNotFound);
        }
        let history = fact::history(&writing.scope, id).await?;
        let known: Vec<Version> =
            history.iter().filter(|v| v.known.until.is_none()).cloned().collect();
        writing.check_match(&known)?;
        // All versions are removed, so all are checked: also those that were undone since.
        if history.iter().any(|version| !request.caller.voice.may_replace(version)) {
            return Err(Refusal::LessTrusted.into());
        }
        remove(writing, Verb::Erase, vec![id], "Erased.".into(), None).await
    }

    /// Removes an erased memory again after a backup has restored it; false if it does not exist.
    /// There is no permission check: it was decided when the memory was erased.
    pub(crate) async fn erase_again(
        &self,
        request: &Request,
        fact: FactId,
        entry: &JournalEntry,
    ) -> Result<bool> {
        let scope = self.parts.store.write_as(&request.caller).await?;
        if !fact::exists(&scope, fact).await? {
            return Ok(false);
        }
        let (last, settings) =
            try_join!(operation::last_at(&scope), policy::write_settings(&scope))?;
        let settings = WriteSettings { policy: None, ..settings };
        let writing = self.transactions.resume(scope, request, last, settings);
        remove(writing, Verb::Erase, vec![fact], "Erased again.".into(), Some(entry)).await?;
        Ok(true)
    }
}

async fn remove(
    mut writing: Writing<'_>,
    verb: Verb,
    facts: Vec<FactId>,
    message: String,
    again: Option<&JournalEntry>,
) -> Result<Outcome> {
    let mut outcome = Outcome::of(verb, message);
    let mut effect = Effect::default();
    for id in &facts {
        outcome.receipts.push(remove_one(&mut writing, verb, *id, again, &mut effect).await?);
    }
    let removed = facts.len();
    effect.also = facts;
    let outcome = writing.finish(verb, effect, outcome).await?;
    record_removal(verb.as_str(), removed);
    Ok(outcome)
}

/// Permanently removes one fact, and adds its erasure record and journal entry to the effect.
pub(crate) async fn remove_one(
    writing: &mut Writing<'_>,
    verb: Verb,
    fact: FactId,
    again: Option<&JournalEntry>,
    effect: &mut Effect,
) -> Result<ErasureSummary> {
    let (at, by) = (writing.stamp.at, writing.stamp.operation);
    let counted = erasure::count_fact(&writing.scope, fact).await?;
    let removed = removal::remove_fact(&writing.scope, fact, verb, at, by).await?;
    let erasure = new_erasure(&mut writing.stamp, verb, again);
    let erasure = Erasure { fact: Some(fact), removed: counted, ..erasure };
    record_erasures(writing, std::slice::from_ref(&erasure), effect);
    Ok(ErasureSummary {
        fact,
        erasure: Some(erasure.id),
        erased_at: at,
        versions: removed.versions,
        links: removed.links,
        evidence: removed.evidence,
        answers: removed.answers,
    })
}

/// The voice that a memory is forgotten or deleted with, if admission permits it for this caller.
fn permit_removal(request: &Request, known: &[Version]) -> Result<Voice> {
    let (writer, voice) = (Writer::of(&request.caller), request.caller.voice);
    if writer != Writer::Agent {
        return Ok(voice);
    }
    let here = known.iter().filter(|v| v.state != State::Trashed);
    if here.into_iter().any(|version| !may_forget(writer, version)) {
        return Err(Refusal::NeedsHuman.into());
    }
    Ok(Voice::stated(Origin::UserTurn))
}

fn is_gone(version: &Version) -> bool {
    matches!(version.state, State::Forgotten | State::Trashed)
}

/// Refuses to reverse an operation that another caller may have made for the user. What a human did,
/// only a human reverses. An agent reverses what its own credential did, and what was learned: the
/// operations of other keys and of statements carry out what the user asked them for, and those that an
/// import brought are of another installation.
pub(crate) fn check_reverser(request: &Request, did: &Operation) -> Result<()> {
    check_reverser_of(request, did.caller, &did.credential)
}

/// The same for what `did_by` did with this credential.
pub(crate) fn check_reverser_of(
    request: &Request,
    did_by: CallerKind,
    credential: &str,
) -> Result<()> {
    let caller = &request.caller;
    let is_own = credential == caller.author();
    let is_learned = did_by == CallerKind::Job && !credential.starts_with(CREDENTIAL_PREFIX);
    let needs_human = match Writer::of(caller) {
        Writer::Human => did_by == CallerKind::Human && caller.kind != CallerKind::Human,
        Writer::Agent | Writer::Import => did_by == CallerKind::Human || !(is_own || is_learned),
        Writer::Extraction => did_by == CallerKind::Human,
    };
    if needs_human { Err(Refusal::NeedsHuman.into()) } else { Ok(()) }
}
