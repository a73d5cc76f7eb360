//! The episodes among the results of a search. What may not be quoted from a turn may not be told by
//! an episode either.

use std::collections::{BTreeMap, BTreeSet};

use lukasa_core::{Episode, EpisodeId, FactId, Timestamp, Turn};
use lukasa_store::{Scope, episode};

use super::search::{Filter, RecallResult, ResultExplanation};
use crate::closed_domains::closed_in_texts;
use crate::episodes::{AboutEpisode, domain_tags, load_support, words_of};
use crate::error::Result;

/// How many more episodes are looked up than are wanted: some of them may not be told.
pub(super) const SPARE_EPISODES: usize = 10;

/// An episode that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct RecalledEpisode {
    pub episode: Episode,
    pub why: ResultExplanation,
    /// The memories that were learned from its turns.
    pub facts: BTreeSet<FactId>,
    /// The domains it is about.
    pub domains: Vec<String>,
}

impl RecalledEpisode {
    /// What is derived from these memories.
    pub fn about(&self) -> AboutEpisode {
        // An absorbed episode is not found.
        AboutEpisode { domains: self.domains.clone(), absorbed: false }
    }

    /// Whether a memory or a turn with this explanation says what the question asks for as well as
    /// the episode: it has the words of the question that the episode has.
    fn adds_nothing_to(&self, other: &ResultExplanation) -> bool {
        self.why.matched.iter().all(|word| other.matched.contains(word))
    }

    /// Whether it repeats a memory that was learned from it.
    pub(crate) fn repeats_memory(&self, fact: FactId, why: &ResultExplanation) -> bool {
        self.facts.contains(&fact) && self.adds_nothing_to(why)
    }

    /// Whether it repeats one of its turns.
    pub(crate) fn repeats_turn(&self, turn: &Turn, why: &ResultExplanation) -> bool {
        let Episode { session, first_turn, last_turn, .. } = &self.episode;
        let is_own = turn.session == *session && (*first_turn..=*last_turn).contains(&turn.number);
        is_own && self.adds_nothing_to(why)
    }
}

impl RecallResult {
    /// Leaves out episodes that repeat a memory or a turn of the result, which is more specific.
    pub fn leave_out_repeating_episodes(&mut self) {
        let Self { memories, turns, episodes, .. } = self;
        episodes.retain(|found| {
            let by_memory =
                |f: &super::RecalledFact| found.repeats_memory(f.memory.version.fact, &f.why);
            let by_turn = |f: &super::RecalledTurn| found.repeats_turn(&f.turn, &f.why);
            !memories.iter().any(by_memory) && !turns.iter().any(by_turn)
        });
    }
}

/// Loads the episodes of the results, in their order. Left out are those that are absorbed, those
/// from which something was forgotten, those about a closed domain, and those about none of the
/// domains that are asked for.
pub(super) async fn fetch_episodes(
    scope: &Scope,
    found: Vec<(EpisodeId, ResultExplanation)>,
    filter: &Filter,
    closed: &[String],
    now: Timestamp,
) -> Result<Vec<RecalledEpisode>> {
    if found.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<EpisodeId> = found.iter().map(|(id, _)| *id).collect();
    let episodes = episode::by_id(scope, &ids).await?;
    let support = load_support(scope, &episodes, now).await?;
    let tags = domain_tags(scope, &episodes, &support).await?;
    let texts: Vec<String> = episodes.iter().map(words_of).collect();
    let closed_texts = closed_in_texts(texts, closed).await;
    let mut usable = BTreeMap::new();
    let about = support.into_iter().zip(tags).zip(closed_texts);
    for (episode, ((support, domains), closed_text)) in episodes.into_iter().zip(about) {
        let is_closed =
            closed_text.is_some() || support.domains.iter().any(|name| closed.contains(name));
        let is_asked = |asked: &Vec<String>| domains.iter().any(|name| asked.contains(name));
        let is_other = !filter.domains.as_ref().is_none_or(is_asked);
        if !(support.absorbed || support.forgotten || is_closed || is_other) {
            usable.insert(episode.id, (episode, support.facts, domains));
        }
    }
    let found = found.into_iter().filter_map(|(id, why)| {
        let (episode, facts, domains) = usable.remove(&id)?;
        Some(RecalledEpisode { episode, why, facts, domains })
    });
    Ok(found.collect())
}
