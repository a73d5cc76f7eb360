//! The vault: one user's memory as a folder of markdown files that they can read, edit and keep.
//!
//! The database stays authoritative; the files are an editable view of it. [`render`] writes them,
//! [`read()`] parses them after any edits, and [`plan()`] computes the changes as a three-way diff:
//! between the base that was written beside the files, the files, and the current state. Nothing
//! here applies changes, and no text makes any of it fail.

mod base;
mod command;
mod episodes;
mod home;
mod line;
mod outline;
mod plan;
mod read;
mod read_only;
mod render;
mod subject;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use lukasa_text::screen::sensitive;
use serde::{Deserialize, Serialize};

use crate::episode::Episode;
use crate::fact::{State, Version};
use crate::id::FactId;
use crate::link::Link;
use crate::project::ProjectScope;
use crate::time::Timestamp;

pub use base::{Base, BaseRow, BaseVersion, KeptRows, base_rows, signature_row, split_signature};
pub use command::{Command, list_folder};
pub use episodes::{EpisodeSection, episode_page, is_episodes};
pub use home::Home;
pub use line::{decode, encode};
pub use outline::{Outline, PageOutline, PagePart};
pub use plan::{MissingContent, PlanStep, PlannedChange, SyncConflict, SyncPlan, plan};
pub use read::{ParsedVault, VaultEntry, VaultNote, as_bullets, read};
pub use read_only::{ConversationFiles, is_conversation, is_portrait, portrait_files};
pub use render::{PreservedParts, lines, render};
pub use subject::VaultSubject;

/// Path of the base: the state the files were made from, to distinguish edits from changes
/// elsewhere.
pub const BASE: &str = ".lukasa/base.jsonl";

/// One file of the vault; its path has forward slashes and is relative to the vault's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    pub path: String,
    pub content: String,
}

/// Everything that a vault contains: the current versions in every state, links and episodes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VaultContents {
    pub versions: Vec<Version>,
    pub links: Vec<Link>,
    pub episodes: Vec<Episode>,
}

/// The part of a memory that a request sees: facts of these projects and of no hidden domain.
#[derive(Debug, Clone)]
pub struct VisiblePart {
    pub projects: ProjectScope,
    pub hidden_domains: Vec<String>,
}

impl VisiblePart {
    pub fn all() -> Self {
        Self { projects: ProjectScope::All, hidden_domains: Vec::new() }
    }

    /// Whether it has a fact with these known versions, by the one in its line.
    pub fn has_fact(&self, known: &[&Version], now: Timestamp) -> bool {
        if self.projects == ProjectScope::All && self.hidden_domains.is_empty() {
            return true;
        }
        shown(known, now).is_some_and(|(version, _)| {
            let is_hidden = |domain: &String| self.hidden_domains.contains(domain);
            self.projects.admits(version.claim.project.as_ref())
                && !version.claim.domain.as_ref().is_some_and(is_hidden)
        })
    }

    /// Whether it has an episode of these projects, by its words.
    pub fn has_episode(&self, episode: &Episode) -> bool {
        let texts = [episode.title.as_deref().unwrap_or_default(), &episode.summary];
        let closed = |text: &&str| {
            let domains = sensitive::domains(text);
            domains.into_iter().any(|found| self.hidden_domains.iter().any(|one| one == found))
        };
        self.hidden_domains.is_empty() || !texts.iter().any(closed)
    }
}

/// Something in a file that cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileProblem {
    pub file: String,
    /// Counted from one; zero where it is about the whole file.
    pub line: usize,
    pub what: String,
}

/// The version of a fact that its line shows, and the file of the line. A fact that has ended, was
/// forgotten or is in the trash has no line.
pub fn shown<'a>(known: &[&'a Version], now: Timestamp) -> Option<(&'a Version, Home)> {
    let active = || known.iter().filter(|v| v.state == State::Active);
    let here = active()
        .find(|v| v.valid.contains(now))
        .or_else(|| active().filter(|v| v.valid.from > now).min_by_key(|v| (v.valid.from, v.id)));
    if let Some(version) = here {
        return Some((*version, Home::of(&version.claim)));
    }
    let waits = |v: &&&Version| matches!(v.state, State::Proposed | State::Candidate);
    let waiting = known.iter().filter(waits).max_by_key(|v| (v.valid.from, v.id));
    waiting.map(|version| (*version, Home::Proposals))
}

/// The versions by fact.
pub(crate) fn by_fact(versions: &[Version]) -> BTreeMap<FactId, Vec<&Version>> {
    let mut facts: BTreeMap<FactId, Vec<&Version>> = BTreeMap::new();
    for version in versions {
        facts.entry(version.fact).or_default().push(version);
    }
    facts
}
