//! Operations: one per write, for every kind of caller. Undo reverses an operation.

use serde::{Deserialize, Serialize};

use crate::caller::CallerKind;
use crate::id::{FactId, OperationId, UserId};
use crate::origin::Voice;
use crate::removal::Sources;
use crate::time::Timestamp;
use crate::words;

words!(
    /// The kind of an operation.
    Verb {
        Save = "save",
        Change = "change",
        Correct = "correct",
        Forget = "forget",
        Confirm = "confirm",
        Propose = "propose",
        Reject = "reject",
        Link = "link",
        Unlink = "unlink",
        Delete = "delete",
        Restore = "restore",
        Undo = "undo",
        Purge = "purge",
        Erase = "erase",
        /// Everything one pass over a conversation added, changed and proposed.
        Learn = "learn",
        /// A user's decision between two memories that contradict each other.
        Resolve = "resolve",
        /// A consolidation run: learned facts promoted, rated again, or dropped.
        Consolidate = "consolidate",
        /// An import: an export of another Lukasa memory, or of another program.
        Import = "import",
        /// All edits found in the files of a vault in one sync.
        Sync = "sync",
    }
);

impl Verb {
    /// Whether it adds to what is stored, rather than removing from it or reversing it.
    pub fn adds(self) -> bool {
        match self {
            Verb::Save
            | Verb::Change
            | Verb::Correct
            | Verb::Confirm
            | Verb::Propose
            | Verb::Link
            | Verb::Restore
            | Verb::Learn
            | Verb::Resolve
            | Verb::Consolidate
            | Verb::Import
            | Verb::Sync => true,
            Verb::Forget
            | Verb::Reject
            | Verb::Unlink
            | Verb::Delete
            | Verb::Undo
            | Verb::Purge
            | Verb::Erase => false,
        }
    }

    /// Purge and erase destroy rows; every other verb only closes and opens versions.
    pub fn can_be_undone(self) -> bool {
        !matches!(self, Verb::Purge | Verb::Erase)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    pub id: OperationId,
    pub verb: Verb,
    /// Strictly increasing within one user: an operation is one instant of the known axis.
    pub at: Timestamp,
    pub caller: CallerKind,
    pub credential: String,
    pub voice: Voice,
    pub facts: Vec<FactId>,
    /// The operation this one reverses.
    pub undoes: Option<OperationId>,
    /// The operation that reversed this one, unless it was itself undone.
    pub undone_by: Option<OperationId>,
    /// The policy versions in force when it was made: the tenant's and the user's.
    #[serde(default)]
    pub policy: Option<String>,
    /// Sources other than facts that it removed or restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<Sources>,
    /// The member who wrote it, if it is of a space. It is not exported.
    #[serde(skip)]
    pub member: Option<UserId>,
}
