//! Context: what an assistant is given for one message, and the record of it.
//!
//! The baseline is rendered once per session and frozen; the dynamic part is made for each message.
//! Nothing here calls a chat model, and nothing here fails a chat: with the database away the answer
//! is empty, marked degraded; if it is only slow, the answer is what this request has confirmed so far.

mod baseline;
mod calls;
mod note;
mod retrieve;
mod usage;
mod why;

pub use calls::ToolRun;
pub(crate) use note::NOTES_AT_ONCE;
pub use retrieve::{Ask, Confirmed, Context, Part, Spent};
pub use usage::{
    BaselineRecord, Given, NewUsage, RetrievalRecord, USAGE_TYPES, UsageRecord, UsageStats,
};
pub use why::{Grounds, Why};
