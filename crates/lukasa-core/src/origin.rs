//! Origin: where a claim's words came from.
//!
//! The server sets an origin from the authenticated channel; it is never read from what a caller
//! or an AI model says about itself. A derived claim has the lowest origin of its parents.

use serde::{Deserialize, Serialize};

/// Where the words came from, from most to least trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Import,
    Document,
    /// Counted in observations.
    Observed,
    Tool,
    Assistant,
    UserTurn,
    UserSaid,
}

impl Origin {
    pub const ALL: [Origin; 7] = [
        Origin::UserSaid,
        Origin::UserTurn,
        Origin::Assistant,
        Origin::Tool,
        Origin::Observed,
        Origin::Document,
        Origin::Import,
    ];

    /// The origins that a key can be created with. Only the server itself records the others.
    pub const OF_KEYS: [Origin; 5] =
        [Origin::UserSaid, Origin::Assistant, Origin::Tool, Origin::Document, Origin::Import];

    pub fn as_str(self) -> &'static str {
        match self {
            Origin::UserSaid => "user_said",
            Origin::UserTurn => "user_turn",
            Origin::Assistant => "assistant",
            Origin::Tool => "tool",
            Origin::Observed => "observed",
            Origin::Document => "document",
            Origin::Import => "import",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.as_str() == text)
    }

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
