//! Everything of one user that recall can find, in memory and laid out to be read from end to end.
//!
//! A person's memory is small, so a question is compared with all of it, exactly, with that person's
//! own statistics: nothing is approximated and nothing is shared between people. The index can grow
//! as turns are said and embeddings come in; what goes away for good makes it be built anew.

use std::collections::HashMap;
use std::ops::Range;

use uuid::Uuid;

use super::Facets;
use super::passage::{Kind, Place};
use super::text::{Language, Term, Terms};
use crate::session::Role;
use crate::time::Timestamp;

/// A memory or a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    pub kind: Kind,
    /// The version or the turn.
    pub source: Uuid,
    /// The fact, or again the turn.
    pub subject: Uuid,
    /// Of a memory that stands; absent for a version that does not, which is never found.
    pub facets: Option<Facets>,
    pub turn: Option<TurnPlace>,
    /// The session it was said or learned in, by number.
    pub session: Option<usize>,
    /// Its passages, which lie side by side.
    pub(super) passages: Range<usize>,
    pub(super) words: u32,
}

/// Where a turn stands in its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnPlace {
    pub number: i32,
    pub role: Role,
    pub said_at: Timestamp,
    pub recorded_at: Timestamp,
}

/// A passage to add.
#[derive(Debug, Clone, PartialEq)]
pub struct NewPassage {
    pub source: Uuid,
    pub part: i16,
    pub subject: Uuid,
    pub kind: Kind,
    pub language: Language,
    pub terms: Terms,
    pub place: Option<Place>,
}

/// The index of one user.
#[derive(Debug, Clone, Default)]
pub struct Index {
    pub(super) units: Vec<Unit>,
    pub(super) languages: Vec<Language>,
    /// Of each passage: where its terms begin, in which language they are, and its unit.
    terms_of: Vec<Range<usize>>,
    pub(super) language_of: Vec<Language>,
    terms: Vec<(Term, u8)>,
    dimension: usize,
    /// Passage by passage; zeroes where there is none yet.
    vectors: Vec<f32>,
    embedded: Vec<bool>,
    passage_at: HashMap<(Uuid, i16), usize>,
    unit_at: HashMap<Uuid, usize>,
    session_at: HashMap<String, usize>,
    session_names: Vec<String>,
    /// Of each session the turn with the lowest number: that number, and its unit.
    first_turns: Vec<(i32, usize)>,
    /// From fact to facts, in both directions; and only as they were made.
    links: HashMap<Uuid, Vec<Uuid>>,
    outward: HashMap<Uuid, Vec<Uuid>>,
    fact_at: HashMap<Uuid, usize>,
}

impl Index {
    /// An index for vectors of this many numbers; none if nothing is embedded.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, ..Self::default() }
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

    pub fn session_number(&self, name: &str) -> Option<usize> {
        self.session_at.get(name).copied()
    }

    pub fn len(&self) -> usize {
        self.units.len()
    }

    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// How many passages it holds.
    pub fn passages(&self) -> usize {
        self.terms_of.len()
    }

    /// About how many bytes it takes, with what its vectors and maps have reserved.
    pub fn bytes(&self) -> usize {
        fn list<T>(list: &Vec<T>) -> usize {
            list.capacity() * size_of::<T>()
        }
        fn map<K, V>(map: &HashMap<K, V>) -> usize {
            // One control byte per slot, and room for a seventh more slots than entries.
            map.capacity() * 8 / 7 * (size_of::<(K, V)>() + 1)
        }
        let facets = self.units.iter().filter_map(|unit| unit.facets.as_ref());
        let names = self.session_names.iter().map(|name| 2 * name.capacity());
        let links = self.links.values().chain(self.outward.values());
        list(&self.units)
            + list(&self.terms_of)
            + list(&self.language_of)
            + list(&self.terms)
            + list(&self.vectors)
            + list(&self.embedded)
            + map(&self.passage_at)
            + map(&self.unit_at)
            + map(&self.session_at)
            + list(&self.session_names)
            + list(&self.first_turns)
            + map(&self.links)
            + map(&self.outward)
            + map(&self.fact_at)
            + facets.map(Facets::heap_bytes).sum::<usize>()
            + names.sum::<usize>()
            + links.map(list).sum::<usize>()
    }

    /// Adds passages. Those of one source come together and in order; one that is there already is
    /// passed over.
    pub fn add(&mut self, mut passages: Vec<NewPassage>) {
        passages.sort_by_key(|passage| (passage.source, passage.part));
        for passage in passages {
            let key = (passage.source, passage.part);
            if self.passage_at.contains_key(&key) {
                continue;
            }
            let at = self.terms_of.len();
            let start = self.terms.len();
            self.terms.extend_from_slice(&passage.terms.counts);
            self.terms_of.push(start..self.terms.len());
            self.language_of.push(passage.language);
            if !self.languages.contains(&passage.language) {
                self.languages.push(passage.language);
            }
            self.vectors.resize(self.vectors.len() + self.dimension, 0.0);
            self.embedded.push(false);
            self.passage_at.insert(key, at);
            match self.units.last_mut() {
                Some(unit) if unit.source == passage.source => {
                    unit.passages.end = at + 1;
                    unit.words += passage.terms.words;
                }
                _ => self.add_unit(passage, at),
            }
        }
    }

    fn add_unit(&mut self, passage: NewPassage, at: usize) {
        let unit = self.units.len();
        let mut in_session = None;
        let turn = passage.place.map(|place| {
            let session = match self.session_at.get(&place.session) {
                Some(session) => *session,
                None => {
                    self.session_at.insert(place.session.clone(), self.first_turns.len());
                    self.session_names.push(place.session);
                    self.first_turns.push((place.number, unit));
                    self.first_turns.len() - 1
                }
            };
            let first = &mut self.first_turns[session];
            *first = (*first).min((place.number, unit));
            in_session = Some(session);
            TurnPlace {
                number: place.number,
                role: place.role,
                said_at: place.said_at,
                recorded_at: place.recorded_at,
            }
        });
        self.unit_at.insert(passage.source, unit);
        self.units.push(Unit {
            kind: passage.kind,
            source: passage.source,
            subject: passage.subject,
            facets: None,
            turn,
            session: in_session,
            passages: at..at + 1,
            words: passage.terms.words,
        });
    }

    /// Gives passages their vectors. One of another length than the index's is passed over.
    pub fn embed(&mut self, vectors: impl IntoIterator<Item = ((Uuid, i16), Vec<f32>)>) {
        for (key, values) in vectors {
            let Some(at) = self.passage_at.get(&key).copied() else { continue };
            if values.len() == self.dimension {
                let start = at * self.dimension;
                self.vectors[start..start + self.dimension].copy_from_slice(&values);
                self.embedded[at] = true;
            }
        }
    }

    /// Says which memories stand, and what they are linked to. Every other version stands no more.
    pub fn set_facts(
        &mut self,
        standing: impl IntoIterator<Item = (Uuid, Facets)>,
        links: impl IntoIterator<Item = (Uuid, Uuid)>,
    ) {
        for unit in &mut self.units {
            unit.facets = None;
        }
        self.fact_at.clear();
        for (version, facets) in standing {
            if let Some(at) = self.unit_at.get(&version).copied() {
                let session = facets.session.as_ref();
                self.units[at].session = session.and_then(|s| self.session_at.get(s).copied());
                self.units[at].facets = Some(facets);
            }
        }
        for (at, unit) in self.units.iter().enumerate() {
            if unit.facets.is_some() {
                self.fact_at.insert(unit.subject, at);
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

    /// The memories that a memory is linked to and that stand.
    pub fn linked(&self, fact: Uuid) -> impl Iterator<Item = usize> + '_ {
        let others = self.links.get(&fact).into_iter().flatten();
        others.filter_map(|other| self.fact_at.get(other).copied())
    }

    /// The memories that a memory itself points to and that stand.
    pub fn points_to(&self, fact: Uuid) -> impl Iterator<Item = usize> + '_ {
        let others = self.outward.get(&fact).into_iter().flatten();
        others.filter_map(|other| self.fact_at.get(other).copied())
    }

    /// When the first turn of a session that is known was said.
    pub(super) fn session_began(&self, session: usize) -> Option<Timestamp> {
        let (_, unit) = self.first_turns[session];
        self.units[unit].turn.map(|turn| turn.said_at)
    }

    /// How many passages of standing memories and of turns have no vector yet.
    pub fn without_vector(&self) -> usize {
        let stands = |unit: &&Unit| unit.kind == Kind::Turn || unit.facets.is_some();
        let passages = self.units.iter().filter(stands).flat_map(|unit| unit.passages.clone());
        passages.filter(|at| !self.embedded[*at]).count()
    }

    /// The terms of a passage, sorted.
    pub(super) fn terms(&self, passage: usize) -> &[(Term, u8)] {
        &self.terms[self.terms_of[passage].clone()]
    }

    /// The vector of a passage, if it has one.
    pub(super) fn vector(&self, passage: usize) -> Option<&[f32]> {
        let start = passage * self.dimension;
        self.embedded[passage].then(|| &self.vectors[start..start + self.dimension])
    }
}
