//! Attribution of text to its origin. A turn is split into pieces, each with one origin: what the
//! sender typed, and what was pasted, quoted or prefilled. Lukasa's own block is removed, so that
//! nothing is learned from existing memories; secrets are redacted.
//!
//! A quotation counts where it occurs literally; one that does not is replaced by the sentence of the
//! user that shares most of its words. The turn number that a model cites with it only decides
//! between equals.

use std::collections::BTreeSet;

use lukasa_text::screen::{directive, ground, person, secret};
use lukasa_text::statement;
use unicode_normalization::UnicodeNormalization;

use crate::id::TurnId;
use crate::limits;
use crate::memory_block;
use crate::origin::Origin;
use crate::session::{Mark, Role, Span, Turn};
use crate::time::Timestamp;

/// A part of a turn with one origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    pub origin: Origin,
    pub mark: Option<Mark>,
    /// Whether it is too long to have been typed, but reads as the user's own words. What is learned
    /// from it needs consent.
    pub guessed: bool,
    /// Whether it is what an assistant tells of the user's own words.
    pub reported: bool,
}

/// A turn prepared for learning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptTurn {
    pub turn: TurnId,
    pub number: i32,
    pub role: Role,
    pub speaker: Option<String>,
    pub origin: Origin,
    pub said_at: Timestamp,
    pub pieces: Vec<Piece>,
}

/// Turns of a conversation, without the words that the user took back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript {
    pub turns: Vec<TranscriptTurn>,
    /// The numbers of those of the turns in which the user takes words back.
    pub retracting: Vec<i32>,
    /// The pieces, normalized once for comparison with many quotations.
    plain: Vec<Vec<Plain>>,
}

/// The place where a quotation was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuoteMatch {
    pub turn: TurnId,
    pub number: i32,
    pub said_at: Timestamp,
    pub origin: Origin,
    /// The words as they were said.
    pub quote: String,
    /// The whole sentences around them.
    pub sentence: String,
    /// See [`Piece::guessed`].
    pub guessed: bool,
    /// See [`Piece::reported`].
    pub reported: bool,
}

impl Transcript {
    /// The transcript of turns of one conversation, in order. A turn can take back what was said
    /// before it, so the next turn of the user after each of them is needed too, in `following`,
    /// unless it is one of them. Nothing follows the turns of a whole conversation.
    pub fn of(turns: &[Turn], following: &[Turn]) -> Self {
        let own: BTreeSet<i32> = turns.iter().map(|turn| turn.number).collect();
        let following = following.iter().filter(|turn| !own.contains(&turn.number));
        let mut all: Vec<TranscriptTurn> =
            turns.iter().chain(following).map(transcript_turn).collect();
        all.sort_by_key(|turn| turn.number);
        let mut retracting = remove_retracted(&mut all);
        all.retain(|turn| own.contains(&turn.number));
        retracting.retain(|number| own.contains(number));
        let plain = |turn: &TranscriptTurn| {
            turn.pieces.iter().map(|piece| Plain::of(&piece.text)).collect()
        };
        let plain = all.iter().map(plain).collect();
        Self { turns: all, retracting, plain }
    }

    /// Separates the turns up to a number from the transcript of the others.
    pub fn split_after(mut self, number: i32) -> (Vec<TranscriptTurn>, Self) {
        let at = self.turns.partition_point(|turn| turn.number <= number);
        let rest = self.turns.split_off(at);
        let plain = self.plain.split_off(at);
        let retracting = self.retracting.into_iter().filter(|other| *other > number).collect();
        (self.turns, Self { turns: rest, retracting, plain })
    }

    /// The most trusted place where the quotation occurs, if any, and the oldest of those.
    pub fn find(&self, quote: &str) -> Option<QuoteMatch> {
        self.places(quote, |_, _| true)
            .reduce(|best, other| if other.origin > best.origin { other } else { best })
    }

    /// The places where the user typed the quotation after a time, oldest first.
    pub fn typed_places(&self, quote: &str, after: Timestamp) -> impl Iterator<Item = QuoteMatch> {
        self.places(quote, move |turn, piece| {
            piece.origin >= Origin::UserTurn && turn.said_at > after
        })
    }

    /// The places where the quotation occurs in the pieces that are searched, oldest first: one in each
    /// piece that has it.
    fn places(
        &self,
        quote: &str,
        is_searched: impl Fn(&TranscriptTurn, &Piece) -> bool,
    ) -> impl Iterator<Item = QuoteMatch> {
        let wanted = Plain::of(quote).text.replace('\n', " ");
        let turns = if wanted.trim().is_empty() { &[] } else { &self.turns[..] };
        let pieces = turns.iter().zip(&self.plain).flat_map(|(turn, plain)| {
            turn.pieces.iter().zip(plain).map(move |(piece, plain)| (turn, piece, plain))
        });
        let searched = pieces.filter(move |(turn, piece, _)| is_searched(turn, piece));
        searched.filter_map(move |(turn, piece, plain)| {
            let (quote, sentence) = plain.around(&wanted)?;
            Some(QuoteMatch {
                turn: turn.turn,
                number: turn.number,
                said_at: turn.said_at,
                origin: piece.origin,
                quote: piece.text[quote].to_owned(),
                sentence: piece.text[sentence].trim().to_owned(),
                guessed: piece.guessed,
                reported: piece.reported,
            })
        })
    }

    /// The place of a quotation, or the one sentence typed by the user that shares most of its words
    /// or of the claim's. `None` if several sentences do.
    pub fn locate(&self, quote: &str, claim: &str, turn: Option<i32>) -> Option<QuoteMatch> {
        self.find(quote).or_else(|| self.most_similar_sentence(quote, claim, turn))
    }

    fn most_similar_sentence(
        &self,
        quote: &str,
        claim: &str,
        hint: Option<i32>,
    ) -> Option<QuoteMatch> {
        let mut best: Option<((usize, bool), QuoteMatch)> = None;
        let mut is_unique = true;
        let pieces = self.turns.iter().zip(&self.plain).flat_map(|(turn, plain)| {
            turn.pieces.iter().zip(plain).map(move |(piece, plain)| (turn, piece, plain))
        });
        let typed = pieces.filter(|(_, piece, _)| piece.origin >= Origin::UserTurn);
        let sentences = typed.flat_map(|(turn, piece, plain)| {
            plain.sentences().map(move |range| (turn, piece, piece.text[range].trim()))
        });
        for (turn, piece, sentence) in sentences.take(MAX_COMPARED_SENTENCES) {
            if sentence.chars().nth(limits::EVIDENCE_CHARS).is_some() {
                continue;
            }
            let share = share_of_words(quote, sentence).max(share_of_words(claim, sentence));
            if share < MIN_SHARED_PERCENT {
                continue;
            }
            let rank = (share, hint == Some(turn.number));
            match &best {
                Some((other, _)) if *other > rank => continue,
                Some((other, found)) if *other == rank => {
                    is_unique &= found.sentence == sentence;
                    continue;
                }
                _ => is_unique = true,
            }
            let found = QuoteMatch {
                turn: turn.turn,
                number: turn.number,
                said_at: turn.said_at,
                origin: piece.origin,
                quote: sentence.to_owned(),
                sentence: sentence.to_owned(),
                guessed: piece.guessed,
                reported: piece.reported,
            };
            best = Some((rank, found));
        }
        best.filter(|_| is_unique).map(|(_, found)| found)
    }

    /// Whether it has no words that may be read: there were none, or the user took all of them back.
    pub fn is_empty(&self) -> bool {
        self.turns.iter().all(|turn| turn.pieces.is_empty())
    }

    /// The origin of anything derived from the whole transcript.
    pub fn origin(&self) -> Option<Origin> {
        Origin::derived(self.turns.iter().flat_map(|turn| turn.pieces.iter().map(|p| p.origin)))
    }

    /// The texts that are worth an extraction request: what the user typed, and what an assistant or
    /// an import attributes to the user. The judge gives these their own origin: what an assistant
    /// reports is found by recall at most, and an import yields candidates at most.
    pub fn learnable_texts(&self) -> impl Iterator<Item = &str> {
        let is_imported = |turn: &TranscriptTurn, piece: &Piece| {
            turn.role == Role::User && piece.origin == Origin::Import && piece.mark.is_none()
        };
        self.turns.iter().flat_map(move |turn| {
            let pieces = turn.pieces.iter();
            let pieces = pieces.filter(move |p| {
                p.origin >= Origin::UserTurn || p.guessed || p.reported || is_imported(turn, p)
            });
            pieces.map(|piece| piece.text.as_str())
        })
    }

    /// Whether it has words that an import attributes to the user, and none that the user typed.
    pub fn is_imported(&self) -> bool {
        self.typed().next().is_none() && self.learnable_texts().next().is_some()
    }

    /// The texts that the user typed in some of the turns, in order.
    pub fn typed_in<'s>(&'s self, turns: &'s BTreeSet<TurnId>) -> impl Iterator<Item = &'s str> {
        let turns = self.turns.iter().filter(|turn| turns.contains(&turn.turn));
        let pieces = turns.flat_map(|turn| turn.pieces.iter());
        pieces.filter(|piece| piece.origin >= Origin::UserTurn).map(|piece| piece.text.as_str())
    }

    /// The texts that the user typed, in order.
    pub fn typed(&self) -> impl Iterator<Item = &str> {
        let pieces = self.turns.iter().flat_map(|turn| turn.pieces.iter());
        pieces.filter(|piece| piece.origin >= Origin::UserTurn).map(|piece| piece.text.as_str())
    }
}

/// Removes the words that the user takes back ("forget I mentioned it"): those of the message that says
/// so, of the user's message before it, and of the answers between them. Returns the numbers of the
/// messages that say so.
fn remove_retracted(turns: &mut [TranscriptTurn]) -> Vec<i32> {
    let (mut previous, mut retracting) = (0, Vec::new());
    for at in 0..turns.len() {
        if turns[at].role != Role::User {
            continue;
        }
        let mut typed = turns[at].pieces.iter().filter(|piece| piece.mark.is_none());
        if typed.any(|piece| statement::retracts(&piece.text)) {
            // Without an earlier message of the user, answers to one come first.
            turns[previous..=at].iter_mut().for_each(|turn| turn.pieces.clear());
            retracting.push(turns[at].number);
        }
        previous = at;
    }
    retracting
}

/// The words of a turn that its sender wrote, and those that were pasted, quoted or prefilled, with
/// an ellipsis in place of what is left out between them.
pub(crate) fn own_and_foreign_words(turn: &Turn) -> (String, String) {
    let pieces = transcript_turn(turn).pieces;
    let words = |wanted: fn(&Piece) -> bool| {
        let mut text = String::new();
        for piece in &pieces {
            match wanted(piece) {
                true if text.is_empty() => text.push_str(piece.text.trim()),
                true => {
                    text.push(' ');
                    text.push_str(piece.text.trim());
                }
                false if text.is_empty() || text.ends_with('…') => {}
                false => text.push_str(" …"),
            }
        }
        text
    };
    (words(|piece| piece.mark.is_none()), words(|piece| piece.mark.is_some()))
}

/// Splits a turn into pieces by its marked spans.
fn transcript_turn(turn: &Turn) -> TranscriptTurn {
    let mut pieces = Vec::new();
    let is_guess = !turn.marked && turn.spans.is_empty() && turn.role == Role::User;
    let mut cut = |text: &str, mark: Option<Mark>| {
        let text = memory_block::strip(text);
        let text = secret::redact(&text);
        if !text.trim().is_empty() {
            let origin = mark.map_or(turn.origin, |_| turn.origin.min(Origin::Document));
            let guessed = is_guess && mark == Some(Mark::Pasted) && is_introduction(&text);
            let mark = mark.filter(|_| !guessed);
            let reported = turn.is_reported() && mark.is_none() && !guessed;
            pieces.push(Piece { text: text.into_owned(), origin, mark, guessed, reported });
        }
    };
    let mut spans = turn.spans.clone();
    if is_guess {
        spans = guess_spans(&turn.content, turn.number == 1);
    }
    spans.sort_by_key(|span| span.from);
    let bytes: Vec<usize> = turn.content.char_indices().map(|(at, _)| at).collect();
    let byte = |char: usize| bytes.get(char).copied().unwrap_or(turn.content.len());
    let mut at = 0;
    for span in spans {
        let (from, to) = (byte(span.from).max(at), byte(span.to));
        if from >= to {
            continue;
        }
        cut(&turn.content[at..from], None);
        cut(&turn.content[from..to], Some(span.mark));
        at = to;
    }
    cut(&turn.content[at..], None);
    TranscriptTurn {
        turn: turn.id,
        number: turn.number,
        role: turn.role,
        speaker: turn.speaker.clone(),
        origin: turn.origin,
        said_at: turn.said_at,
        pieces,
    }
}

/// A paragraph longer than this is rarely typed into a chat.
const TYPED_CHARS: usize = 700;

/// An introduction that the user announces may be longer.
const INTRODUCTION_CHARS: usize = 4_000;

/// A sentence shares enough words with a quotation from this percentage on.
const MIN_SHARED_PERCENT: usize = 60;
/// Maximum number of sentences that are compared with one quotation.
const MAX_COMPARED_SENTENCES: usize = 400;

/// The percentage of the content words of a text that are in a sentence.
fn share_of_words(text: &str, sentence: &str) -> usize {
    let (found, all) = ground::shared_words(text, sentence);
    100 * found / all.max(1)
}

/// Whether a long text reads as a user's own introduction: most of its sentences are in the first
/// person, and none gives an order.
fn is_introduction(text: &str) -> bool {
    let plain = Plain::of(text);
    let (mut own, mut all) = (0, 0);
    for range in plain.sentences() {
        all += 1;
        own += usize::from(person::speaks_of_self(&text[range]));
    }
    all >= 3
        && own * 3 >= all * 2
        && !directive::commands(text)
        && !directive::authorises(text)
        && !directive::speaks_of_a_user(text)
}

/// Whether the first paragraph of a message is an introduction that the user typed: one that is
/// announced, or the whole first message of a conversation if it reads as one and is not a letter.
fn introduces(message: &str, paragraph: &str, is_first: bool) -> bool {
    const LETTERS: [&str; 10] = [
        "dear ",
        "regards",
        "sincerely",
        "sehr geehrte",
        "mit freundlichen",
        "cordialement",
        "madame, monsieur",
        "atentamente",
        "estimad",
        "cumprimentos",
    ];
    let is_alone = || paragraph.trim_end().len() == message.trim_end().len();
    let is_letter = || {
        let lower = paragraph.to_lowercase();
        LETTERS.iter().any(|word| lower.contains(word))
    };
    statement::opens_introduction(paragraph)
        || (is_first && is_alone() && is_introduction(paragraph) && !is_letter())
}

fn text_byte(text: &str, char: usize) -> usize {
    text.char_indices().nth(char).map_or(text.len(), |(at, _)| at)
}

/// Guesses which parts of a message are other people's words, if the client does not mark them:
/// quoted lines, code, and paragraphs too long to have been typed.
fn guess_spans(text: &str, is_first: bool) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut add = |from: usize, to: usize, mark: Mark| match spans.last_mut() {
        Some(last) if last.to >= from && last.mark == mark => last.to = to,
        _ if from < to => spans.push(Span { from, to, mark }),
        _ => {}
    };
    let (mut at, mut code) = (0, false);
    let mut paragraph = (0, 0);
    let end = text.chars().count();
    for line in text.split_inclusive('\n') {
        let (from, to) = (at, at + line.chars().count());
        at = to;
        let trimmed = line.trim();
        let fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        if fence || code || trimmed.starts_with('>') {
            add(from, to, Mark::Quoted);
            code ^= fence;
            paragraph = (to, to);
            continue;
        }
        paragraph.1 = to;
        if trimmed.is_empty() || to == end {
            let length = paragraph.1 - paragraph.0;
            let is_typed = length <= TYPED_CHARS
                || (paragraph.0 == 0
                    && length <= INTRODUCTION_CHARS
                    && introduces(text, &text[..text_byte(text, paragraph.1)], is_first));
            if !is_typed {
                add(paragraph.0, paragraph.1, Mark::Pasted);
            }
            paragraph = (to, to);
        }
    }
    spans
}

/// A text normalized for comparison: case, kinds of spaces, quotes and dashes do not matter. Maps
/// each character to its position in the original.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Plain {
    text: String,
    /// The same text with line breaks replaced by spaces.
    flat: String,
    /// For each character of `text` its byte position in the original; then the position of the
    /// end.
    at: Vec<usize>,
}

impl Plain {
    fn of(original: &str) -> Self {
        let (mut text, mut at) = (String::new(), Vec::new());
        let mut space: Option<(char, usize)> = None;
        for (byte, c) in original.char_indices() {
            if c.is_whitespace() || c.is_control() {
                let kind = if c == '\n' { '\n' } else { ' ' };
                let kept = space.get_or_insert((kind, byte));
                if kind == '\n' {
                    kept.0 = kind;
                }
                continue;
            }
            if let Some((kind, from)) = space.take().filter(|_| !text.is_empty()) {
                text.push(kind);
                at.push(from);
            }
            let c = match c {
                '’' | '‘' | 'ʼ' | '´' | '`' => '\'',
                '“' | '”' | '„' | '«' | '»' => '"',
                '–' | '—' | '‑' => '-',
                c => c,
            };
            for c in c.nfc().flat_map(char::to_lowercase) {
                text.push(c);
                at.push(byte);
            }
        }
        at.push(original.trim_end().len());
        Self { flat: text.replace('\n', " "), text, at }
    }

    /// The ranges of the sentences in the original.
    fn sentences(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let chars: Vec<char> = self.text.chars().collect();
        let mut ends: Vec<usize> =
            (0..chars.len()).filter(|at| ends_sentence(&chars, *at)).map(|at| at + 1).collect();
        if ends.last() != Some(&chars.len()) {
            ends.push(chars.len());
        }
        let mut from = 0;
        let ranges: Vec<_> = ends
            .into_iter()
            .map(|end| self.at[std::mem::replace(&mut from, end)]..self.at[end])
            .filter(|range| range.start < range.end)
            .collect();
        ranges.into_iter()
    }

    /// The ranges, in the original, of the first occurrence of `wanted` and of the sentences around
    /// it. It must not begin or end inside a word.
    fn around(&self, wanted: &str) -> Option<(std::ops::Range<usize>, std::ops::Range<usize>)> {
        /// Longer sentences are pasted text. Of those, this much on either side is read.
        const AROUND_CHARS: usize = 1_500;
        let (haystack, needle) = (&self.flat, wanted);
        let joined = |a: Option<char>, b: Option<char>| {
            a.zip(b).is_some_and(|(a, b)| is_of_word(a) && is_of_word(b))
        };
        let is_whole = |place: usize| {
            let (before, after) = (&haystack[..place], &haystack[place + needle.len()..]);
            !joined(before.chars().next_back(), needle.chars().next())
                && !joined(needle.chars().next_back(), after.chars().next())
        };
        // Most texts do not contain it, which `find` tells sooner.
        let begin = haystack.find(needle)?;
        let found = match is_whole(begin) {
            true => begin,
            false => {
                let mut places = occurrences(&haystack[begin..], needle);
                begin + places.find(|at| is_whole(begin + at))?
            }
        };
        let chars: Vec<char> = self.text.chars().collect();
        let start = haystack[..found].chars().count();
        let end = start + needle.chars().count();
        let (begin, stop) =
            (start.saturating_sub(AROUND_CHARS), chars.len().min(end + AROUND_CHARS));
        let first = (begin..start).rev().find(|i| ends_sentence(&chars, *i));
        let first = first.map_or(begin, |i| i + 1);
        let last = (end.saturating_sub(1)..stop).find(|i| ends_sentence(&chars, *i));
        let last = last.map_or(stop, |i| i + 1);
        Some((self.at[start]..self.at[end], self.at[first]..self.at[last]))
    }
}

/// The places of every occurrence of a text in another, also of those that overlap, by the algorithm
/// of Knuth, Morris and Pratt: linear in both, whichever they are.
fn occurrences<'t>(haystack: &'t str, needle: &'t str) -> impl Iterator<Item = usize> + 't {
    let needle = needle.as_bytes();
    let extended = |borders: &[usize], mut matched: usize, byte: u8| {
        while matched > 0 && needle.get(matched) != Some(&byte) {
            matched = borders[matched - 1];
        }
        matched + usize::from(needle.get(matched) == Some(&byte))
    };
    // For each prefix the length of its longest proper prefix that it also ends with.
    let mut borders: Vec<usize> = Vec::with_capacity(needle.len());
    for byte in needle {
        let border = match borders.last() {
            Some(last) => extended(&borders, *last, *byte),
            None => 0,
        };
        borders.push(border);
    }
    let mut matched = 0;
    haystack.bytes().enumerate().filter_map(move |(at, byte)| {
        matched = extended(&borders, matched, byte);
        (matched > 0 && matched == needle.len()).then(|| at + 1 - needle.len())
    })
}

/// Whether a character belongs to a word with boundaries; scripts written without spaces have none.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() && !matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

fn ends_sentence(chars: &[char], at: usize) -> bool {
    match chars[at] {
        '\n' | '。' | '！' | '？' => true,
        // A full stop inside a number or an address does not end a sentence.
        '.' | '!' | '?' => chars.get(at + 1).is_none_or(|next| next.is_whitespace()),
        _ => false,
    }
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
pub(crate) mod tests;
