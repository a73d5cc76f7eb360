//! In-memory search index of one user, laid out for sequential scans.
//!
//! A user's memory is small, so a query is compared with all of it, exactly, with that user's own
//! statistics: nothing is approximated and nothing is shared between users. The index grows as
//! turns and embeddings arrive; permanent removal makes it be rebuilt.

use std::collections::HashMap;
use std::ops::Range;

use lukasa_text::terms::{Language, Term, Terms};
use uuid::Uuid;

use super::Facets;
use super::passage::{PassageKind, TurnPosition};
use crate::project::Project;
use crate::session::Role;
use crate::time::Timestamp;

/// A memory or a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    pub kind: PassageKind,
    /// The version or the turn.
    pub source: Uuid,
    /// The fact, or again the turn.
    pub subject: Uuid,
    /// Set for a current memory; absent for any other version, which is never found.
    pub facets: Option<Facets>,
    pub turn: Option<TurnPlace>,
    /// The session it belongs to or was learned in, by number.
    pub session: Option<usize>,
    /// Its passages, which are contiguous.
    pub(super) passages: Range<usize>,
    pub(super) words: u32,
}

/// Position of a turn in its session.
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
    pub kind: PassageKind,
    pub language: Language,
    pub terms: Terms,
    pub place: Option<TurnPosition>,
}

/// The index of one user.
#[derive(Debug, Clone, Default)]
pub struct Index {
    pub(super) units: Vec<Unit>,
    pub(super) languages: Vec<Language>,
    /// For each passage: the range of its terms in `terms`.
    terms_of: Vec<Range<usize>>,
    pub(super) language_of: Vec<Language>,
    terms: Vec<(Term, u8)>,
    dimension: usize,
    /// Vectors by passage; zeroes where there is none yet.
    vectors: Vec<f32>,
    embedded: Vec<bool>,
    passage_at: HashMap<(Uuid, i16), usize>,
    unit_at: HashMap<Uuid, usize>,
    session_at: HashMap<String, usize>,
    session_names: Vec<String>,
    /// The project of each session.
    session_projects: Vec<Option<Project>>,
    /// For each session, the lowest turn number and its unit.
    first_turns: Vec<(i32, usize)>,
    /// Links between facts: `links` in both directions, `outward` only in the direction made.
    links: HashMap<Uuid, Vec<Uuid>>,
    outward: HashMap<Uuid, Vec<Uuid>>,
    fact_at: HashMap<Uuid, usize>,
}

impl Index {
    /// An empty index for vectors of this dimension; zero if nothing is embedded.
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

    /// The project that a memory belongs to, or the session of a turn.
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

    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Number of passages.
    pub fn passages(&self) -> usize {
        self.terms_of.len()
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
            + list(&self.session_projects)
            + list(&self.first_turns)
            + map(&self.links)
            + map(&self.outward)
            + map(&self.fact_at)
            + facets.map(Facets::heap_bytes).sum::<usize>()
            + names.sum::<usize>()
            + links.map(list).sum::<usize>()
    }

    /// Adds passages. Those of one source must come in one call; a passage that is already present
    /// is skipped.
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
                    self.session_projects.push(place.project);
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

    /// Sets the vectors of passages. A vector of another dimension is skipped.
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
        for (version, facets) in current {
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

    /// Number of passages of current memories and of turns that have no vector yet.
    pub fn without_vector(&self) -> usize {
        let is_current = |unit: &&Unit| unit.kind == PassageKind::Turn || unit.facets.is_some();
        let passages = self.units.iter().filter(is_current).flat_map(|unit| unit.passages.clone());
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
