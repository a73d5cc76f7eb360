//! Memories: the explicit verbs, and queries. No model is called here.
//!
//! Every verb has the same shape: open a `Writing`, find the target, ask the pure rule what to
//! close and open, and finish. Queries are in `read`.

mod confirm;
mod contradict;
mod leave;
mod link;
mod outcome;
mod read;
mod review;
mod save;
mod target;
mod undo;
mod update;
mod write;

pub use confirm::ProposalDecision;
pub(crate) use contradict::CONTRADICTS;
pub use contradict::{Contradiction, ContradictionChoice};
pub(crate) use leave::remove_one;
pub use link::LinkedMemory;
pub use lukasa_store::list::{ListFilter, ListPlace};
pub use outcome::{ErasureSummary, Memory, Outcome, RemovalCounts};
pub(crate) use read::as_memory;
pub use read::{Cursor, HistoryEntry, Listing, OperationLogPage, Page, Point};
pub use review::{DoubtfulMemory, Review};
pub use save::NewMemory;
pub(crate) use save::check_domain;
pub use target::Target;
pub(crate) use undo::{TouchedMemory, reverse};
pub(crate) use update::default_effective;
pub use update::{Update, UpdateMode};
pub(crate) use write::{Effect, WriteStart, Writing};
