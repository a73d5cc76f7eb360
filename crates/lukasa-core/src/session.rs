//! Sessions and turns: the base layer, with messages stored verbatim except that secrets are masked
//! (see `masking`). Turns are appended and never rewritten.

use jiff::SignedDuration;
use lukasa_text::line::is_visible;
use lukasa_text::screen::secret;
use serde::{Deserialize, Serialize};

use crate::id::{FactId, RetrievalId, TurnId, UserId, derived};
use crate::limits;
use crate::memory_block;
use crate::origin::Origin;
use crate::project::Project;
use crate::time::Timestamp;
use crate::words;

words!(
    /// The sender of a turn.
    Role { User = "user", Assistant = "assistant", System = "system", Tool = "tool" }
);
words!(
    /// State of a session. A new turn makes it active again; the trash is a separate axis.
    SessionState { Active = "active", Idle = "idle", Archived = "archived" }
);
words!(
    /// Which turns are kept after extraction.
    Keep {
        // Every turn.
        Full = "full",
        // The turns that a memory cites.
        Excerpts = "excerpts",
        // None; facts then say that the source text was not kept.
        Nothing = "none",
    }
);
words!(
    /// Why a part of a turn is not its sender's own words.
    Mark { Prefilled = "prefilled", Pasted = "pasted", Quoted = "quoted" }
);

impl Role {
    /// Origin of a turn's words. A credential for a tool, a document or an import lowers the origin
    /// of everything it submits, also of turns that it attributes to the user.
    pub fn origin(self, credential: Origin) -> Origin {
        let origin = match self {
            Role::User => Origin::UserTurn,
            Role::Assistant => Origin::Assistant,
            Role::Tool => Origin::Tool,
            Role::System => Origin::Document,
        };
        if credential >= Origin::Assistant { origin } else { origin.min(credential) }
    }
}

/// One conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The name given by the caller that opened it, or a generated one.
    pub id: String,
    pub title: Option<String>,
    pub opened_at: Timestamp,
    pub last_turn_at: Timestamp,
    pub turns: i32,
    pub state: SessionState,
    pub closed_at: Option<Timestamp>,
    pub trashed_at: Option<Timestamp>,
    /// The last turn that was extracted from.
    pub extracted_through: i32,
    /// Summary of the turns up to `summary_through`.
    pub summary: Option<String>,
    pub summary_through: i32,
    pub keep: Keep,
    /// Whether no turns are stored.
    pub incognito: bool,
    /// The last turn a generated title was made from; absent if the title was given by a caller.
    #[serde(default)]
    pub named_from: Option<i32>,
    /// The project it belongs to, set when it is opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Project>,
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
            project: None,
        }
    }

    /// Derived session name for a client that does not send one: a hash of the user, the project and
    /// the opening message, so that the same session is found each time. Two sessions of a user with
    /// the same project and opening are one.
    pub fn derived_name(user: UserId, project: Option<&Project>, opening: &str) -> String {
        let (user, opening) = (user.uuid(), opening.as_bytes());
        let id = match project {
            None => derived("session", &[user.as_bytes(), opening]),
            Some(project) => {
                derived("session", &[user.as_bytes(), opening, project.as_str().as_bytes()])
            }
        };
        format!("chat_{}", id.simple())
    }

    /// Whether there are turns that have not been extracted from.
    pub fn has_unextracted_turns(&self) -> bool {
        self.extracted_through < self.turns
    }

    /// Whether the session had no turn for so long that it counts as closed.
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

/// Why a new session cannot have this name; `None` if it can. Names are stored with everything that
/// belongs to a session and are not masked, so a name with a secret is refused.
pub fn session_name_fault(name: &str) -> Option<String> {
    if !is_session_name(name) {
        return Some(format!("between 1 and {} characters", limits::NAME_CHARS));
    }
    secret::find_secret_in_id(name).map(|kind| format!("must not contain {kind}"))
}

/// A part of a turn that its sender did not write, in characters, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub from: usize,
    pub to: usize,
    #[serde(rename = "as")]
    pub mark: Mark,
}

/// One message of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub id: TurnId,
    pub session: String,
    /// Its position in the session, from one.
    pub number: i32,
    pub role: Role,
    /// The speaker's name, where several people take part.
    pub speaker: Option<String>,
    pub content: String,
    pub origin: Origin,
    pub said_at: Timestamp,
    pub recorded_at: Timestamp,
    /// The parts its sender did not write.
    pub spans: Vec<Span>,
    /// Whether the client marked all such parts. If not, they are guessed, and long or quoted parts
    /// are not taken for the sender's own words.
    pub marked: bool,
}

impl Turn {
    /// Whether an assistant told what the user said, see [`NewTurn::reported`].
    pub fn is_reported(&self) -> bool {
        self.role == Role::User && self.origin == Origin::Assistant
    }
}

/// A message to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTurn {
    pub role: Role,
    pub speaker: Option<String>,
    pub content: String,
    /// When it was sent; absent means now.
    pub said_at: Option<Timestamp>,
    pub spans: Vec<Span>,
    /// Whether the spans are all there are; if not, the rest is guessed.
    pub marked: bool,
    /// The memories it reports as used, and the retrieval that returned them.
    pub used: Vec<FactId>,
    pub retrieval: Option<RetrievalId>,
    /// Whether an assistant tells what was said, so that nothing of it counts as typed by the user.
    pub reported: bool,
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
            reported: false,
        }
    }

    /// Origin of its words, if this credential sends it.
    pub fn origin(&self, credential: Origin) -> Origin {
        let origin = self.role.origin(credential);
        if self.reported { origin.min(Origin::Assistant) } else { origin }
    }

    /// A message captured by the gateway: without the memory blocks that Lukasa had inserted, and
    /// cut to the length limit of a turn. `None` if nothing visible is left.
    pub fn captured(role: Role, text: &str, at: Timestamp) -> Option<Self> {
        // More than is kept, because inserted memory blocks do not count.
        let end = text.char_indices().nth(4 * limits::TURN_CHARS).map_or(text.len(), |(at, _)| at);
        let own = memory_block::strip(&text[..end]);
        let kept: String = own.chars().filter(|c| *c != '\0').take(limits::TURN_CHARS).collect();
        is_visible(&kept).then(|| Self { said_at: Some(at), ..Self::saying(role, &kept) })
    }

    fn says(&self, turn: &Turn) -> bool {
        self.role == turn.role && self.content == turn.content
    }

    /// Validation errors, as (field, reason); empty if the turn can be stored.
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
            faults.push(("spans", "each must be within the content and not empty".into()));
        }
        if self.used.len() > limits::USED {
            faults.push(("used", format!("at most {} memories", limits::USED)));
        }
        faults
    }
}

/// One round of a conversation captured by the gateway: the messages since the assistant's last
/// answer, and its new answer.
///
/// A client sends the whole conversation each time, of which only the end is new. Earlier messages
/// are ignored: a turn that the user has deleted must not be stored again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The assistant's last answer before this round.
    pub before: Option<String>,
    pub said: Vec<NewTurn>,
    pub answer: Option<NewTurn>,
    /// The provider's id of the answer, if it stores answers.
    pub response: Option<String>,
    /// The project of the session, if it has to be opened.
    pub project: Option<Project>,
}

impl Exchange {
    /// How many of a session's last turns [`Exchange::news`] needs.
    pub const LOOKBACK_TURNS: i32 = 50;

    /// The messages that the session does not have yet, given its last turns. A message is sent
    /// again when its answer was lost, or to get another one; then only the answer is new.
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
            project: None,
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
    fn exchange_of_a_continued_session_adds_only_its_end() {
        assert_eq!(news(exchange(None, &[(U, "hi")], "hello"), &[]), ["hi", "hello"]);
        let chat = held(&[(U, "ok"), (A, "good")]);
        assert_eq!(news(exchange(Some("good"), &[(U, "ok")], "good"), &chat), ["ok", "good"]);
        // Also if the client sends an answer that the session does not have.
        assert_eq!(news(exchange(Some("what?"), &[(U, "bye")], "bye!"), &chat), ["bye", "bye!"]);
        let tools = held(&[(U, "weather?")]);
        assert_eq!(
            news(exchange(Some(""), &[(T, "sun")], "It is sunny"), &tools),
            ["sun", "It is sunny"]
        );
    }

    #[test]
    fn exchange_with_a_resent_message_stores_it_once() {
        let chat = held(&[(U, "hi"), (A, "hello"), (U, "tea?"), (A, "green")]);
        assert_eq!(news(exchange(Some("hello"), &[(U, "tea?")], "green"), &chat), [""; 0]);
        assert_eq!(news(exchange(Some("hello"), &[(U, "tea?")], "black"), &chat), ["black"]);
        assert_eq!(news(exchange(Some("hello"), &[(U, "tea?")], ""), &chat), [""; 0]);
        // The answer was cut off, and the client dropped it.
        let two = [(U, "tea?"), (U, "or coffee?")];
        assert_eq!(news(exchange(Some("hello"), &two, "yes"), &chat), ["or coffee?", "yes"]);
    }

    #[test]
    fn exchange_does_not_restore_deleted_turns_from_the_history() {
        // Only the end of the client's history is in an exchange, even if the session has less.
        let left = held(&[(A, "hello")]);
        assert_eq!(
            news(exchange(Some("hello"), &[(U, "tea?")], "green"), &left),
            ["tea?", "green"]
        );
    }

    #[test]
    fn captured_turn_excludes_inserted_memory_blocks() {
        let at = Timestamp::UNIX_EPOCH;
        let with = "<memory-now nonce=\"1\">\n- [m1] x\n</memory-now nonce=\"1\">\nHi\0!";
        assert_eq!(NewTurn::captured(U, with, at).unwrap().content, "Hi!");
        assert_eq!(NewTurn::captured(U, "<memory nonce=\"1\">x</memory nonce=\"1\">\n", at), None);
        let long = "x".repeat(limits::TURN_CHARS + 1);
        assert!(NewTurn::captured(U, &long, at).unwrap().faults().is_empty());
    }

    #[test]
    fn unnamed_session_is_found_by_its_opening_message() {
        let user = |name| UserId::named(crate::id::TenantId::named("acme"), name);
        let name = Session::derived_name(user("ada"), None, "hi");
        assert_eq!(name, Session::derived_name(user("ada"), None, "hi"));
        assert_ne!(name, Session::derived_name(user("bob"), None, "hi"));
        assert_ne!(name, Session::derived_name(user("ada"), None, "hi!"));
        let project = Project::parse("a");
        assert_ne!(name, Session::derived_name(user("ada"), project.as_ref(), "hi"));
    }

    #[test]
    fn turn_origin_follows_role_and_is_lowered_by_a_weak_credential() {
        assert_eq!(Role::User.origin(Origin::Assistant), Origin::UserTurn);
        assert_eq!(Role::User.origin(Origin::UserSaid), Origin::UserTurn);
        assert_eq!(Role::User.origin(Origin::Import), Origin::Import);
        assert_eq!(Role::Assistant.origin(Origin::Document), Origin::Document);
        assert_eq!(Role::System.origin(Origin::UserSaid), Origin::Document);
    }

    #[test]
    fn reported_turn_of_the_user_has_at_most_the_assistant_origin() {
        let reported = NewTurn { reported: true, ..NewTurn::saying(Role::User, "hello") };
        for (credential, expected) in [
            (Origin::UserSaid, Origin::Assistant),
            (Origin::Assistant, Origin::Assistant),
            (Origin::Import, Origin::Import),
        ] {
            assert_eq!(reported.origin(credential), expected);
        }
        let typed = NewTurn::saying(Role::User, "hello");
        assert_eq!(typed.origin(Origin::Assistant), Origin::UserTurn);
    }

    #[test]
    fn turn_without_storable_text_is_rejected() {
        let turn = |content: &str| NewTurn::saying(Role::User, content);
        assert!(turn("hello").faults().is_empty());
        assert_eq!(turn(" \n").faults().len(), 1);
        assert_eq!(turn("a\0b").faults().len(), 1);
        assert_eq!(turn(&"x".repeat(limits::TURN_CHARS + 1)).faults().len(), 1);
        let unnamed = NewTurn { speaker: Some(String::new()), ..turn("hello") };
        assert_eq!(unnamed.faults().len(), 1);
    }

    #[test]
    fn span_outside_its_turn_is_rejected() {
        let marked = |from, to| NewTurn {
            spans: vec![Span { from, to, mark: Mark::Pasted }],
            ..NewTurn::saying(Role::User, "größer")
        };
        assert!(marked(0, 6).faults().is_empty());
        assert_eq!(marked(0, 7).faults().len(), 1);
        assert_eq!(marked(3, 3).faults().len(), 1);
    }
}
