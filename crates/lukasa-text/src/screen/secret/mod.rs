//! Finds secrets that must never be stored or shown to a model: keys, passwords, card numbers.
//!
//! Some secrets are recognised by their form alone: token formats with a published prefix (see
//! `formats`) and other shapes (see `shape`). Others are recognised by the words around them (see
//! `named_values`). Nothing is looked up. A digest or an order number, which only might be a secret, stays.
//!
//! Every function here takes time linear in its input. Texts are normalized first: invisible
//! characters and compatibility forms do not hide a secret (see `plain`).

mod account;
mod auth_header;
mod card;
mod formats;
mod kind;
mod lists;
mod lock;
mod named_values;
mod passphrase;
mod plain;
mod prefixed;
mod seed;
mod sentence;
mod shape;
mod vocabulary;

use std::borrow::Cow;
use std::ops::Range;

pub use kind::SecretKind;
use plain::PlainText;

/// Text that replaces a secret.
pub const PLACEHOLDER: &str = "[secret]";

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSecret {
    /// Its byte range.
    pub range: Range<usize>,
    pub kind: SecretKind,
}

/// The text with every secret replaced by `[secret]`.
pub fn redact(text: &str) -> Cow<'_, str> {
    match mask(text) {
        Some(masked) => Cow::Owned(masked),
        None => Cow::Borrowed(text),
    }
}

/// The text with every secret replaced by `[secret]`; `None` if it contains none.
pub fn mask(text: &str) -> Option<String> {
    let secrets = find_secrets(text);
    if secrets.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for FoundSecret { range, .. } in secrets {
        out.push_str(&text[end..range.start]);
        out.push_str(PLACEHOLDER);
        end = range.end;
    }
    out.push_str(&text[end..]);
    Some(out)
}

pub fn has_secret(text: &str) -> bool {
    find_secret(text).is_some()
}

/// The kind of the first secret in a text, for messages that say why the text was rejected.
pub fn find_secret(text: &str) -> Option<SecretKind> {
    find_secrets(text).first().map(|found| found.kind)
}

/// The kind of the first secret in an id that a program chose. Its digits are not a card number: chat
/// programs use long numbers as ids, one in ten of which has the check digit of a card.
pub fn find_secret_in_id(id: &str) -> Option<SecretKind> {
    let mut kinds = find_secrets(id).into_iter().map(|found| found.kind);
    kinds.find(|kind| *kind != SecretKind::CARD)
}

/// The secrets of a text, in order and not overlapping.
pub fn find_secrets(text: &str) -> Vec<FoundSecret> {
    let plain = PlainText::new(text);
    let read = plain.as_str();
    let mut found = prefixed::find(read);
    found.extend(shape::find(read));
    let by_form = found.len();
    found.extend(named_values::find(read));
    // Many matches may overlap, so the text is searched for placeholders only once.
    let placeholders: Vec<usize> = read.match_indices(PLACEHOLDER).map(|(at, _)| at).collect();
    let holds_placeholder = |range: &Range<usize>| {
        let next = placeholders.partition_point(|at| *at < range.start);
        placeholders.get(next).is_some_and(|at| at + PLACEHOLDER.len() <= range.end)
    };
    let mut ranked: Vec<(usize, FoundSecret)> = found
        .into_iter()
        .enumerate()
        .filter(|(_, found)| !found.range.is_empty() && !holds_placeholder(&found.range))
        // One character of the source may have become several, so source ranges are compared.
        .map(|(rank, found)| {
            let range = plain.source_range(found.range);
            (rank, FoundSecret { range, kind: found.kind })
        })
        .collect();
    ranked.sort_by_key(|(rank, found)| (found.range.start, *rank));
    let mut apart: Vec<(usize, FoundSecret)> = Vec::with_capacity(ranked.len());
    for (rank, next) in ranked {
        match apart.last_mut() {
            Some((last_rank, last)) if next.range.start <= last.range.end => {
                last.range.end = last.range.end.max(next.range.end);
                // A kind found by form is more exact than one found by the surrounding words.
                if *last_rank >= by_form && rank < by_form {
                    (*last_rank, last.kind) = (rank, next.kind);
                }
            }
            _ => apart.push((rank, next)),
        }
    }
    apart.into_iter().map(|(_, found)| found).collect()
}

/// A run of text without spaces, quotation marks or brackets.
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

/// The runs of a text, without the marks that end a sentence.
fn runs(text: &str) -> impl Iterator<Item = Run<'_>> {
    let breaks =
        |c: char| c.is_whitespace() || "\"'`“”‘’«»<>()[]{},;，。、；：！？「」『』|\\".contains(c);
    let mut at = 0;
    text.split(breaks).filter_map(move |piece| {
        let start = at;
        // The next piece begins after this one and its separator.
        at += piece.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
        let own = piece.trim_end_matches(['.', '!', '?', ':']);
        (!own.is_empty()).then_some(Run { text: own, start })
    })
}

/// The beginning of a text, at most this many bytes: enough to judge a long word by.
fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Whether a word mixes letters with digits or has marks inside, which ordinary words do not.
fn is_mixed(text: &str) -> bool {
    let letter = text.chars().any(char::is_alphabetic);
    let digit = text.chars().any(|c| c.is_ascii_digit());
    let mark = text.chars().any(|c| "!@#$%^&*_+=?~/".contains(c));
    (letter && digit) || (mark && text.chars().count() >= 5)
}

/// Whether a value is a placeholder for a secret: `<password>`, `${TOKEN}`, `xxxxxx`, `your-key`.
fn is_placeholder(value: &str) -> bool {
    const WORDS: &[&str] = &["your", "YOUR", "xxxx", "XXXX", "example", "placeholder", "redacted"];
    let value = head(value, 256);
    let variable = value.strip_prefix('$').is_some_and(|name| {
        name.starts_with(['{', '(']) || name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
    });
    let wrapped = [('<', '>'), ('{', '}'), ('%', '%'), ('*', '*'), ('[', ']')]
        .iter()
        .any(|(open, close)| value.starts_with(*open) && value.ends_with(*close));
    let filler = WORDS.iter().any(|word| value.contains(word));
    variable || wrapped || filler || longest_repeat(value) >= 10
}

/// Length of the longest run of one repeated character.
fn longest_repeat(text: &str) -> usize {
    let (mut last, mut count, mut most) = (None, 0, 0);
    for c in text.chars() {
        count = if Some(c) == last { count + 1 } else { 1 };
        last = Some(c);
        most = most.max(count);
    }
    most
}

#[cfg(test)]
mod statement_tests;
#[cfg(test)]
mod tests;
