//! The part of a memory that files are about: a plan needs no more of it.

use std::collections::BTreeSet;

use uuid::Uuid;

use super::plan::{is_live, line_words};
use super::{Home, ParsedVault, shown};
use crate::fact::{Version, fingerprint};
use crate::id::{EpisodeId, FactId};
use crate::time::Timestamp;

/// What files are about: the memories and summaries they name, and the words of their new lines.
#[derive(Debug, Clone, Default)]
pub struct VaultSubject {
    facts: BTreeSet<FactId>,
    episodes: BTreeSet<EpisodeId>,
    lines: BTreeSet<(Home, String)>,
    fingerprints: BTreeSet<Uuid>,
}

impl VaultSubject {
    pub fn of(read: &ParsedVault) -> Self {
        let mut subject = Self::default();
        subject.facts.extend(read.base.memories.iter().map(|b| b.memory.fact));
        subject.facts.extend(read.base.links.iter().flat_map(|link| [link.from, link.to]));
        subject.facts.extend(read.entries.iter().filter_map(|entry| entry.fact));
        subject.episodes.extend(read.episodes.iter().map(|section| section.id));
        for entry in read.entries.iter().filter(|entry| entry.fact.is_none()) {
            let claim = entry.home.claim(&entry.content, &entry.tags, &entry.section);
            subject.fingerprints.insert(fingerprint(&claim));
            subject.lines.insert(line_words(entry.home.clone(), &entry.content));
        }
        subject
    }

    /// Whether a fact with these known versions belongs to it.
    pub fn has_fact(&self, known: &[&Version], now: Timestamp) -> bool {
        let is_named = known.iter().any(|version| self.facts.contains(&version.fact));
        let is_same_line = || {
            let line = shown(known, now);
            line.is_some_and(|(version, home)| {
                self.lines.contains(&line_words(home, &version.claim.content))
            })
        };
        let is_duplicate = |version: &&Version| {
            is_live(version, now) && self.fingerprints.contains(&fingerprint(&version.claim))
        };
        is_named || (!self.lines.is_empty() && (is_same_line() || known.iter().any(is_duplicate)))
    }

    pub fn has_episode(&self, id: EpisodeId) -> bool {
        self.episodes.contains(&id)
    }
}
