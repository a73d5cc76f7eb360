//! Context: the memory blocks for one message's prompt, and the record of what was given.
//!
//! The baseline is rendered once per session and frozen; the dynamic part is made for each message.
//! Nothing here calls a chat model, and nothing here fails a chat: if the database is unavailable
//! the context is empty and marked degraded; if it is only slow, the context contains what this
//! request has confirmed so far.

mod baseline;
mod baseline_cache;
mod baseline_key;
mod budget_use;
mod dynamic;
mod feedback;
mod inputs;
mod portraits;
mod retrieval_log;
mod retrieve;
mod shared;
mod tool_calls;
mod trace;
mod usage;
mod why;

use std::sync::Arc;

use crate::parts::Parts;
use crate::recall::Recall;
use crate::transaction::Transactions;

pub use crate::memory::MemoryRating;
pub(crate) use baseline_cache::BaselineCache;
pub use budget_use::BudgetUse;
pub use feedback::{NewPrediction, Prediction, PredictionResult};
pub(crate) use retrieval_log::RetrievalLog;
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
    log: RetrievalLog,
    baselines: BaselineCache,
}

impl Contexts {
    pub(crate) fn new(
        parts: Arc<Parts>,
        transactions: Transactions,
        recall: Recall,
        log: RetrievalLog,
        baselines: BaselineCache,
    ) -> Self {
        Self { parts, transactions, recall, log, baselines }
    }
}
