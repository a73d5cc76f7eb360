//! Context: the memory blocks for one message's prompt, and the record of what was given.
//!
//! The baseline is rendered once per session and frozen; the dynamic part is made for each message.
//! Nothing here calls a chat model, and nothing here fails a chat: if the database is unavailable
//! the context is empty and marked degraded; if it is only slow, the context contains what this
//! request has confirmed so far.

mod baseline;
mod baseline_key;
mod budget_use;
mod feedback;
mod retrieval_log;
mod retrieve;
mod tool_calls;
mod trace;
mod usage;
mod why;

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::parts::Parts;
use crate::recall::Recall;
use crate::transaction::Transactions;

pub use budget_use::BudgetUse;
pub use feedback::{MemoryRating, NewPrediction, Prediction, PredictionResult};
pub(crate) use retrieval_log::MAX_CONCURRENT_RETRIEVAL_WRITES;
pub use retrieve::{ConfirmedContext, Context, ContextPart, ContextRequest};
pub use tool_calls::ToolRun;
pub use usage::{
    BaselineRecord, NewUsage, RetrievalRecord, SessionRetrievals, USAGE_TYPES, UsageRecord,
    UsageStats,
};
pub use why::{Grounds, TurnExplanation};

/// The memory blocks of prompts, and the record of what was given.
#[derive(Clone)]
pub struct Contexts {
    parts: Arc<Parts>,
    transactions: Transactions,
    recall: Recall,
    retrieval_writes: Arc<Semaphore>,
}

impl Contexts {
    pub(crate) fn new(
        parts: Arc<Parts>,
        transactions: Transactions,
        recall: Recall,
        retrieval_writes: Arc<Semaphore>,
    ) -> Self {
        Self { parts, transactions, recall, retrieval_writes }
    }
}
