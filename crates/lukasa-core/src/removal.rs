//! Removal of sources: what happens to learned facts when a turn or session is removed. A fact that
//! only the removed source supported is removed too; a fact with other support stays, rated by its
//! remaining support. One pass is enough: sources support facts, and facts do not support sources.
//!
//! A fact that the user stated or agreed to stays. Only when its source is erased is the quotation
//! removed; the words the user agreed to stay.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::consolidation::{focus, is_still_supported};
use crate::fact::{ClaimEvidence, State, Version};
use crate::id::{EpisodeId, FactId, ObservationId, TurnId};
use crate::observation::{ObservedEvent, ObservedPattern};
use crate::origin::Voice;
use crate::record::{Changes, Refusal, Stamp};
use crate::words;

/// The sources, besides facts, that an operation removed or restored: ids only, no content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources {
    /// A whole session with all its turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<TurnId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub episodes: Vec<EpisodeId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<ObservationId>,
    /// Consents to use what is inferred about a domain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consents: Vec<DomainConsent>,
    /// Whether they were removed, rather than restored; of consents, whether they were withdrawn.
    pub gone: bool,
}

/// The user's consent to use memories that are inferred about a domain without asking for each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainConsent {
    pub domain: String,
    /// Whether the consent opened the domain too, because the user had not.
    pub opens: bool,
}

/// How thoroughly a source is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Can be undone: the rows stay, and only an undo sees them.
    Trash,
    /// Permanent: no quotation of the source may stay anywhere.
    Erase,
}

words!(
    /// What happens to a fact when a source is removed.
    Fate {
        /// It has no other support and is removed too.
        Withdrawn = "withdrawn",
        /// It has other support, and keeps only that.
        Weakened = "weakened",
        /// The user stated it or agreed to it: it stays.
        Kept = "kept",
    }
);

/// The turns or observations that are removed, and the sessions of the turns that stay.
#[derive(Debug, Clone, Default)]
pub struct RemovedTurns {
    pub turns: BTreeSet<String>,
    /// The session of the removed turns. Evidence that cites the whole session is removed too.
    pub chat: Option<String>,
    /// The session of each turn that supports an affected fact, as far as it is known.
    pub chats: BTreeMap<String, String>,
    /// Of affected facts that are patterns: the observations that are left of them, counted. A
    /// pattern that is absent has none.
    pub patterns: BTreeMap<FactId, ObservedPattern>,
}

impl RemovedTurns {
    fn supports(&self, version: &Version) -> bool {
        version.turns.iter().any(|turn| self.turns.contains(turn))
            || version.claim.evidence.iter().any(|item| self.quotes(item))
    }

    fn quotes(&self, item: &ClaimEvidence) -> bool {
        item.turn.as_ref().is_some_and(|turn| self.turns.contains(turn))
            || (is_chat(item) && self.chat.as_ref() == Some(&item.description))
    }
}

/// Whether the evidence names a whole session, as in the recent topics that consolidation adds.
fn is_chat(item: &ClaimEvidence) -> bool {
    item.kind == focus::SESSION_EVIDENCE
}

/// The changes to one fact when turns are removed, given all its versions. `None` if none of the
/// turns supports it.
pub fn remove_turns(
    history: &[Version],
    removed: &RemovedTurns,
    depth: Depth,
    voice: Voice,
    stamp: &mut Stamp,
) -> Result<Option<(Fate, Changes)>, Refusal> {
    // Trashed rows must not keep a quotation of an erased source either.
    let affected = |v: &Version| v.state != State::Trashed || depth == Depth::Erase;
    let current = |v: &&Version| v.known.until.is_none() && affected(v);
    let mut rows: Vec<&Version> = history.iter().filter(current).collect();
    rows.sort_by_key(|row| (row.valid.from, row.id));
    if !rows.iter().any(|row| removed.supports(row)) {
        return Ok(None);
    }
    // Each row with its replacement: the row itself, a changed copy, or none.
    let mut next: Vec<(&Version, Option<Version>)> = Vec::new();
    let mut touched = Vec::new();
    for row in rows {
        if !removed.supports(row) || (row.is_firm() && depth == Depth::Trash) {
            next.push((row, Some(row.clone())));
            continue;
        }
        if !voice.may_replace(row) {
            return Err(Refusal::LessTrusted);
        }
        touched.push(row.id);
        let rest = with_remaining_support(row, history, removed, stamp);
        next.push((row, rest));
    }
    let stays = next.iter().any(|(_, rest)| rest.is_some());
    let mut changes = Changes::default();
    if !stays {
        for (row, _) in next {
            changes.closes.push((row.fact, row.id));
            changes.opens.push(Version { state: State::Trashed, ..stamp.copy(row) });
        }
        return Ok(Some((Fate::Withdrawn, changes)));
    }
    let firm = touched.is_empty();
    extend_ended_periods(&mut next, stamp);
    for (row, rest) in next {
        match rest {
            Some(same) if same.id == row.id => {}
            rest => {
                changes.closes.push((row.fact, row.id));
                changes.opens.extend(rest);
            }
        }
    }
    let fate = if firm { Fate::Kept } else { Fate::Weakened };
    Ok(Some((fate, changes)))
}

/// A copy of a row with only its remaining support; `None` if no support is left.
fn with_remaining_support(
    row: &Version,
    history: &[Version],
    removed: &RemovedTurns,
    stamp: &mut Stamp,
) -> Option<Version> {
    let mut rest = stamp.copy(row);
    rest.turns.retain(|turn| !removed.turns.contains(turn));
    // Old evidence has no turn id and may quote a removed turn; drop it.
    let unnamed = |item: &ClaimEvidence| item.turn.is_none() && item.kind == "quote";
    rest.claim.evidence.retain(|item| !removed.quotes(item) && !unnamed(item));
    if row.is_firm() {
        return Some(rest);
    }
    let chats = |version: &Version| version.claim.evidence.iter().filter(|e| is_chat(e)).count();
    if rest.turns.is_empty() && chats(&rest) >= focus::MIN_TOPIC_SESSIONS {
        return Some(rest);
    }
    // A pattern is counted again: below the minimum count it is no longer a pattern.
    if ObservedEvent::from_memory(row).is_some() {
        return removed.patterns.get(&row.fact)?.supports(rest);
    }
    let last = rest.turns.last()?;
    rest.session = removed.chats.get(last).cloned();
    let chats: BTreeSet<_> = rest.turns.iter().filter_map(|turn| removed.chats.get(turn)).collect();
    let first = history.iter().filter(|v| v.number == row.number).min_by_key(|v| v.known.from)?;
    if !is_still_supported(row, first, rest.turns.len(), chats.len()) {
        if matches!(row.state, State::Active | State::Candidate) {
            rest.state = first.state;
        }
        rest.tier = first.tier;
        rest.claim.importance = rest.claim.importance.min(first.claim.importance);
        rest.confidence = match (rest.confidence, first.confidence) {
            (Some(now), Some(then)) => Some(now.min(then)),
            (now, then) => now.or(then),
        };
    }
    Some(rest)
}

/// A row whose end was set by a row that is now removed did not end there: extends it to where the
/// removed row would have ended.
fn extend_ended_periods(next: &mut [(&Version, Option<Version>)], stamp: &mut Stamp) {
    for at in 1..next.len() {
        let (ended, rest) = &next[at];
        if rest.is_some() {
            continue;
        }
        let (from, until) = (ended.valid.from, ended.valid.until);
        let before = next[..at].iter_mut().rev().find_map(|(row, rest)| {
            let rest = rest.as_mut()?;
            let meets = rest.state == State::Active && rest.valid.until == Some(from);
            meets.then_some((row, rest))
        });
        if let Some((row, rest)) = before {
            if rest.id == row.id {
                *rest = stamp.copy(row);
            }
            rest.valid.until = until;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::Tier;
    use crate::fact::tests::version;
    use crate::id::Ids;
    use crate::origin::Origin;
    use crate::time::{Period, Timestamp};

    const HUMAN: Voice = Voice { origin: Origin::UserSaid, extracted: false };

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn stamp() -> Stamp {
        let mut ids = Ids::new(at(100), [5; 16]);
        Stamp { at: at(100), operation: ids.operation(), ids }
    }

    fn learned(turns: &[&str]) -> Version {
        let mut version = version(Voice::extracted(Origin::UserTurn));
        version.tier = Tier::Tentative;
        version.turns = turns.iter().map(|turn| (*turn).to_owned()).collect();
        let quote = |turn: &&str| ClaimEvidence {
            turn: Some((*turn).to_owned()),
            ..ClaimEvidence::of("quote", &format!("tea in {turn}"))
        };
        version.claim.evidence = turns.iter().map(quote).collect();
        version
    }

    fn removed(turns: &[&str]) -> RemovedTurns {
        let turns = turns.iter().map(|turn| (*turn).to_owned()).collect();
        let chats = [("t1", "a"), ("t2", "b"), ("t3", "b")];
        let chats = chats.map(|(turn, chat)| (turn.to_owned(), chat.to_owned()));
        RemovedTurns { turns, chats: chats.into(), ..RemovedTurns::default() }
    }

    fn fate(history: &[Version], turns: &[&str], depth: Depth) -> Option<(Fate, Changes)> {
        remove_turns(history, &removed(turns), depth, HUMAN, &mut stamp()).unwrap()
    }

    #[test]
    fn removal_withdraws_sole_support_and_weakens_shared_support() {
        let one = learned(&["t1"]);
        let (what, changes) = fate(&[one], &["t1"], Depth::Trash).unwrap();
        assert_eq!((what, changes.opens[0].state), (Fate::Withdrawn, State::Trashed));
        let two = learned(&["t1", "t2"]);
        let (what, changes) = fate(std::slice::from_ref(&two), &["t1"], Depth::Trash).unwrap();
        let [rest] = &changes.opens[..] else { panic!("one row") };
        assert_eq!((what, rest.state), (Fate::Weakened, State::Active));
        assert_eq!(rest.turns, ["t2"]);
        assert_eq!(rest.claim.evidence.len(), 1);
        assert_eq!(rest.claim.content, two.claim.content);
        assert_eq!(rest.session.as_deref(), Some("b"));
        assert_eq!(fate(&[two], &["t9"], Depth::Trash), None);
    }

    #[test]
    fn consented_fact_stays_and_loses_only_the_quotation() {
        let mut agreed = learned(&["t1"]);
        agreed.consented_at = Some(at(1));
        let (what, changes) = fate(std::slice::from_ref(&agreed), &["t1"], Depth::Trash).unwrap();
        assert_eq!((what, changes.opens.len()), (Fate::Kept, 0));
        let (what, changes) = fate(&[agreed], &["t1"], Depth::Erase).unwrap();
        assert_eq!(what, Fate::Weakened);
        assert!(changes.opens[0].claim.evidence.is_empty() && changes.opens[0].turns.is_empty());
        assert_eq!(changes.opens[0].state, State::Active);
    }

    #[test]
    fn fact_ended_by_removed_fact_continues() {
        let mut porto = learned(&["t1"]);
        porto.valid = Period::new(at(0), Some(at(50))).unwrap();
        let mut lisbon = learned(&["t2"]);
        lisbon.id = Ids::new(at(50), [9; 16]).version();
        (lisbon.number, lisbon.valid) = (2, Period::since(at(50)));
        lisbon.claim.content = "lisbon".into();
        let both = [porto, lisbon];
        let (what, changes) = fate(&both, &["t2"], Depth::Trash).unwrap();
        assert_eq!((what, changes.closes.len()), (Fate::Weakened, 2));
        let [rest] = &changes.opens[..] else { panic!("{changes:?}") };
        assert_eq!((rest.claim.content.as_str(), rest.valid), ("tea", Period::since(at(0))));
        let (_, changes) = fate(&both, &["t1"], Depth::Trash).unwrap();
        assert_eq!((changes.closes.len(), changes.opens.len()), (1, 0), "the later one stays");
    }

    #[test]
    fn fact_below_pattern_support_returns_to_its_first_rating() {
        let first = learned(&["t1", "t2", "t3"]);
        let mut strong = first.clone();
        strong.id = Ids::new(at(9), [8; 16]).version();
        strong.known = Period::since(at(9));
        (strong.tier, strong.confidence) = (Tier::Strong, Some(0.9));
        let mut old = first;
        old.known = Period::new(at(0), Some(at(9))).unwrap();
        let (_, changes) = fate(&[old, strong], &["t1"], Depth::Trash).unwrap();
        let [rest] = &changes.opens[..] else { panic!("one row") };
        assert_eq!((rest.tier, rest.confidence), (Tier::Tentative, Some(0.8)));
    }

    #[test]
    fn observed_pattern_stays_while_the_observations_left_are_frequent() {
        let mut noted = learned(&["o1", "o2"]);
        noted.claim.key = Some("observed/shop/order".into());
        let left = |times: usize| {
            let mut ids = Ids::new(at(1), [6; 16]);
            ObservedPattern {
                event: ObservedEvent::from_memory(&noted).unwrap(),
                times,
                days: times,
                origin: Origin::Observed,
                latest: (0..times).map(|_| (ids.observation(), at(1))).collect(),
            }
        };
        let fate = |patterns: BTreeMap<FactId, ObservedPattern>| {
            let removed = RemovedTurns { patterns, ..removed(&["o1"]) };
            let history = std::slice::from_ref(&noted);
            remove_turns(history, &removed, Depth::Trash, HUMAN, &mut stamp()).unwrap().unwrap()
        };
        let (what, changes) = fate([(noted.fact, left(5))].into());
        assert_eq!((what, changes.opens[0].turns.len()), (Fate::Weakened, 5));
        assert_eq!(fate([(noted.fact, left(4))].into()).0, Fate::Withdrawn);
        assert_eq!(fate(BTreeMap::new()).0, Fate::Withdrawn, "none is left");
    }

    #[test]
    fn import_cannot_remove_learned_facts() {
        let import = Voice::stated(Origin::Import);
        let (history, removed) = ([learned(&["t1"])], removed(&["t1"]));
        let refused = remove_turns(&history, &removed, Depth::Trash, import, &mut stamp());
        assert_eq!(refused, Err(Refusal::LessTrusted));
    }
}
