//! Result of a write: the memory after it, the operation that can be undone, and a sentence for the
//! model. Also what is stored under an idempotency key.

use lukasa_core::{ErasureId, FactId, Link, OperationId, Timestamp, Verb};
use serde::{Deserialize, Serialize};

use crate::memory::Memory;

/// Proof of an erasure: that it happened, when and how much, and none of what was erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasureSummary {
    pub fact: FactId,
    /// Id of the erasure record. Stored answers from before there were such records have none.
    #[serde(default)]
    pub erasure: Option<ErasureId>,
    pub erased_at: Timestamp,
    pub versions: i32,
    pub links: i32,
    pub evidence: i32,
    pub answers: i32,
}

/// Counts of what removing a source affected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovalCounts {
    pub turns: usize,
    #[serde(default)]
    pub observations: usize,
    pub episodes: usize,
    /// Memories that were removed too, that lost support, and that stay because the user stated
    /// them.
    pub withdrawn: usize,
    pub weakened: usize,
    pub kept: usize,
    pub portraits: usize,
}

impl std::fmt::Display for RemovalCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let many = |count: usize, one: &str, more: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{count} {more}")),
        };
        let parts: Vec<String> = [
            many(self.turns, "turn", "turns"),
            many(self.observations, "observation", "observations"),
            many(self.withdrawn, "memory", "memories"),
            many(self.weakened, "memory with less support", "memories with less support"),
            many(self.episodes, "episode", "episodes"),
            many(self.portraits, "portrait", "portraits"),
        ]
        .into_iter()
        .flatten()
        .collect();
        f.write_str(if parts.is_empty() { "nothing else" } else { "" })?;
        f.write_str(&parts.join(", "))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub verb: Verb,
    /// The handle for undo; absent when nothing had to be written.
    pub operation: Option<OperationId>,
    /// Every memory the write touched, in its new state; the target comes first.
    pub memories: Vec<Memory>,
    pub link: Option<Link>,
    pub receipts: Vec<ErasureSummary>,
    /// Counts of what a removed source affected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<RemovalCounts>,
    /// Message for the assistant to read.
    pub message: String,
}

impl Outcome {
    pub(crate) fn of(verb: Verb, message: String) -> Self {
        Self {
            verb,
            operation: None,
            memories: Vec::new(),
            link: None,
            receipts: Vec::new(),
            reached: None,
            message,
        }
    }

    pub(crate) fn with(mut self, memory: Memory) -> Self {
        self.memories.push(memory);
        self
    }

    /// The facts whose content the outcome quotes.
    pub(crate) fn facts(&self) -> Vec<FactId> {
        let quoted = self.memories.iter().map(|memory| memory.version.fact);
        quoted.chain(self.receipts.iter().map(|receipt| receipt.fact)).collect()
    }
}
