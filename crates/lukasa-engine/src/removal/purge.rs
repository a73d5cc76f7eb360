//! The purge of sources: sessions, turns, episodes and observations that have been in the trash for
//! thirty days are permanently removed, with every quotation of them, in transactions of bounded
//! size.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use lukasa_core::limits::{OBSERVATIONS_REMOVED_AT_ONCE, TRASH_DAYS, USAGE_DAYS};
use lukasa_core::removal as removal_rules;
use lukasa_core::{
    Depth, EpisodeId, Fate, ObservationId, Origin, RemovedTurns, Timestamp, TurnId, Verb, Voice,
};
use lukasa_store::{Batch, Scope, fact, ledger, observation, removal, session};

use super::Removals;
use super::impact::chats_of;
use super::observations::count_patterns;
use super::sources::{MAX_TURNS, RemovedSource, merge, record_sources};
use crate::error::Result;
use crate::request::Request;
use crate::transaction::{Effect, Outcome, WriteStart};

/// Maximum number of sessions, and of single turns and episodes, that one transaction removes.
const PURGE_BATCH_SIZE: usize = 500;
/// Sessions are added to a transaction until it removes this many turns.
const PURGED_TURNS: usize = 5_000;
/// Maximum number of transactions of one purge. The next purge continues.
const MAX_TRANSACTIONS: usize = 200;

/// Sources that have been in the trash for thirty days.
#[derive(Default)]
struct OldSources {
    chats: Vec<String>,
    turns: Vec<TurnId>,
    episodes: Vec<EpisodeId>,
    observations: Vec<ObservationId>,
    /// Whether there may be more than one transaction removes.
    more: bool,
}

impl Removals {
    /// Permanently removes the sessions, turns, episodes and observations that were moved to the
    /// trash thirty days ago or longer, with every quotation of them; and model calls from the
    /// ledger after ninety days.
    pub(crate) async fn purge_sources(&self, request: &Request) -> Result<()> {
        let mut request = request.clone();
        // The purge completes the user's own removal, so it may remove quotations from confirmed
        // facts.
        request.caller.voice = Voice::stated(Origin::UserSaid);
        for number in 0..MAX_TRANSACTIONS {
            if !self.purge_part(&request.part(number)).await? {
                break;
            }
        }
        Ok(())
    }

    /// Removes as many sources as one transaction does; returns whether there may be more.
    async fn purge_part(&self, request: &Request) -> Result<bool> {
        let WriteStart::New(mut writing) = self.transactions.begin(request).await? else {
            return Ok(false);
        };
        let days = |count: i64| SignedDuration::from_hours(24 * count);
        let at = writing.stamp.at;
        ledger::forget_before(&writing.scope, at - days(USAGE_DAYS)).await?;
        let old = OldSources::load(&writing.scope, at - days(TRASH_DAYS)).await?;
        if old.is_empty() {
            writing.close(Batch::default()).await?;
            return Ok(false);
        }
        let OldSources { chats, turns, episodes, observations, more } = old;
        let names = turns.iter().map(ToString::to_string);
        let names = names.chain(observations.iter().map(ToString::to_string));
        let removed: BTreeSet<String> = names.collect();
        let names: Vec<String> = removed.iter().cloned().collect();
        let cited = removal::cited(&writing.scope, &names).await?;
        let mut histories = Vec::new();
        for id in removal::citing(&writing.scope, &cited).await? {
            histories.push(fact::history(&writing.scope, id).await?);
        }
        let removed = RemovedTurns {
            turns: removed,
            chats: chats_of(&writing.scope, &histories).await?,
            patterns: count_patterns(&writing.scope, &histories, &observations).await?,
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
        let gone = gone.chain(observations.iter().copied().map(RemovedSource::Observation));
        record_sources(&mut writing, gone, Verb::Purge, None, &mut effect);
        let (scope, by) = (&writing.scope, writing.stamp.operation);
        removal::erase_sources(&mut effect.with, scope, &turns, &episodes, &cited, by, at);
        observation::remove(&mut effect.with, scope, &observations, Verb::Purge, by, at);
        for id in &chats {
            session::remove(&mut effect.with, scope, id);
        }
        let outcome = Outcome::of(Verb::Purge, "Permanently removed what was deleted.".into());
        writing.finish(Verb::Purge, effect, outcome).await?;
        Ok(more)
    }
}

impl OldSources {
    /// The sources that were removed at or before `before`, as many as one transaction removes. A
    /// session follows when its observations fit into the same transaction.
    async fn load(scope: &Scope, before: Timestamp) -> Result<Self> {
        let limit = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let most = limit(OBSERVATIONS_REMOVED_AT_ONCE);
        let observations = observation::purgeable(scope, before, most).await?;
        if observations.len() >= OBSERVATIONS_REMOVED_AT_ONCE {
            return Ok(Self { observations, more: true, ..Self::default() });
        }
        let most = limit(PURGE_BATCH_SIZE);
        let (turns, episodes) = removal::withdrawn_before(scope, before, most).await?;
        let trashed = session::trashed_before(scope, before, most).await?;
        let counts = [turns.len(), episodes.len(), trashed.len()];
        let more = counts.into_iter().any(|count| count >= PURGE_BATCH_SIZE);
        let mut old = Self { turns, episodes, observations, more, chats: Vec::new() };
        for id in trashed {
            if old.turns.len() >= PURGED_TURNS {
                old.more = true;
                break;
            }
            old.turns.extend(removal::turn_ids(scope, &id, 1, MAX_TURNS).await?);
            let covering = removal::episodes_covering(scope, &id, 1, MAX_TURNS, true).await?;
            old.episodes.extend(covering.iter().map(|episode| episode.id));
            old.chats.push(id);
        }
        old.turns.sort_unstable();
        old.turns.dedup();
        old.episodes.sort_unstable();
        old.episodes.dedup();
        Ok(old)
    }

    fn is_empty(&self) -> bool {
        self.chats.is_empty()
            && self.turns.is_empty()
            && self.episodes.is_empty()
            && self.observations.is_empty()
    }
}
