//! Normalizes a text, so that a secret with invisible characters, in full-width letters or after an
//! escaped line break is found like any other, and maps each byte to its source.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use crate::line::is_unseen;

/// A text in compatibility normal form (NFKC, character by character), without invisible
/// characters.
pub(super) struct PlainText<'t> {
    text: Cow<'t, str>,
    source: &'t str,
    /// For each byte of the text, the start of its character in the source; empty if both are
    /// equal.
    origins: Vec<usize>,
}

impl<'t> PlainText<'t> {
    pub fn new(source: &'t str) -> Self {
        let is_plain = |b: u8| b.is_ascii() && b != b'\\' && !is_unseen(char::from(b));
        if source.bytes().all(is_plain) {
            return Self { text: Cow::Borrowed(source), source, origins: Vec::new() };
        }
        let mut text = String::with_capacity(source.len());
        let mut origins = Vec::with_capacity(source.len());
        let mut escaped = false;
        for (at, c) in source.char_indices() {
            let escapes = c == '\\' && source[at + 1..].starts_with(['n', 'r', 't']);
            match c {
                c if is_unseen(c) => {}
                // An escaped line break, as in JSON.
                _ if escapes => text.push(' '),
                'n' if escaped => text.push('\n'),
                _ if escaped => text.push(' '),
                // These end a run, while their narrow forms may be part of one.
                c if c.is_ascii() || matches!(c, '，' | '；' | '：' | '！' | '？') => {
                    text.push(c);
                }
                c => text.extend(std::iter::once(c).nfkc()),
            }
            escaped = escapes;
            origins.resize(text.len(), at);
        }
        Self { text: Cow::Owned(text), source, origins }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The source range of a non-empty range of the text.
    pub fn source_range(&self, range: Range<usize>) -> Range<usize> {
        if matches!(self.text, Cow::Borrowed(_)) {
            return range;
        }
        let start = self.origins.get(range.start).copied().unwrap_or(self.source.len());
        let last = range.end.checked_sub(1).and_then(|at| self.origins.get(at).copied());
        let last = last.unwrap_or(start);
        start..last + self.source[last..].chars().next().map_or(0, char::len_utf8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_normalizes_invisible_and_full_width_characters() {
        let source = "a\u{200b}b ＡＢ½ é";
        let plain = PlainText::new(source);
        assert_eq!(plain.as_str(), "ab AB1⁄2 é");
        assert_eq!(&source[plain.source_range(0..2)], "a\u{200b}b");
        assert_eq!(&source[plain.source_range(3..5)], "ＡＢ");
        assert_eq!(&source[plain.source_range(4..6)], "Ｂ½");
        assert_eq!(PlainText::new("plain\n").as_str(), "plain\n");
        assert_eq!(PlainText::new(r"a\nb\tc\x").as_str(), "a \nb  c\\x");
    }
}
