//! Recall: finds the memories and turns of one user that are relevant to a message.

mod bm25;
pub mod corpus;
mod dot;
pub mod index;
mod neighbours;
pub mod passage;
mod postings;
mod query_terms;
pub mod rank;
mod rank_cache;
#[cfg(test)]
mod rank_cache_tests;
mod scorer;
mod similarity;
#[cfg(test)]
pub(crate) mod tests;

use crate::fact::{Category, Force, Kind, MemoryType, Tier};
use crate::project::Project;
use crate::time::Timestamp;
use crate::words;

words!(
    /// A part that was unavailable or skipped: the answer was made without it.
    Degraded {
        Embedder = "embedder",
        Reranker = "reranker",
        // The user has more turns than are indexed: the oldest are not found.
        OlderTurns = "older_turns",
        Database = "database",
    }
);

/// Attributes of a memory that recall filters and ranks by.
#[derive(Debug, Clone, PartialEq)]
pub struct Facets {
    pub domain: Option<String>,
    pub project: Option<Project>,
    pub category: Category,
    pub memory_type: MemoryType,
    pub kind: Kind,
    pub force: Force,
    pub tier: Tier,
    pub importance: f32,
    /// Effective confidence: a number also for stated facts.
    pub confidence: f32,
    /// Stated, or agreed to by a human.
    pub firm: bool,
    /// Whether the user stated it, their assistant stated it, or they agreed to it.
    pub own: bool,
    /// Whether an assistant stated it and the user has not agreed to it.
    pub from_assistant: bool,
    /// Its key and its tags.
    pub names: Vec<String>,
    /// The session it was learned in, if known.
    pub session: Option<String>,
    pub valid_from: Timestamp,
    pub valid_until: Option<Timestamp>,
    /// When this version became known.
    pub known_from: Timestamp,
    /// When it was last stated or confirmed.
    pub fresh_at: Timestamp,
}

impl Facets {
    /// The weight of the memory's importance and trust in an order: a tentative memory that the user
    /// has not agreed to counts less than one that was stated or often repeated (R108).
    pub fn tier_weight(&self) -> f32 {
        match self.tier {
            Tier::Tentative if !self.firm => 0.8,
            Tier::Candidate if !self.firm => 0.6,
            _ => 1.0,
        }
    }

    /// Approximate heap size of its strings, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::capacity);
        let names = self.names.iter().map(|name| name.capacity() + size_of::<String>());
        let project = self.project.as_ref().map_or(0, |project| project.as_str().len());
        text(&self.domain) + text(&self.session) + project + names.sum::<usize>()
    }
}
