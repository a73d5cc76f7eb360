//! The place of a sentence in a turn. What learning leaves out is recorded by its place, never by its
//! words, so that the words are gone when the turn is.

use crate::id::TurnId;
use crate::limits::EVIDENCE_CHARS;
use crate::session::Turn;

/// Maximum number of left-out sentences that are recorded per pass; others are only counted.
pub const MAX_LEFT_OUT: usize = 20;

/// A range of characters of a turn, half-open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SentencePlace {
    pub turn: TurnId,
    pub from: i32,
    pub to: i32,
}

impl SentencePlace {
    /// The first place of a sentence in a turn. `None` if the turn does not contain it literally, or
    /// if it is too long to be evidence.
    pub fn find(turn: &Turn, sentence: &str) -> Option<Self> {
        let sentence = sentence.trim();
        let chars = sentence.chars().count();
        if chars == 0 || chars > EVIDENCE_CHARS {
            return None;
        }
        let before = turn.content.split_once(sentence)?.0;
        let from = i32::try_from(before.chars().count()).ok()?;
        Some(Self { turn: turn.id, from, to: from.checked_add(i32::try_from(chars).ok()?)? })
    }
}

#[cfg(test)]
mod tests {
    use super::super::transcript::tests::turn;
    use super::*;
    use crate::session::Role;

    #[test]
    fn sentence_place_counts_characters_and_not_bytes() {
        let said = turn(1, Role::User, "Çà et là. Ich heiße Zoë. Bye.");
        let place = SentencePlace::find(&said, " Ich heiße Zoë. ").unwrap();
        let words: String = said.content.chars().skip(10).take(14).collect();
        assert_eq!((place.from, place.to, words.as_str()), (10, 24, "Ich heiße Zoë."));
    }

    #[test]
    fn sentence_that_is_not_in_the_turn_or_too_long_has_no_place() {
        let long = "a".repeat(EVIDENCE_CHARS + 1);
        let said = turn(1, Role::User, &long);
        assert_eq!(SentencePlace::find(&said, &long), None);
        assert_eq!(SentencePlace::find(&said, "b"), None);
        assert_eq!(SentencePlace::find(&said, "  "), None);
    }
}
