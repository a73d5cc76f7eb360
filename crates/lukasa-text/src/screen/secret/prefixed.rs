//! Finds tokens of the formats in `formats`.

use std::sync::LazyLock;

use super::formats::{AMBIGUOUS, Chars, DISTINCT, TokenFormat};
use super::{FoundSecret, SecretKind, head, is_placeholder};

/// How much of a token is checked to distinguish a random one from a placeholder, in bytes.
const JUDGED_BYTES: usize = 128;

/// A format, and whether its prefix is unique to it.
type Entry = (TokenFormat, bool);

/// The formats by the first byte of their prefix, the longest prefix first.
static BY_FIRST: LazyLock<Vec<Vec<Entry>>> = LazyLock::new(|| {
    let mut table: Vec<Vec<Entry>> = vec![Vec::new(); 256];
    let all = DISTINCT.iter().map(|f| (*f, true)).chain(AMBIGUOUS.iter().map(|f| (*f, false)));
    for entry in all {
        if let Some(first) = entry.0.prefix.bytes().next() {
            table[usize::from(first)].push(entry);
        }
    }
    for formats in &mut table {
        formats.sort_by_key(|(format, _)| std::cmp::Reverse(format.prefix.len()));
    }
    table
});

pub(super) fn find(text: &str) -> Vec<FoundSecret> {
    let bytes = text.as_bytes();
    let mut runs = RunEnds::default();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let formats = &BY_FIRST[usize::from(bytes[at])];
        let token = (!formats.is_empty() && begins_token(bytes, at))
            .then(|| formats.iter().find_map(|entry| token_at(text, at, entry, &mut runs)));
        match token.flatten() {
            Some((end, name)) => {
                found.push(FoundSecret { range: at..end, kind: SecretKind::new(name) });
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

/// The end of a token of this format that begins here, and its name.
fn token_at(
    text: &str,
    at: usize,
    (format, distinct): &Entry,
    runs: &mut RunEnds,
) -> Option<(usize, &'static str)> {
    let bytes = text.as_bytes();
    if !bytes[at..].starts_with(format.prefix.as_bytes()) {
        return None;
    }
    let start = at + format.prefix.len();
    let end = runs.end(bytes, start, format.chars);
    if !(format.least..=format.most).contains(&(end - start)) {
        return None;
    }
    let body = head(&text[start..end], JUDGED_BYTES);
    let random = match (distinct, format.chars) {
        (true, _) => is_random_token(body),
        (false, Chars::HexDash) if body.len() == 36 => is_uuid(body),
        // An exact length is as strong a signal as a mixture of characters.
        (false, _) if format.least == format.most => is_mixed_up(body),
        (false, _) => is_well_mixed(body),
    };
    (random && !is_placeholder(body)).then_some((end, format.name))
}

/// Whether a token can begin here: not inside a word, except after a percent-encoded character.
fn begins_token(bytes: &[u8], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).map_or(b' ', |at| bytes[at]);
    if !before(1).is_ascii_alphanumeric() {
        return true;
    }
    before(3) == b'%' && before(2).is_ascii_hexdigit() && before(1).is_ascii_hexdigit()
}

/// Whether the text after a distinct prefix is a token and not a word or a name with dashes.
fn is_random_token(body: &str) -> bool {
    let seen = CharCounts::of(body);
    let cases = seen.upper > 0 && seen.lower > 0;
    // No lower-case word is this long.
    let long = body.len() >= 24 && seen.lower == body.len();
    seen.distinct >= 6 && (seen.digits > 0 || cases || long || seen.upper == body.len())
}

fn is_uuid(body: &str) -> bool {
    body.split('-').map(str::len).eq([8, 4, 4, 4, 12])
}

/// Whether letters and digits are mixed as in a random token. In a name with dashes no word is.
fn is_well_mixed(body: &str) -> bool {
    let words = body.split(|c: char| !c.is_ascii_alphanumeric());
    let word = words.max_by_key(|word| word.len()).unwrap_or_default();
    word.len() >= 12 && is_mixed_up(word)
}

fn is_mixed_up(word: &str) -> bool {
    let seen = CharCounts::of(word);
    let letters = seen.upper + seen.lower;
    let cases = seen.upper >= 2 && seen.lower >= 2;
    let share = cases || seen.digits * 12 >= word.len();
    seen.distinct >= 8 && seen.digits >= 1 && letters >= 2 && share
}

/// Character counts of a token.
struct CharCounts {
    digits: usize,
    upper: usize,
    lower: usize,
    distinct: u32,
}

impl CharCounts {
    fn of(body: &str) -> Self {
        let count = |is: fn(&u8) -> bool| body.bytes().filter(is).count();
        let distinct = body.bytes().fold(0_u128, |seen, b| seen | 1 << (b & 127)).count_ones();
        let (digits, upper) = (count(u8::is_ascii_digit), count(u8::is_ascii_uppercase));
        let lower = count(u8::is_ascii_lowercase);
        Self { digits, upper, lower, distinct }
    }
}

/// The last measured run of token characters: its start and end, and its end without the marks that
/// close a sentence.
#[derive(Debug, Clone, Copy, Default)]
struct MeasuredRun {
    start: usize,
    end: usize,
    trimmed: usize,
}

/// Measures runs of characters, each once per set of characters, so that a text full of prefixes
/// costs no more than any other.
#[derive(Default)]
struct RunEnds([MeasuredRun; Chars::COUNT]);

impl RunEnds {
    fn end(&mut self, bytes: &[u8], at: usize, chars: Chars) -> usize {
        let run = &mut self.0[chars.index()];
        if !(run.start <= at && at < run.end) {
            let length = bytes[at..].iter().take_while(|b| chars.contain(**b)).count();
            let marks = bytes[at..at + length].iter().rev();
            let marks = marks.take_while(|b| matches!(b, b'.' | b':' | b'-' | b'%' | b'/'));
            let trimmed = at + length - marks.count();
            *run = MeasuredRun { start: at, end: at + length, trimmed };
        }
        run.trimmed.max(at)
    }
}
