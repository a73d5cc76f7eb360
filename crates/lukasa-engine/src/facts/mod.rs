//! Memories: the explicit verbs, and queries. No model is called here.
//!
//! Every verb has the same shape: open a `Writing`, find the target, ask the pure rule what to
//! close and open, and finish. Queries are in `read`.

mod affirm;
mod confirm;
mod filing;
mod link;
mod read;
mod save;
mod target;
mod update;

use std::sync::Arc;

use crate::parts::Parts;
use crate::policy::Policies;
use crate::transaction::Transactions;

pub use affirm::Affirmation;
pub use confirm::ProposalDecision;
pub(crate) use confirm::check_other_member;
pub use filing::FilingSuggestions;
pub use link::{LinkPage, LinkedMemory, MAX_GRAPH_DEPTH, MemoryGraph};
pub use lukasa_store::fact::HistoryPlace;
pub use lukasa_store::list::{ListFilter, ListPlace, ListedProjects};
pub use read::{Cursor, HistoryEntry, HistoryPage, Listing, OperationLogPage, Page};
pub use save::NewMemory;
pub use target::Target;
pub use update::{Update, UpdateMode};
pub(crate) use update::{default_effective, remaining};

/// The explicit verbs on memories, and queries.
#[derive(Clone)]
pub struct Facts {
    parts: Arc<Parts>,
    transactions: Transactions,
    policies: Policies,
}

impl Facts {
    pub(crate) fn new(parts: Arc<Parts>, transactions: Transactions, policies: Policies) -> Self {
        Self { parts, transactions, policies }
    }
}
