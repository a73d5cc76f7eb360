//! What must never be kept, nor shown to a model: keys, passwords, card numbers.
//!
//! Some secrets are told by their shape alone (see `shape`), others by the words around them (see
//! `told`). Neither looks anything up. What only might be a secret, a digest or an order number,
//! stays: a text full of holes helps nobody.

mod kind;
mod shape;
mod told;

use std::borrow::Cow;
use std::ops::Range;

pub use kind::SecretKind;

/// What stands in the place of a secret.
pub const PLACEHOLDER: &str = "[secret]";

/// The text with `[secret]` in the place of every secret.
pub fn redact(text: &str) -> Cow<'_, str> {
    let ranges = secrets(text);
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for range in ranges {
        out.push_str(&text[end..range.start]);
        out.push_str(PLACEHOLDER);
        end = range.end;
    }
    out.push_str(&text[end..]);
    Cow::Owned(out)
}

pub fn has_secret(text: &str) -> bool {
    find_secret(text).is_some()
}

/// The kind of the first secret in a text, for messages that say why the text was rejected.
pub fn find_secret(text: &str) -> Option<SecretKind> {
    let range = secrets(text).into_iter().next()?;
    Some(kind::kind_of(&text[..range.start], &text[range]))
}

/// The text with `[secret]` in the place of every secret; `None` if it holds none.
pub fn mask(text: &str) -> Option<String> {
    match redact(text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(masked) => Some(masked),
    }
}

/// Where the secrets stand, in order and apart from each other.
fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = shape::find(text);
    found.extend(told::find(text));
    found.retain(|range| !range.is_empty() && !text[range.clone()].contains(PLACEHOLDER));
    found.sort_by_key(|range| (range.start, range.end));
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for range in found {
        match apart.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

/// A stretch without spaces, quotation marks or brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run<'t> {
    text: &'t str,
    start: usize,
}

impl Run<'_> {
    fn range(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// The stretches of a text, without the marks that end a sentence.
fn runs(text: &str) -> impl Iterator<Item = Run<'_>> {
    let breaks =
        |c: char| c.is_whitespace() || "\"'`“”‘’«»<>()[]{},;，。、；：！？「」『』|\\".contains(c);
    let mut at = 0;
    text.split(breaks).filter_map(move |piece| {
        let start = at;
        // Where the next piece begins: behind this one and the mark that ended it.
        at += piece.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
        let own = piece.trim_end_matches(['.', '!', '?', ':']);
        (!own.is_empty()).then_some(Run { text: own, start })
    })
}

/// Whether a word mixes what ordinary words do not: letters with digits, or marks inside.
fn is_mixed(text: &str) -> bool {
    let letter = text.chars().any(char::is_alphabetic);
    let digit = text.chars().any(|c| c.is_ascii_digit());
    let mark = text.chars().any(|c| "!@#$%^&*_+=?~/".contains(c));
    (letter && digit) || (mark && text.chars().count() >= 5)
}

#[cfg(test)]
mod tests;
