//! Sessions and turns: the ground layer, what was said as it was said, except that secrets
//! are masked (see `masking`). Turns are appended and never rewritten.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::context::line::is_visible;
use crate::fact::words;
use crate::id::{FactId, RetrievalId, TurnId, UserId, derived};
use crate::limits;
use crate::origin::Origin;
use crate::screen::own;
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

    /// The name of the chat that a user began with these words, for whoever does not name it. The same
    /// chat is found again each time; two that begin with the very same words are one.
    pub fn begun_with(user: UserId, opening: &str) -> String {
        let id = derived("session", &[user.uuid().as_bytes(), opening.as_bytes()]);
        format!("chat_{}", id.simple())
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

/// Whether a session can have this name.
pub fn is_session_name(name: &str) -> bool {
    is_visible(name)
        && name.chars().count() <= limits::NAME_CHARS
        && name.len() <= limits::SESSION_NAME_BYTES
        && !name.contains('\0')
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

    /// A message that was overheard: without what Lukasa itself had put into it, and cut to what a turn
    /// can hold. Nothing if nothing is left to keep.
    pub fn overheard(role: Role, text: &str, at: Timestamp) -> Option<Self> {
        // More than is kept, because what Lukasa had put into it does not count.
        let end = text.char_indices().nth(4 * limits::TURN_CHARS).map_or(text.len(), |(at, _)| at);
        let own = own::strip(&text[..end]);
        let kept: String = own.chars().filter(|c| *c != '\0').take(limits::TURN_CHARS).collect();
        let said = is_visible(&kept);
        said.then(|| Self { said_at: Some(at), ..Self::saying(role, &kept) })
    }

    fn says(&self, turn: &Turn) -> bool {
        self.role == turn.role && self.content == turn.content
    }

    /// What is wrong with the turn, as (field, reason); nothing if it can be kept.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        if !is_visible(&self.content) {
            faults.push(("content", "must contain visible text".into()));
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

/// One round of a chat as it was overheard: what was said since the assistant last spoke, and what it
/// answered.
///
/// A client sends the whole chat each time, of which only the end is new. What lies before that end
/// is not looked at: a turn that its person has deleted since must not come back with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchange {
    /// What the assistant had said last before this round.
    pub before: Option<String>,
    pub said: Vec<NewTurn>,
    pub answer: Option<NewTurn>,
    /// The id by which the service that answered knows its answer, if it keeps it.
    pub response: Option<String>,
}

impl Exchange {
    /// How many of the last turns of a chat [`Exchange::news`] needs to see.
    pub const LOOKS_BACK: i32 = 50;

    /// What of it the chat does not hold yet, given its last turns. A message is sent again when its
    /// answer was lost, or when another one is wanted; then only the answer is new.
    pub fn news(self, held: &[Turn]) -> Vec<NewTurn> {
        let is_answer = |turn: &Turn| turn.role == Role::Assistant;
        let last = held.last().filter(|turn| is_answer(turn));
        let goes_on = last.is_some_and(|last| Some(&last.content) == self.before.as_ref());
        let asked = held.iter().rposition(|turn| !is_answer(turn)).map_or(0, |at| at + 1);
        let asked = &held[..asked];
        let repeats = |count: &usize| {
            let there = &asked[asked.len() - count..];
            there.iter().zip(&self.said).all(|(turn, new)| new.says(turn))
        };
        let most = if goes_on { 0 } else { self.said.len().min(asked.len()) };
        let repeated = (0..=most).rev().find(repeats).unwrap_or(0);
        let same = |answer: &NewTurn| last.is_some_and(|last| answer.says(last));
        let answered_so = repeated == self.said.len() && self.answer.as_ref().is_some_and(same);
        let answer = self.answer.filter(|_| !answered_so);
        self.said.into_iter().skip(repeated).chain(answer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(before: Option<&str>, said: &[(Role, &str)], answer: &str) -> Exchange {
        let new = |(role, text): &(Role, &str)| NewTurn::saying(*role, text);
        Exchange {
            before: before.map(str::to_owned),
            said: said.iter().map(new).collect(),
            answer: (!answer.is_empty()).then(|| new(&(Role::Assistant, answer))),
            response: None,
        }
    }

    fn held(turns: &[(Role, &str)]) -> Vec<Turn> {
        let turn = |(number, (role, content)): (i32, &(Role, &str))| Turn {
            id: TurnId::from_uuid(uuid::Uuid::nil()),
            session: "c".into(),
            number,
            role: *role,
            speaker: None,
            content: (*content).to_owned(),
            origin: Origin::UserTurn,
            said_at: Timestamp::UNIX_EPOCH,
            recorded_at: Timestamp::UNIX_EPOCH,
            spans: Vec::new(),
            marked: false,
        };
        (1..).zip(turns).map(turn).collect()
    }

    fn news(of: Exchange, held: &[Turn]) -> Vec<String> {
        of.news(held).into_iter().map(|turn| turn.content).collect()
    }

    use Role::{Assistant as A, Tool as T, User as U};

    #[test]
    fn a_chat_that_goes_on_brings_its_end_only() {
        assert_eq!(news(exchange(None, &[(U, "hi")], "hello"), &[]), ["hi", "hello"]);
        let chat = held(&[(U, "ok"), (A, "good")]);
        assert_eq!(news(exchange(Some("good"), &[(U, "ok")], "good"), &chat), ["ok", "good"]);
        // Also if the client tells of an answer that the chat does not hold.
        assert_eq!(news(exchange(Some("what?"), &[(U, "bye")], "bye!"), &chat), ["bye", "bye!"]);
        let tools = held(&[(U, "weather?")]);
        assert_eq!(
            news(exchange(Some(""), &[(T, "sun")], "It is sunny"), &tools),
            ["sun", "It is sunny"]
        );
    }

    #[test]
    fn a_message_that_is_sent_again_is_there_once() {
        let chat = held(&[(U, "hi"), (A, "hello"), (U, "tea?"), (A, "green")]);
        assert_eq!(news(exchange(Some("hello"), &[(U, "tea?")], "green"), &chat), [""; 0]);
        assert_eq!(news(exchange(Some("hello"), &[(U, "tea?")], "black"), &chat), ["black"]);
        assert_eq!(news(exchange(Some("hello"), &[(U, "tea?")], ""), &chat), [""; 0]);
        // The answer broke off, and the client has let go of it.
        let two = [(U, "tea?"), (U, "or coffee?")];
        assert_eq!(news(exchange(Some("hello"), &two, "yes"), &chat), ["or coffee?", "yes"]);
    }

    #[test]
    fn what_its_person_deleted_does_not_come_back_with_the_history() {
        // Only the end of what the client sends is in an exchange, whatever the chat has lost.
        let left = held(&[(A, "hello")]);
        assert_eq!(
            news(exchange(Some("hello"), &[(U, "tea?")], "green"), &left),
            ["tea?", "green"]
        );
    }

    #[test]
    fn what_lukasa_put_into_a_message_is_not_overheard() {
        let at = Timestamp::UNIX_EPOCH;
        let with = "<memory-now nonce=\"1\">\n- [m1] x\n</memory-now nonce=\"1\">\nHi\0!";
        assert_eq!(NewTurn::overheard(U, with, at).unwrap().content, "Hi!");
        assert_eq!(NewTurn::overheard(U, "<memory nonce=\"1\">x</memory nonce=\"1\">\n", at), None);
        let long = "x".repeat(limits::TURN_CHARS + 1);
        assert!(NewTurn::overheard(U, &long, at).unwrap().faults().is_empty());
    }

    #[test]
    fn a_chat_without_a_name_is_found_by_how_it_began() {
        let user = |name| UserId::named(crate::id::TenantId::named("acme"), name);
        let name = Session::begun_with(user("ada"), "hi");
        assert_eq!(name, Session::begun_with(user("ada"), "hi"));
        assert_ne!(name, Session::begun_with(user("bob"), "hi"));
        assert_ne!(name, Session::begun_with(user("ada"), "hi!"));
    }

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
