//! Masks the secrets in turns before they are stored, so that no table, passage or embedding holds
//! one. Spans keep covering the same words.

use std::ops::Deref;

use lukasa_text::screen::secret::{self, PLACEHOLDER};

use crate::limits;
use crate::session::{Exchange, NewTurn, Span, Turn};

/// Turns without secrets: the only type of turns that the store accepts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MaskedTurns(Vec<Turn>);

impl MaskedTurns {
    pub fn new(mut turns: Vec<Turn>) -> Self {
        for turn in &mut turns {
            mask(&mut turn.content, &mut turn.spans);
            mask_name(&mut turn.speaker);
        }
        Self(turns)
    }

    /// Turns made from messages that [`Exchange::mask_secrets`] has masked, or from masked turns.
    pub fn of_masked(turns: Vec<Turn>) -> Self {
        Self(turns)
    }

    pub fn into_turns(self) -> Vec<Turn> {
        self.0
    }

    /// Removes the turns that are not to be kept.
    pub fn retain(&mut self, keep: impl FnMut(&Turn) -> bool) {
        self.0.retain(keep);
    }
}

impl Deref for MaskedTurns {
    type Target = [Turn];

    fn deref(&self) -> &[Turn] {
        &self.0
    }
}

impl NewTurn {
    /// Replaces every secret with `[secret]`.
    pub fn mask_secrets(&mut self) {
        mask(&mut self.content, &mut self.spans);
        mask_name(&mut self.speaker);
    }
}

impl Exchange {
    /// Replaces every secret with `[secret]`. Must run before [`Exchange::news`], which compares
    /// the messages with stored, masked ones.
    pub fn mask_secrets(mut self) -> Self {
        self.said.iter_mut().chain(&mut self.answer).for_each(NewTurn::mask_secrets);
        if let Some(before) = &mut self.before {
            mask(before, &mut Vec::new());
        }
        self
    }

    /// Total length of its messages, in bytes.
    pub fn bytes(&self) -> usize {
        self.said.iter().chain(&self.answer).map(|turn| turn.content.len()).sum()
    }
}

/// A replaced secret: its position in characters, and by how much the text after it moves.
struct Replaced {
    start: usize,
    end: usize,
    moved: isize,
}

/// Masks the name of a speaker. A placeholder can be longer than the secret it replaces.
fn mask_name(name: &mut Option<String>) {
    if let Some(masked) = name.as_deref().and_then(secret::mask) {
        *name = Some(masked.chars().take(limits::NAME_CHARS).collect());
    }
}

fn mask(content: &mut String, spans: &mut Vec<Span>) {
    let secrets = secret::find_secrets(content);
    if secrets.is_empty() {
        return;
    }
    let placeholder = PLACEHOLDER.chars().count();
    let mut masked = String::with_capacity(content.len());
    let mut replaced: Vec<Replaced> = Vec::with_capacity(secrets.len());
    let (mut end, mut chars, mut moved) = (0, 0, 0_isize);
    for found in secrets {
        let before = &content[end..found.range.start];
        let start = chars + before.chars().count();
        let length = content[found.range.clone()].chars().count();
        chars = start + length;
        moved += placeholder.cast_signed() - length.cast_signed();
        replaced.push(Replaced { start, end: chars, moved });
        masked.push_str(before);
        masked.push_str(PLACEHOLDER);
        end = found.range.end;
    }
    masked.push_str(&content[end..]);
    // A placeholder can be longer than the secret it replaces.
    if let Some((cut, _)) = masked.char_indices().nth(limits::TURN_CHARS) {
        masked.truncate(cut);
    }
    *content = masked;
    for span in spans.iter_mut() {
        span.from = moved_to(&replaced, span.from, 0).min(limits::TURN_CHARS);
        span.to = moved_to(&replaced, span.to, placeholder).min(limits::TURN_CHARS);
    }
    spans.retain(|span| span.from < span.to);
}

/// The position of a character after the replacements; `inside` characters into the placeholder if
/// it was part of a secret.
fn moved_to(replaced: &[Replaced], at: usize, inside: usize) -> usize {
    let passed = replaced.partition_point(|secret| secret.end <= at);
    let moved = passed.checked_sub(1).map_or(0, |last| replaced[last].moved);
    match replaced.get(passed).filter(|secret| secret.start < at) {
        Some(secret) => secret.start.saturating_add_signed(moved) + inside,
        None => at.saturating_add_signed(moved),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Mark, Role};

    const KEY: &str = "ghp_016C7f8a9B2c3D4e5F6g7H8i9J0k1L2m3N4o";

    /// The words that spans cover after masking; `‹` and `›` mark them in the text.
    fn covered(text: &str) -> (String, Vec<String>) {
        let mut turn = NewTurn::saying(Role::User, "");
        let mut from = 0;
        for c in text.chars() {
            let at = turn.content.chars().count();
            match c {
                '‹' => from = at,
                '›' => turn.spans.push(Span { from, to: at, mark: Mark::Pasted }),
                c => turn.content.push(c),
            }
        }
        turn.mask_secrets();
        let cut = |span: &Span| {
            turn.content.chars().skip(span.from).take(span.to - span.from).collect::<String>()
        };
        (turn.content.clone(), turn.spans.iter().map(cut).collect())
    }

    #[test]
    fn masking_keeps_spans_on_the_same_words() {
        let (text, spans) = covered(&format!("‹é one› {KEY} ‹two› my PIN is 4821 ‹three›"));
        assert_eq!(text, "é one [secret] two my PIN is [secret] three");
        assert_eq!(spans, ["é one", "two", "three"]);
    }

    #[test]
    fn span_over_part_of_a_secret_covers_its_placeholder() {
        let (head, tail) = KEY.split_at(20);
        let (_, spans) = covered(&format!("a ‹b {head}›{tail} c"));
        assert_eq!(spans, ["b [secret]"]);
        let (_, spans) = covered(&format!("a {head}‹{tail} c›"));
        assert_eq!(spans, ["[secret] c"]);
        let (_, spans) = covered(&format!("a ‹{KEY}› c"));
        assert_eq!(spans, ["[secret]"]);
    }

    #[test]
    fn speaker_of_a_turn_is_masked() {
        let speaker = |name: &str| {
            let mut turn = NewTurn::saying(Role::User, "Hello");
            turn.speaker = Some(name.to_owned());
            turn.mask_secrets();
            assert!(turn.faults().is_empty());
            turn.speaker.unwrap()
        };
        assert_eq!(speaker("Anna"), "Anna");
        assert_eq!(speaker(&format!("Anna {KEY}")), "Anna [secret]");
        let long = format!("{} my PIN is 4821", "a".repeat(limits::NAME_CHARS - 15));
        assert!(speaker(&long).ends_with(" my PIN is [sec"));
    }

    #[test]
    fn masked_turn_is_cut_to_the_turn_limit() {
        let filler = "fill ".repeat((limits::TURN_CHARS - 15) / 5);
        let mut turn = NewTurn::saying(Role::User, &format!("{filler}my PIN is 4821"));
        turn.spans = vec![Span { from: 0, to: turn.content.chars().count(), mark: Mark::Pasted }];
        turn.mask_secrets();
        assert!(turn.content.ends_with("my PIN is [secr") && turn.faults().is_empty());
    }

    #[test]
    fn masking_an_exchange_twice_changes_nothing() {
        let said = || Exchange {
            said: vec![NewTurn::saying(Role::User, &format!("use {KEY}"))],
            ..Exchange::default()
        };
        let masked = said().mask_secrets();
        assert_eq!(masked.said[0].content, "use [secret]");
        let again = masked.clone().mask_secrets();
        assert_eq!(again, masked);
    }
}
