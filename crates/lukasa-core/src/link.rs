//! Links between memories. A link refers to the stable ids of two facts, so it follows a fact
//! through every change and correction; it is visible only while both ends are live.

use serde::{Deserialize, Serialize};

use crate::id::{FactId, LinkId, OperationId};
use crate::time::{Period, is_storable};

/// The relation from a waiting memory to the active one that it contradicts.
pub const CONTRADICTS: &str = "contradicts";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    pub id: LinkId,
    pub from: FactId,
    pub to: FactId,
    /// `relates_to`, `supersedes`, `contradicts`, or any word chosen by the caller.
    pub relation: String,
    pub known: Period,
    pub opened_by: OperationId,
    pub closed_by: Option<OperationId>,
    /// The link that this one reopens after an undo.
    pub reopens: Option<LinkId>,
}

impl Link {
    /// The same link, reopened by another operation.
    pub fn reopened(&self, id: LinkId, by: OperationId, known: Period) -> Self {
        Self {
            id,
            known,
            opened_by: by,
            closed_by: None,
            reopens: Some(self.root()),
            ..self.clone()
        }
    }

    /// Why the link cannot be stored, for links read from a file; `None` if it can.
    pub fn fault(&self) -> Option<&'static str> {
        let times = [Some(self.known.from), self.known.until];
        if !is_relation(&self.relation) {
            Some("relation: a short lower-case word with underscores")
        } else if self.from == self.to {
            Some("a link from a memory to itself")
        } else if !times.into_iter().flatten().all(is_storable) {
            Some("a time is out of range")
        } else {
            None
        }
    }

    /// The link that this one is or reopens.
    pub fn root(&self) -> LinkId {
        self.reopens.unwrap_or(self.id)
    }
}

/// Whether a text is a valid relation: a short lower-case word with underscores, so that relations
/// group and filter well.
pub fn is_relation(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= crate::limits::RELATION_CHARS
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && text.as_bytes()[0].is_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    #[test]
    fn relations_are_plain_words() {
        for good in ["relates_to", "supersedes", "contradicts", "part_of_2"] {
            assert!(super::is_relation(good), "{good}");
        }
        for bad in ["", "Relates", "two words", "_x", "9x", "a-b", &"x".repeat(65)] {
            assert!(!super::is_relation(bad), "{bad}");
        }
    }
}
