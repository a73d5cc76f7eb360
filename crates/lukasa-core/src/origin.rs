//! Origin: where a claim's words came from.
//!
//! The server sets an origin from the authenticated channel; it is never read from what a caller
//! or an AI model says about itself. A derived claim has the lowest origin of its parents.

use serde::{Deserialize, Serialize};

use crate::words;

words!(
    /// Where the words came from, from least to most trusted.
    Origin {
        Import = "import",
        Document = "document",
        /// Counted in observations.
        Observed = "observed",
        Tool = "tool",
        Assistant = "assistant",
        UserTurn = "user_turn",
        UserSaid = "user_said",
    }
);

impl Origin {
    /// The origins that a key can be created with. Only the server itself records the others.
    pub const OF_KEYS: [Origin; 5] =
        [Origin::UserSaid, Origin::Assistant, Origin::Tool, Origin::Document, Origin::Import];

    /// Parses one of [`Origin::OF_KEYS`].
    pub fn parse_of_key(text: &str) -> Option<Self> {
        Self::OF_KEYS.into_iter().find(|origin| origin.as_str() == text)
    }

    /// The origin of something made from several parents: the least trusted of them.
    pub fn derived(parents: impl IntoIterator<Item = Origin>) -> Option<Origin> {
        parents.into_iter().min()
    }
}

/// The source of one operation's words: their origin, and whether they were stated to Lukasa or
/// extracted from a conversation by an AI model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Voice {
    pub origin: Origin,
    pub extracted: bool,
}

impl Voice {
    pub fn stated(origin: Origin) -> Self {
        Self { origin, extracted: false }
    }

    pub fn extracted(origin: Origin) -> Self {
        Self { origin, extracted: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_origin_is_the_least_trusted_parent() {
        assert_eq!(Origin::derived([Origin::UserSaid, Origin::Document]), Some(Origin::Document));
        assert_eq!(Origin::derived([]), None);
    }
}
