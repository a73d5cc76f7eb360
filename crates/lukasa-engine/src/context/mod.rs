//! Context: the memory blocks for one message's prompt, and the record of what was given.
//!
//! The baseline is rendered once per session and frozen; the dynamic part is made for each message.
//! Nothing here calls a chat model, and nothing here fails a chat: if the database is unavailable
//! the context is empty and marked degraded; if it is only slow, the context contains what this
//! request has confirmed so far.

mod baseline;
mod calls;
mod note;
mod retrieve;
mod usage;
mod why;

pub use calls::ToolRun;
pub(crate) use note::MAX_CONCURRENT_RETRIEVAL_WRITES;
pub use retrieve::{BudgetUse, ConfirmedContext, Context, ContextPart, ContextRequest};
pub use usage::{
    BaselineRecord, NewUsage, RetrievalRecord, SessionRetrievals, USAGE_TYPES, UsageRecord,
    UsageStats,
};
pub use why::{Grounds, TurnExplanation};
