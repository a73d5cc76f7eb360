//! Memories: the explicit verbs and the questions about them. No model is called here.
//!
//! Every verb has the same shape: open a `Writing`, find the target, ask the pure rule what
//! to close and open, and finish. Reading is in `read`.

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

pub use confirm::Decision;
pub(crate) use contradict::CONTRADICTS;
pub use contradict::{Contradiction, True};
pub(crate) use leave::remove_one;
pub use link::LinkView;
pub use lukasa_store::list::{Filter, Place};
pub use outcome::{Memory, Outcome, Reached, Receipt};
pub(crate) use read::as_memory;
pub use read::{Cursor, HistoryEntry, Listing, OperationPage, Page, Point};
pub use review::{Doubt, Review};
pub use save::NewMemory;
pub(crate) use save::check_domain;
pub use target::Target;
pub(crate) use undo::{Touched, reverse};
pub(crate) use update::default_effective;
pub use update::{Mode, Update};
pub(crate) use write::{Begun, Effect, Writing};
