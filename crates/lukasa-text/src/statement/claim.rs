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

/// A German or Dutch clause with the verb at its end, as a main clause: "ich Größe 46 habe" becomes
/// "ich habe Größe 46". `None` if the clause is not of this form, or its verb may be separable.
pub(super) fn main_clause(clause: &str) -> Option<String> {
    const SUBJECTS: [&str; 5] = ["ich", "wir", "ik", "we", "wij"];
    const SEPARABLE: [&str; 15] = [
        "ab", "an", "auf", "aus", "ein", "mit", "vor", "zu", "her", "hin", "los", "weg", "um",
        "op", "uit",
    ];
    let end = clause.match_indices(',').map(|(at, _)| at).find(|at| {
        let quotes = clause[..*at].chars().filter(|c| matches!(c, '"' | '„' | '“' | '”'));
        quotes.count() % 2 == 0
    });
    let (own, rest) = clause.split_at(end.unwrap_or(clause.len()));
    let (subject, predicate) = own.split_once(' ')?;
    let (middle, verb) = predicate.trim_end().rsplit_once(' ')?;
    let is_verb = verb.chars().all(|c| c.is_alphabetic() && !c.is_uppercase())
        && !SEPARABLE.iter().any(|prefix| verb.starts_with(prefix));
    let is_own = SUBJECTS.contains(&subject.to_lowercase().as_str());
    (is_own && is_verb).then(|| format!("{subject} {verb} {middle}{rest}"))
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
