//! What a write answers: the memory as it now stands, the operation that can be undone, and a
//! sentence for the model. Also what is kept under an idempotency key.

use quipu_core::{ErasureId, FactId, Link, OperationId, Status, Timestamp, Verb, Version};
use serde::{Deserialize, Serialize};

/// A version together with the status derived for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    pub version: Version,
    pub status: Status,
}

/// Proof of an erasure: that it happened, when and how much, and none of what was erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub fact: FactId,
    /// Under which the erasure is on record. Answers kept from before there was a record have none.
    #[serde(default)]
    pub erasure: Option<ErasureId>,
    pub erased_at: Timestamp,
    pub versions: i32,
    pub links: i32,
    pub evidence: i32,
    pub answers: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub verb: Verb,
    /// The handle for undo; absent when nothing had to be written.
    pub operation: Option<OperationId>,
    /// Every memory the write touched, as it now stands; the one asked about comes first.
    pub memories: Vec<Memory>,
    pub link: Option<Link>,
    pub receipts: Vec<Receipt>,
    /// Words for the assistant to read.
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
            message,
        }
    }

    pub(crate) fn with(mut self, memory: Memory) -> Self {
        self.memories.push(memory);
        self
    }

    /// The facts whose words the outcome quotes.
    pub(crate) fn facts(&self) -> Vec<FactId> {
        let quoted = self.memories.iter().map(|memory| memory.version.fact);
        quoted.chain(self.receipts.iter().map(|receipt| receipt.fact)).collect()
    }
}
