//! Passwords that are several plain words: "my passphrase is maple river copper falcon".
//!
//! A passphrase ends with its clause and has no words of ordinary clauses: "the passphrase is on the
//! note" names none. The words that are read are bounded.

use super::lists::{CLAUSE, OPENING, PASSPHRASES};
use super::named_values::{SplitText, is_another_thing, is_plain, name_at, up_to_quote};
use super::sentence::{
    MAX_WORDS_BETWEEN, VERBS, closes, ends_sentence, gap_before, is_followed_as_code, value_at,
};
use super::vocabulary::Value;
use super::{FoundSecret, Run, SecretKind};

/// The most words of a passphrase.
const MAX_WORDS: usize = 12;

/// Nouns that announce the words of a passphrase.
const WORDS: &[&str] = &["words", "worter", "mots", "palabras", "palavras", "parole", "woorden"];

/// How the words of a passphrase are introduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Introduced {
    /// By a colon or an equals sign.
    Mark,
    /// By a verb, such as "is".
    Verb,
    /// By the name itself.
    Name,
}

pub(super) fn find(split: &SplitText<'_>) -> Vec<FoundSecret> {
    let mut found = Vec::new();
    for at in 0..split.words.len() {
        let passphrase = PASSPHRASES.length_at(&split.folded[at..]);
        let password =
            || name_at(&split.folded[at..]).filter(|(_, value)| *value == Value::Password);
        if let Some(length) = passphrase {
            found.extend(plain_words(split, at + length, true));
        } else if let Some((length, value)) = password()
            && !is_another_thing(&split.folded, at, at + length, value)
        {
            found.extend(plain_words(split, at + length, false));
        }
        found.extend(quoted(split, at));
    }
    found
}

fn plain_words(split: &SplitText<'_>, from: usize, passphrase: bool) -> Option<FoundSecret> {
    let (first, introduced) = first_word(split, from)?;
    // "The password is four words: ..." announces any words.
    let announced = introduced == Introduced::Mark
        && first.checked_sub(1).is_some_and(|at| WORDS.contains(&split.folded[at].as_str()));
    let fits = |at: usize| {
        let gap = gap_before(split, at);
        let own = split.folded[at].as_str();
        (at == first || gap == " " || gap == "-")
            && !own.is_empty()
            && own.bytes().all(|b| b.is_ascii_lowercase())
            && (announced || !CLAUSE.contains(own))
    };
    let count = (first..split.words.len().min(first + MAX_WORDS + 1)).take_while(|at| fits(*at));
    let count = count.count();
    let joined = (first + 1..first + count).all(|at| gap_before(split, at) == "-");
    let least = match (passphrase, introduced) {
        (_, Introduced::Name) if joined => 3,
        (true, Introduced::Name) => 4,
        (false, Introduced::Name) => return None,
        (true, Introduced::Mark) => 2,
        (true, Introduced::Verb) | (false, Introduced::Mark) => 3,
        (false, Introduced::Verb) => 4,
    };
    if !(least..=MAX_WORDS).contains(&count) {
        return None;
    }
    // "The passphrase is quite short".
    if introduced == Introduced::Verb && count < 4 && is_plain(&split.folded[first]) {
        return None;
    }
    let range = split.words[first].start..split.words[first + count - 1].end;
    let run = Run { text: &split.text[range.clone()], start: range.start };
    let ends = closes(split, run) || (count >= 4 && is_followed_as_code(split, run));
    ends.then_some(FoundSecret { range, kind: SecretKind::PASSWORD })
}

/// The first word behind a colon, an equals sign or a verb that assigns it.
fn first_word(split: &SplitText<'_>, from: usize) -> Option<(usize, Introduced)> {
    let near = from..split.words.len().min(from + MAX_WORDS_BETWEEN);
    let mut verb = None;
    for at in near.take_while(|at| !ends_sentence(split, *at)) {
        let gap = gap_before(split, at);
        if gap.contains([':', '=']) {
            return Some((at, Introduced::Mark));
        }
        if gap.contains(',') {
            break;
        }
        if at > from && verb.is_none() && VERBS.contains(&split.folded[at - 1].as_str()) {
            verb = Some((at, Introduced::Verb));
        }
    }
    let named = (gap_before(split, from) == " ").then_some((from, Introduced::Name));
    verb.or(named.filter(|_| from < split.words.len()))
}

/// "The vault unlocks with the phrase 'maple river copper'": what is quoted behind a verb of opening.
fn quoted(split: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    let from = at + OPENING.length_at(&split.folded[at..])?;
    let place = (from..split.words.len().min(from + 4))
        .find(|n| gap_before(split, *n).ends_with(['"', '“', '„', '«', '‘', '「', '\'']))?;
    let run = up_to_quote(split.text, value_at(split, place)?);
    Some(FoundSecret { range: run.range(), kind: SecretKind::PASSWORD })
}
