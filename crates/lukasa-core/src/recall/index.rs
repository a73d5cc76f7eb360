//! In-memory search index of one user: words as an inverted index, vectors one after the other.
//!
//! A user's memory is small, so a query is compared with all of it, exactly, with that user's own
//! statistics: nothing is approximated and nothing is shared between users. The index grows as
//! turns and embeddings arrive; permanent removal makes it be rebuilt.

use std::collections::HashMap;
use std::ops::Range;

use half::f16;
use lukasa_text::terms::{Language, Term, Terms};
use uuid::Uuid;

use super::Facets;
use super::dot::widen;
use super::neighbours::NeighbourProducts;
use super::passage::{PassageKind, TurnPosition};
use super::postings::{Postings, UnitClass};
use super::rank_cache::RankCache;
use crate::project::Project;
use crate::session::Role;
use crate::time::Timestamp;

/// A memory, a turn or an episode.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    pub kind: PassageKind,
    /// The version, the turn or the episode.
    pub source: Uuid,
    /// The fact, or again the source.
    pub subject: Uuid,
    /// Set for a current memory; absent for any other version, which is never found.
    pub facets: Option<Box<Facets>>,
    /// Set for a turn, and for an episode, whose place is that of its last turn.
    pub turn: Option<TurnPlace>,
    /// The session it belongs to or was learned in, by number.
    pub session: Option<usize>,
    /// Its passages, which are contiguous.
    pub(super) passages: Range<usize>,
}

/// Position of a turn in its session, or of the last turn of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnPlace {
    pub number: i32,
    pub role: Role,
    pub said_at: Timestamp,
}

/// A passage to add.
#[derive(Debug, Clone, PartialEq)]
pub struct NewPassage {
    pub source: Uuid,
    pub part: i16,
    pub subject: Uuid,
    pub kind: PassageKind,
    pub language: Language,
    pub terms: Terms,
    pub place: Option<TurnPosition>,
}

impl NewPassage {
    fn class(&self) -> UnitClass {
        UnitClass::of(self.kind, self.place.as_ref().map(|place| place.role))
    }

    /// Whether it is a memory, an episode, or the user's own words.
    fn is_ranked(&self) -> bool {
        self.place.as_ref().is_none_or(|place| place.role == Role::User)
    }
}

/// No vector yet, or no session.
pub(super) const NONE: u32 = u32::MAX;

/// Makes room for `more` items: an eighth of the list at least, so that adding many times costs
/// little, and not as much again as the list holds.
fn grow<T>(list: &mut Vec<T>, more: usize) {
    if list.capacity() - list.len() < more {
        list.reserve_exact(more.max(list.len() / 8));
    }
}

fn as_number(session: Option<usize>) -> u32 {
    session.and_then(|session| u32::try_from(session).ok()).unwrap_or(NONE)
}

/// The index of one user.
#[derive(Debug, Clone, Default)]
pub struct Index {
    pub(super) units: Vec<Unit>,
    /// For each unit its number of words, and its session or [`NONE`]. A ranking reads them of all
    /// units, and they are adjacent here.
    pub(super) words: Vec<u32>,
    pub(super) session_of: Vec<u32>,
    pub(super) languages: Vec<Language>,
    /// The units that have a word, a speaker or a date, by class.
    postings: [Postings; UnitClass::COUNT],
    /// The units of each class, in ascending order.
    pub(super) classes: [Vec<u32>; UnitClass::COUNT],
    /// For each passage: the end of its terms, which begin where those of the one before it end.
    term_ends: Vec<usize>,
    /// The terms of passages that have a vector or will get one, sorted within each, a pair of words as
    /// often as it occurs. Others are found by the postings alone.
    terms: Vec<Term>,
    dimension: usize,
    /// The vectors, with the precision they are stored with, one after the other.
    vectors: Vec<f16>,
    /// For each passage: the number of its vector, or [`NONE`].
    vector_of: Vec<u32>,
    /// Number of passages without a vector, of current memories, and of episodes and the user's turns.
    facts_without_vector: usize,
    texts_without_vector: usize,
    /// The sum of the first vectors of all turns, and how many turns it is the sum of.
    turn_sum: Vec<f64>,
    summed_turns: usize,
    unit_at: HashMap<Uuid, u32>,
    session_at: HashMap<String, usize>,
    session_names: Vec<String>,
    /// The project of each session.
    session_projects: Vec<Option<Project>>,
    /// For each session, the lowest turn number and its unit; that of an episode counts as the
    /// highest, so that it is used only without any turn.
    first_turns: Vec<(i32, usize)>,
    /// Links between facts: `links` in both directions, `outward` only in the direction made.
    links: HashMap<Uuid, Vec<Uuid>>,
    outward: HashMap<Uuid, Vec<Uuid>>,
    fact_at: HashMap<Uuid, usize>,
    /// The turns whose words were taken back, and since when.
    outdated: HashMap<Uuid, Timestamp>,
    pub(super) rank_cache: RankCache,
}

impl Unit {
    pub(super) fn class(&self) -> UnitClass {
        UnitClass::of(self.kind, self.turn.map(|turn| turn.role))
    }
}

impl Index {
    /// An empty index for vectors of this dimension; zero if nothing is embedded.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, turn_sum: vec![0.0; dimension], ..Self::default() }
    }

    pub fn dimension(&self) -> usize {
        self.dimension
    }

    pub fn unit(&self, at: usize) -> &Unit {
        &self.units[at]
    }

    pub fn session_name(&self, session: usize) -> &str {
        &self.session_names[session]
    }

    /// The project that a memory belongs to, or the session of a turn or an episode.
    pub fn project_of<'i>(&'i self, unit: &'i Unit) -> Option<&'i Project> {
        match (&unit.facets, unit.session) {
            (Some(facets), _) => facets.project.as_ref(),
            (None, Some(session)) => self.session_projects[session].as_ref(),
            (None, None) => None,
        }
    }

    pub fn session_number(&self, name: &str) -> Option<usize> {
        self.session_at.get(name).copied()
    }

    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// For each unit, whether it satisfies a condition.
    pub fn select(&self, condition: impl Fn(&Unit) -> bool) -> Vec<bool> {
        self.units.iter().map(condition).collect()
    }

    pub(super) fn postings(&self, class: UnitClass) -> &Postings {
        &self.postings[class as usize]
    }

    /// Number of units of a class.
    pub(super) fn class_size(&self, class: UnitClass) -> usize {
        self.classes[class as usize].len()
    }

    /// The units of a kind, in ascending order.
    pub(super) fn of_kind(&self, kind: PassageKind) -> impl Iterator<Item = usize> + '_ {
        let list = |class: Option<&UnitClass>| match class {
            Some(class) => self.classes[*class as usize].as_slice(),
            None => &[],
        };
        let classes = UnitClass::of_kind(kind);
        let (mut one, mut other) = (list(classes.first()), list(classes.get(1)));
        std::iter::from_fn(move || {
            let from_one = match (one.first(), other.first()) {
                (Some(one), Some(other)) => one < other,
                (one, _) => one.is_some(),
            };
            let list = if from_one { &mut one } else { &mut other };
            let (first, rest) = list.split_first()?;
            *list = rest;
            Some(*first as usize)
        })
    }

    /// The current memories, in ascending order of their units.
    pub fn current_facts(&self) -> impl Iterator<Item = &Unit> + '_ {
        let units = self.of_kind(PassageKind::Fact).map(move |at| &self.units[at]);
        units.filter(|unit| unit.facets.is_some())
    }

    pub(super) fn sessions(&self) -> usize {
        self.session_names.len()
    }

    pub fn has_episodes(&self) -> bool {
        self.class_size(UnitClass::Episode) > 0
    }

    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Number of passages.
    pub fn passages(&self) -> usize {
        self.term_ends.len()
    }

    /// Approximate size in bytes, including the reserved capacity of its lists and maps.
    pub fn bytes(&self) -> usize {
        fn list<T>(list: &Vec<T>) -> usize {
            list.capacity() * size_of::<T>()
        }
        fn map<K, V>(map: &HashMap<K, V>) -> usize {
            // One control byte per slot, and an eighth of the slots are free at full capacity.
            map.capacity() * 8 / 7 * (size_of::<(K, V)>() + 1)
        }
        let facets = self.units.iter().filter_map(|unit| unit.facets.as_ref());
        let facets = facets.map(|facets| size_of::<Facets>() + facets.heap_bytes());
        let names = self.session_names.iter().map(|name| 2 * name.capacity());
        let links = self.links.values().chain(self.outward.values());
        list(&self.units)
            // The cache of rankings: orders of units, and products of neighbours.
            + self.units.len() * (2 * size_of::<u32>() + NeighbourProducts::BYTES_PER_UNIT)
            + self.class_size(UnitClass::Fact) * size_of::<usize>()
            + list(&self.words)
            + list(&self.session_of)
            + self.classes.iter().map(list).sum::<usize>()
            + self.postings.iter().map(Postings::bytes).sum::<usize>()
            + list(&self.term_ends)
            + list(&self.terms)
            + list(&self.vectors)
            + list(&self.vector_of)
            + map(&self.unit_at)
            + map(&self.session_at)
            + list(&self.session_names)
            + list(&self.session_projects)
            + list(&self.first_turns)
            + map(&self.links)
            + map(&self.outward)
            + map(&self.fact_at)
            + map(&self.outdated)
            + facets.sum::<usize>()
            + names.sum::<usize>()
            + links.map(list).sum::<usize>()
    }

    /// Adds passages. Those of one source must come in one call, numbered from zero; a source that
    /// is already present is skipped.
    pub fn add(&mut self, mut passages: Vec<NewPassage>) {
        passages.sort_unstable_by_key(|passage| (passage.source, passage.part));
        let ranked = passages.iter().filter(|passage| passage.is_ranked());
        // A pair of words as often as it occurs, and any other term once.
        let times =
            |(term, count): &(Term, u8)| if term.is_pair() { usize::from(*count) } else { 1 };
        let terms = ranked.flat_map(|passage| &passage.terms.counts).map(times).sum();
        grow(&mut self.terms, terms);
        grow(&mut self.term_ends, passages.len());
        grow(&mut self.vector_of, passages.len());
        let known = self.units.len();
        for passage in passages {
            let at = self.term_ends.len();
            let unit = self.unit_at.get(&passage.source).map(|unit| *unit as usize);
            if unit.is_some_and(|unit| unit < known) {
                continue;
            }
            let number = unit.unwrap_or(self.units.len()) as u32;
            let postings = &mut self.postings[passage.class() as usize];
            for (term, count) in passage.terms.counts.iter().filter(|(term, _)| !term.is_pair()) {
                postings.add(*term, number, *count);
            }
            if passage.is_ranked() {
                let counts = passage.terms.counts.iter();
                self.terms.extend(counts.flat_map(|one| std::iter::repeat_n(one.0, times(one))));
            }
            self.term_ends.push(self.terms.len());
            self.vector_of.push(NONE);
            let is_text = passage.place.as_ref().is_some_and(|place| place.role == Role::User);
            self.texts_without_vector += usize::from(is_text);
            if !self.languages.contains(&passage.language) {
                self.languages.push(passage.language);
            }
            match unit {
                Some(unit) => {
                    self.units[unit].passages.end = at + 1;
                    self.words[unit] += passage.terms.words;
                }
                None => self.add_unit(passage, at),
            }
        }
        self.extend_sessions(known);
    }

    fn add_unit(&mut self, passage: NewPassage, at: usize) {
        let unit = self.units.len();
        let mut in_session = None;
        let is_episode = passage.kind == PassageKind::Episode;
        let number = u32::try_from(unit).unwrap_or(NONE);
        self.classes[passage.class() as usize].push(number);
        if passage.kind == PassageKind::Fact {
            self.rank_cache.learned.take();
        }
        let turn = passage.place.map(|place| {
            let first = (if is_episode { i32::MAX } else { place.number }, unit);
            let session = match self.session_at.get(&place.session) {
                Some(session) => *session,
                None => {
                    self.session_at.insert(place.session.clone(), self.first_turns.len());
                    self.session_names.push(place.session);
                    self.session_projects.push(place.project);
                    self.first_turns.push(first);
                    self.first_turns.len() - 1
                }
            };
            let known = &mut self.first_turns[session];
            if first < *known {
                *known = first;
                // A memory counts as learned when its session began.
                self.rank_cache.learned.take();
            }
            in_session = Some(session);
            TurnPlace { number: place.number, role: place.role, said_at: place.said_at }
        });
        self.unit_at.insert(passage.source, number);
        self.words.push(passage.terms.words);
        self.session_of.push(as_number(in_session));
        self.units.push(Unit {
            kind: passage.kind,
            source: passage.source,
            subject: passage.subject,
            facets: None,
            turn,
            session: in_session,
            passages: at..at + 1,
        });
    }

    /// Sets the vectors of passages. A vector of another dimension is skipped, and so are those of
    /// turns that are ranked by words alone.
    pub fn embed(&mut self, vectors: impl IntoIterator<Item = ((Uuid, i16), Vec<f16>)>) {
        let vectors = vectors.into_iter();
        let dimension = self.dimension;
        grow(&mut self.vectors, vectors.size_hint().0 * dimension);
        for ((source, part), values) in vectors {
            let Some(unit) = self.unit_at.get(&source) else { continue };
            let (unit, part) = (&self.units[*unit as usize], usize::try_from(part).unwrap_or(0));
            let passage = unit.passages.start + part;
            let is_ranked = unit.turn.is_none_or(|turn| turn.role == Role::User);
            if values.len() != dimension || !unit.passages.contains(&passage) || !is_ranked {
                continue;
            }
            if self.vector_of[passage] != NONE {
                // A passage's text never changes, and so neither does its vector.
                continue;
            }
            if unit.kind == PassageKind::Fact {
                self.rank_cache.fact_sum.take();
            }
            match unit.turn {
                Some(_) => self.texts_without_vector -= 1,
                None => self.facts_without_vector -= usize::from(unit.facets.is_some()),
            }
            let vector = self.vectors.len() / dimension.max(1);
            self.vector_of[passage] = u32::try_from(vector).unwrap_or(NONE);
            self.vectors.extend_from_slice(&values);
            if unit.kind == PassageKind::Turn && part == 0 {
                self.summed_turns += 1;
                for (sum, value) in self.turn_sum.iter_mut().zip(&values) {
                    *sum += value.to_f64();
                }
            }
        }
        self.forget_few_neighbours();
    }

    /// Number of vectors.
    pub(super) fn vector_count(&self) -> usize {
        self.vectors.len() / self.dimension.max(1)
    }

    /// Gives back memory that was reserved for more.
    pub fn shrink(&mut self) {
        self.units.shrink_to_fit();
        self.terms.shrink_to_fit();
        self.vectors.shrink_to_fit();
    }

    /// Sets which versions are current, and the links of facts. Every other version is no longer
    /// found.
    pub fn set_facts(
        &mut self,
        current: impl IntoIterator<Item = (Uuid, Facets)>,
        links: impl IntoIterator<Item = (Uuid, Uuid)>,
    ) {
        for unit in &mut self.units {
            unit.facets = None;
        }
        self.fact_at.clear();
        self.rank_cache.in_sessions.take();
        self.rank_cache.learned.take();
        self.rank_cache.fact_sum.take();
        for (version, facets) in current {
            if let Some(at) = self.unit_at.get(&version).map(|at| *at as usize) {
                let session = facets.session.as_ref();
                let session = session.and_then(|s| self.session_at.get(s).copied());
                self.session_of[at] = as_number(session);
                self.units[at].session = session;
                self.units[at].facets = Some(Box::new(facets));
            }
        }
        self.facts_without_vector = 0;
        for (at, unit) in self.units.iter().enumerate() {
            if unit.facets.is_some() {
                self.fact_at.insert(unit.subject, at);
                // Passages of a unit with a turn are counted when they are added.
                let vectors = self.vector_of[unit.passages.clone()].iter();
                let missing = vectors.filter(|at| **at == NONE && unit.turn.is_none());
                self.facts_without_vector += missing.count();
            }
        }
        self.links.clear();
        self.outward.clear();
        for (from, to) in links {
            self.outward.entry(from).or_default().push(to);
            self.links.entry(from).or_default().push(to);
            self.links.entry(to).or_default().push(from);
        }
    }

    /// Sets the turns of which a memory was changed or removed since, and since when.
    pub fn set_outdated_turns(&mut self, turns: impl IntoIterator<Item = (Uuid, Timestamp)>) {
        self.outdated = turns.into_iter().collect();
    }

    /// Since when the words of a turn no longer hold, if a memory learned from it was changed or
    /// removed.
    pub fn outdated_since(&self, turn: Uuid) -> Option<Timestamp> {
        self.outdated.get(&turn).copied()
    }

    /// The current memories linked to a memory, in either direction.
    pub fn linked(&self, fact: Uuid) -> impl Iterator<Item = usize> + '_ {
        let others = self.links.get(&fact).into_iter().flatten();
        others.filter_map(|other| self.fact_at.get(other).copied())
    }

    /// The current memories that a memory links to.
    pub fn points_to(&self, fact: Uuid) -> impl Iterator<Item = usize> + '_ {
        let others = self.outward.get(&fact).into_iter().flatten();
        others.filter_map(|other| self.fact_at.get(other).copied())
    }

    /// The time of the first indexed turn of a session.
    pub(super) fn session_began(&self, session: usize) -> Option<Timestamp> {
        let (_, unit) = self.first_turns[session];
        self.units[unit].turn.map(|turn| turn.said_at)
    }

    /// Number of passages of current memories, episodes and the user's turns that have no vector yet.
    pub fn without_vector(&self) -> usize {
        self.facts_without_vector + self.texts_without_vector
    }

    /// The terms of a passage, sorted; none for a turn of another than the user.
    pub(super) fn terms(&self, passage: usize) -> &[Term] {
        &self.terms[self.terms_of(passage)]
    }

    /// How often a passage has a pair of words.
    pub(super) fn count_of_pair(&self, passage: usize, pair: Term) -> usize {
        let terms = self.terms(passage);
        let start = terms.partition_point(|term| *term < pair);
        terms[start..].iter().take_while(|term| **term == pair).count()
    }

    fn terms_of(&self, passage: usize) -> Range<usize> {
        let start = if passage == 0 { 0 } else { self.term_ends[passage - 1] };
        start..self.term_ends[passage]
    }

    pub(super) fn has_vector(&self, passage: usize) -> bool {
        self.vector_of[passage] != NONE
    }

    /// The vector of a passage, if it has one.
    #[inline(always)]
    pub(super) fn vector(&self, passage: usize) -> Option<&[f16]> {
        let vector = self.vector_of[passage];
        let start = vector as usize * self.dimension;
        (vector != NONE).then(|| &self.vectors[start..start + self.dimension])
    }

    /// Copies the vector of a passage, if it has one of this length.
    #[inline(always)]
    pub(super) fn copy_vector(&self, passage: usize, to: &mut [f32]) -> bool {
        let vector = self.vector(passage).filter(|_| to.len() == self.dimension);
        if let Some(vector) = vector {
            widen(vector, to);
        }
        vector.is_some()
    }

    /// The sum of the first vectors of all turns that have one, and how many these are.
    pub(super) fn turn_sum(&self) -> (&[f64], usize) {
        (&self.turn_sum, self.summed_turns)
    }
}
