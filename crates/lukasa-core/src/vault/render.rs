//! Renders the current state as files. Lines are ordered by the memories' ids, which never change,
//! so that the diff between two exports shows only real changes.

use std::collections::{BTreeMap, BTreeSet};

use super::episodes::episode_pages;
use super::read::{VaultEntry, VaultNote};
use super::{Base, File, Home, KeptRows, Outline, PagePart, VaultContents, by_fact, line, shown};
use crate::fact::{Force, Version};
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

impl PreservedParts<'_> {
    /// The rows of the old base that the next one has.
    pub fn rows(&self) -> KeptRows {
        let Some(base) = self.base else { return KeptRows::default() };
        let held = base.memories.iter().filter(|b| self.facts.contains(&b.memory.fact));
        let (facts, memories) = (self.facts.clone(), held.cloned().collect());
        KeptRows { facts, memories, links: self.links.clone() }
    }
}

/// Every file of the vault, in the order of their paths, with the base last.
pub fn render(held: &VaultContents, now: Timestamp, kept: &PreservedParts<'_>) -> Vec<File> {
    let facts = by_fact(&held.versions);
    let mut outline = Outline::default();
    for known in facts.values() {
        outline.push(known, now);
    }
    outline.leave_out(&kept.facts);
    let mut links: BTreeMap<FactId, Vec<&Link>> = BTreeMap::new();
    for link in &held.links {
        links.entry(link.from).or_default().push(link);
    }
    let mut files: Vec<File> = Vec::new();
    for page in outline.pages(kept) {
        let mut content = String::new();
        for part in page.parts {
            match part {
                PagePart::Text(text) => content.push_str(&text),
                PagePart::Memories(of_page) => {
                    for fact in of_page {
                        let known = facts.get(&fact).map(Vec::as_slice).unwrap_or_default();
                        let links = links.get(&fact).map(Vec::as_slice).unwrap_or_default();
                        content.push_str(&lines(known, links, &outline, now));
                    }
                }
            }
        }
        files.push(File { path: page.path, content });
    }
    for (path, content) in episode_pages(&held.episodes) {
        match files.last_mut().filter(|last| last.path == path) {
            Some(last) => last.content.push_str(&content),
            None => files.push(File { path, content }),
        }
    }
    files.sort_by(|one, two| one.path.cmp(&two.path));
    files.push(Base::of(held, now).with_rows(&kept.rows()).write());
    files
}

/// The lines of a memory with its links, given its known versions.
pub fn lines(known: &[&Version], links: &[&Link], outline: &Outline, now: Timestamp) -> String {
    let Some((version, _)) = shown(known, now) else { return String::new() };
    let mut text = format!("- {}", write(version, now));
    for link in links {
        if let Some(there) = outline.home(link.to) {
            text.push_str(&arrow(link, there));
        }
    }
    text.push('\n');
    text
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
