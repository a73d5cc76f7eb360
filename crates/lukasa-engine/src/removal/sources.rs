//! Removal of a source: a turn or a whole session, together with everything that depends on it
//! alone; or an episode, which is summarised again from its turns. First a preview of the impact,
//! then the removal: into the trash, which undo restores as a whole, or permanently. The rules in
//! the core decide what becomes of each fact.

use std::collections::BTreeSet;

use lukasa_core::job::{RetellTask, Task};
use lukasa_core::recall::passage::{Passage, of_turn};
use lukasa_core::time::micros;
use lukasa_core::{
    Caller, Changes, Depth, Episode, EpisodeId, FactId, Fate, ObservationId, Operation,
    OperationId, Session, Sources, Stamp, State, Timestamp, Turn, TurnId, Verb, Version,
};
use lukasa_store::erasure::{self, Erasure};
use lukasa_store::removal::WithdrawnTurn;
use lukasa_store::{Batch, Scope, episode, job, observation, operation, removal, session};

use super::Removals;
use super::facts::remove_one;
use super::impact::{FactOutcome, Impact, count_impact, decide_fates, load_impact};
use super::observations::ErasedParts;
use super::{new_erasure, record_erasures};
use crate::consents::{restore_consents, reversed_consents, withdraw_consents};
use crate::episodes::{Restoring, joined_summary, load_passages};
use crate::error::{Error, Result};
use crate::journal::JournalEntry;
use crate::memory::{Memory, as_memory};
use crate::request::Request;
use crate::transaction::{Effect, Outcome, RemovalCounts, WriteStart, Writing};

/// Upper bound of turns examined per session.
pub(super) const MAX_TURNS: i32 = i32::MAX;

/// A source that memories depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactSource {
    Turn(TurnId),
    Episode(EpisodeId),
    Session(String),
}

/// Dependents of a source: what would be removed with it, what would lose support, and what would
/// stay.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependents {
    pub reached: RemovalCounts,
    pub memories: Vec<(Memory, Fate)>,
    pub episodes: Vec<Episode>,
}

impl Removals {
    /// Previews the removal of a source: its dependents and what would become of them.
    pub async fn dependents(
        &self,
        caller: &Caller,
        source: &FactSource,
        now: Timestamp,
    ) -> Result<Dependents> {
        let scope = self.transactions.read(caller, now).await?;
        let impact = load_impact(&scope, source, Depth::Trash).await?;
        let mut ids = lukasa_core::Ids::new(now, [0; 16]);
        let mut stamp = Stamp { at: micros(now), operation: ids.operation(), ids };
        let mut fates = decide_fates(&impact, Depth::Trash, caller, &mut stamp)?;
        let independent = saved_without_turns(&impact, &fates);
        fates.extend(independent);
        let mut memories = Vec::new();
        for (history, fate, _) in fates {
            let known: Vec<Version> =
                history.iter().filter(|v| v.known.until.is_none()).cloned().collect();
            let shown = known.iter().max_by_key(|v| (v.valid.from, v.id));
            memories.extend(shown.map(|v| (as_memory(v, &known, now), fate)));
        }
        let reached = count_impact(&impact, memories.iter().map(|(_, fate)| *fate));
        Ok(Dependents { reached, memories, episodes: impact.episodes })
    }

    /// Moves a source to the trash with what depends on it alone. Nothing depends on an episode alone: it is
    /// summarised again, and what was learned from its turns stays. It can be undone as a whole.
    pub async fn withdraw(&self, request: &Request, source: &FactSource) -> Result<Outcome> {
        self.remove_source(request, source, Depth::Trash, ErasedParts::default(), None).await
    }

    /// Permanently removes a source, with every quotation of it and everything that depends on it
    /// alone. Most of the observations of a session that has many are removed before it, in
    /// operations of their own.
    pub async fn erase_source(&self, request: &Request, source: &FactSource) -> Result<Outcome> {
        let before = match source {
            FactSource::Session(id) => self.erase_excess_observations(request, id).await?,
            FactSource::Turn(_) | FactSource::Episode(_) => ErasedParts::default(),
        };
        self.remove_source(request, source, Depth::Erase, before, None).await
    }

    /// Removes an erased turn again after a backup has restored it; false if it does not exist.
    pub(crate) async fn erase_turn_again(
        &self,
        request: &Request,
        turn: TurnId,
        entry: &JournalEntry,
    ) -> Result<bool> {
        let scope = self.parts.store.read_as(&request.caller).await?;
        let there = !removal::turns(&scope, &[turn]).await?.is_empty();
        drop(scope);
        if there {
            let (source, before) = (FactSource::Turn(turn), ErasedParts::default());
            self.remove_source(request, &source, Depth::Erase, before, Some(entry)).await?;
        }
        Ok(there)
    }

    /// Removes a source. `before` are the parts of it that were erased already, `again` is the journal
    /// entry if this replays an earlier erasure.
    async fn remove_source(
        &self,
        request: &Request,
        source: &FactSource,
        depth: Depth,
        before: ErasedParts,
        again: Option<&JournalEntry>,
    ) -> Result<Outcome> {
        let mut writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        if is_gone(&writing.scope, source, depth).await? {
            let verb = if depth == Depth::Erase { Verb::Erase } else { Verb::Delete };
            return writing.answer(Outcome::of(verb, "Already removed.".into())).await;
        }
        let impact = load_impact(&writing.scope, source, depth).await?;
        let (mut effect, mut removed, mut counted_fates) = (Effect::default(), Vec::new(), vec![]);
        for (history, fate, changes) in
            decide_fates(&impact, depth, &request.caller, &mut writing.stamp)?
        {
            let fact = history[0].fact;
            counted_fates.push(fate);
            if impact.only_episode {
                continue;
            }
            if fate == Fate::Withdrawn && depth == Depth::Erase {
                removed.push(fact);
                continue;
            }
            if !changes.closes.is_empty() {
                effect.also_revoked.push(fact);
            }
            merge(&mut effect.changes, changes);
            effect.also.push(fact);
        }
        let mut reached = count_impact(&impact, counted_fates.into_iter());
        reached.observations += before.reached.observations;
        reached.withdrawn += before.reached.withdrawn;
        reached.weakened += before.reached.weakened;
        reached.kept += before.reached.kept;
        let verb = if depth == Depth::Erase { Verb::Erase } else { Verb::Delete };
        let word = if depth == Depth::Erase { "Erased" } else { "Moved to the trash" };
        let mut said = format!("{word}: {reached}.");
        let has_turns = !impact.removed.turns.is_empty();
        if matches!(source, FactSource::Episode(_)) && has_turns && self.parts.has_chat() {
            said.push_str(" It is summarised again from its turns.");
        }
        let mut outcome = Outcome::of(verb, said);
        outcome.receipts = before.receipts;
        for id in &removed {
            let receipt = remove_one(&mut writing, verb, *id, None, &mut effect).await?;
            outcome.receipts.push(receipt);
        }
        effect.also.extend(removed);
        outcome.reached = Some(reached);
        let sources = Sources {
            session: impact.whole.then(|| impact.session.id.clone()),
            turns: if impact.whole { Vec::new() } else { impact.turns.clone() },
            episodes: impact.episodes.iter().map(|episode| episode.id).collect(),
            // Those of a session are found by the operation that withdrew them.
            observations: Vec::new(),
            consents: Vec::new(),
            gone: true,
        };
        let gone =
            self.build_removal(&mut writing, &impact, &sources, depth, again, &mut effect).await?;
        effect.with.append(gone);
        effect.sources = Some(sources);
        writing.finish(verb, effect, outcome).await
    }

    /// Builds the writes of a removal besides those to facts.
    async fn build_removal(
        &self,
        writing: &mut Writing<'_>,
        impact: &Impact,
        sources: &Sources,
        depth: Depth,
        again: Option<&JournalEntry>,
        effect: &mut Effect,
    ) -> Result<Batch> {
        let id = impact.session.id.as_str();
        let mut batch = Batch::default();
        if depth == Depth::Erase {
            let turns = impact.turns.iter().copied().map(RemovedSource::Turn);
            let observed = impact.observations.iter().copied().map(RemovedSource::Observation);
            record_sources(writing, turns.chain(observed), Verb::Erase, again, effect);
        }
        let (scope, stamp) = (&writing.scope, &writing.stamp);
        let by = stamp.operation;
        if depth == Depth::Erase {
            // The turns of an episode stay, with what cites them.
            let cited = if impact.only_episode { &[] } else { impact.cited.as_slice() };
            let (turns, episodes, at) = (&impact.turns, &sources.episodes, stamp.at);
            removal::erase_sources(&mut batch, scope, turns, episodes, cited, by, at);
            observation::remove(&mut batch, scope, &impact.observations, Verb::Erase, by, at);
            if impact.whole {
                for task in Task::all_of_session(id) {
                    job::cancel(&mut batch, scope, &task);
                }
                session::remove(&mut batch, scope, id);
                return Ok(batch);
            }
        } else if impact.whole {
            trash(&mut batch, scope, &impact.session, Some((by, stamp.at)));
            observation::withdraw_session(&mut batch, scope, id, by);
            return Ok(batch);
        } else {
            removal::mark_turns(&mut batch, scope, &sources.turns, Some(by));
            removal::mark_episodes(&mut batch, scope, &sources.episodes, Some(by));
        }
        if sources.turns.is_empty() && sources.episodes.is_empty() {
            return Ok(batch);
        }
        let summary = joined_summary(scope, id, &sources.episodes, &[]).await?;
        // The title was made from the turns, which stay if only an episode is removed.
        let first = if sources.turns.is_empty() { i32::MAX } else { impact.first };
        removal::remove_derived(&mut batch, scope, id, first, summary.as_ref());
        queue_retells(&mut batch, writing, &impact.episodes);
        // A pass in progress has lost its answer, whether turns or only an episode were removed.
        if self.parts.learns() {
            let now = stamp.at;
            if impact.session.has_unextracted_turns() && impact.session.closed_at.is_some() {
                let job = writing.request().job_id("extract");
                let task = Task::Extract { session: id.to_owned() };
                job::queue(&mut batch, scope, job, &task, now, now);
            }
        }
        Ok(batch)
    }
}

/// The active memories that were saved in a session as a whole and cite none of its turns. They stay
/// when the session is removed.
fn saved_without_turns<'r>(impact: &'r Impact, fates: &[FactOutcome<'r>]) -> Vec<FactOutcome<'r>> {
    if !impact.whole {
        return Vec::new();
    }
    let fated: BTreeSet<FactId> = fates.iter().map(|(history, _, _)| history[0].fact).collect();
    let is_active = |v: &Version| v.known.until.is_none() && v.state == State::Active;
    let independent = impact
        .histories
        .iter()
        .filter(|history| history.iter().any(is_active) && !fated.contains(&history[0].fact));
    independent.map(|h| (h.as_slice(), Fate::Kept, Changes::default())).collect()
}

/// A source that is permanently removed.
pub(super) enum RemovedSource {
    Turn(TurnId),
    Observation(ObservationId),
}

/// Records permanently removed sources as erasures, and adds them to the journal.
pub(super) fn record_sources(
    writing: &mut Writing<'_>,
    sources: impl Iterator<Item = RemovedSource>,
    verb: Verb,
    again: Option<&JournalEntry>,
    effect: &mut Effect,
) {
    let stamp = &mut writing.stamp;
    let erasures = sources.map(|source| {
        let (turn, observation, table) = match source {
            RemovedSource::Turn(id) => (Some(id), None, "turn"),
            RemovedSource::Observation(id) => (None, Some(id), "observation"),
        };
        let removed = erasure::Rows::from([(table.to_owned(), 1)]);
        Erasure { turn, observation, removed, ..new_erasure(stamp, verb, again) }
    });
    let erasures: Vec<Erasure> = erasures.collect();
    record_erasures(writing, &erasures, effect);
}

/// Builds the effect of undoing an operation on sources: what it removed is restored, what it
/// restored is removed again.
pub(crate) async fn undo_sources(
    writing: &Writing<'_>,
    target: &Operation,
    sources: &Sources,
) -> Result<Effect> {
    if sources.gone {
        return restore_sources(writing, sources, Some(target.id), Some(target)).await;
    }
    let (scope, stamp) = (&writing.scope, &writing.stamp);
    let mut batch = Batch::default();
    withdraw_consents(&mut batch, writing, &sources.consents, Some(target)).await?;
    if let Some(id) = &sources.session {
        let there = session::find(scope, id).await?.ok_or(Error::NotUndoable)?;
        trash(&mut batch, scope, &there, Some((stamp.operation, stamp.at)));
        observation::withdraw_session(&mut batch, scope, id, stamp.operation);
    }
    removal::mark_turns(&mut batch, scope, &sources.turns, Some(stamp.operation));
    removal::mark_episodes(&mut batch, scope, &sources.episodes, Some(stamp.operation));
    observation::withdraw(&mut batch, scope, &sources.observations, stamp.operation);
    let since = removal::made_for(scope, target.id).await?;
    removal::mark_episodes(&mut batch, scope, &since, Some(stamp.operation));
    // Episodes that the undo withdrew, because they were derived after the first removal, are valid
    // again.
    let retold = removal::episodes_withdrawn_by(scope, target.id).await?;
    let retold = removal::restorable_episodes(scope, &retold, &[]).await?;
    let passages = load_passages(scope, &retold, Restoring::default()).await?;
    let back: Vec<EpisodeId> = retold.iter().map(|episode| episode.id).collect();
    removal::mark_episodes(&mut batch, scope, &back, None);
    let mut gone = removal::episodes(scope, &sources.episodes).await?;
    if sources.session.is_none() {
        let without: Vec<EpisodeId> = sources.episodes.iter().chain(&since).copied().collect();
        for session in sessions_of(&gone) {
            let summary = joined_summary(scope, session, &without, &retold).await?;
            session::replace_summary(&mut batch, scope, session, summary.as_ref());
        }
        gone.retain(|episode| !retold.iter().any(|other| overlap(episode, other)));
        queue_retells(&mut batch, writing, &gone);
    }
    let consents = reversed_consents(&sources.consents);
    let sources = Sources { gone: true, consents, ..sources.clone() };
    Ok(Effect { with: batch, sources: Some(sources), passages, ..Effect::default() })
}

/// The operation that removed a source of one of these versions, if any. A version that is to be
/// reopened must not quote removed turns; turns restored by the same undo count as present.
pub(crate) async fn find_blocking_removal(
    scope: &Scope,
    versions: &[Version],
    target: &Operation,
) -> Result<Option<OperationId>> {
    let rests = |v: &&Version| !v.is_firm() && v.state != State::Trashed;
    let cited = || versions.iter().filter(rests).flat_map(|version| version.turns.iter());
    let turns: BTreeSet<TurnId> = cited().filter_map(|turn| turn.parse().ok()).collect();
    let observed: BTreeSet<ObservationId> = cited().filter_map(|id| id.parse().ok()).collect();
    let back = target.sources.as_ref().filter(|sources| sources.gone);
    if !observed.is_empty() {
        let observed: Vec<ObservationId> = observed.into_iter().collect();
        let comes_back = |by: OperationId| back.is_some() && by == target.id;
        let withdrawn = observation::withdrawn(scope, &observed).await?;
        if let Some((_, by)) = withdrawn.into_iter().find(|(_, by)| !comes_back(*by)) {
            return Ok(Some(by));
        }
    }
    if turns.is_empty() {
        return Ok(None);
    }
    let turns: Vec<_> = turns.iter().map(|turn| turn.uuid()).collect();
    // A restored turn is still missing if its session was removed by another operation.
    let missing = |gone: WithdrawnTurn| {
        let whole = back.is_some_and(|s| s.session.as_ref() == Some(&gone.session));
        let itself = whole || back.is_some_and(|s| s.turns.contains(&gone.turn));
        gone.alone.filter(|_| !itself).or(gone.with_session.filter(|_| !whole))
    };
    Ok(removal::withdrawn(scope, &turns).await?.into_iter().find_map(missing))
}

/// The sessions of these episodes, each once.
fn sessions_of<'e>(episodes: impl IntoIterator<Item = &'e Episode>) -> BTreeSet<&'e str> {
    episodes.into_iter().map(|episode| episode.session.as_str()).collect()
}

/// Whether two episodes are about some of the same turns.
fn overlap(one: &Episode, other: &Episode) -> bool {
    one.session == other.session
        && one.first_turn <= other.last_turn
        && other.first_turn <= one.last_turn
}

/// The removal of an episode by which one of these was replaced, if it is later than `target` and in
/// effect. It has to be undone first.
async fn find_later_removal(
    scope: &Scope,
    episodes: &[EpisodeId],
    target: &Operation,
) -> Result<Option<OperationId>> {
    for id in removal::withdrew_successors(scope, episodes, target.at).await? {
        let by = operation::find(scope, id).await?;
        let removes = |by: &Operation| by.sources.as_ref().is_some_and(|sources| sources.gone);
        if by.is_some_and(|by| by.undone_by.is_none() && removes(&by)) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// Restores sources that the operation `by` removed, with all observations that it withdrew; without
/// one, sources that were removed before they were imported. `after` is that operation if it is
/// undone; episodes may have been re-derived since.
pub(crate) async fn restore_sources(
    writing: &Writing<'_>,
    sources: &Sources,
    by: Option<OperationId>,
    after: Option<&Operation>,
) -> Result<Effect> {
    let scope = &writing.scope;
    let mut batch = Batch::default();
    restore_consents(&mut batch, writing, &sources.consents).await?;
    let mut turns = removal::turns(scope, &sources.turns).await?;
    let mut restored = Vec::new();
    // A permanently removed episode can be derived again; a turn cannot.
    let observed = observation::existing(scope, &sources.observations, true).await?;
    // A session is restored with what is left of it.
    let is_whole = sources.session.is_some() || observed.len() == sources.observations.len();
    if turns.len() != sources.turns.len() || !is_whole {
        return Err(Error::NotUndoable);
    }
    if let Some(by) = by {
        observation::restore(&mut batch, scope, by);
    }
    if let Some(id) = &sources.session {
        let there = session::find(scope, id).await?.ok_or(Error::NotUndoable)?;
        trash(&mut batch, scope, &there, None);
        turns.extend(session::turns(scope, id, 0, i64::MAX).await?);
        restored = episode::of_session(scope, id).await?;
    }
    removal::mark_turns(&mut batch, scope, &sources.turns, None);
    let back = removal::restorable_episodes(scope, &sources.episodes, &sources.turns).await?;
    restored.extend(back.iter().cloned());
    let whole: Vec<EpisodeId> = back.iter().map(|episode| episode.id).collect();
    if let Some(target) = after.filter(|_| !whole.is_empty() && sources.session.is_none())
        && let Some(by) = find_later_removal(scope, &whole, target).await?
    {
        return Err(Error::UndoBlocked(by));
    }
    removal::mark_episodes(&mut batch, scope, &whole, None);
    // An episode that covers turns removed since is derived again from those that are left.
    let mut broken = removal::episodes(scope, &sources.episodes).await?;
    broken.retain(|episode| !whole.contains(&episode.id));
    queue_retells(&mut batch, writing, &broken);
    let mut retold = match after {
        Some(after) => removal::made_for(scope, after.id).await?,
        None => Vec::new(),
    };
    let touched = sessions_of(back.iter().chain(&broken));
    for session in touched.into_iter().filter(|_| sources.session.is_none()) {
        let current = episode::of_session(scope, session).await?;
        let replaces = |new: &Episode| {
            !whole.contains(&new.id) && back.iter().any(|episode| overlap(episode, new))
        };
        retold.extend(current.iter().filter(|new| replaces(new)).map(|new| new.id));
        let summary = joined_summary(scope, session, &retold, &back).await?;
        session::replace_summary(&mut batch, scope, session, summary.as_ref());
    }
    removal::mark_episodes(&mut batch, scope, &retold, Some(writing.stamp.operation));
    restored.retain(|episode| !retold.contains(&episode.id));
    restored.sort_by_key(|episode| episode.id);
    restored.dedup_by_key(|episode| episode.id);
    let mut passages = passages_in_use(scope, &turns, sources.session.as_deref()).await?;
    let restoring = Restoring { turns: &turns, session: sources.session.as_deref() };
    passages.extend(load_passages(scope, &restored, restoring).await?);
    let consents = reversed_consents(&sources.consents);
    Ok(Effect {
        with: batch,
        sources: Some(Sources { gone: false, consents, ..sources.clone() }),
        passages,
        removes_passages: !retold.is_empty(),
        ..Effect::default()
    })
}

/// The passages of turns whose session is not in the trash, or is the one that is restored.
async fn passages_in_use(
    scope: &Scope,
    turns: &[Turn],
    restored: Option<&str>,
) -> Result<Vec<Passage>> {
    let sessions: BTreeSet<&str> = turns.iter().map(|turn| turn.session.as_str()).collect();
    let sessions: Vec<String> = sessions.into_iter().map(str::to_owned).collect();
    let in_use = session::by_ids(scope, &sessions).await?;
    let is_in_use = |turn: &&Turn| {
        restored == Some(turn.session.as_str()) || in_use.iter().any(|s| s.id == turn.session)
    };
    Ok(turns.iter().filter(is_in_use).flat_map(of_turn).collect())
}

/// Queues jobs that derive the episodes of these turn ranges again after this operation.
fn queue_retells(batch: &mut Batch, writing: &Writing<'_>, episodes: &[Episode]) {
    if !writing.parts().has_chat() {
        return;
    }
    let now = writing.stamp.at;
    for (at, episode) in episodes.iter().enumerate() {
        let retell = RetellTask {
            after: writing.stamp.operation,
            first_turn: episode.first_turn,
            last_turn: episode.last_turn,
            session: episode.session.clone(),
        };
        let job = writing.request().job_id(&format!("{at} retell"));
        job::queue(batch, &writing.scope, job, &Task::Retell(retell), now, now);
    }
}

/// Moves a session into the trash, or out of it. Its passages are removed from recall; restoring it
/// creates them again.
fn trash(batch: &mut Batch, scope: &Scope, there: &Session, by: Option<(OperationId, Timestamp)>) {
    let trashed_at = by.map(|(_, at)| at);
    session::put(batch, scope, &Session { trashed_at, ..there.clone() });
    session::mark(batch, scope, &there.id, by.map(|(by, _)| by));
    if by.is_some() {
        for task in Task::all_of_session(&there.id) {
            job::cancel(batch, scope, &task);
        }
        session::drop_passages(batch, scope, &there.id);
    }
}

/// Whether a turn has already been removed, so that removing it again is a no-op. A deleted turn
/// can still be erased.
async fn is_gone(scope: &Scope, source: &FactSource, depth: Depth) -> Result<bool> {
    let FactSource::Turn(id) = source else { return Ok(false) };
    let erased = !removal::erased_turns(scope, &[*id]).await?.is_empty();
    if depth == Depth::Erase {
        return Ok(erased);
    }
    let there = !session::turns_and_trash_by_id(scope, &[id.uuid()]).await?.is_empty();
    let kept = !removal::turns(scope, &[*id]).await?.is_empty();
    Ok(erased || (kept && !there))
}

pub(super) fn merge(into: &mut Changes, changes: Changes) {
    into.closes.extend(changes.closes);
    into.opens.extend(changes.opens);
}
