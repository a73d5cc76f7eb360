//! The verbs for going away: forget ends it, delete puts it into the trash, restore brings it back,
//! purge empties the trash, erase removes it now and everywhere.

use futures_util::try_join;
use jiff::SignedDuration;
use lukasa_core::admission::{Writer, may_forget};
use lukasa_core::limits::{IDEMPOTENCY_DAYS, TRASH_DAYS, USAGE_DAYS};
use lukasa_core::{CallerKind, FactId, Origin, Refusal, State, Verb, Version, Voice, record};
use lukasa_store::erasure::Erasure;
use lukasa_store::policy::{self, Standing};
use lukasa_store::{context, erase, erasure, fact, idempotency, operation};

use super::outcome::{Outcome, Receipt};
use super::target::Target;
use super::update::remaining;
use super::write::{Begun, Effect, Writing};
use crate::erasure::Entry;
use crate::error::{Error, Result};
use crate::{Engine, Request};

/// How many facts one purge removes, so that its transaction stays short.
const PURGED_AT_ONCE: i64 = 500;

impl Engine {
    /// Ends a memory: restorable, audited, never in a prompt again.
    pub async fn forget(&self, request: &Request, target: &Target) -> Result<Outcome> {
        self.leave(request, target, Verb::Forget).await
    }

    /// Moves a memory into the trash for thirty days.
    pub async fn delete(&self, request: &Request, target: &Target) -> Result<Outcome> {
        self.leave(request, target, Verb::Delete).await
    }

    async fn leave(&self, request: &Request, target: &Target, verb: Verb) -> Result<Outcome> {
        let mut writing = match self.begin(request).await? {
            Begun::New(writing) => writing,
            Begun::Again(outcome) => return Ok(outcome),
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

    /// Brings back what was forgotten or deleted, exactly as it was. What a person put away only a
    /// person brings back.
    pub async fn restore(&self, request: &Request, target: &Target) -> Result<Outcome> {
        let mut writing = match self.begin(request).await? {
            Begun::New(writing) => writing,
            Begun::Again(outcome) => return Ok(outcome),
        };
        let known = target.known(&writing.scope, request.moment.now).await?;
        writing.check_match(&known)?;
        let gone: Vec<Version> = known.iter().filter(|v| is_gone(v)).cloned().collect();
        let (fact, root) = gone.first().map(|v| (v.fact, v.root())).ok_or(Refusal::NotGone)?;
        let history = fact::history(&writing.scope, fact).await?;
        // An undo or a restore may have laid it there again. What put it away is the operation that
        // opened the first of these rows; a human behind any of them makes it a human's doing.
        let mut left = None;
        for lay in history.iter().filter(|v| v.root() == root) {
            let by = operation::find(&writing.scope, lay.opened_by).await?;
            check_human(request, by.ok_or(Error::OperationNotFound)?.caller)?;
            left = left.or(Some(lay.opened_by));
        }
        let closed: Vec<Version> =
            history.iter().filter(|v| left.is_some() && v.closed_by == left).cloned().collect();
        if closed.is_empty() {
            return Err(Refusal::NotGone.into());
        }
        let changes = record::reverse(&gone, &closed, &mut writing.stamp);
        let after = remaining(&known, &changes);
        let claim = closed[0].claim.clone();
        let from = closed[0].valid.from;
        let mut outcome = Outcome::of(Verb::Restore, format!("Restored: {}", claim.content));
        outcome.memories.extend(writing.shown(&after));
        let restored = writing.finish(Verb::Restore, Effect::of(changes), outcome).await;
        self.name_the_holder(request, &claim, from, Some(fact), restored).await
    }

    /// Removes for good what has lain in the trash for thirty days, and forgets what went into
    /// prompts more than ninety days ago.
    pub async fn purge(&self, request: &Request) -> Result<Outcome> {
        let writing = match self.begin(request).await? {
            Begun::New(writing) => writing,
            Begun::Again(outcome) => return Ok(outcome),
        };
        let days = |count: i64| SignedDuration::from_hours(24 * count);
        let before = writing.stamp.at - days(TRASH_DAYS);
        idempotency::forget_before(&writing.scope, writing.stamp.at - days(IDEMPOTENCY_DAYS))
            .await?;
        context::forget_before(&writing.scope, writing.stamp.at - days(USAGE_DAYS)).await?;
        let facts = erase::trashed_before(&writing.scope, before, PURGED_AT_ONCE).await?;
        if facts.is_empty() {
            let outcome = Outcome::of(Verb::Purge, "Nothing in the trash is old enough.".into());
            return writing.answer(outcome).await;
        }
        let message = format!("Removed for good: {}", facts.len());
        remove(writing, Verb::Purge, facts, message, None).await
    }

    /// Removes a memory now and everywhere, with a receipt that says how much and not what.
    pub async fn erase(&self, request: &Request, target: &Target) -> Result<Outcome> {
        let writing = match self.begin(request).await? {
            Begun::New(writing) => writing,
            Begun::Again(outcome) => return Ok(outcome),
        };
        let id = target.fact(&writing.scope, request.moment.now).await?;
        if !erase::exists(&writing.scope, id).await? {
            return Err(Error::MemoryNotFound);
        }
        let history = fact::history(&writing.scope, id).await?;
        let known: Vec<Version> =
            history.iter().filter(|v| v.known.until.is_none()).cloned().collect();
        writing.check_match(&known)?;
        // All of it goes, so all of it counts: also what was said and has been undone since.
        if history.iter().any(|version| !request.caller.voice.may_replace(version)) {
            return Err(Refusal::LessTrusted.into());
        }
        remove(writing, Verb::Erase, vec![id], "Erased.".into(), None).await
    }
}

impl Engine {
    /// Removes again a memory that was erased and that a backup has brought back. Nobody is asked and
    /// nobody refused: it was decided when it was erased.
    pub(crate) async fn erase_again(
        &self,
        request: &Request,
        fact: FactId,
        entry: &Entry,
    ) -> Result<bool> {
        let scope = self.store.write(request.caller.tenant, request.caller.user).await?;
        if !erase::exists(&scope, fact).await? {
            return Ok(false);
        }
        let (last, standing) = try_join!(operation::last_at(&scope), policy::standing(&scope))?;
        let standing = Standing { policy: None, ..standing };
        let writing = self.write(scope, request, last, standing);
        remove(writing, Verb::Erase, vec![fact], "Erased again.".into(), Some(entry)).await?;
        Ok(true)
    }
}

async fn remove(
    mut writing: Writing<'_>,
    verb: Verb,
    facts: Vec<FactId>,
    message: String,
    again: Option<&Entry>,
) -> Result<Outcome> {
    let mut outcome = Outcome::of(verb, message);
    let mut effect = Effect::default();
    for id in &facts {
        outcome.receipts.push(remove_one(&mut writing, verb, *id, again, &mut effect).await?);
    }
    effect.also = facts;
    writing.finish(verb, effect, outcome).await
}

/// Removes one fact for good, and puts it on record and into the journal with the rest of the effect.
pub(crate) async fn remove_one(
    writing: &mut Writing<'_>,
    verb: Verb,
    fact: FactId,
    again: Option<&Entry>,
    effect: &mut Effect,
) -> Result<Receipt> {
    let (at, by) = (writing.stamp.at, writing.stamp.operation);
    let counted = erasure::count_fact(&writing.scope, fact).await?;
    let removed = erase::remove(&writing.scope, fact, verb, at, by).await?;
    let on_record = Erasure {
        id: again.map_or_else(|| writing.stamp.ids.erasure(), |entry| entry.id),
        fact: Some(fact),
        turn: None,
        verb,
        operation: Some(by),
        erased_at: again.map_or(at, |entry| entry.at),
        removed: counted,
        replayed: again.is_some(),
        scrubbed_at: None,
    };
    erasure::insert(&mut effect.with, &writing.scope, &on_record);
    if again.is_none() {
        effect.erased.push(Entry::of(&writing.scope, &on_record));
    }
    Ok(Receipt {
        fact,
        erasure: Some(on_record.id),
        erased_at: at,
        versions: removed.versions,
        links: removed.links,
        evidence: removed.evidence,
        answers: removed.answers,
    })
}

/// The voice that a memory is forgotten or deleted with, if admission lets this caller do it.
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

/// What a human did, only a human reverses.
pub(super) fn check_human(request: &Request, did: CallerKind) -> Result<()> {
    if did == CallerKind::Human && request.caller.kind != CallerKind::Human {
        return Err(Refusal::NeedsHuman.into());
    }
    Ok(())
}
