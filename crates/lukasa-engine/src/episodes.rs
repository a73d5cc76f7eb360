//! What recall needs to know about episodes besides their words: what was learned from their turns,
//! which domains they are about, and which of them may be found.

use std::collections::{BTreeMap, BTreeSet};

use lukasa_core::learning::explicit;
use lukasa_core::recall::passage::{Passage, of_episode};
use lukasa_core::{Episode, EpisodeId, FactId, Timestamp, Turn};
use lukasa_store::episode::{self, LearnedHere};
use lukasa_store::{Scope, domain, session};

use crate::closed_domains::closed_in_texts;
use crate::cpu::interrupted;
use crate::detector::detect;
use crate::error::Result;

/// The stored turns of episodes, with their numbers.
type TurnsOfEpisodes = BTreeMap<EpisodeId, BTreeMap<String, i32>>;

/// With more episodes and facts than this, what was learned is derived on a blocking thread.
const LARGE_SUPPORT: usize = 1_000;

/// What was learned from the turns of an episode.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct EpisodeSupport {
    pub(crate) facts: BTreeSet<FactId>,
    /// The domains of these facts.
    pub(crate) domains: BTreeSet<String>,
    /// Whether all of it is strong or stated by now, so that the episode is no longer needed (R105).
    pub(crate) absorbed: bool,
    /// Whether something learned from it was forgotten on request.
    pub(crate) forgotten: bool,
    /// The domains of what was forgotten or moved to the trash: the episode still repeats it.
    pub(crate) removed_domains: BTreeSet<String>,
}

/// What is derived from the facts learned from an episode.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AboutEpisode {
    /// The domains of these facts, and those that its words name.
    pub domains: Vec<String>,
    /// Whether it is old and all of these facts are strong or stated.
    pub absorbed: bool,
    /// The domain it is about that the user has not opened, if any: its words are not shown then.
    pub hidden_domain: Option<String>,
}

/// What was learned from each of these episodes, in their order.
pub(crate) async fn load_support(
    scope: &Scope,
    episodes: &[Episode],
    now: Timestamp,
) -> Result<Vec<EpisodeSupport>> {
    if episodes.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<EpisodeId> = episodes.iter().map(|episode| episode.id).collect();
    let mut turns = TurnsOfEpisodes::new();
    for (episode, turn, number) in episode::turns_of(scope, &ids).await? {
        turns.entry(episode).or_default().insert(turn.to_string(), number);
    }
    let names: Vec<String> = turns.values().flat_map(BTreeMap::keys).cloned().collect();
    let sessions: BTreeSet<String> = episodes.iter().map(|e| e.session.clone()).collect();
    let sessions: Vec<String> = sessions.into_iter().collect();
    let learned = episode::learned_here(scope, &names, &sessions).await?;
    if episodes.len() + learned.len() <= LARGE_SUPPORT {
        return Ok(derive_support(episodes, &turns, &learned, now));
    }
    let episodes = episodes.to_vec();
    let derive = move || derive_support(&episodes, &turns, &learned, now);
    tokio::task::spawn_blocking(derive).await.map_err(interrupted)
}

fn derive_support(
    episodes: &[Episode],
    turns: &TurnsOfEpisodes,
    learned: &[LearnedHere],
    now: Timestamp,
) -> Vec<EpisodeSupport> {
    let (index, none) = (LearnedIndex::of(learned), BTreeMap::new());
    let support = |episode: &Episode| {
        let turns = turns.get(&episode.id).unwrap_or(&none);
        support_of(episode, turns, &index.of_episode(&episode.session, turns), now)
    };
    episodes.iter().map(support).collect()
}

/// Facts by what they were learned from, so that those of one episode are found without reading all.
struct LearnedIndex<'l> {
    by_turn: BTreeMap<&'l str, Vec<usize>>,
    by_session: BTreeMap<&'l str, Vec<usize>>,
    /// Those of a session that cite no turn.
    without_turns: BTreeMap<&'l str, Vec<usize>>,
    learned: &'l [LearnedHere],
}

impl<'l> LearnedIndex<'l> {
    fn of(learned: &'l [LearnedHere]) -> Self {
        let (by_turn, by_session) = (BTreeMap::new(), BTreeMap::new());
        let mut index = Self { by_turn, by_session, without_turns: BTreeMap::new(), learned };
        for (place, fact) in learned.iter().enumerate() {
            for turn in &fact.turns {
                index.by_turn.entry(turn).or_default().push(place);
            }
            if let Some(session) = &fact.session {
                index.by_session.entry(session).or_default().push(place);
                if fact.turns.is_empty() {
                    index.without_turns.entry(session).or_default().push(place);
                }
            }
        }
        index
    }

    /// The facts learned from an episode. What the session says of a fact counts if the turns do not
    /// say more: the fact cites none, or none of the episode's turns were kept.
    fn of_episode(&self, session: &str, turns: &BTreeMap<String, i32>) -> Vec<&'l LearnedHere> {
        let citing = turns.keys().filter_map(|turn| self.by_turn.get(turn.as_str())).flatten();
        let in_session = if turns.is_empty() { &self.by_session } else { &self.without_turns };
        let in_session = in_session.get(session).into_iter().flatten();
        let places: BTreeSet<usize> = citing.chain(in_session).copied().collect();
        places.into_iter().map(|place| &self.learned[place]).collect()
    }
}

/// What was learned from one episode, whose stored turns are given with their numbers.
fn support_of(
    episode: &Episode,
    turns: &BTreeMap<String, i32>,
    learned: &[&LearnedHere],
    now: Timestamp,
) -> EpisodeSupport {
    let mut support = EpisodeSupport::default();
    let mut settled: BTreeMap<(String, i32), bool> = BTreeMap::new();
    for fact in learned {
        if fact.forgotten || fact.trashed {
            support.forgotten |= fact.forgotten;
            support.removed_domains.extend(fact.domain.clone());
            continue;
        }
        support.facts.insert(fact.fact);
        support.domains.extend(fact.domain.clone());
        for number in fact.turns.iter().filter_map(|turn| turns.get(turn)) {
            let all = settled.entry((episode.session.clone(), *number)).or_insert(true);
            *all &= fact.settled;
        }
    }
    support.absorbed = episode.is_absorbed(&settled, now);
    support
}

/// The domains that each of these episodes is about: those of the facts learned from it, and those
/// that its words name.
pub(crate) async fn domain_tags(
    scope: &Scope,
    episodes: &[Episode],
    support: &[EpisodeSupport],
) -> Result<Vec<Vec<String>>> {
    if episodes.is_empty() {
        return Ok(Vec::new());
    }
    let domains = domain::of_tenant(scope).await?;
    let tags = |(episode, support): (&Episode, &EpisodeSupport)| {
        let named = detect(&domains, &words_of(episode)).into_iter().map(|found| found.domain);
        let tags: BTreeSet<String> = named.chain(support.domains.iter().cloned()).collect();
        tags.into_iter().collect()
    };
    Ok(episodes.iter().zip(support).map(tags).collect())
}

/// For each of these episodes the first of these closed domains that its words mention or that one of
/// the facts learned from it is in, also one that was removed. Words beyond `max_bytes` in all are not
/// screened, and count as closed.
pub(crate) async fn hidden_domains(
    episodes: &[Episode],
    support: &[EpisodeSupport],
    closed: &[String],
    max_bytes: usize,
) -> Vec<Option<String>> {
    let texts: Vec<String> = episodes.iter().map(words_of).collect();
    let mentioned = closed_in_texts(texts, closed, max_bytes).await;
    let hidden = |(mentioned, support): (Option<String>, &EpisodeSupport)| {
        let mut domains = support.domains.iter().chain(&support.removed_domains);
        let learned = || domains.find(|name| closed.contains(name)).cloned();
        mentioned.or_else(learned)
    };
    mentioned.into_iter().zip(support).map(hidden).collect()
}

/// Maximum length of a session's running summary; the beginning is cut off.
const SUMMARY_CHARS: usize = 2_000;

/// The end of a running summary, up to the maximum length.
pub(crate) fn latest(running: &str) -> String {
    let skipped = running.chars().count().saturating_sub(SUMMARY_CHARS);
    running.chars().skip(skipped).collect()
}

/// The running summary of a session as the summaries of its episodes, without some of them and with
/// others, and the last turn that it is about; `None` if there are none.
pub(crate) async fn joined_summary(
    scope: &Scope,
    session: &str,
    without: &[EpisodeId],
    with: &[Episode],
) -> Result<Option<(String, i32)>> {
    let mut episodes = episode::of_session(scope, session).await?;
    // What search must not find of an episode, the summary must not repeat.
    episodes.retain(|e| e.searchable && !without.contains(&e.id));
    episodes.retain(|e| with.iter().all(|added| added.id != e.id));
    episodes.extend(with.iter().filter(|added| added.session == session).cloned());
    episodes.sort_by_key(|episode| (episode.first_turn, episode.id));
    let Some(last) = episodes.iter().map(|episode| episode.last_turn).max() else {
        return Ok(None);
    };
    let summaries: Vec<&str> = episodes.iter().map(|episode| episode.summary.as_str()).collect();
    Ok(Some((latest(&summaries.join(" ")), last)))
}

/// The title and the summary of an episode.
fn words_of(episode: &Episode) -> String {
    format!("{}\n{}", episode.title.as_deref().unwrap_or(""), episode.summary)
}

/// Whether one of these turns belongs to the episode and asks to forget something. Search must not
/// find such an episode, because it may repeat what it was.
pub(crate) fn is_about_forgetting(episode: &Episode, turns: &[Turn]) -> bool {
    let range = episode.first_turn..=episode.last_turn;
    let own = |turn: &&Turn| turn.session == episode.session && range.contains(&turn.number);
    turns.iter().filter(own).any(explicit::asks_to_forget)
}

/// The passages of an episode; none if search must not find it.
pub(crate) fn passages_of(episode: &Episode) -> Vec<Passage> {
    match episode.searchable {
        true => of_episode(episode),
        false => Vec::new(),
    }
}

/// Turns, and possibly their whole session, that are about to be restored.
#[derive(Default, Clone, Copy)]
pub(crate) struct Restoring<'r> {
    pub(crate) turns: &'r [Turn],
    pub(crate) session: Option<&'r str>,
}

/// The passages of these episodes, whose turns are read. Those of a session in the trash have none,
/// and neither have those of an unknown session, which might belong to any project.
pub(crate) async fn load_passages(
    scope: &Scope,
    episodes: &[Episode],
    restoring: Restoring<'_>,
) -> Result<Vec<Passage>> {
    let mut passages = Vec::new();
    for episode in episodes.iter().filter(|episode| episode.searchable) {
        let Some(there) = session::find(scope, &episode.session).await? else { continue };
        if there.trashed_at.is_some() && restoring.session != Some(&episode.session) {
            continue;
        }
        let range = episode.first_turn..=episode.last_turn;
        let count = i64::from(episode.last_turn - episode.first_turn) + 1;
        let mut turns =
            session::turns(scope, &episode.session, episode.first_turn - 1, count).await?;
        let own = |turn: &&Turn| turn.session == episode.session && range.contains(&turn.number);
        turns.extend(restoring.turns.iter().filter(own).cloned());
        if !is_about_forgetting(episode, &turns) {
            passages.extend(passages_of(episode));
        }
    }
    Ok(passages)
}

#[cfg(test)]
mod tests {
    use lukasa_core::Ids;

    use super::*;

    #[test]
    fn episode_support_reads_only_the_facts_of_its_own_turns_and_session() {
        let mut ids = Ids::new(Timestamp::UNIX_EPOCH, [3; 16]);
        let mut fact = |turns: &[&str], session: Option<&str>| LearnedHere {
            fact: ids.fact(),
            turns: turns.iter().map(|turn| (*turn).to_owned()).collect(),
            session: session.map(str::to_owned),
            domain: None,
            settled: true,
            forgotten: false,
            trashed: false,
        };
        let learned = [
            fact(&["t1", "t2", "t1"], Some("a")),
            fact(&["t3"], Some("a")),
            fact(&[], Some("a")),
            fact(&["t1"], Some("b")),
            fact(&[], Some("b")),
            fact(&["t9"], None),
        ];
        let index = LearnedIndex::of(&learned);
        let places = |session: &str, turns: &[&str]| -> Vec<usize> {
            let turns: BTreeMap<String, i32> =
                turns.iter().map(|turn| (*turn).to_owned()).zip(1..).collect();
            let found = index.of_episode(session, &turns);
            found.iter().map(|one| learned.iter().position(|fact| fact == *one).unwrap()).collect()
        };
        // Those that cite one of the turns, and those of the session that cite none.
        assert_eq!(places("a", &["t1", "t2"]), [0, 2, 3]);
        assert_eq!(places("a", &["t4"]), [2]);
        assert_eq!(places("c", &["t9"]), [5]);
        // Without turns, all of the session.
        assert_eq!(places("a", &[]), [0, 1, 2]);
        assert_eq!(places("b", &[]), [3, 4]);
        assert!(places("c", &[]).is_empty());
    }
}
