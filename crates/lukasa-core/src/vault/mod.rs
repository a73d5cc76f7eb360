//! The vault: one person's memory as a folder of markdown files that they can read, edit and keep.
//!
//! The record stays where it is; the files are a view of it that can be written on. [`render`] makes
//! them, [`read()`] takes them in again however they were edited, and [`plan()`] says what became of
//! them since: three-way, between the base that was written beside the files, the files, and what is
//! known now. Nothing here applies anything, and no text makes any of it fail.

mod base;
mod command;
mod home;
mod line;
mod plan;
mod read;
mod render;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::episode::Episode;
use crate::fact::{State, Version};
use crate::id::FactId;
use crate::link::Link;
use crate::time::Timestamp;

pub use base::{Base, Based, add_signature, split_signature};
pub use command::Command;
pub use home::Home;
pub use line::{decode, encode};
pub use plan::{Conflict, Missing, Plan, Step, What, plan};
pub use read::{Entry, Note, Read, as_bullets, read};
pub use render::{Kept, render};

/// What the files were made from, so that an edit can be told from a change elsewhere.
pub const BASE: &str = ".lukasa/base.jsonl";

/// One file of the vault; its path has forward slashes and begins at the vault's own folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    pub path: String,
    pub content: String,
}

/// Everything that a vault shows of a memory: what is known now, in whatever standing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Held {
    pub versions: Vec<Version>,
    pub links: Vec<Link>,
    pub episodes: Vec<Episode>,
}

/// Something in a file that cannot be taken in as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    pub file: String,
    /// Counted from one; zero where it is about the whole file.
    pub line: usize,
    pub what: String,
}

/// The version of a fact that its line shows, and the file the line stands in. What has ended, was
/// forgotten or lies in the trash has no line.
pub fn shown(known: &[&Version], now: Timestamp) -> Option<(Version, Home)> {
    let active = || known.iter().filter(|v| v.state == State::Active);
    let here = active()
        .find(|v| v.valid.contains(now))
        .or_else(|| active().filter(|v| v.valid.from > now).min_by_key(|v| (v.valid.from, v.id)));
    if let Some(version) = here {
        return Some(((*version).clone(), Home::of(&version.claim)));
    }
    let waits = |v: &&&Version| matches!(v.state, State::Proposed | State::Candidate);
    let waiting = known.iter().filter(waits).max_by_key(|v| (v.valid.from, v.id));
    waiting.map(|version| ((*version).clone(), Home::Proposals))
}

/// The versions by fact.
pub(crate) fn by_fact(versions: &[Version]) -> BTreeMap<FactId, Vec<&Version>> {
    let mut facts: BTreeMap<FactId, Vec<&Version>> = BTreeMap::new();
    for version in versions {
        facts.entry(version.fact).or_default().push(version);
    }
    facts
}
