//! Turns a clause of a sentence into the text of a claim.

use super::english::third_person;
use crate::word::is_east_asian;

/// Maximum length of a claim in characters. Longer clauses are left out.
const MAX_CHARS: usize = 400;

/// The language of the words that a statement was found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    English,
    Other,
}

/// The claim that a clause makes: English in the third person, anything else in the user's words.
pub(super) fn claim(clause: &str, language: Language) -> Option<String> {
    let converted = match language {
        Language::English => third_person(clause),
        Language::Other => None,
    };
    sentence(&converted.unwrap_or_else(|| clause.to_owned()))
}

/// The text as a sentence: on one line, with a capital and a full stop.
pub(super) fn sentence(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.trim_end_matches(['.', '!', ',', ';', ':', '。', '！', '，']);
    let mut chars = text.chars();
    let first = chars.next()?;
    if text.chars().nth(MAX_CHARS).is_some() {
        return None;
    }
    let stop = if text.chars().any(is_east_asian) { '。' } else { '.' };
    Some(first.to_uppercase().chain(chars).chain([stop]).collect())
}
