//! From what is known to files. The order is that of the memories' ids, which never changes, so that
//! the difference between two days reads like what happened in between.

use std::collections::{BTreeMap, BTreeSet};

use super::home::section;
use super::read::{Entry, Note};
use super::{Base, File, Held, Home, by_fact, line, shown};
use crate::episode::Episode;
use crate::fact::{Force, State, Version};
use crate::id::FactId;
use crate::link::Link;
use crate::time::Timestamp;

/// What of the files that were there stays as it is: the person's own notes, and the lines that could
/// not be taken in. Of those the old base is kept too, so that the next comparison is the same.
#[derive(Debug, Clone, Default)]
pub struct Kept<'a> {
    pub base: Option<&'a Base>,
    pub facts: BTreeSet<FactId>,
    pub entries: Vec<&'a Entry>,
    pub notes: &'a [Note],
    pub fronts: BTreeMap<String, String>,
    /// Links of the old base whose ends are not both here yet.
    pub links: Vec<Link>,
}

/// One file under way.
#[derive(Default)]
struct Page {
    /// By heading: the lines of memories, what was kept of the person's lines, and their notes.
    sections: BTreeMap<String, Section>,
    /// Headings that are not ours, in the order they were met.
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
pub fn render(held: &Held, now: Timestamp, kept: &Kept<'_>) -> Vec<File> {
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
    files.extend(episodes(&held.episodes));
    files.sort_by(|one, two| one.path.cmp(&two.path));
    let mut base = Base::of(held, now);
    if let Some(earlier) = kept.base {
        base = base.holding(earlier, &kept.facts).keeping(&kept.links);
    }
    files.push(base.write());
    files
}

impl Page {
    fn section(&mut self, title: &str) -> &mut Section {
        if !order(title) && !self.foreign.iter().any(|known| known == title) {
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

/// Whether a heading is one of ours.
fn order(title: &str) -> bool {
    title == WAITING
        || title == GUESSES
        || crate::fact::Kind::ALL.iter().any(|kind| section(*kind) == title)
}

/// A memory's line, without its bullet.
fn write(version: &Version, now: Timestamp) -> String {
    let claim = &version.claim;
    line::write(&claim.content, &claim.tags, &hints(version, now), version.fact)
}

/// What a reader should know beside the words.
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

/// The hints that say the same whenever they are written.
pub(super) fn steady_hints(version: &Version) -> Vec<String> {
    let mut hints = Vec::new();
    let claim = &version.claim;
    if claim.force == Force::Hard {
        let key = claim.key.as_deref().unwrap_or_default();
        let value = claim.value.as_ref().map(|value| format!(" = {value}")).unwrap_or_default();
        hints.push(line::hint(&format!("rule {key}{value}")));
    }
    if let Some(until) = version.valid.until {
        hints.push(format!("until {}", day(until)));
    }
    hints
}

pub(super) fn is_inferred(version: &Version) -> bool {
    version.extracted && version.consented_at.is_none()
}

fn day(at: Timestamp) -> String {
    let text = at.to_string();
    text.split('T').next().unwrap_or(&text).to_owned()
}

/// Where a link leads, as editors follow it.
fn arrow(link: &Link, there: &Home) -> String {
    let id = link.to.to_string().replace('_', "-");
    let path = there.path();
    format!("\n  → {} [[{}#^{id}]]", link.relation, path.strip_suffix(".md").unwrap_or(&path))
}

/// What happened, month by month. These files are only read.
fn episodes(episodes: &[Episode]) -> Vec<File> {
    let mut sorted: Vec<&Episode> = episodes.iter().collect();
    sorted.sort_by_key(|episode| (episode.started_at, episode.id));
    let mut months: BTreeMap<String, String> = BTreeMap::new();
    for episode in sorted {
        let day = day(episode.started_at);
        let month = day.rsplit_once('-').map_or("undated", |(month, _)| month).to_owned();
        let page = months.entry(month.clone()).or_insert_with(|| {
            format!(
                "# What happened in {month}\n\n> In short, chat by chat. This file is written anew \
                 each time; edit what is remembered in the others.\n"
            )
        });
        let title = line::encode(episode.title.as_deref().unwrap_or("A conversation"));
        let id = episode.id.to_string().replace('_', "-");
        let summary = line::encode(&episode.summary);
        page.push_str(&format!("\n## {day}: {title}\n\n{summary} ^{id}\n"));
    }
    months
        .into_iter()
        .map(|(month, content)| File { path: format!("episodes/{month}.md"), content })
        .collect()
}
