//! Origin: where a claim's words came from, and which claims may replace which.
//!
//! The server sets an origin from the authenticated channel; it is never read from what a caller
//! or an AI model says about itself. A derived claim has the lowest origin of its parents.

use serde::{Deserialize, Serialize};

use crate::admission::is_users_own;
use crate::fact::Version;

/// Where the words came from, from most to least trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Import,
    Document,
    Tool,
    Assistant,
    UserTurn,
    UserSaid,
}

impl Origin {
    pub const ALL: [Origin; 6] = [
        Origin::UserSaid,
        Origin::UserTurn,
        Origin::Assistant,
        Origin::Tool,
        Origin::Document,
        Origin::Import,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Origin::UserSaid => "user_said",
            Origin::UserTurn => "user_turn",
            Origin::Assistant => "assistant",
            Origin::Tool => "tool",
            Origin::Document => "document",
            Origin::Import => "import",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.as_str() == text)
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

    /// Whether this voice may end or replace `version`.
    ///
    /// An extracted claim never replaces a firm one, and never one with a more trusted origin. A
    /// statement of the user replaces anything. One of an assistant replaces inferred claims and
    /// those of assistants, and nothing that the user stated or agreed to; see
    /// [`admission::may_replace`](crate::admission::may_replace) for the exceptions. A statement of
    /// a tool, a document or an import replaces only claims with no more trusted an origin.
    pub fn may_replace(self, version: &Version) -> bool {
        if self.extracted {
            return !version.is_firm() && self.origin >= version.origin;
        }
        match self.origin {
            Origin::UserSaid | Origin::UserTurn => true,
            Origin::Assistant => !is_users_own(version),
            _ => self.origin >= version.origin && version.consented_at.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::tests::version;

    #[test]
    fn extracted_claim_never_replaces_a_stated_one() {
        for stated in Origin::ALL {
            for extracted in Origin::ALL {
                let old = version(Voice::stated(stated));
                assert!(!Voice::extracted(extracted).may_replace(&old), "{extracted:?} {stated:?}");
            }
        }
    }

    #[test]
    fn extracted_claim_replaces_extracted_ones_of_no_better_origin() {
        let old = version(Voice::extracted(Origin::UserTurn));
        assert!(Voice::extracted(Origin::UserTurn).may_replace(&old));
        assert!(!Voice::extracted(Origin::Document).may_replace(&old));
    }

    #[test]
    fn human_consent_makes_an_extracted_claim_firm() {
        let mut old = version(Voice::extracted(Origin::UserTurn));
        old.consented_at = Some(old.known.from);
        assert!(!Voice::extracted(Origin::UserTurn).may_replace(&old));
    }

    #[test]
    fn statement_of_user_replaces_anything_and_of_assistant_nothing_of_the_users() {
        for old in Origin::ALL {
            assert!(Voice::stated(Origin::UserSaid).may_replace(&version(Voice::stated(old))));
            assert!(Voice::stated(Origin::UserTurn).may_replace(&version(Voice::stated(old))));
            let of_others = old < Origin::UserTurn;
            let assistant = Voice::stated(Origin::Assistant);
            assert_eq!(assistant.may_replace(&version(Voice::stated(old))), of_others, "{old:?}");
            assert!(assistant.may_replace(&version(Voice::extracted(old))));
        }
    }

    #[test]
    fn import_replaces_only_imports() {
        let import = Voice::stated(Origin::Import);
        assert!(!import.may_replace(&version(Voice::stated(Origin::UserSaid))));
        assert!(!import.may_replace(&version(Voice::extracted(Origin::UserTurn))));
        assert!(import.may_replace(&version(Voice::stated(Origin::Import))));
    }

    #[test]
    fn derived_origin_is_the_least_trusted_parent() {
        assert_eq!(Origin::derived([Origin::UserSaid, Origin::Document]), Some(Origin::Document));
        assert_eq!(Origin::derived([]), None);
    }
}
