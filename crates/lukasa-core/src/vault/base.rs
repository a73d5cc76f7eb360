//! The base: the complete state when the files were made, one JSON object per line. It is the third
//! side of the comparison, and makes the vault lossless: it contains what the lines do not show and
//! forgotten facts, but not the trash.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{BASE, File, FileProblem, Home, VaultContents, by_fact, shown};
use crate::archive::FileSignature;
use crate::episode::Episode;
use crate::fact::{State, Version};
use crate::id::FactId;
use crate::limits;
use crate::link::Link;
use crate::state_hash;
use crate::time::{Timestamp, is_storable};

const FORMAT: u32 = 1;

/// A version in the base, and the file of its line, if it had one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaseVersion {
    pub memory: Version,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Base {
    pub memories: Vec<BaseVersion>,
    pub links: Vec<Link>,
    pub episodes: Vec<Episode>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    lukasa: String,
    format: u32,
    memories: String,
    episodes: String,
}

impl Head {
    fn of(memories: String, episodes: String) -> Self {
        Self { lukasa: "vault".to_owned(), format: FORMAT, memories, episodes }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Row {
    Head(Head),
    Memory(Box<BaseVersion>),
    Link { link: Box<Link> },
    Episode { episode: Box<Episode> },
    Signature(#[expect(dead_code, reason = "it only tells the kind of the row")] SignatureRow),
}

/// The last row of a signed base. It has no other field: a row is either the signature or signed
/// content.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignatureRow {
    signature: FileSignature,
}

/// The last row of a base, with its signature.
pub fn signature_row(signature: FileSignature) -> String {
    line(&SignatureRow { signature })
}

/// Splits a base into the rows that were signed and the signature in its last row, if it has one.
pub fn split_signature(content: &str) -> Option<(&str, FileSignature)> {
    let end = content.strip_suffix('\n').unwrap_or(content).rfind('\n')? + 1;
    let (rows, last) = content.split_at(end);
    let row: SignatureRow = serde_json::from_str(last).ok()?;
    Some((rows, row.signature))
}

/// A row that is written: the head first, then memories, links and episodes.
pub enum BaseRow<'a> {
    /// The state hashes of the memories and episodes of all rows.
    Head {
        memories: String,
        episodes: String,
    },
    Memory(&'a BaseVersion),
    Link(&'a Link),
    Episode(&'a Episode),
}

impl BaseRow<'_> {
    /// The row as a line.
    pub fn line(self) -> String {
        #[derive(Serialize)]
        struct LinkRow<'a> {
            link: &'a Link,
        }
        #[derive(Serialize)]
        struct EpisodeRow<'a> {
            episode: &'a Episode,
        }
        match self {
            BaseRow::Head { memories, episodes } => line(&Head::of(memories, episodes)),
            BaseRow::Memory(based) => line(based),
            BaseRow::Link(link) => line(&LinkRow { link }),
            BaseRow::Episode(episode) => line(&EpisodeRow { episode }),
        }
    }
}

fn line(row: &impl Serialize) -> String {
    let mut line = serde_json::to_string(row).unwrap_or_default();
    line.push('\n');
    line
}

/// The rows of a fact, given its known versions, without those in the trash.
pub fn base_rows(known: &[&Version], now: Timestamp) -> Vec<BaseVersion> {
    let shown = shown(known, now);
    let rows = known.iter().filter(|v| v.state != State::Trashed).map(|version| {
        let here = shown.as_ref().filter(|(shown, _)| shown.id == version.id);
        let file = here.map(|(_, home)| home.path());
        BaseVersion { memory: (*version).clone(), file }
    });
    rows.collect()
}

/// Rows of an earlier base that the next one has too.
#[derive(Debug, Clone, Default)]
pub struct KeptRows {
    /// The facts whose rows are these ones.
    pub facts: BTreeSet<FactId>,
    /// In the order of the facts' ids.
    pub memories: Vec<BaseVersion>,
    /// Links that the next base has unless it has the same link already.
    pub links: Vec<Link>,
}

impl Base {
    /// The base of a vault that is written now.
    pub fn of(held: &VaultContents, now: Timestamp) -> Self {
        let mut base = Self::default();
        for known in by_fact(&held.versions).values() {
            base.memories.extend(base_rows(known, now));
        }
        let facts: BTreeSet<FactId> = base.memories.iter().map(|b| b.memory.fact).collect();
        let both = |link: &&Link| facts.contains(&link.from) && facts.contains(&link.to);
        base.links = held.links.iter().filter(both).cloned().collect();
        base.episodes.clone_from(&held.episodes);
        base.sort();
        base
    }

    fn sort(&mut self) {
        self.memories.sort_by_key(|b| (b.memory.fact, b.memory.valid.from, b.memory.id));
        self.links.sort_by_key(|link| link.id);
        self.episodes.sort_by_key(|episode| (episode.started_at, episode.id));
    }

    /// The same base, with the rows that are kept of an earlier one.
    pub(super) fn with_rows(mut self, kept: &KeptRows) -> Self {
        self.memories.retain(|b| !kept.facts.contains(&b.memory.fact));
        self.memories.extend(kept.memories.iter().cloned());
        let mut known: BTreeSet<_> = self.links.iter().map(Link::key).collect();
        let links = kept.links.iter().filter(|link| known.insert(link.key()));
        let links: Vec<Link> = links.cloned().collect();
        self.links.extend(links);
        self.sort();
        self
    }

    fn head(&self) -> Head {
        let versions = self.versions();
        Head::of(
            state_hash::of_memories(&versions, &self.links),
            state_hash::of_episodes(&self.episodes),
        )
    }

    pub fn write(&self) -> File {
        let Head { memories, episodes, .. } = self.head();
        let mut content = BaseRow::Head { memories, episodes }.line();
        for based in &self.memories {
            content.push_str(&BaseRow::Memory(based).line());
        }
        for link in &self.links {
            content.push_str(&BaseRow::Link(link).line());
        }
        for episode in &self.episodes {
            content.push_str(&BaseRow::Episode(episode).line());
        }
        File { path: BASE.to_owned(), content }
    }

    /// Parses a base. An invalid line is reported and skipped.
    pub fn read(text: &str, problems: &mut Vec<FileProblem>) -> Self {
        let mut base = Self::default();
        let mut head = None;
        let mut whole = true;
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let mut problem = |what: String| {
                problems.push(FileProblem { file: BASE.to_owned(), line: number + 1, what });
            };
            match serde_json::from_str::<Row>(line) {
                Ok(Row::Head(header)) if header.format != FORMAT => {
                    problem(format!(
                        "written in format {}; update Lukasa to read it",
                        header.format
                    ));
                    return Self::default();
                }
                Ok(Row::Head(header)) => head = Some(header),
                Ok(Row::Memory(based)) => match fault(&based.memory) {
                    None => base.memories.push(*based),
                    Some(what) => {
                        problem(what);
                        whole = false;
                    }
                },
                Ok(Row::Link { link }) => match link.fault() {
                    None => base.links.push(*link),
                    Some(what) => {
                        problem(what.to_owned());
                        whole = false;
                    }
                },
                Ok(Row::Episode { episode }) => match episode.fault() {
                    None => base.episodes.push(*episode),
                    Some(what) => {
                        problem(what.to_owned());
                        whole = false;
                    }
                },
                // The caller verifies the signature over the whole file.
                Ok(Row::Signature(_)) => {}
                Err(_) => {
                    problem("not a line that Lukasa wrote; it is skipped".to_owned());
                    whole = false;
                }
            }
        }
        base.memories.retain(|b| b.memory.state != State::Trashed);
        base.sort();
        if whole && head.is_some_and(|header| header != base.head()) {
            let what = "lines are missing or were changed; the rest is used".to_owned();
            problems.push(FileProblem { file: BASE.to_owned(), line: 1, what });
        }
        base
    }

    /// The lines of the base, by fact.
    pub(super) fn shown(&self) -> BTreeMap<FactId, (&Version, Home)> {
        let home = |based: &BaseVersion| based.file.as_deref().and_then(Home::at);
        let lines = self.memories.iter().filter_map(|b| Some((&b.memory, home(b)?)));
        lines.map(|(version, home)| (version.fact, (version, home))).collect()
    }

    pub(super) fn versions(&self) -> Vec<Version> {
        self.memories.iter().map(|b| b.memory.clone()).collect()
    }
}

/// Why a version of the file cannot be stored, if so; a file can contain anything.
fn fault(version: &Version) -> Option<String> {
    if let Some((field, reason)) = version.claim.faults().first() {
        return Some(format!("{field}: {reason}"));
    }
    let times = [version.confirmed_at, version.last_confirmed_at, version.consented_at];
    let mut times = times.into_iter().flatten().chain([version.valid.from, version.known.from]);
    let texts = version.turns.iter().chain(&version.session);
    let sure = version.confidence.unwrap_or(0.0);
    let what = if !(1..=limits::VERSIONS).contains(&version.number) {
        "number: must be at least 1"
    } else if !(0.0..=1.0).contains(&sure) || (!version.extracted && version.confidence.is_some()) {
        "confidence: between 0 and 1, and only for extracted memories"
    } else if !times.all(is_storable) || !version.valid.until.is_none_or(is_storable) {
        "a time that cannot be stored"
    } else if version.valid.until.is_some_and(|until| until <= version.valid.from) {
        "valid: until must be later than from"
    } else if texts.clone().any(|text| text.len() > limits::NAME_CHARS || text.contains('\0'))
        || version.turns.len() > limits::TURNS
    {
        "session or turns: too long"
    } else {
        return None;
    };
    Some(what.to_owned())
}
