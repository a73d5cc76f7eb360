//! Removal of a source: a turn or a whole session, together with everything that depends on it
//! alone; or an episode, which is summarised again from its turns. First a preview of the impact,
//! then the removal: into the trash, which undo restores as a whole, or permanently. The rules in
//! the core decide what becomes of each fact.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use lukasa_core::job::{RetellTask, Task};
use lukasa_core::limits::{TRASH_DAYS, USAGE_DAYS};
use lukasa_core::recall::passage::of_turn;
use lukasa_core::removal as removal_rules;
use lukasa_core::time::micros;
use lukasa_core::{
    Caller, Changes, Depth, Episode, EpisodeId, Fate, ObservationId, Operation, OperationId,
    Origin, RemovedTurns, Session, Sources, Stamp, State, Timestamp, TurnId, Verb, Version, Voice,
};
use lukasa_store::erasure::{self, Erasure};
use lukasa_store::removal::WithdrawnTurn;
use lukasa_store::{
    Batch, Scope, episode, everything, fact, job, ledger, observation, removal, session,
};

use super::Removals;
use super::facts::remove_one;
use super::impact::{Impact, chats_of, count_impact, decide_fates, load_impact};
use super::observations::count_patterns;
use super::{new_erasure, record_erasure};
use crate::episodes::{Restoring, load_passages};
use crate::error::{Error, Result};
use crate::journal::JournalEntry;
use crate::learning::latest;
use crate::memory::{Memory, as_memory};
use crate::request::Request;
use crate::transaction::{Effect, Outcome, RemovalCounts, WriteStart, Writing};

/// Upper bound of turns examined per session.
pub(super) const MAX_TURNS: i32 = i32::MAX;
/// Maximum number of sources that one purge removes.
const PURGE_BATCH_SIZE: i64 = 500;

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
        let fates = decide_fates(&impact, Depth::Trash, caller, &mut stamp)?;
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

    /// Moves a source to the trash with what depends on it alone. Of an episode that is nothing: it
    /// is summarised again, and what was learned from its turns stays. It can be undone as a whole.
    pub async fn withdraw(&self, request: &Request, source: &FactSource) -> Result<Outcome> {
        self.remove_source(request, source, Depth::Trash, None).await
    }

    /// Permanently removes a source, with every quotation of it and everything that depends on it
    /// alone.
    pub async fn erase_source(&self, request: &Request, source: &FactSource) -> Result<Outcome> {
        self.remove_source(request, source, Depth::Erase, None).await
    }

    /// Removes an erased turn again after a backup has restored it; false if it does not exist.
    pub(crate) async fn erase_turn_again(
        &self,
        request: &Request,
        turn: TurnId,
        entry: &JournalEntry,
    ) -> Result<bool> {
        let scope = self.parts.store.read(request.caller.tenant, request.caller.user).await?;
        let there = !removal::turns(&scope, &[turn]).await?.is_empty();
        drop(scope);
        if there {
            self.remove_source(request, &FactSource::Turn(turn), Depth::Erase, Some(entry)).await?;
        }
        Ok(there)
    }

    /// Removes a source. `again` is the journal entry if this replays an earlier erasure.
    async fn remove_source(
        &self,
        request: &Request,
        source: &FactSource,
        depth: Depth,
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
                effect.thaws.push(fact);
            }
            merge(&mut effect.changes, changes);
            effect.also.push(fact);
        }
        let reached = count_impact(&impact, counted_fates.into_iter());
        let verb = if depth == Depth::Erase { Verb::Erase } else { Verb::Delete };
        let word = if depth == Depth::Erase { "Erased" } else { "Moved to the trash" };
        let mut said = format!("{word}: {reached}.");
        if matches!(source, FactSource::Episode(_)) && self.parts.has_chat() {
            said.push_str(" It is summarised again from its turns.");
        }
        let mut outcome = Outcome::of(verb, said);
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
            observations: impact.observations.clone(),
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
            record_erasures(writing, turns.chain(observed), Verb::Erase, again, effect);
        }
        let (scope, stamp) = (&writing.scope, &writing.stamp);
        let by = stamp.operation;
        if depth == Depth::Erase {
            let cited: Vec<TurnId> = match impact.whole {
                true => removal::turn_ids(scope, id, 1, MAX_TURNS).await?,
                false => impact.turns.clone(),
            };
            removal::erase_sources(&mut batch, scope, &cited, &sources.episodes, by, stamp.at);
            let observed = &sources.observations;
            let names: Vec<String> = observed.iter().map(ToString::to_string).collect();
            removal::erase_quotations(&mut batch, scope, &names);
            observation::remove(&mut batch, scope, observed, Verb::Erase, by, stamp.at);
            if impact.whole {
                for task in Task::all_of_session(id) {
                    job::cancel(&mut batch, scope, &task);
                }
                session::remove(&mut batch, scope, id);
                return Ok(batch);
            }
        } else if impact.whole {
            trash(&mut batch, scope, &impact.session, Some((by, stamp.at)));
            observation::mark(&mut batch, scope, &sources.observations, Some(by));
            return Ok(batch);
        } else {
            removal::mark_turns(&mut batch, scope, &sources.turns, Some(by));
            removal::mark_episodes(&mut batch, scope, &sources.episodes, Some(by));
        }
        if sources.turns.is_empty() && sources.episodes.is_empty() {
            return Ok(batch);
        }
        let all = everything::episodes(scope).await?;
        let summary = join_summaries(&all, id, &sources.episodes);
        // The title was made from the turns, which stay if only an episode is removed.
        let first = if sources.turns.is_empty() { i32::MAX } else { impact.first };
        removal::remove_derived(&mut batch, scope, id, first, summary.as_deref());
        queue_retells(&mut batch, writing, &impact.episodes);
        if self.parts.learns() && !sources.turns.is_empty() {
            let now = stamp.at;
            if impact.session.has_news() && impact.session.closed_at.is_some() {
                let job = writing.request().job_id("extract");
                let task = Task::Extract { session: id.to_owned() };
                job::queue(&mut batch, scope, job, &task, now, now);
            }
        }
        Ok(batch)
    }

    /// Permanently removes the sessions, turns, episodes and observations that were moved to the
    /// trash thirty days ago or longer, with every quotation of them; and model calls from the
    /// ledger after ninety days.
    pub(crate) async fn purge_sources(&self, request: &Request) -> Result<()> {
        let mut request = request.clone();
        // The purge completes the user's own removal, so it may remove quotations from confirmed
        // facts.
        request.caller.voice = Voice::stated(Origin::UserSaid);
        let WriteStart::New(mut writing) = self.transactions.begin(&request).await? else {
            return Ok(());
        };
        let scope = &writing.scope;
        let days = |count: i64| SignedDuration::from_hours(24 * count);
        let at = writing.stamp.at;
        ledger::forget_before(scope, at - days(USAGE_DAYS)).await?;
        let before = at - days(TRASH_DAYS);
        let chats = session::trashed_before(scope, before, PURGE_BATCH_SIZE).await?;
        let (mut turns, mut episodes) =
            removal::withdrawn_before(scope, before, PURGE_BATCH_SIZE).await?;
        let mut observed = observation::withdrawn_before(scope, before, PURGE_BATCH_SIZE).await?;
        for id in &chats {
            // Also those that were recorded since the session is in the trash.
            observed.extend(observation::ids_of_session(scope, id, true).await?);
            turns.extend(removal::turn_ids(scope, id, 1, MAX_TURNS).await?);
            let told = removal::episodes_covering(scope, id, 1, MAX_TURNS, true).await?;
            episodes.extend(told.iter().map(|episode| episode.id));
        }
        observed.sort_unstable();
        observed.dedup();
        let nothing = chats.is_empty() && turns.is_empty() && episodes.is_empty();
        if nothing && observed.is_empty() {
            return writing.close(Batch::default()).await;
        }
        let observed_names: Vec<String> = observed.iter().map(ToString::to_string).collect();
        let turn_names = turns.iter().map(ToString::to_string);
        let removed: BTreeSet<String> = turn_names.chain(observed_names.clone()).collect();
        let names: Vec<String> = removed.iter().cloned().collect();
        let mut histories = Vec::new();
        for id in removal::citing(&writing.scope, &names).await? {
            histories.push(fact::history(&writing.scope, id).await?);
        }
        let removed = RemovedTurns {
            turns: removed,
            chats: chats_of(&writing.scope, &histories).await?,
            patterns: count_patterns(&writing.scope, &histories, &observed).await?,
            chat: None,
        };
        let mut effect = Effect::default();
        for history in &histories {
            let (voice, stamp) = (request.caller.voice, &mut writing.stamp);
            let becomes =
                removal_rules::remove_turns(history, &removed, Depth::Erase, voice, stamp)?;
            // A fact that the user restored although its source stayed removed is kept.
            if let Some((Fate::Weakened | Fate::Kept, changes)) = becomes {
                merge(&mut effect.changes, changes);
            }
        }
        let gone = turns.iter().copied().map(RemovedSource::Turn);
        let gone = gone.chain(observed.iter().copied().map(RemovedSource::Observation));
        record_erasures(&mut writing, gone, Verb::Purge, None, &mut effect);
        let (scope, by) = (&writing.scope, writing.stamp.operation);
        removal::erase_sources(&mut effect.with, scope, &turns, &episodes, by, at);
        removal::erase_quotations(&mut effect.with, scope, &observed_names);
        observation::remove(&mut effect.with, scope, &observed, Verb::Purge, by, at);
        for id in &chats {
            session::remove(&mut effect.with, scope, id);
        }
        let outcome = Outcome::of(Verb::Purge, "Permanently removed what was deleted.".into());
        writing.finish(Verb::Purge, effect, outcome).await?;
        Ok(())
    }
}

/// A source that is permanently removed.
pub(super) enum RemovedSource {
    Turn(TurnId),
    Observation(ObservationId),
}

/// Records permanently removed sources as erasures, and adds them to the journal.
pub(super) fn record_erasures(
    writing: &mut Writing<'_>,
    sources: impl Iterator<Item = RemovedSource>,
    verb: Verb,
    again: Option<&JournalEntry>,
    effect: &mut Effect,
) {
    for source in sources {
        let (turn, observation, table) = match source {
            RemovedSource::Turn(id) => (Some(id), None, "turn"),
            RemovedSource::Observation(id) => (None, Some(id), "observation"),
        };
        let removed = erasure::Rows::from([(table.to_owned(), 1)]);
        let erasure = new_erasure(&mut writing.stamp, verb, again);
        let erasure = Erasure { turn, observation, removed, ..erasure };
        record_erasure(writing, &erasure, effect);
    }
}

/// Builds the effect of undoing an operation on sources: what it removed is restored, what it
/// restored is removed again.
pub(crate) async fn undo_sources(
    writing: &Writing<'_>,
    target: &Operation,
    sources: &Sources,
) -> Result<Effect> {
    if sources.gone {
        return restore_sources(writing, sources, Some(target.id)).await;
    }
    let (scope, stamp) = (&writing.scope, &writing.stamp);
    let mut batch = Batch::default();
    if let Some(id) = &sources.session {
        let there = session::find(scope, id).await?.ok_or(Error::NotUndoable)?;
        trash(&mut batch, scope, &there, Some((stamp.operation, stamp.at)));
    }
    removal::mark_turns(&mut batch, scope, &sources.turns, Some(stamp.operation));
    removal::mark_episodes(&mut batch, scope, &sources.episodes, Some(stamp.operation));
    observation::mark(&mut batch, scope, &sources.observations, Some(stamp.operation));
    let since = removal::made_for(scope, target.id).await?;
    removal::mark_episodes(&mut batch, scope, &since, Some(stamp.operation));
    // Episodes re-derived after the first removal are still valid; restore them.
    let mut passages = Vec::new();
    if let Some(first) = target.undoes {
        let retold = removal::withdrawn_made_for(scope, first).await?;
        let retold = removal::restorable_episodes(scope, &retold, &[]).await?;
        passages = load_passages(scope, &retold, Restoring::default()).await?;
        let retold: Vec<EpisodeId> = retold.iter().map(|episode| episode.id).collect();
        removal::mark_episodes(&mut batch, scope, &retold, None);
    }
    let sources = Sources { gone: true, ..sources.clone() };
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
        let comes_back =
            |id: &ObservationId| back.is_some_and(|sources| sources.observations.contains(id));
        let withdrawn = observation::withdrawn(scope, &observed).await?;
        let blocking = withdrawn.into_iter().find(|(id, _)| !comes_back(id));
        if let Some((_, by)) = blocking {
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

/// Restores sources. `after` is the operation that removed them; episodes may have been re-derived
/// since.
pub(crate) async fn restore_sources(
    writing: &Writing<'_>,
    sources: &Sources,
    after: Option<OperationId>,
) -> Result<Effect> {
    let scope = &writing.scope;
    let mut batch = Batch::default();
    let mut turns = removal::turns(scope, &sources.turns).await?;
    let mut restored = Vec::new();
    // A permanently removed episode can be derived again; a turn cannot.
    let observed = observation::existing(scope, &sources.observations, true).await?;
    // A session is restored with what is left of it.
    let is_whole = sources.session.is_some() || observed.len() == sources.observations.len();
    if turns.len() != sources.turns.len() || !is_whole {
        return Err(Error::NotUndoable);
    }
    observation::mark(&mut batch, scope, &observed, None);
    if let Some(id) = &sources.session {
        let there = session::find(scope, id).await?.ok_or(Error::NotUndoable)?;
        trash(&mut batch, scope, &there, None);
        turns.extend(session::turns(scope, id, 0, i64::MAX).await?);
        restored = episode::of_session(scope, id).await?;
    }
    removal::mark_turns(&mut batch, scope, &sources.turns, None);
    let whole = removal::restorable_episodes(scope, &sources.episodes, &sources.turns).await?;
    restored.extend(whole.iter().cloned());
    let whole: Vec<EpisodeId> = whole.iter().map(|episode| episode.id).collect();
    removal::mark_episodes(&mut batch, scope, &whole, None);
    // An episode that covers turns removed since is derived again from those that are left.
    let mut broken = removal::episodes(scope, &sources.episodes).await?;
    broken.retain(|episode| !whole.contains(&episode.id));
    queue_retells(&mut batch, writing, &broken);
    let retold = match after {
        Some(after) => removal::made_for(scope, after).await?,
        None => Vec::new(),
    };
    removal::mark_episodes(&mut batch, scope, &retold, Some(writing.stamp.operation));
    restored.retain(|episode| !retold.contains(&episode.id));
    restored.sort_by_key(|episode| episode.id);
    restored.dedup_by_key(|episode| episode.id);
    let mut passages: Vec<_> = turns.iter().flat_map(of_turn).collect();
    let restoring = Restoring { turns: &turns, session: sources.session.as_deref() };
    passages.extend(load_passages(scope, &restored, restoring).await?);
    Ok(Effect {
        with: batch,
        sources: Some(Sources { gone: false, ..sources.clone() }),
        passages,
        removes_passages: !retold.is_empty(),
        ..Effect::default()
    })
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
    let there = !session::turns_by_id(scope, &[id.uuid()]).await?.is_empty();
    let kept = !removal::turns(scope, &[*id]).await?.is_empty();
    Ok(erased || (kept && !there))
}

/// The running summary of a session, joined from its episodes except some of them.
fn join_summaries(episodes: &[Episode], of: &str, without: &[EpisodeId]) -> Option<String> {
    let stays = |e: &&Episode| e.session == of && !without.contains(&e.id);
    let summaries: Vec<&str> =
        episodes.iter().filter(stays).map(|episode| episode.summary.as_str()).collect();
    (!summaries.is_empty()).then(|| latest(&summaries.join(" ")))
}

pub(super) fn merge(into: &mut Changes, changes: Changes) {
    into.closes.extend(changes.closes);
    into.opens.extend(changes.opens);
}
