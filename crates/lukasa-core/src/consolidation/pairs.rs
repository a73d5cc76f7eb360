//! Pairs of memories that consolidation compares: which pairs are worth comparing, and what follows
//! from the comparison.
//!
//! Rules find contradictions where the key, the attribute or a negation shows them. Other pairs of
//! similar memories are put to a chat model, which only chooses between four words. Nothing that it
//! says removes a memory that is not repeated word for word: `same` merges two inferred memories if
//! [`ground::repeats`] agrees, and every other answer is at most a question to the user.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use lukasa_text::conflict::{Conflict, conflict};
use lukasa_text::screen::ground;
use lukasa_text::terms::{Language, Term, words as terms_of};
use uuid::Uuid;

use crate::fact::{Claim, Force, State, Version, fingerprint};
use crate::id::FactId;
use crate::time::Timestamp;
use crate::words;

/// Maximum number of pairs that one run compares; the rest waits for the next run.
pub const MAX_PAIRS: usize = 40;
/// Maximum number of pairs in one request to a model.
pub const PAIRS_PER_REQUEST: usize = 10;
/// Maximum number of contradictions that one run lists on the word of a model, so that a model
/// cannot fill the review.
pub const MAX_MODEL_CONTRADICTIONS: usize = 10;
/// Two memories with at least this similarity of their embeddings are compared.
pub const MIN_SIMILARITY: f32 = 0.75;
/// Two memories with at least this share of words in common are compared.
const MIN_COMMON_SHARE: f32 = 0.5;
/// A word that more memories than this contain leads to no pair.
const MAX_FACTS_PER_WORD: usize = 50;

words!(
    /// How two memories relate to each other. The second is the newer one.
    PairAnswer {
        Same = "same",
        Supersedes = "supersedes",
        Contradicts = "contradicts",
        Unrelated = "unrelated",
    }
);

words!(
    /// Why two memories are compared.
    PairReason {
        // Both have the same key.
        Key = "key",
        // Both give a value to the same attribute of the user.
        Attribute = "attribute",
        // One denies the other.
        Negation = "negation",
        // They are similar in words or in meaning.
        Similar = "similar",
    }
);

impl PairReason {
    /// Whether the reason itself shows that the memories exclude each other.
    pub fn is_contradiction(self) -> bool {
        self != PairReason::Similar
    }
}

/// A fact with a digest of its words, key and value. A fact is compared again when they change, and
/// not when it is confirmed or its rating changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FactEdition {
    pub fact: FactId,
    pub digest: Uuid,
}

impl FactEdition {
    pub fn of(version: &Version) -> Self {
        // The fingerprint of a hard claim covers the key and the value.
        let claim = Claim { force: Force::Hard, ..version.claim.clone() };
        Self { fact: version.fact, digest: fingerprint(&claim) }
    }
}

/// Two memories to compare, the older first.
#[derive(Debug, Clone, PartialEq)]
pub struct FactPair {
    pub older: FactEdition,
    pub newer: FactEdition,
    pub reason: PairReason,
    pub score: f32,
}

/// The result of comparing two memories, the older first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedPair {
    pub older: FactEdition,
    pub newer: FactEdition,
    pub answer: PairAnswer,
    pub reason: PairReason,
}

/// Two memories with the similarity of their embeddings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimilarPair {
    pub first: FactId,
    pub second: FactId,
    pub similarity: f32,
}

/// The pairs worth comparing: those of a changed memory with another active one, contradictions
/// first and then the most similar. `versions` are the active ones, each fact once.
pub fn find_pairs(
    versions: &[Version],
    changed: &BTreeSet<FactId>,
    similar: &[SimilarPair],
) -> Vec<FactPair> {
    let places: HashMap<FactId, usize> =
        versions.iter().enumerate().map(|(place, version)| (version.fact, place)).collect();
    let mut scores: BTreeMap<(usize, usize), f32> = BTreeMap::new();
    let mut add = |a: usize, b: usize, score: f32| {
        let is_changed = |place: usize| changed.contains(&versions[place].fact);
        if a != b && (is_changed(a) || is_changed(b)) {
            let best = scores.entry((a.min(b), a.max(b))).or_insert(0.0);
            *best = best.max(score);
        }
    };
    for pair in similar.iter().filter(|pair| pair.similarity >= MIN_SIMILARITY) {
        if let Some((a, b)) = places.get(&pair.first).zip(places.get(&pair.second)) {
            add(*a, *b, pair.similarity);
        }
    }
    for (a, b, share) in common_words(versions, changed) {
        let content = |place: usize| versions[place].claim.content.as_str();
        // A number in words or digits, or another spelling, leaves few words in common.
        if share >= MIN_COMMON_SHARE || ground::repeats(content(a), content(b)) {
            add(a, b, share);
        }
    }
    for group in groups(versions) {
        for (at, a) in group.iter().enumerate() {
            for b in &group[at + 1..] {
                add(*a, *b, 0.0);
            }
        }
    }
    let mut pairs: Vec<FactPair> = scores
        .into_iter()
        .filter_map(|((a, b), score)| pair_of(&versions[a], &versions[b], score))
        .collect();
    pairs.sort_by(|a, b| {
        let rank = |pair: &FactPair| (!pair.reason.is_contradiction(), pair.reason);
        rank(a).cmp(&rank(b)).then(b.score.total_cmp(&a.score)).then(a.newer.cmp(&b.newer))
    });
    pairs
}

/// The pair of two versions, if there is something to compare. Memories of different projects are
/// not compared: each may be true where it belongs.
fn pair_of(a: &Version, b: &Version, score: f32) -> Option<FactPair> {
    if a.claim.project != b.claim.project {
        return None;
    }
    let (older, newer) =
        if (a.valid.from, a.fact) <= (b.valid.from, b.fact) { (a, b) } else { (b, a) };
    let reason = match contradiction(&older.claim, &newer.claim) {
        Some(reason) => reason,
        // A group shares an attribute or a key, which alone is not a reason to ask a model.
        None if score > 0.0 => PairReason::Similar,
        None => return None,
    };
    Some(FactPair { older: FactEdition::of(older), newer: FactEdition::of(newer), reason, score })
}

/// Why two active claims exclude each other, by rules alone.
pub fn contradiction(older: &Claim, newer: &Claim) -> Option<PairReason> {
    let same_key = older.key.is_some() && older.key == newer.key && older.domain == newer.domain;
    if same_key && let Some((old, new)) = older.value.as_ref().zip(newer.value.as_ref()) {
        // Lists and objects may hold several values, which add up.
        let is_single = |value: &serde_json::Value| !value.is_array() && !value.is_object();
        if is_single(old) && is_single(new) {
            return (old != new).then_some(PairReason::Key);
        }
    }
    match conflict(&older.content, &newer.content)? {
        Conflict::Negation => Some(PairReason::Negation),
        Conflict::Attribute(_) => Some(PairReason::Attribute),
    }
}

/// Places of versions that have the same key, or are about the same attribute of the user.
fn groups(versions: &[Version]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<(Option<&str>, String), Vec<usize>> = BTreeMap::new();
    for (place, version) in versions.iter().enumerate() {
        let claim = &version.claim;
        if let Some(key) = &claim.key {
            let group = (claim.domain.as_deref(), format!("key {key}"));
            groups.entry(group).or_default().push(place);
        }
        if let Some(slot) = lukasa_text::slot::slot_of(&claim.content) {
            groups.entry((None, format!("slot {}", slot.as_str()))).or_default().push(place);
        }
    }
    let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
    groups.iter_mut().for_each(|group| group.truncate(MAX_FACTS_PER_WORD));
    groups
}

/// Pairs of versions with words in common, and the share of common words among all of both.
fn common_words(versions: &[Version], changed: &BTreeSet<FactId>) -> Vec<(usize, usize, f32)> {
    let terms: Vec<BTreeSet<Term>> = versions.iter().map(content_terms).collect();
    let mut holders: HashMap<Term, Vec<usize>> = HashMap::new();
    for (place, own) in terms.iter().enumerate() {
        own.iter().for_each(|term| holders.entry(*term).or_default().push(place));
    }
    let mut found = Vec::new();
    for (place, own) in terms.iter().enumerate() {
        if !changed.contains(&versions[place].fact) {
            continue;
        }
        let mut common: HashMap<usize, usize> = HashMap::new();
        for term in own {
            let others = holders.get(term).map_or(&[][..], Vec::as_slice);
            if others.len() <= MAX_FACTS_PER_WORD {
                others.iter().for_each(|other| *common.entry(*other).or_default() += 1);
            }
        }
        for (other, count) in common.into_iter().filter(|(other, _)| *other != place) {
            let all = own.len() + terms[other].len() - count;
            found.push((place, other, count as f32 / all.max(1) as f32));
        }
    }
    found
}

/// The terms of a claim that say something. A word for the user is in every claim.
fn content_terms(version: &Version) -> BTreeSet<Term> {
    let text = &version.claim.content;
    let found = terms_of(text, Language::of(text)).into_iter();
    let says = |word: &str| !ground::says_nothing(word);
    found.filter(|word| says(&word.written)).map(|word| word.term).collect()
}

/// What follows from the comparison of two memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairDecision {
    /// The first absorbs the second, which says the same.
    Merge {
        kept: FactId,
        merged: FactId,
    },
    /// The two are listed as a contradiction, for the user to decide.
    Contest {
        older: FactId,
        newer: FactId,
    },
    Nothing,
}

/// Decides about a compared pair. `older` and `newer` are the current versions.
pub fn decide(
    pair: &ComparedPair,
    older: &Version,
    newer: &Version,
    now: Timestamp,
) -> PairDecision {
    let is_current = |version: &Version, edition: FactEdition| {
        FactEdition::of(version) == edition
            && version.state == State::Active
            && version.valid.contains(now)
    };
    if !is_current(older, pair.older) || !is_current(newer, pair.newer) {
        return PairDecision::Nothing;
    }
    match pair.answer {
        PairAnswer::Unrelated => PairDecision::Nothing,
        PairAnswer::Same if may_merge(older, newer) => {
            let better = |version: &Version| {
                (version.tier == crate::fact::Tier::Strong, version.turns.len())
            };
            let (kept, merged) =
                if better(older) > better(newer) { (older, newer) } else { (newer, older) };
            PairDecision::Merge { kept: kept.fact, merged: merged.fact }
        }
        PairAnswer::Same => PairDecision::Nothing,
        // The claims were equal in the model's eyes or not; equal words contradict nothing.
        _ if ground::repeats(&older.claim.content, &newer.claim.content) => PairDecision::Nothing,
        PairAnswer::Supersedes | PairAnswer::Contradicts => {
            PairDecision::Contest { older: older.fact, newer: newer.fact }
        }
    }
}

/// Whether two memories may become one: both inferred, and the same in everything but evidence.
fn may_merge(a: &Version, b: &Version) -> bool {
    let rest = |claim: &Claim| {
        (
            claim.summary.clone(),
            claim.detail.clone(),
            claim.domain.clone(),
            claim.key.clone(),
            claim.value.clone(),
            claim.tags.clone(),
            claim.project.clone(),
        )
    };
    [a, b].iter().all(|version| !version.is_firm() && version.claim.force == Force::Soft)
        && a.origin == b.origin
        && a.valid.until == b.valid.until
        && rest(&a.claim) == rest(&b.claim)
        && ground::repeats(&a.claim.content, &b.claim.content)
}

#[cfg(test)]
#[path = "pairs_tests.rs"]
mod tests;
