//! Rankings of small indexes with an obvious best result.

use half::f16;
use lukasa_text::terms::{Language, Term, TermKind, Terms, words};
use uuid::Uuid;

use super::Facets;
use super::corpus::Corpus;
use super::index::{Index, NewPassage};
use super::passage::{PassageKind, TurnPosition};
use super::rank::{Arm, Fusion, RankFilters, RankLimits, RankQuery, Ranking, Tuning, rank};
use crate::fact::{Category, Force, Kind, MemoryType, Tier};
use crate::session::Role;
use crate::time::{Period, Timestamp};

pub(crate) fn facets() -> Facets {
    Facets {
        project: None,
        domain: None,
        category: Category::Fact,
        memory_type: MemoryType::Profile,
        kind: Kind::Fact,
        force: Force::Soft,
        tier: Tier::Strong,
        importance: 0.5,
        confidence: 0.95,
        firm: true,
        from_assistant: false,
        own: true,
        names: Vec::new(),
        session: None,
        valid_from: Timestamp::UNIX_EPOCH,
        valid_until: None,
        known_from: Timestamp::UNIX_EPOCH,
        fresh_at: Timestamp::UNIX_EPOCH,
    }
}

const LIMITS: RankLimits = RankLimits { units: 10, sessions: 10 };

fn id(number: usize) -> Uuid {
    Uuid::from_u128(number as u128 + 1)
}

/// An index of memories with these texts, each with a vector of two numbers.
fn memories(texts: &[(&str, [f32; 2])]) -> Index {
    let mut index = Index::new(2);
    let passage = |(number, (text, _)): (usize, &(&str, [f32; 2]))| {
        let language = Language::of(text);
        NewPassage {
            source: id(number),
            part: 0,
            subject: id(number),
            kind: PassageKind::Fact,
            language,
            terms: Terms::of(&words(text, language), []),
            place: None,
        }
    };
    index.add(texts.iter().enumerate().map(passage).collect());
    index.embed(
        texts.iter().enumerate().map(|(n, (_, v))| ((id(n), 0), v.map(f16::from_f32).to_vec())),
    );
    index.set_facts((0..texts.len()).map(|n| (id(n), facets())), []);
    index
}

/// An index of one session's turns, a day apart, by these speakers.
fn turns(said: &[(&str, &str)]) -> Index {
    let mut index = Index::new(0);
    let passage = |(number, (speaker, text)): (usize, &(&str, &str))| {
        let at = Timestamp::from_second(number as i64 * 86_400).unwrap();
        let name = words(speaker, Language::ENGLISH).into_iter();
        NewPassage {
            source: id(number),
            part: 0,
            subject: id(number),
            kind: PassageKind::Turn,
            language: Language::ENGLISH,
            terms: Terms::of(
                &words(text, Language::ENGLISH),
                name.map(|word| word.term.as_sort(TermKind::Speaker)),
            ),
            place: Some(TurnPosition {
                project: None,
                session: "s".into(),
                number: number as i32 + 1,
                role: Role::User,
                said_at: at,
                recorded_at: at,
            }),
        }
    };
    index.add(said.iter().enumerate().map(passage).collect());
    index
}

fn ask(
    index: &Index,
    kind: PassageKind,
    text: &str,
    vector: Option<&[f32]>,
    tuning: &Tuning,
) -> Ranking {
    let question = RankQuery { text, vector, times: &[] };
    let corpus = Corpus::new(index, text, current(index));
    rank(index, &question, kind, tuning, &everything(&corpus), LIMITS)
}

/// Which units are current.
fn current(index: &Index) -> Vec<bool> {
    index.select(|unit| unit.turn.is_some() || unit.facets.is_some())
}

fn everything(corpus: &Corpus) -> RankFilters<'_> {
    RankFilters { corpus, candidates: &|_| true, results: &|_| true }
}

fn order(ranking: &Ranking) -> Vec<usize> {
    ranking.found.iter().map(|found| found.unit).collect()
}

#[test]
fn recall_exact_word_ranks_before_weak_similarity() {
    let index = memories(&[
        ("Prefers dark mode", [1.0, 0.0]),
        ("Uses Postgres 18", [0.0, 1.0]),
        ("Likes oolong tea", [0.8, 0.6]),
    ]);
    let found = ask(&index, PassageKind::Fact, "Postgres", Some(&[0.9, 0.43]), &Tuning::default());
    assert_eq!(order(&found)[0], 1);
    assert_eq!(found.found[0].matched, ["postgres"]);
}

#[test]
fn recall_keyword_finds_a_memory_without_vector() {
    // The results are the union of the arms.
    let mut index = memories(&[("Prefers dark mode", [1.0, 0.0]), ("Uses Postgres", [0.0, 1.0])]);
    index.add(vec![NewPassage {
        source: id(9),
        part: 0,
        subject: id(9),
        kind: PassageKind::Fact,
        language: Language::ENGLISH,
        terms: Terms::of(&words("Allergic to peanuts", Language::ENGLISH), []),
        place: None,
    }]);
    index.set_facts([0, 1, 9].map(|n| (id(n), facets())), []);
    let found = ask(&index, PassageKind::Fact, "peanuts", Some(&[0.5, -0.86]), &Tuning::default());
    assert_eq!(order(&found)[0], 2, "it has no vector at all");
    assert_eq!(index.without_vector(), 1);
}

#[test]
fn recall_vector_finds_a_memory_without_common_word() {
    let index = memories(&[("Prefers dark mode", [1.0, 0.0]), ("Uses Postgres", [0.0, 1.0])]);
    let found = ask(&index, PassageKind::Fact, "theme", Some(&[1.0, 0.1]), &Tuning::default());
    assert_eq!(order(&found)[0], 0);
    assert!(found.found[0].matched.is_empty());
}

#[test]
fn recall_finds_text_in_languages_without_spaces() {
    for (text, question) in [
        ("我每天早上喝乌龙茶", "乌龙茶"),
        ("毎朝コーヒーを飲みます", "コーヒー"),
        ("저는 서울에서 살아요", "서울"),
        ("ฉันชอบดื่มกาแฟ", "กาแฟ"),
    ] {
        let index = memories(&[
            ("我住在上海", [0.0, 1.0]),
            (text, [0.0, 1.0]),
            ("東京に住んでいます", [1.0, 0.0]),
            ("부산에 가고 싶어요", [1.0, 0.0]),
        ]);
        let found = ask(&index, PassageKind::Fact, question, Some(&[1.0, 0.0]), &Tuning::default());
        assert_eq!(order(&found)[0], 1, "{question}");
    }
}

#[test]
fn recall_query_is_stemmed_in_every_stored_language() {
    let german = "Ich habe am Wochenende zwei große Häuser in der Altstadt besichtigt.";
    let index = memories(&[(german, [0.0, 1.0]), ("Owns two bicycles", [0.0, 1.0])]);
    let found = ask(&index, PassageKind::Fact, "Welches Haus?", None, &Tuning::default());
    assert_eq!(order(&found), [0]);
}

#[test]
fn recall_finds_a_turn_by_the_question_it_answers() {
    let index = turns(&[
        ("Ann", "Good morning everyone"),
        ("Bob", "Which instrument do you play?"),
        ("Ann", "The cello, since childhood"),
        ("Bob", "Lovely weather again"),
        ("Ann", "Indeed"),
        ("Bob", "See you"),
    ]);
    let found = ask(&index, PassageKind::Turn, "instrument", None, &Tuning::default());
    assert_eq!(order(&found)[0], 1);
    assert!(order(&found)[..3].contains(&2), "the answer, which has no word of the question");
}

#[test]
fn recall_prefers_turns_of_a_session_with_other_good_results() {
    let mut index = Index::new(0);
    let said = [
        ("a", "We talked about pottery"),
        ("a", "The kiln was hot"),
        ("b", "We talked about pottery"),
        ("b", "My pottery wheel arrived"),
        ("b", "More pottery tomorrow"),
    ];
    let passage = |(n, (session, text)): (usize, &(&str, &str))| NewPassage {
        source: id(n),
        part: 0,
        subject: id(n),
        kind: PassageKind::Turn,
        language: Language::ENGLISH,
        terms: Terms::of(&words(text, Language::ENGLISH), []),
        place: Some(TurnPosition {
            project: None,
            session: (*session).into(),
            number: n as i32,
            role: Role::User,
            said_at: Timestamp::UNIX_EPOCH,
            recorded_at: Timestamp::UNIX_EPOCH,
        }),
    };
    index.add(said.iter().enumerate().map(passage).collect());
    let only = Tuning::default().only(&[Arm::Keyword, Arm::SessionBest]);
    let found = ask(&index, PassageKind::Turn, "pottery", None, &only);
    let place = |unit: usize| order(&found).iter().position(|at| *at == unit);
    assert!(place(2) < place(0), "equal words, and more of them in its session");
    let arms = &found.found[place(2).unwrap()].arms;
    assert!(arms.iter().any(|(arm, _, score)| *arm == Arm::SessionBest && *score > 0.0));
    let found = ask(&index, PassageKind::Turn, "pottery", None, &only.without(Arm::SessionBest));
    let place = |unit: usize| order(&found).iter().position(|at| *at == unit);
    assert!(place(0) < place(2), "equal scores keep their order");
}

#[test]
fn recall_prefers_turns_of_a_named_speaker() {
    let index = turns(&[
        ("Ann", "I adopted a dog"),
        ("Bob", "I adopted a dog"),
        ("Ann", "Nice"),
        ("Bob", "Yes"),
    ]);
    let found =
        ask(&index, PassageKind::Turn, "Which pet did Bob adopt?", None, &Tuning::default());
    assert_eq!(order(&found)[0], 1);
    assert!(found.found[0].arms.iter().any(|(arm, ..)| *arm == Arm::Speaker));
}

#[test]
fn recall_prefers_turns_of_a_mentioned_time() {
    let index = turns(&[("", "Had pizza"), ("", "Had pizza"), ("", "Had pizza")]);
    let then = Timestamp::from_second(86_400).unwrap();
    let day = Period::new(then, Timestamp::from_second(2 * 86_400).ok()).unwrap();
    let question = RankQuery { text: "pizza", vector: None, times: &[day] };
    let corpus = Corpus::new(&index, question.text, current(&index));
    let filters = everything(&corpus);
    let found = rank(&index, &question, PassageKind::Turn, &Tuning::default(), &filters, LIMITS);
    assert_eq!(order(&found)[0], 1);
}

#[test]
fn recall_finds_memories_linked_to_results() {
    let mut index = memories(&[
        ("The auth service uses Redis", [1.0, 0.0]),
        ("Single node, fails open", [0.0, 1.0]),
        ("Likes oolong", [-1.0, 0.0]),
    ]);
    let without = ask(&index, PassageKind::Fact, "auth service", None, &Tuning::default());
    assert_eq!(order(&without), [0]);
    index.set_facts((0..3).map(|n| (id(n), facets())), [(id(1), id(0))]);
    let with = ask(&index, PassageKind::Fact, "auth service", None, &Tuning::default());
    assert_eq!(order(&with), [0, 1], "from either end");
    let off =
        ask(&index, PassageKind::Fact, "auth service", None, &Tuning::default().without(Arm::Link));
    assert_eq!(order(&off), [0]);
}

#[test]
fn recall_never_finds_a_version_that_is_not_current() {
    let mut index = memories(&[("Lives in Porto", [1.0, 0.0]), ("Lives in Lisbon", [1.0, 0.0])]);
    index.set_facts([(id(1), facets())], []);
    let found =
        ask(&index, PassageKind::Fact, "lives Porto Lisbon", Some(&[1.0, 0.0]), &Tuning::default());
    assert_eq!(order(&found), [1]);
    assert_eq!(found.among, 1, "it is not in the statistics either");
}

#[test]
fn recall_importance_and_recency_only_break_ties() {
    let mut index = memories(&[
        ("Likes tea", [1.0, 0.0]),
        ("Likes tea", [1.0, 0.0]),
        ("Bought a car", [0.0, 1.0]),
    ]);
    let older = Facets { importance: 0.1, ..facets() };
    let newer = Facets { fresh_at: Timestamp::from_second(1).unwrap(), ..facets() };
    let newest =
        Facets { importance: 1.0, fresh_at: Timestamp::from_second(2).unwrap(), ..facets() };
    index.set_facts([(id(0), older), (id(1), newer), (id(2), newest)], []);
    let found = ask(&index, PassageKind::Fact, "tea", Some(&[1.0, 0.0]), &Tuning::default());
    assert_eq!(order(&found)[..2], [1, 0]);
}

#[test]
fn rank_fusion_is_reciprocal_with_k_60() {
    let index = memories(&[("tea", [1.0, 0.0]), ("tea and cake", [0.0, 1.0])]);
    let tuning = Tuning { fusion: Fusion::Ranks, ..Tuning::default() };
    let tuning = tuning.only(&[Arm::Keyword]);
    let found =
        ask(&index, PassageKind::Fact, "tea", None, &Tuning { fusion: Fusion::Ranks, ..tuning });
    assert_eq!(order(&found), [0, 1]);
    assert!((found.found[0].score - 1.0 / 61.0).abs() < 1e-6);
    assert!((found.found[1].score - 1.0 / 62.0).abs() < 1e-6);
}

#[test]
fn recall_query_without_content_finds_nothing() {
    let index = memories(&[("tea", [1.0, 0.0])]);
    for text in ["", "  ", "the of and", "?!"] {
        assert!(
            ask(&index, PassageKind::Fact, text, None, &Tuning::default()).found.is_empty(),
            "{text}"
        );
    }
    let empty = Index::new(2);
    assert!(
        ask(&empty, PassageKind::Fact, "tea", Some(&[1.0, 0.0]), &Tuning::default())
            .found
            .is_empty()
    );
}

#[test]
fn recall_order_is_deterministic() {
    let texts: Vec<String> = (0..200).map(|n| format!("note {} about tea", n % 7)).collect();
    let texts: Vec<(&str, [f32; 2])> = texts.iter().map(|t| (t.as_str(), [1.0, 0.0])).collect();
    let index = memories(&texts);
    let once = ask(&index, PassageKind::Fact, "note 3 tea", Some(&[1.0, 0.0]), &Tuning::default());
    for _ in 0..5 {
        assert_eq!(
            ask(&index, PassageKind::Fact, "note 3 tea", Some(&[1.0, 0.0]), &Tuning::default()),
            once
        );
    }
}

#[test]
fn grown_index_answers_like_one_built_at_once() {
    let said = [("Ann", "I play the cello"), ("Bob", "I paint"), ("Ann", "Cello again")];
    let whole = turns(&said);
    let mut grown = turns(&said[..1]);
    let place = |n: usize| TurnPosition {
        project: None,
        session: "s".into(),
        number: n as i32 + 1,
        role: Role::User,
        said_at: Timestamp::from_second(n as i64 * 86_400).unwrap(),
        recorded_at: Timestamp::UNIX_EPOCH,
    };
    for (n, (speaker, text)) in said.iter().enumerate().skip(1) {
        let name = words(speaker, Language::ENGLISH).into_iter();
        let terms: Vec<Term> = name.map(|word| word.term.as_sort(TermKind::Speaker)).collect();
        grown.add(vec![NewPassage {
            source: id(n),
            part: 0,
            subject: id(n),
            kind: PassageKind::Turn,
            language: Language::ENGLISH,
            terms: Terms::of(&words(text, Language::ENGLISH), terms),
            place: Some(place(n)),
        }]);
    }
    let (a, b) = (
        ask(&whole, PassageKind::Turn, "who plays cello?", None, &Tuning::default()),
        ask(&grown, PassageKind::Turn, "who plays cello?", None, &Tuning::default()),
    );
    assert_eq!(a, b);
}

#[test]
fn recall_statistics_are_of_visible_turns_alone() {
    let said = [
        ("Ann", "I play the cello in an orchestra"),
        ("Bob", "My orchestra has a cello and a harp"),
        ("Ann", "The harp is out of tune"),
        ("Bob", "Dinner at eight"),
        ("Ann", "The orchestra rehearses on Monday"),
    ];
    let (text, kind) = ("who plays cello?", PassageKind::Turn);
    let known = ask(&turns(&said), kind, text, None, &Tuning::default());
    // With a hidden turn the words of the visible ones have to be counted.
    let more: Vec<(&str, &str)> =
        said.into_iter().chain([("Eve", "orchestra cello cello")]).collect();
    let index = turns(&more);
    let corpus = Corpus::new(&index, text, index.select(|unit| unit.source != id(said.len())));
    let question = RankQuery { text, vector: None, times: &[] };
    let found = rank(&index, &question, kind, &Tuning::default(), &everything(&corpus), LIMITS);
    assert_eq!(found, known);
    assert_ne!(
        ask(&index, kind, text, None, &Tuning::default()).found[0].score,
        known.found[0].score
    );
}
