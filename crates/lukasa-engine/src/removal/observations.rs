//! Removal of observations, with the memories that rest on them alone: into the trash, from which an
//! undo restores them for thirty days, or permanently.

use std::collections::BTreeMap;

use lukasa_core::limits::OBSERVATIONS_REMOVED_AT_ONCE;
use lukasa_core::observation::{ObservedEvent, ObservedPattern, PATTERN_PERIOD};
use lukasa_core::time::micros;
use lukasa_core::{
    Depth, FactId, Fate, Ids, ImportId, ObservationId, RemovedTurns, Sources, Stamp, Verb, Version,
    removal as removal_rules,
};
use lukasa_store::{Scope, fact, observation, removal, session};

use super::Removals;
use super::facts::remove_one;
use super::impact::{chats_of, decide_fates, load_impact};
use super::sources::{FactSource, RemovedSource, merge, record_sources};
use crate::error::{Error, Result};
use crate::journal::JournalEntry;
use crate::request::Request;
use crate::transaction::{Effect, ErasureSummary, Outcome, RemovalCounts, WriteStart};

/// The observations that a removal is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObservationSelection {
    One(ObservationId),
    /// The oldest observations of a source, as many as one request may remove.
    Source(String),
    /// As many of those that came with an import.
    Import(ImportId),
    /// As many of a session's.
    Session(String),
}

/// What was erased in parts, before the rest of a source.
#[derive(Default)]
pub(super) struct ErasedParts {
    pub(super) reached: RemovalCounts,
    pub(super) receipts: Vec<ErasureSummary>,
}

impl ErasedParts {
    fn add(&mut self, part: Outcome) {
        let reached = part.reached.unwrap_or_default();
        self.reached.observations += reached.observations;
        self.reached.withdrawn += reached.withdrawn;
        self.reached.weakened += reached.weakened;
        self.reached.kept += reached.kept;
        self.receipts.extend(part.receipts);
    }
}

impl Removals {
    /// Moves observations to the trash, with the memories that depend on them alone.
    pub async fn withdraw_observations(
        &self,
        request: &Request,
        which: &ObservationSelection,
    ) -> Result<Outcome> {
        self.remove_observations(request, which, Depth::Trash, None).await
    }

    /// Permanently removes an observation, with every quotation of it and the memories that depend
    /// on it alone.
    pub async fn erase_observation(&self, request: &Request, id: ObservationId) -> Result<Outcome> {
        let which = ObservationSelection::One(id);
        self.remove_observations(request, &which, Depth::Erase, None).await
    }

    /// Removes an erased observation again after a backup has restored it; false if it does not
    /// exist.
    pub(crate) async fn erase_observation_again(
        &self,
        request: &Request,
        id: ObservationId,
        entry: &JournalEntry,
    ) -> Result<bool> {
        let scope = self.parts.store.read_as(&request.caller).await?;
        let there = !observation::existing(&scope, &[id], true).await?.is_empty();
        drop(scope);
        if there {
            let which = ObservationSelection::One(id);
            self.remove_observations(request, &which, Depth::Erase, Some(entry)).await?;
        }
        Ok(there)
    }

    /// Erases observations of a session that has many, in parts of their own, until one transaction
    /// can remove the rest with the session. If the erasure of the session would be refused, nothing
    /// is erased. After an interruption the request can be repeated.
    pub(super) async fn erase_excess_observations(
        &self,
        request: &Request,
        session: &str,
    ) -> Result<ErasedParts> {
        let most = i64::try_from(OBSERVATIONS_REMOVED_AT_ONCE).unwrap_or(i64::MAX);
        let which = ObservationSelection::Session(session.to_owned());
        let mut erased = ErasedParts::default();
        for number in 0.. {
            let scope = self.transactions.read(&request.caller, request.moment.now).await?;
            let exists = session::find(&scope, session).await?.is_some();
            let ids = observation::ids_of_session(&scope, session, true, most + 1).await?;
            if !exists || ids.len() <= OBSERVATIONS_REMOVED_AT_ONCE {
                break;
            }
            let part = request.part(number);
            if number == 0 {
                let source = FactSource::Session(session.to_owned());
                let impact = load_impact(&scope, &source, Depth::Erase).await?;
                let mut ids = Ids::new(part.moment.now, part.moment.seed);
                let at = micros(part.moment.now);
                let mut stamp = Stamp { at, operation: ids.operation(), ids };
                decide_fates(&impact, Depth::Erase, &request.caller, &mut stamp)?;
            }
            drop(scope);
            let outcome = self.remove_observations(&part, &which, Depth::Erase, None).await?;
            erased.add(outcome);
        }
        Ok(erased)
    }

    async fn remove_observations(
        &self,
        request: &Request,
        which: &ObservationSelection,
        depth: Depth,
        again: Option<&JournalEntry>,
    ) -> Result<Outcome> {
        let mut writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        let verb = if depth == Depth::Erase { Verb::Erase } else { Verb::Delete };
        let observations = select(&writing.scope, which, depth).await?;
        if observations.is_empty() {
            let outcome = Outcome::of(verb, "No observation to remove.".into());
            return writing.answer(outcome).await;
        }
        let names: Vec<String> = observations.iter().map(ToString::to_string).collect();
        let mut reached =
            RemovalCounts { observations: observations.len(), ..RemovalCounts::default() };
        let cited = removal::cited(&writing.scope, &names).await?;
        let citing = match depth {
            Depth::Trash => removal::citing(&writing.scope, &cited).await?,
            Depth::Erase => removal::ever_citing(&writing.scope, &cited).await?,
        };
        let mut histories = Vec::with_capacity(citing.len());
        for id in citing {
            histories.push(fact::history(&writing.scope, id).await?);
        }
        let removed = RemovedTurns {
            turns: names.into_iter().collect(),
            chats: chats_of(&writing.scope, &histories).await?,
            patterns: count_patterns(&writing.scope, &histories, &observations).await?,
            chat: None,
        };
        let (mut effect, mut removed_facts) = (Effect::default(), Vec::new());
        for history in &histories {
            let (voice, stamp) = (request.caller.voice, &mut writing.stamp);
            let becomes = removal_rules::remove_turns(history, &removed, depth, voice, stamp)?;
            let Some((fate, changes)) = becomes else { continue };
            let id = history[0].fact;
            match fate {
                Fate::Withdrawn => reached.withdrawn += 1,
                Fate::Weakened => reached.weakened += 1,
                Fate::Kept => reached.kept += 1,
            }
            if fate == Fate::Withdrawn && depth == Depth::Erase {
                removed_facts.push(id);
                continue;
            }
            if !changes.closes.is_empty() {
                effect.also_revoked.push(id);
            }
            merge(&mut effect.changes, changes);
            effect.also.push(id);
        }
        let word = if depth == Depth::Erase { "Erased" } else { "Moved to the trash" };
        let mut outcome = Outcome::of(verb, format!("{word}: {reached}."));
        outcome.reached = Some(reached);
        for id in &removed_facts {
            let receipt = remove_one(&mut writing, verb, *id, None, &mut effect).await?;
            outcome.receipts.push(receipt);
        }
        effect.also.extend(removed_facts);
        if depth == Depth::Erase {
            let removed = observations.iter().copied().map(RemovedSource::Observation);
            record_sources(&mut writing, removed, verb, again, &mut effect);
        }
        let (scope, by, at) = (&writing.scope, writing.stamp.operation, writing.stamp.at);
        match depth {
            Depth::Trash => observation::withdraw(&mut effect.with, scope, &observations, by),
            Depth::Erase => {
                removal::erase_quotations(&mut effect.with, scope, &cited);
                observation::remove(&mut effect.with, scope, &observations, verb, by, at);
            }
        }
        effect.sources = Some(Sources { observations, gone: true, ..Sources::default() });
        writing.finish(verb, effect, outcome).await
    }
}

/// The observations to remove. One that is in the trash can still be erased.
async fn select(
    scope: &Scope,
    which: &ObservationSelection,
    depth: Depth,
) -> Result<Vec<ObservationId>> {
    let most = i64::try_from(OBSERVATIONS_REMOVED_AT_ONCE).unwrap_or(i64::MAX);
    Ok(match which {
        ObservationSelection::One(id) => {
            let there = observation::existing(scope, &[*id], true).await?;
            if there.is_empty() && observation::erased(scope, &[*id]).await?.is_empty() {
                return Err(Error::ObservationNotFound);
            }
            observation::existing(scope, &[*id], depth == Depth::Erase).await?
        }
        ObservationSelection::Source(source) => {
            observation::ids_of_source(scope, source, most).await?
        }
        ObservationSelection::Import(import) => {
            observation::ids_of_import(scope, *import, most).await?
        }
        ObservationSelection::Session(session) => {
            observation::ids_of_session(scope, session, depth == Depth::Erase, most).await?
        }
    })
}

/// Counts the patterns among these facts again, without the observations that are removed.
pub(super) async fn count_patterns(
    scope: &Scope,
    histories: &[Vec<Version>],
    without: &[ObservationId],
) -> Result<BTreeMap<FactId, ObservedPattern>> {
    let mut patterns = BTreeMap::new();
    for version in histories.iter().flatten().filter(|version| version.known.until.is_none()) {
        let Some(event) = ObservedEvent::from_memory(version) else { continue };
        let left = observation::pattern_of(scope, &event, PATTERN_PERIOD, without).await?;
        patterns.extend(left.map(|left| (version.fact, left)));
    }
    Ok(patterns)
}
