//! The cache of an index must not change a ranking.

use half::f16;
use lukasa_text::terms::{Language, Terms, words};
use uuid::Uuid;

use super::Facets;
use super::corpus::Corpus;
use super::index::{Index, NewPassage};
use super::passage::{PassageKind, TurnPosition};
use super::rank::{RankFilters, RankLimits, RankQuery, Ranking, Tuning, rank};
use super::tests::facets;
use crate::session::Role;
use crate::time::Timestamp;

const STEPS: usize = 200;
const LIMITS: RankLimits = RankLimits { units: 1_000, sessions: 1_000 };
const WORDS: [&str; 7] = ["tea", "cello", "harp", "orchestra", "garden", "train", "pottery"];

fn id(number: usize) -> Uuid {
    // Not in the order in which they are added.
    Uuid::from_u128((number as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) % 1_000_003)
}

fn at(number: usize) -> Timestamp {
    Timestamp::from_second(number as i64 * 1_000).unwrap()
}

fn vector(seed: usize) -> Vec<f16> {
    let values: Vec<f32> =
        (0..16).map(|n| (1.0 + (seed * 31 + n * 7) as f32).sin() + 0.2).collect();
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.into_iter().map(|value| f16::from_f32(value / length)).collect()
}

fn vectors(step: usize) -> Vec<((Uuid, i16), Vec<f16>)> {
    (0..parts(step)).map(|part| ((id(step), part as i16), vector(10 * step + part))).collect()
}

fn parts(step: usize) -> usize {
    if step.is_multiple_of(5) { 2 } else { 1 }
}

fn is_memory(step: usize) -> bool {
    step % 3 == 1
}

/// The passages of a step: a memory or a turn. Turns do not come in their order.
fn passages(step: usize) -> Vec<NewPassage> {
    let place = TurnPosition {
        project: None,
        session: format!("session {}", step * step % 11),
        number: ((step * 17) % 23) as i32,
        role: if step % 4 == 3 { Role::Assistant } else { Role::User },
        said_at: at((step * 29) % 211),
        recorded_at: at(step),
    };
    let passage = |part: usize| {
        let text =
            [0, 1, 3].map(|n| WORDS[(step * (n + 1) + 3 * part + n) % WORDS.len()]).join(" ");
        NewPassage {
            source: id(step),
            part: part as i16,
            subject: id(step),
            kind: if is_memory(step) { PassageKind::Fact } else { PassageKind::Turn },
            language: Language::ENGLISH,
            terms: Terms::of(&words(&text, Language::ENGLISH), []),
            place: (!is_memory(step)).then(|| place.clone()),
        }
    };
    (0..parts(step)).map(passage).collect()
}

/// Sets the memories of the steps until this one; one in six of the older ones was replaced.
fn set_memories(index: &mut Index, until: usize) {
    let current =
        (0..=until).filter(|step| is_memory(*step) && (step % 18 != 4 || step + 9 > until));
    let of = |step: usize| Facets {
        session: (!step.is_multiple_of(4)).then(|| format!("session {}", step % 11)),
        fresh_at: at((step * 13) % 97),
        ..facets()
    };
    let links = [(id(1), id(4)), (id(7), id(13))];
    index.set_facts(current.map(|step| (id(step), of(step))), links);
}

fn ask(index: &Index, kind: PassageKind, hidden: usize) -> Ranking {
    let asked: Vec<f32> = vector(hidden + 5).into_iter().map(f16::to_f32).collect();
    let question = RankQuery { text: "harp in the garden", vector: Some(&asked), times: &[] };
    let is_current = |unit: &super::index::Unit| unit.turn.is_some() || unit.facets.is_some();
    let visible = index.select(|unit| is_current(unit) && unit.source != id(hidden));
    let corpus = Corpus::new(index, question.text, visible);
    let candidates = |unit: &super::index::Unit| {
        hidden != 9 || unit.turn.is_none_or(|turn| turn.role == Role::User)
    };
    let filters = RankFilters { corpus: &corpus, candidates: &candidates, results: &|_| true };
    rank(index, &question, kind, &Tuning::default(), &filters, LIMITS)
}

/// The rankings of all memories and turns, each with another hidden unit.
fn ask_all(index: &Index) -> Vec<Ranking> {
    let kinds = [PassageKind::Fact, PassageKind::Turn];
    let hidden = [usize::MAX / 100, 9, 10, 40];
    kinds.iter().flat_map(|kind| hidden.map(|hidden| ask(index, *kind, hidden))).collect()
}

/// Passages without a vector, counted one by one.
fn count_without_vector(index: &Index) -> usize {
    let is_ranked = |unit: &&super::index::Unit| match unit.turn {
        Some(turn) => turn.role == Role::User,
        None => unit.facets.is_some(),
    };
    let passages = index.units.iter().filter(is_ranked).flat_map(|unit| unit.passages.clone());
    passages.filter(|passage| !index.has_vector(*passage)).count()
}

/// An index of so many steps; the vectors of some arrive ten steps later.
fn index_of(steps: usize, after_each: impl Fn(&Index, usize)) -> Index {
    let mut index = Index::new(16);
    for step in 0..steps {
        index.add(passages(step));
        if step % 7 != 2 {
            index.embed(vectors(step));
        }
        if step % 10 == 9 {
            (step - 9..=step).for_each(|late| index.embed(vectors(late)));
        }
        if is_memory(step) {
            set_memories(&mut index, step);
        }
        after_each(&index, step);
    }
    index
}

#[test]
fn recall_rankings_do_not_depend_on_earlier_questions() {
    let asked = |index: &Index, step: usize| {
        assert_eq!(index.without_vector(), count_without_vector(index), "step {step}");
        let known = ask_all(index);
        if step % 8 == 7 || step > STEPS - 12 {
            assert!(known == ask_all(&index_of(step + 1, |_, _| ())), "step {step}");
        }
        assert!(known == ask_all(index), "asked again at step {step}");
    };
    let index = index_of(STEPS, asked);
    let turns = ask(&index, PassageKind::Turn, 10);
    assert!(turns.found.len() > 50 && turns.sessions.len() > 3, "{}", turns.found.len());
    assert!(ask(&index, PassageKind::Fact, 10).found.len() > 30);
}

#[test]
fn recall_cached_products_of_neighbours_are_those_of_their_vectors() {
    let index = index_of(STEPS, |_, _| ());
    let (mut a, mut b) = ([0.0; 16], [0.0; 16]);
    let mut compared = 0;
    for (one, unit) in index.units.iter().enumerate() {
        for (other, later) in index.units.iter().enumerate() {
            let Some(product) = index.neighbours().of_units(one, other) else { continue };
            assert_eq!((unit.session, unit.class()), (later.session, later.class()));
            assert!(index.copy_vector(unit.passages.start, &mut a));
            assert!(index.copy_vector(later.passages.start, &mut b));
            assert_eq!(product, super::dot::dot(&a, &b));
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn recall_ranks_sessions_only_if_they_are_asked_for() {
    let index = index_of(60, |_, _| ());
    let corpus = Corpus::new(&index, "harp", index.select(|unit| unit.turn.is_some()));
    let question = RankQuery { text: "harp", vector: None, times: &[] };
    let filters = RankFilters { corpus: &corpus, candidates: &|_| true, results: &|_| true };
    let found = |sessions: usize| {
        let limits = RankLimits { units: 5, sessions };
        rank(&index, &question, PassageKind::Turn, &Tuning::default(), &filters, limits)
    };
    let (none, two, all) = (found(0), found(2), found(1_000));
    assert_eq!((none.sessions.len(), two.sessions.len()), (0, 2));
    assert_eq!(two.sessions, all.sessions[..2]);
    assert_eq!(none.found, all.found);
}
