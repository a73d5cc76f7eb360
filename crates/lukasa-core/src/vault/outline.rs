//! The place of every memory's line, without its words. With it, pages can be rendered in blocks: it
//! takes about fifty bytes for each memory.

use std::collections::{BTreeMap, BTreeSet};

use super::home::section;
use super::render::PreservedParts;
use super::{Home, shown};
use crate::fact::{Kind, State, Version};
use crate::id::FactId;
use crate::time::Timestamp;

const WAITING: &str = "Waiting for your yes";
const GUESSES: &str = "Only guesses so far";

/// The places of the lines of a memory.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    /// The facts outside the trash, in the order of their ids, with the places of their lines.
    facts: Vec<(FactId, Option<LinePlace>)>,
    /// The files that have lines.
    homes: Vec<Home>,
    numbers: BTreeMap<Home, u32>,
}

/// The place of a line: the number of its file, and that of its heading.
#[derive(Debug, Clone, Copy)]
struct LinePlace {
    home: u32,
    section: u8,
}

/// A file of memories: what to write, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageOutline {
    pub path: String,
    pub parts: Vec<PagePart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PagePart {
    Text(String),
    /// The lines of these memories.
    Memories(Vec<FactId>),
}

/// One file that is being put together.
#[derive(Default)]
struct Page {
    /// By heading: the memories, preserved lines of the user, and their notes.
    sections: BTreeMap<String, Section>,
    /// The user's own headings, in the order of first use.
    foreign: Vec<String>,
}

#[derive(Default)]
struct Section {
    facts: Vec<FactId>,
    lines: Vec<String>,
    notes: Vec<String>,
}

impl Outline {
    /// Adds the next fact in the order of their ids, with its known versions.
    pub fn push(&mut self, known: &[&Version], now: Timestamp) {
        let Some(first) = known.iter().find(|v| v.state != State::Trashed) else { return };
        let place = shown(known, now).map(|(version, home)| {
            let title = match version.state {
                State::Proposed => WAITING,
                State::Candidate => GUESSES,
                _ => section(version.claim.kind),
            };
            LinePlace { home: self.number(home), section: section_number(title) }
        });
        self.facts.push((first.fact, place));
    }

    /// The number of a file.
    fn number(&mut self, home: Home) -> u32 {
        if let Some(number) = self.numbers.get(&home) {
            return *number;
        }
        let number = u32::try_from(self.homes.len()).unwrap_or(u32::MAX);
        self.homes.push(home.clone());
        self.numbers.insert(home, number);
        number
    }

    fn find(&self, fact: FactId) -> Option<usize> {
        self.facts.binary_search_by_key(&fact, |(fact, _)| *fact).ok()
    }

    /// Whether the memory has this fact outside the trash.
    pub fn has(&self, fact: FactId) -> bool {
        self.find(fact).is_some()
    }

    /// The file with the line of a fact.
    pub fn home(&self, fact: FactId) -> Option<&Home> {
        let (_, place) = self.facts[self.find(fact)?];
        self.homes.get(place?.home as usize)
    }

    /// The facts with a line in these files.
    pub fn facts_in(&self, is_wanted: impl Fn(&Home) -> bool) -> Vec<FactId> {
        let wanted: Vec<bool> = self.homes.iter().map(is_wanted).collect();
        let is_there = |place: &LinePlace| wanted[place.home as usize];
        let there = self.facts.iter().filter(|(_, place)| place.as_ref().is_some_and(is_there));
        there.map(|(fact, _)| *fact).collect()
    }

    /// Leaves out the lines of these facts, and the links to them.
    pub fn leave_out(&mut self, facts: &BTreeSet<FactId>) {
        for fact in facts {
            if let Some(at) = self.find(*fact) {
                self.facts[at].1 = None;
            }
        }
    }

    /// The files of memories with what is preserved of them, in the order of their paths.
    pub fn pages(&self, kept: &PreservedParts<'_>) -> Vec<PageOutline> {
        let titles = own_titles();
        let mut own: Vec<Page> = self.homes.iter().map(|_| Page::default()).collect();
        for (fact, place) in &self.facts {
            if let Some(place) = place
                && let Some(title) = titles.get(usize::from(place.section))
            {
                own[place.home as usize].section(title).facts.push(*fact);
            }
        }
        let own = self.homes.iter().cloned().zip(own).filter(|(_, page)| !page.sections.is_empty());
        let mut pages: BTreeMap<Home, Page> = own.collect();
        pages.entry(Home::Profile).or_default();
        for entry in &kept.entries {
            let page = pages.entry(entry.home.clone()).or_default();
            page.section(&entry.section).lines.push(entry.raw.clone());
        }
        for note in kept.notes {
            let page = pages.entry(note.home.clone()).or_default();
            page.section(&note.section).notes.push(note.text.clone());
        }
        for path in kept.fronts.keys() {
            if let Some(home) = Home::at(path) {
                pages.entry(home).or_default();
            }
        }
        let outline = |(home, page): (Home, Page)| {
            let path = home.path();
            let front = kept.fronts.get(&path).cloned().unwrap_or_default();
            PageOutline { parts: page.parts(&home, front), path }
        };
        let mut pages: Vec<PageOutline> = pages.into_iter().map(outline).collect();
        pages.sort_by(|one, two| one.path.cmp(&two.path));
        pages
    }
}

impl Page {
    fn section(&mut self, title: &str) -> &mut Section {
        if !self.sections.contains_key(title) {
            if !own_titles().contains(&title) {
                self.foreign.push(title.to_owned());
            }
            self.sections.insert(title.to_owned(), Section::default());
        }
        self.sections.entry(title.to_owned()).or_default()
    }

    fn parts(mut self, home: &Home, front: String) -> Vec<PagePart> {
        let mut parts = Vec::new();
        let mut text = front;
        text.push_str(&format!("# {}\n\n> {}\n", home.title(), home.introduction()));
        let foreign = std::mem::take(&mut self.foreign);
        let foreign = foreign.iter().map(String::as_str).filter(|title| !title.is_empty());
        for title in [""].into_iter().chain(own_titles()).chain(foreign) {
            let Some(section) = self.sections.remove(title) else { continue };
            if !title.is_empty() {
                text.push_str(&format!("\n## {title}\n"));
            }
            if !section.facts.is_empty() || !section.lines.is_empty() {
                text.push('\n');
            }
            if !section.facts.is_empty() {
                parts.push(PagePart::Text(std::mem::take(&mut text)));
                parts.push(PagePart::Memories(section.facts));
            }
            for line in &section.lines {
                text.push_str(line);
                text.push('\n');
            }
            for note in &section.notes {
                text.push_str(&format!("\n{note}\n"));
            }
        }
        if !text.is_empty() {
            parts.push(PagePart::Text(text));
        }
        parts
    }
}

/// The generated headings, in order.
fn own_titles() -> Vec<&'static str> {
    let kinds = Kind::ALL.iter().map(|kind| section(*kind));
    kinds.chain([WAITING, GUESSES]).collect()
}

fn section_number(title: &str) -> u8 {
    let at = own_titles().iter().position(|own| *own == title);
    at.and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX)
}
