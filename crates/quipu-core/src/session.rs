//! Sessions and turns: the ground layer, what was said as it was said. Turns are appended and never
//! rewritten.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::fact::words;
use crate::id::{FactId, RetrievalId, TurnId};
use crate::limits;
use crate::origin::Origin;
use crate::time::Timestamp;

words!(
    /// Who speaks in a turn.
    Role { User = "user", Assistant = "assistant", System = "system", Tool = "tool" }
);
words!(
    /// Where a chat stands. Speaking in one makes it active again; the trash is an axis of its own.
    SessionState { Active = "active", Idle = "idle", Archived = "archived" }
);
words!(
    /// How much of what is said is kept once it was learned from (C28).
    Keep {
        // Every turn.
        Full = "full",
        // The turns that a memory cites.
        Excerpts = "excerpts",
        // None; memories then say that the source text was not kept.
        Nothing = "none",
    }
);
words!(
    /// Why a stretch of a turn is not its sender's own words.
    Mark { Prefilled = "prefilled", Pasted = "pasted", Quoted = "quoted" }
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
    pub state: SessionState,
    pub closed_at: Option<Timestamp>,
    pub trashed_at: Option<Timestamp>,
    /// The last turn that was learned from.
    pub extracted_through: i32,
    /// What was said up to `summary_through`, in short.
    pub summary: Option<String>,
    pub summary_through: i32,
    pub keep: Keep,
    /// Nothing said here is kept.
    pub incognito: bool,
    /// If a model gave the title: the last turn it was made from.
    #[serde(default)]
    pub named_from: Option<i32>,
}

impl Session {
    pub fn opened(id: &str, title: Option<&str>, now: Timestamp) -> Self {
        Self {
            id: id.to_owned(),
            title: title.map(str::to_owned),
            opened_at: now,
            last_turn_at: now,
            turns: 0,
            state: SessionState::Active,
            closed_at: None,
            trashed_at: None,
            extracted_through: 0,
            summary: None,
            summary_through: 0,
            keep: Keep::Full,
            incognito: false,
            named_from: None,
        }
    }

    /// Whether anything was said that has not been learned from.
    pub fn has_news(&self) -> bool {
        self.extracted_through < self.turns
    }

    /// Whether nobody has spoken here for so long that the chat can be taken for closed.
    pub fn is_abandoned(&self, idle: SignedDuration, now: Timestamp) -> bool {
        self.state == SessionState::Active && now.duration_since(self.last_turn_at) >= idle
    }
}

/// A stretch of a turn that somebody else wrote, in characters, the end not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub from: usize,
    pub to: usize,
    #[serde(rename = "as")]
    pub mark: Mark,
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
    /// What of it its sender did not write.
    pub spans: Vec<Span>,
    /// Whether whoever handed it in says so of every stretch. If not, it is guessed, and long or
    /// quoted stretches are not taken for the sender's own words.
    pub marked: bool,
}

/// A message to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTurn {
    pub role: Role,
    pub speaker: Option<String>,
    pub content: String,
    /// When it was said; absent means now.
    pub said_at: Option<Timestamp>,
    pub spans: Vec<Span>,
    /// Whether the spans are all there are; if not, the rest is guessed.
    pub marked: bool,
    /// The memories it says it used, and the retrieval that gave them.
    pub used: Vec<FactId>,
    pub retrieval: Option<RetrievalId>,
}

impl NewTurn {
    pub fn saying(role: Role, content: &str) -> Self {
        Self {
            role,
            speaker: None,
            content: content.to_owned(),
            said_at: None,
            spans: Vec::new(),
            marked: false,
            used: Vec::new(),
            retrieval: None,
        }
    }

    /// What is wrong with the turn, as (field, reason); nothing if it can be kept.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        if self.content.trim().is_empty() {
            faults.push(("content", "must say something".into()));
        }
        let length = self.content.chars().count();
        if length > limits::TURN_CHARS {
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
        if self.spans.len() > limits::SPANS {
            faults.push(("spans", format!("at most {} spans", limits::SPANS)));
        }
        if self.spans.iter().any(|span| span.from >= span.to || span.to > length) {
            faults.push(("spans", "each lies within the content and is not empty".into()));
        }
        if self.used.len() > limits::USED {
            faults.push(("used", format!("at most {} memories", limits::USED)));
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
        let turn = |content: &str| NewTurn::saying(Role::User, content);
        assert!(turn("hello").faults().is_empty());
        assert_eq!(turn(" \n").faults().len(), 1);
        assert_eq!(turn("a\0b").faults().len(), 1);
        assert_eq!(turn(&"x".repeat(limits::TURN_CHARS + 1)).faults().len(), 1);
        let unnamed = NewTurn { speaker: Some(String::new()), ..turn("hello") };
        assert_eq!(unnamed.faults().len(), 1);
    }

    #[test]
    fn a_span_lies_within_its_turn() {
        let marked = |from, to| NewTurn {
            spans: vec![Span { from, to, mark: Mark::Pasted }],
            ..NewTurn::saying(Role::User, "größer")
        };
        assert!(marked(0, 6).faults().is_empty());
        assert_eq!(marked(0, 7).faults().len(), 1);
        assert_eq!(marked(3, 3).faults().len(), 1);
    }
}
