//! Sessions and turns: the ground layer, what was said as it was said. Turns are appended and never
//! rewritten.

use serde::{Deserialize, Serialize};

use crate::fact::words;
use crate::id::TurnId;
use crate::limits;
use crate::origin::Origin;
use crate::time::Timestamp;

words!(
    /// Who speaks in a turn.
    Role { User = "user", Assistant = "assistant", System = "system", Tool = "tool" }
);

impl Role {
    /// Where a turn's words come from. A credential that stands for a tool, a document or an import
    /// lends its own origin to whatever it hands in, also to what it says a person said.
    pub fn origin(self, credential: Origin) -> Origin {
        let said = match self {
            Role::User => Origin::UserTurn,
            Role::Assistant => Origin::Assistant,
            Role::Tool => Origin::Tool,
            Role::System => Origin::Document,
        };
        if credential >= Origin::Assistant { said } else { said.min(credential) }
    }
}

/// One chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The name its opener gave it, or one drawn for it.
    pub id: String,
    pub title: Option<String>,
    pub opened_at: Timestamp,
    pub last_turn_at: Timestamp,
    pub turns: i32,
}

/// One message of a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub id: TurnId,
    pub session: String,
    /// Its place in the session, from one.
    pub number: i32,
    pub role: Role,
    /// The name of whoever said it, where several people speak.
    pub speaker: Option<String>,
    pub content: String,
    pub origin: Origin,
    pub said_at: Timestamp,
    pub recorded_at: Timestamp,
}

/// A message to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTurn {
    pub role: Role,
    pub speaker: Option<String>,
    pub content: String,
    /// When it was said; absent means now.
    pub said_at: Option<Timestamp>,
}

impl NewTurn {
    /// What is wrong with the turn, as (field, reason); nothing if it can be kept.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        if self.content.trim().is_empty() {
            faults.push(("content", "must say something".into()));
        }
        if self.content.chars().count() > limits::TURN_CHARS {
            faults.push(("content", format!("at most {} characters", limits::TURN_CHARS)));
        }
        let speaker = self.speaker.as_deref().unwrap_or("someone");
        if speaker.trim().is_empty() || speaker.chars().count() > limits::NAME_CHARS {
            faults.push(("speaker", format!("between 1 and {} characters", limits::NAME_CHARS)));
        }
        for (field, text) in [("content", self.content.as_str()), ("speaker", speaker)] {
            if text.contains('\0') {
                faults.push((field, "must not contain the character U+0000".into()));
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_role_decides_the_origin_and_a_weak_credential_lowers_it() {
        assert_eq!(Role::User.origin(Origin::Assistant), Origin::UserTurn);
        assert_eq!(Role::User.origin(Origin::UserSaid), Origin::UserTurn);
        assert_eq!(Role::User.origin(Origin::Import), Origin::Import);
        assert_eq!(Role::Assistant.origin(Origin::Document), Origin::Document);
        assert_eq!(Role::System.origin(Origin::UserSaid), Origin::Document);
    }

    #[test]
    fn a_turn_must_say_something_that_can_be_kept() {
        let turn = |content: &str| NewTurn {
            role: Role::User,
            speaker: None,
            content: content.into(),
            said_at: None,
        };
        assert!(turn("hello").faults().is_empty());
        assert_eq!(turn(" \n").faults().len(), 1);
        assert_eq!(turn("a\0b").faults().len(), 1);
        assert_eq!(turn(&"x".repeat(limits::TURN_CHARS + 1)).faults().len(), 1);
        let unnamed = NewTurn { speaker: Some(String::new()), ..turn("hello") };
        assert_eq!(unnamed.faults().len(), 1);
    }
}
