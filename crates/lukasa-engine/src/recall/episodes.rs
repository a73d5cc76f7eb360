//! The episodes among the results of a search. What may not be quoted from a turn may not be repeated
//! by an episode either.

use std::collections::{BTreeMap, BTreeSet};

use lukasa_core::{Episode, EpisodeId, FactId, Timestamp, Turn};
use lukasa_store::{Scope, episode};

use super::search::{Filter, RecallResult, ResultExplanation};
use crate::closed_domains::MAX_SCREENED_BYTES;
use crate::episodes::{AboutEpisode, domain_tags, hidden_domains, load_support};
use crate::error::Result;

/// Maximum number of episodes that are ranked: some of them may not be used.
pub(super) const MAX_EPISODE_CANDIDATES: usize = 200;
/// How many of them are read at a time, until enough are usable.
const EPISODE_BATCH_SIZE: usize = 20;

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
        // An absorbed episode is not found, and neither is one about a closed domain.
        AboutEpisode { domains: self.domains.clone(), ..AboutEpisode::default() }
    }

    /// Whether a memory or a turn with this explanation says what the question asks for as well as
    /// the episode: it has the words of the question that the episode has. If the episode has none
    /// of them and was found by its meaning, the more relevant of the two decides.
    fn adds_nothing_to(&self, other: &ResultExplanation) -> bool {
        match self.why.matched.is_empty() {
            true => other.relevance >= self.why.relevance,
            false => self.why.matched.iter().all(|word| other.matched.contains(word)),
        }
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

/// Loads the first `wanted` usable episodes of the results, in their order. Left out are those that
/// are absorbed, those from which something was forgotten, those about a closed domain, and those
/// about none of the domains that are asked for.
pub(super) async fn fetch_episodes(
    scope: &Scope,
    found: Vec<(EpisodeId, ResultExplanation)>,
    wanted: usize,
    filter: &Filter,
    closed: &[String],
    now: Timestamp,
) -> Result<Vec<RecalledEpisode>> {
    let (mut usable, mut rest) = (Vec::new(), found.into_iter());
    while usable.len() < wanted {
        let batch: Vec<_> = rest.by_ref().take(EPISODE_BATCH_SIZE).collect();
        if batch.is_empty() {
            break;
        }
        usable.extend(load_usable(scope, batch, filter, closed, now).await?);
    }
    usable.truncate(wanted);
    Ok(usable)
}

async fn load_usable(
    scope: &Scope,
    found: Vec<(EpisodeId, ResultExplanation)>,
    filter: &Filter,
    closed: &[String],
    now: Timestamp,
) -> Result<Vec<RecalledEpisode>> {
    let ids: Vec<EpisodeId> = found.iter().map(|(id, _)| *id).collect();
    let episodes = episode::by_id(scope, &ids).await?;
    let support = load_support(scope, &episodes, now).await?;
    let tags = domain_tags(scope, &episodes, &support).await?;
    let hidden = hidden_domains(&episodes, &support, closed, MAX_SCREENED_BYTES).await;
    let mut usable = BTreeMap::new();
    let about = support.into_iter().zip(tags).zip(hidden);
    for (episode, ((support, domains), hidden)) in episodes.into_iter().zip(about) {
        let is_asked = |asked: &Vec<String>| domains.iter().any(|name| asked.contains(name));
        let is_other = !filter.domains.as_ref().is_none_or(is_asked);
        if !(support.absorbed || support.forgotten || hidden.is_some() || is_other) {
            usable.insert(episode.id, (episode, support.facts, domains));
        }
    }
    let found = found.into_iter().filter_map(|(id, why)| {
        let (episode, facts, domains) = usable.remove(&id)?;
        Some(RecalledEpisode { episode, why, facts, domains })
    });
    Ok(found.collect())
}

#[cfg(test)]
mod tests {
    use lukasa_core::{Ids, Origin, Role};

    use super::*;

    fn explanation(matched: &[&str], relevance: f32) -> ResultExplanation {
        let matched = matched.iter().map(|word| (*word).to_owned()).collect();
        ResultExplanation { score: 1.0, relevance, arms: Vec::new(), matched, fused_rank: 1 }
    }

    fn found(why: ResultExplanation) -> RecalledEpisode {
        let now = Timestamp::UNIX_EPOCH;
        let mut ids = Ids::new(now, [7; 16]);
        let episode = Episode {
            id: ids.episode(),
            session: "c".into(),
            first_turn: 1,
            last_turn: 2,
            title: None,
            summary: "The user adopted a puppy.".into(),
            origin: Origin::UserTurn,
            started_at: now,
            ended_at: now,
            pass: ids.pass(),
            prompt: "extract/1".into(),
            recorded_at: now,
            searchable: true,
        };
        RecalledEpisode { episode, why, facts: BTreeSet::new(), domains: Vec::new() }
    }

    fn turn() -> Turn {
        let now = Timestamp::UNIX_EPOCH;
        Turn {
            id: Ids::new(now, [8; 16]).turn(),
            session: "c".into(),
            number: 1,
            role: Role::User,
            speaker: None,
            content: "Fine.".into(),
            origin: Origin::UserTurn,
            said_at: now,
            recorded_at: now,
            spans: Vec::new(),
            marked: false,
        }
    }

    #[test]
    fn episode_repeats_a_turn_that_has_its_words_of_the_question() {
        let episode = found(explanation(&["puppy"], 0.5));
        assert!(episode.repeats_turn(&turn(), &explanation(&["puppy", "name"], 0.1)));
        assert!(!episode.repeats_turn(&turn(), &explanation(&["name"], 0.9)));
    }

    #[test]
    fn episode_found_by_a_paraphrase_repeats_only_what_is_as_relevant() {
        let episode = found(explanation(&[], 0.8));
        assert!(!episode.repeats_turn(&turn(), &explanation(&[], 0.3)), "the turn answers less");
        assert!(!episode.repeats_turn(&turn(), &explanation(&["name"], 0.3)));
        assert!(episode.repeats_turn(&turn(), &explanation(&[], 0.8)));
    }
}
