//! Statements that the user makes outright in a turn, and the memories they are about.
//!
//! [`find`] reads only what the user typed: no pasted, quoted or prefilled text, and no other
//! speaker's turns. [`targets`] chooses the memories that a statement forgets or replaces, from those
//! that recall found for it; a wrong choice is worse than none, so the words or the attribute must
//! agree.

use std::ops::Range;

use jiff::SignedDuration;
use lukasa_text::request::is_style;
use lukasa_text::screen::ground;
use lukasa_text::slot::{Slot, slot_of};
use lukasa_text::statement::{self, MAX_STATEMENTS, Statement, StatementKind};

use super::judge::{SAME_MEANING, negations};
use super::transcript::Transcript;
use crate::fact::{Category, Claim, Kind, MemoryType};
use crate::origin::Origin;
use crate::session::{Role, Turn};
use crate::time::Timestamp;

/// The name under which the operations of statements are recorded.
pub const CREDENTIAL: &str = "statement";

/// A tool call and the statement that it is about are recorded within this time.
pub const TOOL_WINDOW: SignedDuration = SignedDuration::from_mins(10);

/// Maximum number of memories that one statement forgets.
const MAX_FORGOTTEN: usize = 5;

/// A statement, with the sentence that it was made in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedStatement {
    pub statement: Statement,
    pub sentence: String,
}

/// A memory that recall found for a statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnownMemory<'s> {
    pub content: &'s str,
    /// Similarity to the statement's words, between 0 and 1.
    pub score: f32,
}

/// The statements in what the user typed of a turn, in order. Of those that the user takes back in one
/// of the `following` turns, only requests to forget something are left.
pub fn find(turn: &Turn, following: &[Turn]) -> Vec<TypedStatement> {
    if turn.role != Role::User || turn.origin < Origin::UserTurn {
        return Vec::new();
    }
    let turn = std::slice::from_ref(turn);
    let is_retracted = Transcript::of(turn, following).typed().next().is_none();
    let transcript = Transcript::of(turn, &[]);
    let sentence =
        |text: &str, at: Range<usize>| text.get(at).unwrap_or_default().trim().to_owned();
    let typed = transcript.typed().flat_map(|text| {
        let found = statement::find(text).into_iter();
        found.map(move |statement| {
            let sentence = sentence(text, statement.at.clone());
            TypedStatement { statement, sentence }
        })
    });
    let in_force = |found: &TypedStatement| {
        let stays = !is_retracted || found.statement.kind == StatementKind::Forget;
        stays && !found.sentence.is_empty()
    };
    typed.filter(in_force).take(MAX_STATEMENTS).collect()
}

/// Whether the user asks in a turn to forget something.
pub fn asks_to_forget(turn: &Turn) -> bool {
    turn.role == Role::User && statement::asks_to_forget(&turn.content)
}

/// Whether a statement is recent enough to be carried out: an old conversation that is appended
/// later must not undo what was said since.
pub fn is_recent(turn: &Turn, now: Timestamp) -> bool {
    const MAX_AGE: SignedDuration = SignedDuration::from_hours(24);
    turn.said_at >= now - MAX_AGE
}

/// Whether a memory that was saved about the same time as a statement already says what it says:
/// an assistant often saves with a tool what the user asked it to remember.
pub fn repeats(content: &str, other: &str) -> bool {
    negations(content) == negations(other)
        && (ground::grounded(content, &[other]) || ground::grounded(other, &[content]))
}

/// The claim of a statement.
pub fn claim(statement: &Statement) -> Claim {
    let style = (Category::Style, MemoryType::Procedural, Kind::Preference);
    let (category, memory_type, kind) = match statement.kind {
        StatementKind::Rule => style,
        _ if is_style(&statement.content) => style,
        _ => (Category::Fact, MemoryType::Profile, Kind::Fact),
    };
    Claim { category, memory_type, kind, ..Claim::saying(&statement.content) }
}

/// The places of the memories that a statement forgets, or of the one that it replaces.
pub fn targets(statement: &Statement, known: &[KnownMemory<'_>]) -> Vec<usize> {
    let old = statement.replaces.as_deref();
    let about = |words: &str| -> Vec<usize> {
        let named = known.iter().enumerate();
        let named = named.filter(|(_, memory)| ground::says_no_more(words, memory.content));
        named.map(|(place, _)| place).collect()
    };
    let of_slot = || -> Vec<usize> {
        let Some(slot) = statement.slot else { return Vec::new() };
        let of_slot = known.iter().enumerate();
        let of_slot = of_slot.filter(|(_, memory)| slot_of(memory.content) == Some(slot));
        of_slot.map(|(place, _)| place).collect()
    };
    match statement.kind {
        StatementKind::Forget => {
            let mut named = about(&statement.content);
            if named.is_empty() {
                // "Forget the novel, it is finished."
                let object = statement.content.split([',', ';', '(', '–', '—']).next();
                named = object.map(about).unwrap_or_default();
            }
            if named.is_empty() {
                named = of_slot();
            }
            if named.is_empty() {
                named.extend(most_similar(known));
            }
            named.truncate(MAX_FORGOTTEN);
            named
        }
        StatementKind::Correct | StatementKind::Change => {
            let mut named = old.map(about).unwrap_or_default();
            if named.is_empty() {
                named = of_slot();
            } else if named.len() > 1 {
                // A memory about another person has no attribute of the user.
                let slot = |place: &usize| slot_of(known[*place].content);
                named.retain(|place| match statement.slot {
                    Some(wanted) => slot(place) == Some(wanted),
                    None => slot(place).is_some(),
                });
            }
            if named.is_empty() {
                named.extend(most_similar(known));
            }
            named.truncate(1);
            named
        }
        StatementKind::CallMe | StatementKind::Rule if statement.slot.is_some() => {
            let mut named = of_slot();
            named.truncate(1);
            named
        }
        StatementKind::Remember if statement.slot.is_some_and(Slot::has_one_value) => {
            let mut named = of_slot();
            named.truncate(1);
            named
        }
        StatementKind::Remember | StatementKind::CallMe | StatementKind::Rule => Vec::new(),
    }
}

/// The place of the most similar memory, if it says the same and no other comes close.
fn most_similar(known: &[KnownMemory<'_>]) -> Option<usize> {
    const MARGIN: f32 = 0.03;
    let mut places: Vec<usize> = (0..known.len()).collect();
    places.sort_by(|a, b| known[*b].score.total_cmp(&known[*a].score));
    let best = *places.first()?;
    let next = places.get(1).map_or(0.0, |next| known[*next].score);
    let score = known[best].score;
    (score >= SAME_MEANING && score - next >= MARGIN).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::super::transcript::tests::turn;
    use super::*;

    fn only(text: &str) -> TypedStatement {
        let found = find(&turn(1, Role::User, text), &[]);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        found.into_iter().next().unwrap()
    }

    fn chosen<'s>(text: &str, known: &[&'s str]) -> Vec<&'s str> {
        let statement = only(text).statement;
        let known: Vec<_> =
            known.iter().map(|content| KnownMemory { content, score: 0.0 }).collect();
        targets(&statement, &known).into_iter().map(|place| known[place].content).collect()
    }

    #[test]
    fn statements_are_read_only_from_what_the_user_typed() {
        let found = only("Hello! Please remember that I prefer trains. Thanks.");
        assert_eq!(found.statement.kind, StatementKind::Remember);
        assert_eq!(found.sentence, "Please remember that I prefer trains.");
        for (role, text) in [
            (Role::Assistant, "Please remember that I prefer trains."),
            (Role::Tool, "Please remember that I prefer trains."),
            (Role::User, "> Please remember that I prefer trains."),
            (Role::User, "```\nPlease remember that I prefer trains.\n```"),
        ] {
            assert_eq!(find(&turn(1, role, text), &[]), [], "{role:?} {text}");
        }
    }

    #[test]
    fn statement_about_answers_is_style() {
        let category = |text: &str| claim(&only(text).statement).category;
        assert_eq!(category("Please remember that I prefer short answers."), Category::Style);
        assert_eq!(category("Please remember that I prefer trains."), Category::Fact);
    }

    #[test]
    fn statement_that_the_user_takes_back_is_left_out() {
        let kinds = |text: &str, next: &str| -> Vec<StatementKind> {
            let found = find(&turn(1, Role::User, text), &[turn(3, Role::User, next)]);
            found.into_iter().map(|found| found.statement.kind).collect()
        };
        let remember = "Please remember that I prefer trains.";
        assert_eq!(kinds(remember, "Thanks."), [StatementKind::Remember]);
        assert_eq!(kinds(remember, "Forget I mentioned it."), []);
        let forget = "Forget that I visit Marta.";
        assert_eq!(kinds(forget, "Forget I mentioned it."), [StatementKind::Forget]);
    }

    #[test]
    fn forget_statement_names_the_memories_that_say_it() {
        let known =
            ["User visits Marta every Sunday.", "User visits the dentist.", "User likes tea."];
        assert_eq!(chosen("Forget that I visit Marta.", &known), [known[0]]);
        assert!(chosen("Forget that I play chess.", &known).is_empty());
    }

    #[test]
    fn correction_replaces_the_memory_of_the_same_attribute() {
        let known = ["User works as a nurse.", "User lives in Porto.", "User's sister is a nurse."];
        assert_eq!(chosen("I'm not a nurse, I'm a physiotherapist.", &known), [known[0]]);
        assert_eq!(chosen("I moved to Lyon.", &known), [known[1]]);
        assert!(chosen("I moved to Lyon.", &["User's sister lives in Porto."]).is_empty());
    }

    #[test]
    fn remembered_home_replaces_the_known_one_and_a_second_job_does_not() {
        let known = ["User lives in Porto.", "User works as a nurse."];
        assert_eq!(chosen("Remember that I live in Lyon.", &known), [known[0]]);
        assert!(chosen("Remember that I work as a carpenter.", &known).is_empty());
    }

    #[test]
    fn memory_repeats_a_statement_if_names_numbers_and_negation_agree() {
        for (statement, memory, expected) in [
            ("User wants to retire at age 50.", "I want to retire at age 50", true),
            ("User wants to retire at age 50.", "User plans retirement at 50.", true),
            ("User wants to retire at age 50.", "User wants to retire at age 55.", false),
            ("User prefers trains.", "User prefers trains to planes.", true),
            ("User is vegan.", "User is not vegan.", false),
            ("User lives in Lyon.", "User lives in Porto.", false),
        ] {
            assert_eq!(repeats(statement, memory), expected, "{statement} / {memory}");
        }
    }

    #[test]
    fn most_similar_memory_must_be_clearly_the_nearest() {
        let known = |scores: &[f32]| {
            let known: Vec<_> =
                scores.iter().map(|score| KnownMemory { content: "x", score: *score }).collect();
            most_similar(&known)
        };
        assert_eq!(known(&[0.5, 0.93, 0.8]), Some(1));
        assert_eq!(known(&[0.93, 0.92]), None);
        assert_eq!(known(&[0.8]), None);
        assert_eq!(known(&[]), None);
    }
}
