//! Recall: finding what bears on a message among everything one person's memory holds.

mod asked;
mod bm25;
pub mod index;
mod look;
pub mod passage;
pub mod rank;
#[cfg(test)]
mod tests;
pub mod text;

use crate::fact::{Category, Force, Kind, MemoryType, Tier};
use crate::time::Timestamp;

/// What recall filters and weighs a memory by.
#[derive(Debug, Clone, PartialEq)]
pub struct Facets {
    pub domain: Option<String>,
    pub category: Category,
    pub memory_type: MemoryType,
    pub kind: Kind,
    pub force: Force,
    pub tier: Tier,
    pub importance: f32,
    /// The effective one: a number also for what was stated.
    pub confidence: f32,
    /// Stated, or agreed to by a human.
    pub firm: bool,
    /// In the person's own words, told by the assistant they speak with, or agreed to by them.
    pub own: bool,
    /// Told by an assistant, and the user has not agreed to it.
    pub told: bool,
    /// What it is called: its key and its tags.
    pub names: Vec<String>,
    /// The session it was learned in, if it says.
    pub session: Option<String>,
    pub valid_from: Timestamp,
    pub valid_until: Option<Timestamp>,
    /// When this version came to be known.
    pub known_from: Timestamp,
    /// When it was last said to be so.
    pub fresh_at: Timestamp,
}

impl Facets {
    /// About how many bytes its strings take beside itself.
    pub(crate) fn heap_bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::capacity);
        let names = self.names.iter().map(|name| name.capacity() + size_of::<String>());
        text(&self.domain) + text(&self.session) + names.sum::<usize>()
    }
}
