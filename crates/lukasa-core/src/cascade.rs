//! The cascade: what becomes of what was learned when a source of it goes. Whatever only that source
//! supported goes with it; whatever has other support stays, and weighs what the rest of its support
//! carries. It goes down the chain once: sources support facts, and facts do not support sources.
//!
//! What a person stated or agreed to is its own source and stays, unless its source is erased: then
//! the quotation of it goes, and the words they agreed to stay.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::consolidate::{focus, still_carried};
use crate::fact::{Evidence, State, Version};
use crate::id::{EpisodeId, TurnId};
use crate::origin::Voice;
use crate::record::{Changes, Refusal, Stamp};

/// What an operation took away besides facts, or brought back: names, and none of the words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources {
    /// A whole chat, with everything that was said in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<TurnId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub episodes: Vec<EpisodeId>,
    /// Whether they were taken away, rather than brought back.
    pub gone: bool,
}

/// How far a source's going reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// It can be taken back: everything stays where only an undo sees it.
    Trash,
    /// No quotation of it may stay anywhere.
    Erase,
}

/// What becomes of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// Nothing else supports it: it goes too.
    Withdrawn,
    /// It has other support, and rests on that alone.
    Weakened,
    /// Its person stated it or agreed to it: it stays.
    Kept,
}

/// The turns that go, and the chats of those that stay.
#[derive(Debug, Clone, Default)]
pub struct Going {
    pub turns: BTreeSet<String>,
    /// The chat they were said in, which is not the same any more.
    pub chat: Option<String>,
    /// The chat of each turn that a fact concerned rests on, as far as it is known.
    pub chats: BTreeMap<String, String>,
}

impl Going {
    fn takes(&self, version: &Version) -> bool {
        version.turns.iter().any(|turn| self.turns.contains(turn))
            || version.claim.evidence.iter().any(|item| self.quotes(item))
    }

    fn quotes(&self, item: &Evidence) -> bool {
        item.turn.as_ref().is_some_and(|turn| self.turns.contains(turn))
            || (is_chat(item) && self.chat.as_ref() == Some(&item.description))
    }
}

/// Whether it names a whole chat, as the notes do that a night makes.
fn is_chat(item: &Evidence) -> bool {
    item.kind == focus::CHAT
}

/// What becomes of one fact, given every version it ever had. Nothing if it rests on none of what
/// goes.
pub fn without(
    history: &[Version],
    going: &Going,
    depth: Depth,
    voice: Voice,
    stamp: &mut Stamp,
) -> Result<Option<(Fate, Changes)>, Refusal> {
    // The trash is no place for a quotation of what is erased.
    let here = |v: &Version| v.state != State::Trashed || depth == Depth::Erase;
    let held = |v: &&Version| v.known.until.is_none() && here(v);
    let mut rows: Vec<&Version> = history.iter().filter(held).collect();
    rows.sort_by_key(|row| (row.valid.from, row.id));
    if !rows.iter().any(|row| going.takes(row)) {
        return Ok(None);
    }
    // Each row with what becomes of it: itself, other rows, or none.
    let mut next: Vec<(&Version, Option<Version>)> = Vec::new();
    let mut touched = Vec::new();
    for row in rows {
        if !going.takes(row) || (row.is_firm() && depth == Depth::Trash) {
            next.push((row, Some(row.clone())));
            continue;
        }
        if !voice.may_replace(row) {
            return Err(Refusal::LessTrusted);
        }
        touched.push(row.id);
        let rest = rested(row, history, going, stamp);
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
    prolong(&mut next, stamp);
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

/// A row on what is left of its support; nothing if nothing is left.
fn rested(row: &Version, history: &[Version], going: &Going, stamp: &mut Stamp) -> Option<Version> {
    let mut rest = stamp.copy(row);
    rest.turns.retain(|turn| !going.turns.contains(turn));
    // A quotation from before turns were named with it could be of what goes.
    let unnamed = |item: &Evidence| item.turn.is_none() && item.kind == "quote";
    rest.claim.evidence.retain(|item| !going.quotes(item) && !unnamed(item));
    if row.is_firm() {
        return Some(rest);
    }
    let chats = |version: &Version| version.claim.evidence.iter().filter(|e| is_chat(e)).count();
    if rest.turns.is_empty() && chats(&rest) >= focus::OFTEN {
        return Some(rest);
    }
    let last = rest.turns.last()?;
    rest.session = going.chats.get(last).cloned();
    let chats: BTreeSet<_> = rest.turns.iter().filter_map(|turn| going.chats.get(turn)).collect();
    let first = history.iter().filter(|v| v.number == row.number).min_by_key(|v| v.known.from)?;
    if !still_carried(row, first, rest.turns.len(), chats.len()) {
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

/// What was ended by something that goes did not end there: it holds on to where that would have.
fn prolong(next: &mut [(&Version, Option<Version>)], stamp: &mut Stamp) {
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
        let quote = |turn: &&str| Evidence {
            turn: Some((*turn).to_owned()),
            ..Evidence::of("quote", &format!("tea in {turn}"))
        };
        version.claim.evidence = turns.iter().map(quote).collect();
        version
    }

    fn going(turns: &[&str]) -> Going {
        let turns = turns.iter().map(|turn| (*turn).to_owned()).collect();
        let chats = [("t1", "a"), ("t2", "b"), ("t3", "b")];
        let chats = chats.map(|(turn, chat)| (turn.to_owned(), chat.to_owned()));
        Going { turns, chats: chats.into(), chat: None }
    }

    fn fate(history: &[Version], turns: &[&str], depth: Depth) -> Option<(Fate, Changes)> {
        without(history, &going(turns), depth, HUMAN, &mut stamp()).unwrap()
    }

    #[test]
    fn what_only_it_supported_goes_and_what_others_support_rests_on_them() {
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
    fn what_its_person_agreed_to_stays_and_loses_only_the_quotation() {
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
    fn what_was_ended_by_what_goes_holds_on() {
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
    fn a_pattern_that_is_no_more_weighs_what_it_weighed() {
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
    fn an_import_takes_nothing_away_that_was_said() {
        let import = Voice::stated(Origin::Import);
        let refused =
            without(&[learned(&["t1"])], &going(&["t1"]), Depth::Trash, import, &mut stamp());
        assert_eq!(refused, Err(Refusal::LessTrusted));
    }
}
