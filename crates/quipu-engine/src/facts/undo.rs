//! Undo: one operation, reversed as a whole, by an operation that can itself be undone.

use quipu_core::{LinkId, Operation, OperationId, Period, Verb, Version, record};
use quipu_store::{erase, fact, link, operation};

use super::leave::check_human;
use super::outcome::Outcome;
use super::write::{Begun, Effect, Writing};
use crate::error::{Error, Result};
use crate::{Engine, Request};

/// How far back the newest operation that still stands is looked for.
const LOOK_BACK: i64 = 200;

impl Engine {
    /// Reverses the newest operation that still stands and is not itself an undo, so that asking
    /// again steps further back.
    pub async fn undo_last(&self, request: &Request) -> Result<Outcome> {
        let caller = &request.caller;
        let scope = self.store.read(caller.tenant, caller.user).await?;
        let log = operation::page(&scope, None, None, LOOK_BACK).await?;
        drop(scope);
        let stands = |o: &&Operation| o.verb != Verb::Undo && o.undone_by.is_none();
        let last = log.iter().find(stands).ok_or(Error::OperationNotFound)?;
        self.undo(request, last.id).await
    }

    /// Reverses an operation. Refused, with the operation in the way, if any of what it did has
    /// been touched since: undoing half of something is worse than not undoing it.
    pub async fn undo(&self, request: &Request, id: OperationId) -> Result<Outcome> {
        let mut writing = match self.begin(request).await? {
            Begun::New(writing) => writing,
            Begun::Again(outcome) => return Ok(outcome),
        };
        let scope = &writing.scope;
        let target = operation::find(scope, id).await?.ok_or(Error::OperationNotFound)?;
        if target.undone_by.is_some() {
            return Err(Error::AlreadyUndone);
        }
        if !target.verb.can_be_undone() {
            return Err(Error::NotUndoable);
        }
        check_human(request, target.caller)?;
        for fact in &target.facts {
            if erase::erased_at(scope, *fact).await?.is_some() {
                return Err(Error::NotUndoable);
            }
        }
        let touched = fact::touched_by(scope, &target.facts, id).await?;
        let (opened, closed): (Vec<Version>, Vec<Version>) =
            touched.into_iter().partition(|v| v.opened_by == id);
        if let Some(by) = opened.iter().find_map(|v| v.closed_by) {
            return Err(Error::UndoBlocked(by));
        }
        if opened.iter().any(|version| !request.caller.voice.may_replace(version)) {
            return Err(quipu_core::Refusal::LessTrusted.into());
        }
        let links = link::touched_by(scope, id).await?;
        let (links_opened, links_closed): (Vec<_>, Vec<_>) =
            links.into_iter().partition(|link| link.opened_by == id);
        if let Some(by) = links_opened.iter().find_map(|link| link.closed_by) {
            return Err(Error::UndoBlocked(by));
        }
        self.check_room(&writing, &opened, &closed).await?;

        let stamp = &mut writing.stamp;
        let changes = record::reverse(&opened, &closed, stamp);
        let known = Period::since(stamp.at);
        let opens_links = links_closed
            .iter()
            .map(|link| link.reopened(stamp.ids.link(), stamp.operation, known))
            .collect();
        let closes_links: Vec<LinkId> = links_opened.iter().map(|link| link.id).collect();
        let mut outcome = Outcome::of(Verb::Undo, format!("Undone: {}", target.verb.as_str()));
        for fact in &target.facts {
            let of_fact: Vec<Version> =
                changes.opens.iter().filter(|v| v.fact == *fact).cloned().collect();
            outcome.memories.extend(writing.shown(&of_fact));
        }
        let effect =
            Effect { changes, opens_links, closes_links, also: target.facts, undoes: Some(id) };
        match writing.finish(Verb::Undo, effect, outcome).await {
            // Somebody else has taken the place in the meantime.
            Err(Error::KeyTaken(_) | Error::LinkExists) => Err(Error::AlreadyUndone),
            other => other,
        }
    }

    /// What is to be opened again must not meet another version of the same fact that was opened
    /// by another way round. The database says so for active versions; this says so for all.
    async fn check_room(
        &self,
        writing: &Writing<'_>,
        closing: &[Version],
        opening: &[Version],
    ) -> Result<()> {
        let mut facts: Vec<_> = opening.iter().map(|v| v.fact).collect();
        facts.dedup();
        for id in facts {
            let known = fact::known_now(&writing.scope, id).await?;
            let stays = |v: &&Version| closing.iter().all(|c| c.id != v.id);
            for there in known.iter().filter(stays) {
                if opening.iter().any(|v| v.fact == id && v.valid.overlaps(&there.valid)) {
                    return Err(Error::UndoBlocked(there.opened_by));
                }
            }
        }
        Ok(())
    }
}
