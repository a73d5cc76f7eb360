//! Undo: one operation, reversed as a whole, by an operation that can itself be undone.

use std::collections::BTreeSet;

use lukasa_core::admission::Writer;
use lukasa_core::{
    FactId, Link, LinkId, Operation, OperationId, Period, Session, Sources, Verb, Version, record,
};
use lukasa_store::{Scope, fact, link, operation, removal, session};

use crate::error::{Error, Result};
use crate::facts::{check_other_member, remaining};
use crate::removal::{check_reverser, find_blocking_removal, restore_sources, undo_sources};
use crate::request::Request;
use crate::sessions::Sessions;
use crate::transaction::{Effect, Outcome, Transactions, WriteStart, Writing};

/// How many operations are searched for the newest one that is still in effect.
const MAX_LOOKBACK: i64 = 200;

/// Undo of operations.
#[derive(Clone)]
pub struct OperationUndo {
    transactions: Transactions,
    sessions: Sessions,
}

impl OperationUndo {
    pub(crate) fn new(transactions: Transactions, sessions: Sessions) -> Self {
        Self { transactions, sessions }
    }

    /// Reverses the newest operation that is still in effect and is not itself an undo, so that
    /// repeated calls step further back. In a space only operations of the member count. Agents and
    /// imports pass over what they may not reverse.
    pub async fn undo_last(&self, request: &Request) -> Result<Outcome> {
        let writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        let log = operation::latest(&writing.scope, request.caller.member, MAX_LOOKBACK).await?;
        let in_effect = |o: &&Operation| o.verb != Verb::Undo && o.undone_by.is_none();
        let newest = log.iter().find(in_effect).ok_or(Error::OperationNotFound)?;
        let last = match Writer::of(&request.caller) {
            Writer::Human | Writer::Extraction => newest,
            Writer::Agent | Writer::Import => {
                let may_reverse =
                    |o: &&Operation| o.verb.can_be_undone() && check_reverser(request, o).is_ok();
                let own = log.iter().filter(in_effect).find(may_reverse);
                own.ok_or(lukasa_core::Refusal::NeedsHuman)?
            }
        };
        Ok(reverse(writing, last.id, TouchedMemory::Blocks).await?.0)
    }

    /// Reverses an operation. Refused, with the blocking operation, if anything it did has been
    /// changed since: a partial undo is worse than none.
    pub async fn undo(&self, request: &Request, id: OperationId) -> Result<Outcome> {
        match self.transactions.begin(request).await? {
            WriteStart::New(writing) => Ok(reverse(writing, id, TouchedMemory::Blocks).await?.0),
            WriteStart::Repeated(outcome) => Ok(outcome),
        }
    }

    /// Reverses an operation for the facts that are still as it wrote them; returns those that are
    /// not.
    pub(crate) async fn undo_unchanged(
        &self,
        request: &Request,
        id: OperationId,
    ) -> Result<BTreeSet<FactId>> {
        match self.transactions.begin(request).await? {
            WriteStart::New(writing) => Ok(reverse(writing, id, TouchedMemory::Stays).await?.1),
            WriteStart::Repeated(_) => Ok(BTreeSet::new()),
        }
    }

    /// Restores a session from the trash, with what was removed with it. If any memory of that has been
    /// changed since, the session is restored with its turns and observations, without the memories.
    pub async fn restore_session(&self, request: &Request, id: &str) -> Result<Session> {
        let writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(_) => {
                return self.sessions.get(&request.caller, id, request.moment.now).await;
            }
        };
        let there = session::find(&writing.scope, id).await?.ok_or(Error::SessionNotFound)?;
        if there.trashed_at.is_none() {
            return Err(lukasa_core::Refusal::NotGone.into());
        }
        // A session that was imported from the trash has no operation here that can be reversed.
        let Some(by) = session::withdrawn_by(&writing.scope, id).await? else {
            restore_alone(writing, id, None).await?;
            return self.sessions.get(&request.caller, id, request.moment.now).await;
        };
        match reverse(writing, by, TouchedMemory::Blocks).await {
            Err(Error::UndoBlocked(_) | Error::NotUndoable) => {
                let WriteStart::New(writing) = self.transactions.begin(request).await? else {
                    return self.sessions.get(&request.caller, id, request.moment.now).await;
                };
                restore_alone(writing, id, Some(by)).await?;
            }
            other => {
                other?;
            }
        }
        self.sessions.get(&request.caller, id, request.moment.now).await
    }
}

/// Restores a session with its turns, and with the observations that the operation `by` withdrew.
async fn restore_alone(writing: Writing<'_>, id: &str, by: Option<OperationId>) -> Result<()> {
    let sources = Sources { session: Some(id.to_owned()), ..Sources::default() };
    let effect = restore_sources(&writing, &sources, by, None).await?;
    let outcome = Outcome::of(Verb::Restore, "Restored the session.".into());
    writing.finish(Verb::Restore, effect, outcome).await?;
    Ok(())
}

/// How undo treats a fact that was changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TouchedMemory {
    /// It blocks the whole undo.
    Blocks,
    /// It stays as it is, and the rest is undone.
    Stays,
}

/// Reverses an operation; returns the outcome, and the facts that stay because they were changed
/// since.
pub(crate) async fn reverse(
    mut writing: Writing<'_>,
    id: OperationId,
    touched: TouchedMemory,
) -> Result<(Outcome, BTreeSet<FactId>)> {
    let request = writing.request();
    let scope = &writing.scope;
    let target = operation::find(scope, id).await?.ok_or(Error::OperationNotFound)?;
    if target.undone_by.is_some() {
        return Err(Error::AlreadyUndone);
    }
    if !target.verb.can_be_undone() {
        return Err(Error::NotUndoable);
    }
    check_reverser(request, &target)?;
    let links = link::touched_by(scope, id).await?;
    let mut kept = BTreeSet::new();
    let mut histories = Vec::new();
    for fact in &target.facts {
        match removal::erased_at(scope, *fact).await? {
            None => histories.push(fact::history(scope, *fact).await?),
            Some(_) if touched == TouchedMemory::Stays => {
                kept.insert(*fact);
            }
            Some(_) => return Err(Error::NotUndoable),
        }
    }
    // An imported archive brings versions opened by other operations elsewhere. They are identified
    // by what was known at the time of the import.
    let wrote = histories.iter().flatten().any(|v| v.opened_by == id) || !links.is_empty();
    let restored = target.verb == Verb::Import && !wrote;
    let was_opened = |v: &Version| match restored {
        true => v.known.contains(target.at),
        false => v.opened_by == id,
    };
    let mut opened = Vec::new();
    for history in &histories {
        let versions: Vec<&Version> = history.iter().collect();
        match current_rows(&versions, id, was_opened) {
            Ok(current) => opened.extend(current),
            Err(Error::UndoBlocked(_)) if touched == TouchedMemory::Stays => {
                kept.extend(history.first().map(|version| version.fact));
            }
            Err(other) => return Err(other),
        }
    }
    // Of a fact that stays, nothing is reopened either.
    let versions: Vec<&Version> =
        histories.iter().flatten().filter(|v| !kept.contains(&v.fact)).collect();
    let closed: Vec<Version> =
        versions.iter().filter(|v| v.closed_by == Some(id)).map(|v| (*v).clone()).collect();
    check_overlap(&versions, &opened, &closed)?;
    if opened.iter().any(|version| !request.caller.voice.may_replace(version)) {
        return Err(lukasa_core::Refusal::LessTrusted.into());
    }
    if let Some(by) = find_blocking_removal(scope, &closed, &target).await? {
        return Err(Error::UndoBlocked(by));
    }
    let (links_opened, links_closed): (Vec<Link>, Vec<Link>) =
        links.into_iter().partition(|link| link.opened_by == id);
    let mut closes_links: Vec<LinkId> = Vec::new();
    for opened in links_opened {
        let current_link = link::find_same(scope, opened.from, opened.to, &opened.relation).await?;
        match current_link.filter(|current_link| current_link.root() == opened.root()) {
            Some(current_link) => closes_links.push(current_link.id),
            None if touched == TouchedMemory::Stays => {}
            None => {
                let ended = link::last_closed(scope, opened.root()).await?;
                return Err(Error::UndoBlocked(ended.unwrap_or(id)));
            }
        }
    }

    let source_effect = match &target.sources {
        Some(sources) => {
            let sources =
                without_renewed_consents(&writing.scope, &target, sources, touched).await?;
            Some(undo_sources(&writing, &target, &sources).await?)
        }
        None => None,
    };
    let stamp = &mut writing.stamp;
    let changes = record::reverse(&opened, &closed, stamp);
    let known = Period::since(stamp.at);
    let opens_links = links_closed
        .iter()
        .map(|link| link.reopened(stamp.ids.link(), stamp.operation, known))
        .collect();
    check_other_member(&writing, &changes.opens).await?;
    let mut outcome = Outcome::of(Verb::Undo, format!("Undone: {}", target.verb.as_str()));
    for fact in &target.facts {
        if changes.opens.iter().any(|v| v.fact == *fact) {
            let known: Vec<Version> = versions
                .iter()
                .filter(|v| v.fact == *fact && v.known.until.is_none())
                .map(|v| (*v).clone())
                .collect();
            outcome.memories.extend(writing.shown(&remaining(&known, &changes)));
        }
    }
    // A memory that loses the user's consent leaves the prompts of open sessions too.
    let consented = |v: &&Version| v.consented_at.is_some();
    let agreed: BTreeSet<FactId> = opened.iter().filter(consented).map(|v| v.fact).collect();
    let loses_consent = |v: &Version| v.consented_at.is_none() && agreed.contains(&v.fact);
    // So does its line if that says the opposite of whether the memory may be mentioned.
    let shown: BTreeSet<(FactId, bool)> =
        opened.iter().map(|v| (v.fact, v.claim.unmentioned)).collect();
    let is_shown_wrong = |v: &Version| shown.contains(&(v.fact, !v.claim.unmentioned));
    let is_outdated = |v: &&Version| loses_consent(v) || is_shown_wrong(v);
    let also_revoked: Vec<FactId> =
        changes.opens.iter().filter(is_outdated).map(|v| v.fact).collect();
    let mut effect = Effect {
        changes,
        opens_links,
        closes_links,
        also: target.facts,
        undoes: Some(id),
        ..source_effect.unwrap_or_default()
    };
    effect.also_revoked.extend(also_revoked);
    match writing.finish(Verb::Undo, effect, outcome).await {
        // Another write has taken the key or link in the meantime.
        Err(Error::KeyTaken(_) | Error::LinkExists) => Err(Error::AlreadyUndone),
        other => Ok((other?, kept)),
    }
}

/// The sources of an operation without the consents that the user has given again since. They block the
/// undo, or stay.
async fn without_renewed_consents(
    scope: &Scope,
    target: &Operation,
    sources: &Sources,
    touched: TouchedMemory,
) -> Result<Sources> {
    let mut sources = sources.clone();
    let given = if sources.gone { Vec::new() } else { std::mem::take(&mut sources.consents) };
    for consent in given {
        match operation::consent_since(scope, &consent.domain, target.at).await? {
            None => sources.consents.push(consent),
            Some(_) if touched == TouchedMemory::Stays => {}
            Some(by) => return Err(Error::UndoBlocked(by)),
        }
    }
    Ok(sources)
}

/// The current rows of the versions an operation opened: the same rows, or rows that reopened them
/// because what closed them was itself undone. If one has no current row, the error names what
/// closed it.
fn current_rows(
    versions: &[&Version],
    by: OperationId,
    was_opened: impl Fn(&Version) -> bool,
) -> Result<Vec<Version>> {
    let mut current = Vec::new();
    for opened in versions.iter().filter(|v| was_opened(v)) {
        let rows = || versions.iter().filter(|v| v.root() == opened.root());
        match rows().find(|v| v.known.until.is_none()) {
            Some(now) => current.push((*now).clone()),
            None => {
                let last = rows().max_by_key(|v| (v.known.from, v.id)).and_then(|v| v.closed_by);
                return Err(Error::UndoBlocked(last.unwrap_or(by)));
            }
        }
    }
    Ok(current)
}

/// Checks that no reopened version overlaps another current version of the same fact. The database
/// checks this for active versions only; this check covers all.
fn check_overlap(versions: &[&Version], closing: &[Version], opening: &[Version]) -> Result<()> {
    let stays =
        |v: &&&Version| v.known.until.is_none() && closing.iter().all(|closed| closed.id != v.id);
    for there in versions.iter().filter(stays) {
        if opening.iter().any(|v| v.fact == there.fact && v.valid.overlaps(&there.valid)) {
            return Err(Error::UndoBlocked(there.opened_by));
        }
    }
    Ok(())
}
