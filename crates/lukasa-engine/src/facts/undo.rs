//! Undo: one operation, reversed as a whole, by an operation that can itself be undone.

use lukasa_core::{Link, LinkId, Operation, OperationId, Period, Verb, Version, record};
use lukasa_store::{erase, fact, link, operation};

use super::leave::check_human;
use super::outcome::Outcome;
use super::update::remaining;
use super::write::{Begun, Effect, Writing};
use crate::cascade::{back, in_the_way};
use crate::error::{Error, Result};
use crate::{Engine, Request};

/// How far back the newest operation that still stands is looked for.
const LOOK_BACK: i64 = 200;

impl Engine {
    /// Reverses the newest operation that still stands and is not itself an undo, so that asking
    /// again steps further back.
    pub async fn undo_last(&self, request: &Request) -> Result<Outcome> {
        let writing = match self.begin(request).await? {
            Begun::New(writing) => writing,
            Begun::Again(outcome) => return Ok(outcome),
        };
        let log = operation::page(&writing.scope, None, None, LOOK_BACK).await?;
        let stands = |o: &&Operation| o.verb != Verb::Undo && o.undone_by.is_none();
        let last = log.iter().find(stands).ok_or(Error::OperationNotFound)?;
        Ok(reverse(writing, last.id, Touched::Blocks).await?.0)
    }

    /// Reverses an operation. Refused, with the operation in the way, if any of what it did has
    /// been touched since: undoing half of something is worse than not undoing it.
    pub async fn undo(&self, request: &Request, id: OperationId) -> Result<Outcome> {
        match self.begin(request).await? {
            Begun::New(writing) => Ok(reverse(writing, id, Touched::Blocks).await?.0),
            Begun::Again(outcome) => Ok(outcome),
        }
    }

    /// Reverses whatever of an operation still stands as it was written, and says how many facts do not.
    pub(crate) async fn undo_what_stands(
        &self,
        request: &Request,
        id: OperationId,
    ) -> Result<usize> {
        match self.begin(request).await? {
            Begun::New(writing) => Ok(reverse(writing, id, Touched::Stays).await?.1),
            Begun::Again(_) => Ok(0),
        }
    }
}

/// What a fact does that was touched since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touched {
    /// It stands in the way of undoing anything.
    Blocks,
    /// It stays as it is, and the rest is undone.
    Stays,
}

/// Reverses an operation; the outcome, and how many facts stay because they were touched since.
pub(crate) async fn reverse(
    mut writing: Writing<'_>,
    id: OperationId,
    touched: Touched,
) -> Result<(Outcome, usize)> {
    let request = writing.request;
    let scope = &writing.scope;
    let target = operation::find(scope, id).await?.ok_or(Error::OperationNotFound)?;
    if target.undone_by.is_some() {
        return Err(Error::AlreadyUndone);
    }
    if !target.verb.can_be_undone() {
        return Err(Error::NotUndoable);
    }
    check_human(request, target.caller)?;
    let links = link::touched_by(scope, id).await?;
    let mut kept = 0;
    let mut histories = Vec::new();
    for fact in &target.facts {
        match erase::erased_at(scope, *fact).await? {
            None => histories.push(fact::history(scope, *fact).await?),
            Some(_) if touched == Touched::Stays => kept += 1,
            Some(_) => return Err(Error::NotUndoable),
        }
    }
    // A memory that was restored whole brought versions that other operations had opened elsewhere. It
    // is taken back by what was known of it when it came.
    let wrote = histories.iter().flatten().any(|v| v.opened_by == id) || !links.is_empty();
    let restored = target.verb == Verb::Import && !wrote;
    let came = |v: &Version| match restored {
        true => v.known.contains(target.at),
        false => v.opened_by == id,
    };
    let mut opened = Vec::new();
    for history in &histories {
        let versions: Vec<&Version> = history.iter().collect();
        match standing(&versions, id, came) {
            Ok(standing) => opened.extend(standing),
            Err(Error::UndoBlocked(_)) if touched == Touched::Stays => kept += 1,
            Err(other) => return Err(other),
        }
    }
    let versions: Vec<&Version> = histories.iter().flatten().collect();
    let closed: Vec<Version> =
        versions.iter().filter(|v| v.closed_by == Some(id)).map(|v| (*v).clone()).collect();
    check_room(&versions, &opened, &closed)?;
    if opened.iter().any(|version| !request.caller.voice.may_replace(version)) {
        return Err(lukasa_core::Refusal::LessTrusted.into());
    }
    if let Some(by) = in_the_way(scope, &closed, &target).await? {
        return Err(Error::UndoBlocked(by));
    }
    let (links_opened, links_closed): (Vec<Link>, Vec<Link>) =
        links.into_iter().partition(|link| link.opened_by == id);
    let mut closes_links: Vec<LinkId> = Vec::new();
    for opened in links_opened {
        let held = link::find_same(scope, opened.from, opened.to, &opened.relation).await?;
        match held.filter(|held| held.root() == opened.root()) {
            Some(held) => closes_links.push(held.id),
            None if touched == Touched::Stays => {}
            None => {
                let ended = link::last_closed(scope, opened.root()).await?;
                return Err(Error::UndoBlocked(ended.unwrap_or(id)));
            }
        }
    }

    let back = match &target.sources {
        Some(sources) => Some(back(&writing, &target, sources).await?),
        None => None,
    };
    let stamp = &mut writing.stamp;
    let changes = record::reverse(&opened, &closed, stamp);
    let known = Period::since(stamp.at);
    let opens_links = links_closed
        .iter()
        .map(|link| link.reopened(stamp.ids.link(), stamp.operation, known))
        .collect();
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
    let effect = Effect {
        changes,
        opens_links,
        closes_links,
        also: target.facts,
        undoes: Some(id),
        ..back.unwrap_or_default()
    };
    match writing.finish(Verb::Undo, effect, outcome).await {
        // Somebody else has taken the place in the meantime.
        Err(Error::KeyTaken(_) | Error::LinkExists) => Err(Error::AlreadyUndone),
        other => Ok((other?, kept)),
    }
}

/// The versions an operation opened, as they stand now: the same rows, or rows that hold them again
/// because whatever closed them was itself undone. If one no longer stands, says what ended it.
fn standing(
    versions: &[&Version],
    by: OperationId,
    came: impl Fn(&Version) -> bool,
) -> Result<Vec<Version>> {
    let mut standing = Vec::new();
    for opened in versions.iter().filter(|v| came(v)) {
        let held = || versions.iter().filter(|v| v.root() == opened.root());
        match held().find(|v| v.known.until.is_none()) {
            Some(now) => standing.push((*now).clone()),
            None => {
                let last = held().max_by_key(|v| (v.known.from, v.id)).and_then(|v| v.closed_by);
                return Err(Error::UndoBlocked(last.unwrap_or(by)));
            }
        }
    }
    Ok(standing)
}

/// What is to be opened again must not meet another version of the same fact that was opened by
/// another way round. The database says so for active versions; this says so for all.
fn check_room(versions: &[&Version], closing: &[Version], opening: &[Version]) -> Result<()> {
    let stays =
        |v: &&&Version| v.known.until.is_none() && closing.iter().all(|closed| closed.id != v.id);
    for there in versions.iter().filter(stays) {
        if opening.iter().any(|v| v.fact == there.fact && v.valid.overlaps(&there.valid)) {
            return Err(Error::UndoBlocked(there.opened_by));
        }
    }
    Ok(())
}
