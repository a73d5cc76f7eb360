//! Which pairs are found, and what is decided about them.

use super::*;
use crate::fact::Tier;
use crate::fact::tests::version;
use crate::id::Ids;
use crate::origin::{Origin, Voice};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Inferred memories with these contents, in the order of their age.
fn inferred(contents: &[&str]) -> Vec<Version> {
    let mut ids = Ids::new(at(0), [7; 16]);
    let one = |(place, content): (usize, &&str)| {
        let mut version = version(Voice::extracted(Origin::UserTurn));
        (version.fact, version.id) = (ids.fact(), ids.version());
        version.claim.content = (*content).to_owned();
        version.valid.from = at(i64::try_from(place).unwrap());
        version
    };
    contents.iter().enumerate().map(one).collect()
}

fn all_changed(versions: &[Version]) -> BTreeSet<FactId> {
    versions.iter().map(|version| version.fact).collect()
}

fn compared(older: &Version, newer: &Version, answer: PairAnswer) -> ComparedPair {
    let reason = PairReason::Similar;
    ComparedPair { older: FactEdition::of(older), newer: FactEdition::of(newer), answer, reason }
}

#[test]
fn pairs_are_found_by_key_attribute_negation_and_words() {
    let mut versions = inferred(&[
        "User lives in Porto.",
        "User lives in Lyon.",
        "User likes olives.",
        "User does not like olives.",
        "User grows tomatoes on the balcony.",
        "User grows many tomatoes on the balcony.",
        "User plays the cello.",
        "Deadline is on Monday.",
        "Deadline is on Friday.",
    ]);
    for (place, day) in [(7, "Monday"), (8, "Friday")] {
        versions[place].claim.key = Some("deadline".into());
        versions[place].claim.value = Some(day.into());
    }
    let found = find_pairs(&versions, &all_changed(&versions), &[]);
    let seen: Vec<(FactId, FactId, PairReason)> =
        found.iter().map(|pair| (pair.older.fact, pair.newer.fact, pair.reason)).collect();
    let id = |place: usize| versions[place].fact;
    assert_eq!(
        seen,
        [
            (id(7), id(8), PairReason::Key),
            (id(0), id(1), PairReason::Attribute),
            (id(2), id(3), PairReason::Negation),
            (id(4), id(5), PairReason::Similar),
        ]
    );
}

#[test]
fn pairs_are_found_by_similarity_of_meaning() {
    let versions = inferred(&["User repairs old radios.", "User fixes antique wireless sets."]);
    let similar = |similarity: f32| {
        let (first, second) = (versions[0].fact, versions[1].fact);
        find_pairs(&versions, &all_changed(&versions), &[SimilarPair { first, second, similarity }])
    };
    assert_eq!(similar(0.9).len(), 1);
    assert!(similar(0.5).is_empty());
}

#[test]
fn pairs_of_unchanged_memories_are_not_compared_again() {
    let versions = inferred(&["User lives in Porto.", "User lives in Lyon.", "User has a boat."]);
    assert!(find_pairs(&versions, &BTreeSet::new(), &[]).is_empty());
    assert!(find_pairs(&versions, &BTreeSet::from([versions[2].fact]), &[]).is_empty());
    assert_eq!(find_pairs(&versions, &BTreeSet::from([versions[1].fact]), &[]).len(), 1);
}

#[test]
fn lists_under_one_key_add_up() {
    let mut versions = inferred(&["Avoids shellfish.", "Avoids peanuts."]);
    for (version, value) in versions.iter_mut().zip(["shellfish", "peanuts"]) {
        version.claim.key = Some("avoids".into());
        version.claim.value = Some(serde_json::json!([value]));
    }
    assert_eq!(contradiction(&versions[0].claim, &versions[1].claim), None);
}

#[test]
fn same_answer_merges_only_repeated_inferred_memories() {
    let merged = |older: &Version, newer: &Version| {
        let decided = decide(&compared(older, newer, PairAnswer::Same), older, newer, at(100));
        matches!(decided, PairDecision::Merge { .. })
    };
    let [older, newer] = &inferred(&["User has two cats.", "The user has 2 cats."])[..] else {
        panic!("two")
    };
    assert!(merged(older, newer));
    let [cats, dogs] = &inferred(&["User has two cats.", "User has two dogs."])[..] else {
        panic!("two")
    };
    assert!(!merged(cats, dogs), "the words differ");
    let mut stated = newer.clone();
    stated.extracted = false;
    assert!(!merged(older, &stated) && !merged(&stated, older), "one is stated");
    let mut agreed = newer.clone();
    agreed.consented_at = Some(at(1));
    assert!(!merged(older, &agreed), "the user has agreed to one");
    let mut hard = newer.clone();
    hard.claim.force = Force::Hard;
    assert!(!merged(older, &hard), "one is a rule");
    let mut detailed = newer.clone();
    detailed.claim.detail = Some("Their names are Ida and Moe.".into());
    assert!(!merged(older, &detailed), "a detail would be hidden");
    let mut ending = newer.clone();
    ending.valid.until = Some(at(1_000));
    assert!(!merged(older, &ending), "one ends earlier");
    let mut other = newer.clone();
    other.claim.domain = Some("finance".into());
    assert!(!merged(older, &other), "one is in another domain");
}

#[test]
fn better_supported_memory_is_kept() {
    let mut both = inferred(&["User has two cats.", "The user has 2 cats."]);
    let kept = |both: &[Version]| {
        let pair = compared(&both[0], &both[1], PairAnswer::Same);
        match decide(&pair, &both[0], &both[1], at(100)) {
            PairDecision::Merge { kept, .. } => kept,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(kept(&both), both[1].fact, "the newer of two equal ones");
    both[0].tier = Tier::Strong;
    both[1].tier = Tier::Tentative;
    assert_eq!(kept(&both), both[0].fact);
}

#[test]
fn model_that_sees_a_contradiction_only_asks_the_user() {
    let both = inferred(&["User trains on Mondays.", "User trains on Fridays."]);
    for answer in [PairAnswer::Contradicts, PairAnswer::Supersedes] {
        let decided = decide(&compared(&both[0], &both[1], answer), &both[0], &both[1], at(100));
        assert_eq!(
            decided,
            PairDecision::Contest { older: both[0].fact, newer: both[1].fact },
            "{answer:?}"
        );
    }
    let unrelated = compared(&both[0], &both[1], PairAnswer::Unrelated);
    assert_eq!(decide(&unrelated, &both[0], &both[1], at(100)), PairDecision::Nothing);
}

#[test]
fn pair_that_changed_since_it_was_compared_is_left_alone() {
    let both = inferred(&["User lives in Porto.", "User lives in Lyon."]);
    let pair = compared(&both[0], &both[1], PairAnswer::Contradicts);
    let mut edited = both[1].clone();
    edited.claim.content = "User lives in Lille.".into();
    assert_eq!(decide(&pair, &both[0], &edited, at(100)), PairDecision::Nothing);
    let mut rated = both[1].clone();
    rated.number += 1;
    assert_ne!(decide(&pair, &both[0], &rated, at(100)), PairDecision::Nothing);
    let mut forgotten = both[1].clone();
    forgotten.state = State::Forgotten;
    assert_eq!(decide(&pair, &both[0], &forgotten, at(100)), PairDecision::Nothing);
    let mut ended = both[0].clone();
    ended.valid.until = Some(at(50));
    assert_eq!(decide(&pair, &ended, &both[1], at(100)), PairDecision::Nothing);
}
