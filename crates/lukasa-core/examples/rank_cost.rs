//! The CPU time of a ranking in an index of a user with years of conversations, without a database.
//!
//! `cargo run --profile fast -p lukasa-core --example rank_cost` prints the CPU time of a question in an
//! unchanged index, and of one asked after each new turn. The printed digest is of all results with their
//! scores: it shows whether a change of the code changed one of them. With a file name, the results are
//! written to it.

#![expect(clippy::print_stdout, reason = "a program that prints what it measured")]

use std::fmt::Write as _;
use std::time::Duration;

use half::f16;
use lukasa_core::fact::{Category, Force, Kind, MemoryType, Tier};
use lukasa_core::recall::Facets;
use lukasa_core::recall::corpus::Corpus;
use lukasa_core::recall::index::{Index, NewPassage, Unit};
use lukasa_core::recall::passage::{PassageKind, TurnPosition};
use lukasa_core::recall::rank::{RankFilters, RankLimits, RankQuery, Tuning, rank};
use lukasa_core::{Role, Timestamp};
use lukasa_text::terms::{Language, Terms, Word, words};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

const TURNS: usize = 40_000;
const MEMORIES: usize = 8_000;
const TURNS_PER_SESSION: usize = 20;
const DIMENSION: usize = 256;
const MESSAGE_WORDS: usize = 48;
const ANSWER_WORDS: usize = 352;
const MEMORY_WORDS: usize = 12;
const VOCABULARY: usize = 20_000;
const QUESTIONS: usize = 40;
const QUESTION_WORDS: usize = 8;
const LIMITS: RankLimits = RankLimits { units: 10, sessions: 0 };

/// Pseudo-random numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Between 0 and 1.
    fn share(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 24) as f32
    }

    /// Words of which few are frequent.
    fn words(&mut self, count: usize, vocabulary: &[Word]) -> Vec<Word> {
        let rank = |share: f32| (VOCABULARY as f32).powf(share) as usize;
        (0..count).map(|_| vocabulary[rank(self.share()).min(VOCABULARY - 1)].clone()).collect()
    }

    fn vector(&mut self) -> Vec<f32> {
        // All vectors have something in common, as those of a model do.
        let values: Vec<f32> =
            (0..DIMENSION).map(|at| self.share() - 0.5 + 0.2 * (at as f32).sin()).collect();
        let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        values.into_iter().map(|value| value / length).collect()
    }

    fn stored_vector(&mut self) -> Vec<f16> {
        self.vector().into_iter().map(f16::from_f32).collect()
    }
}

fn id(number: usize) -> Uuid {
    Uuid::from_u128(number as u128 + 1)
}

fn at(minute: usize) -> Timestamp {
    let second = 1_600_000_000 + 60 * i64::try_from(minute).unwrap_or(0);
    Timestamp::from_second(second).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn session(number: usize) -> String {
    format!("session {number}")
}

fn vocabulary() -> Vec<Word> {
    let texts = (0..VOCABULARY).map(|rank| format!("wo{}ra", rank * 7));
    texts.flat_map(|text| words(&text, Language::ENGLISH)).collect()
}

fn passage(source: usize, part: usize, kind: PassageKind, terms: Terms) -> NewPassage {
    NewPassage {
        source: id(source),
        part: part as i16,
        subject: id(source),
        kind,
        language: Language::ENGLISH,
        terms,
        place: None,
    }
}

/// Adds a turn, with its vectors if it is the user's. Every tenth of these has two passages.
fn add_turn(index: &mut Index, number: usize, numbers: &mut Numbers, vocabulary: &[Word]) {
    let is_user = number.is_multiple_of(2);
    let role = if is_user { Role::User } else { Role::Assistant };
    let mut terms = || match is_user {
        true => Terms::of(&numbers.words(MESSAGE_WORDS, vocabulary), []),
        false => Terms::without_pairs(&numbers.words(ANSWER_WORDS, vocabulary), []),
    };
    let parts = if is_user && number.is_multiple_of(20) { 2 } else { 1 };
    let place = TurnPosition {
        project: None,
        session: session(number / TURNS_PER_SESSION),
        number: (number % TURNS_PER_SESSION) as i32 + 1,
        role,
        said_at: at(number),
        recorded_at: at(number),
    };
    let part = |part| NewPassage {
        place: Some(place.clone()),
        ..passage(number, part, PassageKind::Turn, terms())
    };
    index.add((0..parts).map(part).collect());
    if is_user {
        index.embed((0..parts).map(|part| ((id(number), part as i16), numbers.stored_vector())));
    }
}

fn facets(number: usize) -> Facets {
    Facets {
        project: None,
        domain: None,
        category: Category::Fact,
        memory_type: MemoryType::Profile,
        kind: Kind::Fact,
        force: Force::Soft,
        tier: if number.is_multiple_of(3) { Tier::Tentative } else { Tier::Strong },
        importance: (number % 10) as f32 / 10.0,
        confidence: 0.9,
        firm: number.is_multiple_of(2),
        own: true,
        from_assistant: false,
        names: Vec::new(),
        // A quarter of the memories was learned outside of a session.
        session: (!number.is_multiple_of(4)).then(|| session(number * 5 / TURNS_PER_SESSION)),
        valid_from: Timestamp::UNIX_EPOCH,
        // A twentieth is no longer valid.
        valid_until: number.is_multiple_of(20).then_some(at(1)),
        known_from: at(number * 5),
        fresh_at: at(number * 5),
    }
}

/// Sets the memories; every tenth is a version that was replaced.
fn set_memories(index: &mut Index) {
    let current = (0..MEMORIES).filter(|number| number % 10 != 7);
    let links = (0..MEMORIES).step_by(9).map(|n| (memory_id(n), memory_id((n * 31) % MEMORIES)));
    index.set_facts(current.map(|number| (memory_id(number), facets(number))), links);
}

fn memory_id(number: usize) -> Uuid {
    id(10_000_000 + number)
}

fn filled(numbers: &mut Numbers, vocabulary: &[Word]) -> Index {
    let mut index = Index::new(DIMENSION);
    for number in 0..MEMORIES {
        let parts = if number.is_multiple_of(20) { 3 } else { 1 };
        let source = 10_000_000 + number;
        let mut terms = || Terms::of(&numbers.words(MEMORY_WORDS, vocabulary), []);
        let part = |part| passage(source, part, PassageKind::Fact, terms());
        index.add((0..parts).map(part).collect());
        index.embed((0..parts).map(|part| ((id(source), part as i16), numbers.stored_vector())));
    }
    for number in 0..TURNS {
        add_turn(&mut index, number, numbers, vocabulary);
    }
    set_memories(&mut index);
    index
}

/// What a search does with the index: ten memories and ten turns.
fn ask(index: &Index, text: &str, vector: &[f32], told: &mut String) {
    let now = at(TURNS);
    let is_usable = |unit: &Unit| match &unit.facets {
        None => unit.turn.is_some(),
        Some(facets) => facets.valid_until.is_none_or(|until| until > now),
    };
    let visible = index.select(is_usable);
    let corpus = &Corpus::new(index, text, visible);
    let question = RankQuery { text, vector: Some(vector), times: &[] };
    let tuning = Tuning::default();
    let of_role = |unit: &Unit| unit.turn.is_some_and(|turn| turn.role == Role::User);
    for kind in [PassageKind::Fact, PassageKind::Turn] {
        let candidates: &dyn Fn(&Unit) -> bool =
            if kind == PassageKind::Fact { &|_| true } else { &of_role };
        let filters = RankFilters { corpus, candidates, results: &|_| true };
        let ranking = rank(index, &question, kind, &tuning, &filters, LIMITS);
        for found in &ranking.found {
            let _ = writeln!(told, "{found:?}");
        }
    }
    let _ = writeln!(told, "{}", index.without_vector());
}

fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

fn print_costs(what: &str, mut costs: Vec<Duration>) {
    costs.sort();
    let ms = |at: usize| costs[at].as_secs_f64() * 1e3;
    let (least, median) = (ms(0), ms(costs.len() / 2));
    println!("{what}: CPU per question {median:.2} ms (median), {least:.2} ms (least)");
}

fn main() -> std::io::Result<()> {
    let mut numbers = Numbers(1);
    let vocabulary = vocabulary();
    let mut index = filled(&mut numbers, &vocabulary);
    let mut question = |_| {
        let words = numbers.words(QUESTION_WORDS, &vocabulary);
        let words: Vec<String> = words.into_iter().map(|word| word.written).collect();
        (words.join(" "), numbers.vector())
    };
    let questions: Vec<(String, Vec<f32>)> = (0..QUESTIONS).map(&mut question).collect();
    println!("{} units, {} MB", index.len(), index.bytes() / 1_000_000);
    let mut told = String::new();
    let mut costs = Vec::new();
    let mut measure = |index: &Index, at: usize| {
        let (text, vector) = &questions[at];
        let began = cpu_time();
        ask(index, text, vector, &mut told);
        cpu_time().saturating_sub(began)
    };
    let first = measure(&index, 0);
    for at in 0..QUESTIONS {
        costs.push(measure(&index, at));
    }
    print_costs("first", vec![first]);
    print_costs("unchanged", std::mem::take(&mut costs));
    for at in 0..QUESTIONS {
        add_turn(&mut index, TURNS + at, &mut numbers, &vocabulary);
        costs.push(measure(&index, at));
    }
    print_costs("after a turn", std::mem::take(&mut costs));
    for at in 0..QUESTIONS / 2 {
        set_memories(&mut index);
        costs.push(measure(&index, at));
    }
    print_costs("after a memory", costs);
    println!("results {}", hex::encode(&Sha256::digest(&told)[..8]));
    match std::env::args().nth(1) {
        Some(file) => std::fs::write(file, told),
        None => Ok(()),
    }
}
