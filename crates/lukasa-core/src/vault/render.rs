//! Renders the current state as files. Lines are ordered by the memories' ids, which never change,
//! so that the diff between two exports shows only real changes.

use std::collections::{BTreeMap, BTreeSet};

use super::episodes::episode_files;
use super::home::section;
use super::read::{VaultEntry, VaultNote};
use super::{Base, File, Home, VaultContents, by_fact, line, shown};
use crate::fact::{Force, State, Version};
use crate::id::FactId;
use crate::link::Link;
use crate::time::Timestamp;

/// Parts of existing files that stay unchanged: the user's own notes, and the lines that could not
/// be applied. For these the old base is kept too, so that the next comparison is the same.
#[derive(Debug, Clone, Default)]
pub struct PreservedParts<'a> {
    pub base: Option<&'a Base>,
    pub facts: BTreeSet<FactId>,
    pub entries: Vec<&'a VaultEntry>,
    pub notes: &'a [VaultNote],
    pub fronts: BTreeMap<String, String>,
    /// Links of the old base whose ends do not both exist yet.
    pub links: Vec<Link>,
}

/// One file that is being rendered.
#[derive(Default)]
struct Page {
    /// By heading: the lines of memories, preserved lines of the user, and their notes.
    sections: BTreeMap<String, Section>,
    /// The user's own headings, in the order of first use.
    foreign: Vec<String>,
}

#[derive(Default)]
struct Section {
    lines: Vec<String>,
    notes: Vec<String>,
}

const WAITING: &str = "Waiting for your yes";
const GUESSES: &str = "Only guesses so far";

/// Every file of the vault, in the order of their paths, with the base last.
pub fn render(held: &VaultContents, now: Timestamp, kept: &PreservedParts<'_>) -> Vec<File> {
    let mut pages: BTreeMap<Home, Page> = BTreeMap::from([(Home::Profile, Page::default())]);
    let homes: BTreeMap<FactId, (Version, Home)> = by_fact(&held.versions)
        .into_iter()
        .filter(|(fact, _)| !kept.facts.contains(fact))
        .filter_map(|(fact, known)| Some((fact, shown(&known, now)?)))
        .collect();
    let mut links: BTreeMap<FactId, Vec<&Link>> = BTreeMap::new();
    for link in &held.links {
        links.entry(link.from).or_default().push(link);
    }
    for (fact, (version, home)) in &homes {
        let title = match version.state {
            State::Proposed => WAITING,
            State::Candidate => GUESSES,
            _ => section(version.claim.kind),
        };
        let mut text = format!("- {}", write(version, now));
        for link in links.get(fact).into_iter().flatten() {
            if let Some((_, there)) = homes.get(&link.to) {
                text.push_str(&arrow(link, there));
            }
        }
        pages.entry(home.clone()).or_default().section(title).lines.push(text);
    }
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
    let mut files: Vec<File> = pages
        .iter()
        .map(|(home, page)| {
            let path = home.path();
            let front = kept.fronts.get(&path).cloned().unwrap_or_default();
            File { content: front + &page.write(home), path }
        })
        .collect();
    files.extend(episode_files(&held.episodes));
    files.sort_by(|one, two| one.path.cmp(&two.path));
    let mut base = Base::of(held, now);
    if let Some(earlier) = kept.base {
        base = base.with_facts_of(earlier, &kept.facts).with_links(&kept.links);
    }
    files.push(base.write());
    files
}

impl Page {
    fn section(&mut self, title: &str) -> &mut Section {
        if !is_own_heading(title) && !self.sections.contains_key(title) {
            self.foreign.push(title.to_owned());
        }
        self.sections.entry(title.to_owned()).or_default()
    }

    fn write(&self, home: &Home) -> String {
        let mut out = format!("# {}\n\n> {}\n", home.title(), home.introduction());
        let ours = crate::fact::Kind::ALL.iter().map(|kind| section(*kind));
        let foreign = self.foreign.iter().map(String::as_str).filter(|title| !title.is_empty());
        let titles = [""].into_iter().chain(ours).chain([WAITING, GUESSES]).chain(foreign);
        for title in titles {
            let Some(section) = self.sections.get(title) else { continue };
            if !title.is_empty() {
                out.push_str(&format!("\n## {title}\n"));
            }
            if !section.lines.is_empty() {
                out.push('\n');
                for line in &section.lines {
                    out.push_str(line);
                    out.push('\n');
                }
            }
            for note in &section.notes {
                out.push_str(&format!("\n{note}\n"));
            }
        }
        out
    }
}

/// Whether a heading is a generated one.
fn is_own_heading(title: &str) -> bool {
    title == WAITING
        || title == GUESSES
        || crate::fact::Kind::ALL.iter().any(|kind| section(*kind) == title)
}

/// A memory's line, without its bullet.
fn write(version: &Version, now: Timestamp) -> String {
    let claim = &version.claim;
    line::write(&claim.content, &claim.tags, &hints(version, now), version.fact)
}

/// Hints for the reader beside the words.
pub(super) fn hints(version: &Version, now: Timestamp) -> Vec<String> {
    let mut hints = Vec::new();
    if is_inferred(version) {
        let sure = (version.effective_confidence() * 100.0).round();
        hints.push(format!("inferred, {sure} % sure"));
    }
    hints.extend(steady_hints(version));
    if version.valid.from > now {
        hints.push(format!("from {}", day(version.valid.from)));
    }
    hints
}

/// The hints that do not change with time.
pub(super) fn steady_hints(version: &Version) -> Vec<String> {
    let mut hints = Vec::new();
    let claim = &version.claim;
    if claim.force == Force::Hard {
        let key = claim.key.as_deref().unwrap_or_default();
        let value = claim.value.as_ref().map(|value| format!(" = {value}")).unwrap_or_default();
        hints.push(line::hint(&format!("rule {key}{value}")));
    }
    if let Some(project) = &claim.project {
        hints.push(line::hint(&format!("project {project}")));
    }
    if claim.unmentioned {
        hints.push("not mentioned".to_owned());
    }
    if let Some(until) = version.valid.until {
        hints.push(format!("until {}", day(until)));
    }
    hints
}

pub(super) fn is_inferred(version: &Version) -> bool {
    version.extracted && version.consented_at.is_none()
}

pub(super) fn day(at: Timestamp) -> String {
    let text = at.to_string();
    text.split('T').next().unwrap_or(&text).to_owned()
}

/// A link in the syntax that editors follow.
fn arrow(link: &Link, there: &Home) -> String {
    let id = link.to.to_string().replace('_', "-");
    let path = there.path();
    format!("\n  → {} [[{}#^{id}]]", link.relation, path.strip_suffix(".md").unwrap_or(&path))
}
