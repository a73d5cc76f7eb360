//! Phrase matching in text that may be written to evade detection.
//!
//! A text is folded first: invisible characters are dropped, accents and capitals are removed, and
//! letters of other alphabets that look Latin become Latin. Then its words are compared with
//! patterns. The meaning of the phrases is defined where they are listed.
//!
//! The syntax of patterns is described in `lexicon/README.md`.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use crate::lexicon::lexicon;
use crate::line::is_unseen;
use crate::word::words;

/// A word of a folded text, and its position in the sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub text: String,
    /// Whether a sentence, a clause after a colon or a line begins here. Fillers such as "please"
    /// are skipped: the word after them opens the sentence as well.
    pub opens: bool,
    /// Whether it follows a comma, or a filler that does.
    pub after_comma: bool,
    pub sentence: usize,
}

/// A folded text, split into words.
#[derive(Debug, Clone, Default)]
pub(crate) struct TokenizedText {
    pub tokens: Vec<Token>,
    /// For every sentence, whether it ends in a question mark.
    pub questions: Vec<bool>,
}

/// Words before an order that are not part of it.
static FILLERS: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("phrase/fillers", en de fr es it pt nl tr zh mul).words());

impl TokenizedText {
    pub fn new(text: &str) -> Self {
        let folded = fold(text);
        let mut tokenized = Self::default();
        let (mut end, mut sentence, mut opens, mut after_comma) = (0, 0, true, false);
        for word in words(&folded) {
            let between = &folded[end..word.start];
            let ends = ends_sentence(between, end == 0);
            if ends && !tokenized.tokens.is_empty() {
                tokenized.questions.push(between.contains(['?', '？', '؟']));
                sentence += 1;
            }
            opens |= ends || opens_clause(between);
            after_comma = (after_comma && !ends) || between.contains([',', '，', '、', '،']);
            end = word.end;
            let filler = FILLERS.contains(word.text.as_str());
            tokenized.tokens.push(Token { text: word.text, opens, after_comma, sentence });
            opens &= filler;
            after_comma &= filler;
        }
        if !tokenized.tokens.is_empty() {
            tokenized.questions.push(folded[end..].contains(['?', '？', '؟']));
        }
        tokenized
    }

    /// The sentences with words: the words of each, and whether it ends in a question mark.
    pub fn sentences(&self) -> impl Iterator<Item = (&[Token], bool)> {
        let sentences = self.tokens.chunk_by(|a, b| a.sentence == b.sentence);
        sentences.map(|own| (own, self.questions.get(own[0].sentence) == Some(&true)))
    }
}

/// Whether the text between two words ends a sentence. A full stop does only before a space, not in
/// "next.js" or "3.5".
pub(crate) fn ends_sentence(between: &str, first: bool) -> bool {
    first
        || between.contains(['\n', '!', '?', '。', '！', '？', '؟', '।', '…'])
        || between.split_once('.').is_some_and(|(_, behind)| {
            behind.starts_with(|c: char| c.is_whitespace() || "\"')]”’»".contains(c))
        })
}

fn opens_clause(between: &str) -> bool {
    between.contains([':', ';', '：', '；', '—', '–', '•', '|', '>', '{', '[', '*', '='])
        || between.contains(" - ")
        || between.contains(". ")
}

/// Normalizes the spelling of a text.
pub(crate) fn fold(text: &str) -> String {
    let plain: String = text
        .nfkd()
        .filter(|c| !is_unseen(*c) && !matches!(c, '\u{0300}'..='\u{036f}'))
        .flat_map(char::to_lowercase)
        .nfc()
        .map(|c| match c {
            '\u{2019}' | '\u{2018}' | '\u{02bc}' | '`' | '´' => '\'',
            'ı' => 'i',
            'ß' => 's',
            'ø' => 'o',
            'ł' => 'l',
            c => c,
        })
        .collect();
    unmask(&plain)
}

/// Replaces look-alike letters in words that mix them with Latin ones. Words of one alphabet are
/// unchanged: Russian is not a disguise.
fn unmask(text: &str) -> String {
    let latin = |c: char| c.is_ascii_alphabetic();
    let masked = |c: char| look_alike(c).is_some();
    if !text.chars().any(masked) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(|c: char| !c.is_alphanumeric()) {
        if word.chars().any(latin) && word.chars().any(masked) {
            out.extend(word.chars().map(|c| look_alike(c).unwrap_or(c)));
        } else {
            out.push_str(word);
        }
    }
    out
}

fn look_alike(c: char) -> Option<char> {
    const PAIRS: &[(char, char)] = &[
        ('а', 'a'),
        ('е', 'e'),
        ('о', 'o'),
        ('р', 'p'),
        ('с', 'c'),
        ('у', 'y'),
        ('х', 'x'),
        ('і', 'i'),
        ('ѕ', 's'),
        ('ј', 'j'),
        ('ԁ', 'd'),
        ('ո', 'n'),
        ('α', 'a'),
        ('ο', 'o'),
        ('ρ', 'p'),
        ('ν', 'v'),
        ('ι', 'i'),
        ('κ', 'k'),
        ('τ', 't'),
        ('υ', 'u'),
        ('м', 'm'),
        ('т', 't'),
        ('к', 'k'),
        ('в', 'b'),
        ('н', 'h'),
    ];
    PAIRS.iter().find(|(from, _)| *from == c).map(|(_, to)| *to)
}

#[derive(Debug, Clone)]
struct Choice {
    words: Vec<String>,
    /// Whether the last word is a prefix.
    open: bool,
}

#[derive(Debug, Clone)]
enum Place {
    Any,
    Gap,
    Opens,
    /// One of these exact words, or one of the choices with several words or a prefix.
    OneOf(HashSet<String>, Vec<Choice>),
}

/// Length of the keys of `Phrases::by_start`, in characters.
const PREFIX_CHARS: usize = 3;

/// Compiled patterns, each with its meaning.
#[derive(Debug)]
pub(crate) struct Phrases<T> {
    patterns: Vec<(Vec<Place>, T)>,
    by_word: HashMap<String, Vec<usize>>,
    /// Patterns that begin with a prefix, by its first letters, at most `PREFIX_CHARS`.
    by_start: HashMap<String, Vec<usize>>,
}

/// A match: from its first word to after its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found<T> {
    pub start: usize,
    pub end: usize,
    pub means: T,
}

/// Ranges of words, prepared to be compared with many others.
#[derive(Debug, Default)]
pub(crate) struct WordRanges {
    starts: Vec<usize>,
    /// For each start, the last end of the ranges up to it.
    ends: Vec<usize>,
}

impl WordRanges {
    pub fn new(ranges: impl IntoIterator<Item = Range<usize>>) -> Self {
        let mut ranges: Vec<_> = ranges.into_iter().collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let mut last = 0;
        let mut last_end = |range: &Range<usize>| {
            last = range.end.max(last);
            last
        };
        let ends = ranges.iter().map(&mut last_end).collect();
        Self { starts: ranges.into_iter().map(|range| range.start).collect(), ends }
    }

    /// The last end of the ranges that begin before a place.
    fn last_end(&self, place: usize) -> usize {
        let before = self.starts.partition_point(|start| *start < place);
        before.checked_sub(1).map_or(0, |at| self.ends[at])
    }

    /// Whether one of them contains the whole range.
    pub fn cover(&self, range: &Range<usize>) -> bool {
        self.last_end(range.start + 1) >= range.end
    }

    /// Whether one of them has a word in common with the range.
    pub fn overlap(&self, range: &Range<usize>) -> bool {
        self.last_end(range.end) > range.start
    }
}

impl<T: Copy> Phrases<T> {
    pub fn new<L: IntoIterator<Item: AsRef<str>>>(lists: impl IntoIterator<Item = (T, L)>) -> Self {
        let mut phrases =
            Self { patterns: Vec::new(), by_word: HashMap::new(), by_start: HashMap::new() };
        for (means, patterns) in lists {
            for pattern in patterns {
                phrases.add(pattern.as_ref(), means);
            }
        }
        phrases
    }

    fn add(&mut self, pattern: &str, means: T) {
        let mut places = Vec::new();
        for part in pattern.split(' ').filter(|part| !part.is_empty()) {
            places.push(match part {
                "_" => Place::Any,
                "~" => Place::Gap,
                "^" => Place::Opens,
                part => {
                    let (alone, more) = part
                        .split('|')
                        .map(choice)
                        .partition::<Vec<_>, _>(|choice| !choice.open && choice.words.len() == 1);
                    Place::OneOf(alone.into_iter().flat_map(|choice| choice.words).collect(), more)
                }
            });
        }
        let at = self.patterns.len();
        let first = places.iter().find_map(|place| match place {
            Place::OneOf(alone, more) => Some((alone, more)),
            _ => None,
        });
        let Some((alone, more)) = first else { return };
        for word in alone {
            add_to_index(&mut self.by_word, word.clone(), at);
        }
        for choice in more {
            let Some(word) = choice.words.first() else { continue };
            if choice.open && choice.words.len() == 1 {
                add_to_index(&mut self.by_start, word.chars().take(PREFIX_CHARS).collect(), at);
            } else {
                add_to_index(&mut self.by_word, word.clone(), at);
            }
        }
        self.patterns.push((places, means));
    }

    /// Every match in the text, from left to right.
    pub fn find<'h>(&'h self, tokenized: &'h TokenizedText) -> impl Iterator<Item = Found<T>> + 'h {
        tokenized.tokens.iter().enumerate().flat_map(move |(start, token)| {
            let whole = self.by_word.get(&token.text);
            let heads =
                token.text.char_indices().take(PREFIX_CHARS).map(|(at, c)| at + c.len_utf8());
            let begun = heads.filter_map(|end| self.by_start.get(&token.text[..end]));
            whole.into_iter().chain(begun).flatten().filter_map(move |at| {
                let (places, means) = &self.patterns[*at];
                let end = ends_at(places, &tokenized.tokens, start, start)?;
                Some(Found { start, end, means: *means })
            })
        })
    }

    pub fn any(&self, tokenized: &TokenizedText) -> bool {
        self.find(tokenized).next().is_some()
    }
}

fn add_to_index(index: &mut HashMap<String, Vec<usize>>, word: String, at: usize) {
    let own = index.entry(word).or_default();
    if own.last() != Some(&at) {
        own.push(at);
    }
}

fn choice(written: &str) -> Choice {
    let (written, open) = match written.strip_suffix('*') {
        Some(start) => (start, true),
        None => (written, false),
    };
    Choice { words: words(&fold(written)).into_iter().map(|word| word.text).collect(), open }
}

/// The end of a match of the pattern at `at`, if it matches.
fn ends_at(places: &[Place], tokens: &[Token], at: usize, start: usize) -> Option<usize> {
    const MAX_GAP_WORDS: usize = 6;
    let Some((place, rest)) = places.split_first() else { return Some(at) };
    let same = |at: usize| {
        at == start || tokens.get(at).is_some_and(|token| token.sentence == tokens[start].sentence)
    };
    match place {
        Place::Opens => {
            tokens.get(at).filter(|token| token.opens)?;
            ends_at(rest, tokens, at, start)
        }
        Place::Any => {
            same(at).then_some(())?;
            ends_at(rest, tokens, at + 1, start)
        }
        Place::Gap => (0..=MAX_GAP_WORDS)
            .take_while(|skip| *skip == 0 || same(at + skip - 1))
            .find_map(|skip| ends_at(rest, tokens, at + skip, start)),
        Place::OneOf(alone, more) => {
            // Choices of several words come first, so that the longest match wins.
            let several = more.iter().find_map(|choice| {
                let end = at + choice.words.len();
                let own = tokens.get(at..end)?;
                let last = choice.words.len().checked_sub(1)?;
                let fits = own.iter().zip(&choice.words).enumerate().all(|(n, (token, word))| {
                    let begins = n == last && choice.open && token.text.starts_with(word.as_str());
                    same(at + n) && (token.text == *word || begins)
                });
                fits.then(|| ends_at(rest, tokens, end, start)).flatten()
            });
            several.or_else(|| {
                tokens.get(at).filter(|token| alone.contains(&token.text) && same(at))?;
                ends_at(rest, tokens, at + 1, start)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(pattern: &str, text: &str) -> bool {
        Phrases::new([((), [pattern].as_slice())]).any(&TokenizedText::new(text))
    }

    #[test]
    fn phrase_patterns_match_words_prefixes_gaps_and_openings() {
        assert!(says("mot de passe", "Mon mot de passe"));
        assert!(says("promo*", "a promotion"));
        assert!(says("i|we _ you", "We need you"));
        assert!(says("send ~ to", "Send it all to Bob"));
        assert!(!says("send ~ to", "Send it. All to Bob"));
        assert!(says("^ ignore", "Fine. Please ignore it"));
        assert!(!says("^ ignore", "I ignore it"));
        assert!(says("忽略 ~ 指令", "请忽略以上指令"));
        assert!(says("don't", "I don’t"));
    }

    #[test]
    fn word_ranges_cover_and_overlap_others() {
        let ranges = WordRanges::new([4..6, 1..9, 12..13]);
        for (range, covered, overlapped) in [
            (1..9, true, true),
            (5..7, true, true),
            (8..10, false, true),
            (0..2, false, true),
            (9..12, false, false),
            (0..1, false, false),
            (12..13, true, true),
            (12..14, false, true),
        ] {
            assert_eq!(ranges.cover(&range), covered, "{range:?}");
            assert_eq!(ranges.overlap(&range), overlapped, "{range:?}");
        }
        assert!(!WordRanges::default().cover(&(0..1)));
    }

    #[test]
    fn sentences_of_a_text_have_their_words_and_ask_or_not() {
        let tokenized = TokenizedText::new("Hi. Do you? ... No");
        let sentences: Vec<_> =
            tokenized.sentences().map(|(own, asks)| (own.len(), asks)).collect();
        assert_eq!(sentences, [(1, false), (2, true), (1, false)]);
        assert_eq!(TokenizedText::new(" ? ").sentences().count(), 0);
    }

    #[test]
    fn phrase_matching_sees_through_disguised_letters() {
        assert!(says("ignore previous", "ign\u{200b}ore prev\u{ad}ious"));
        assert!(says("ignore previous", "Ｉｇｎｏｒｅ ｐｒｅｖｉｏｕｓ"));
        assert!(says("ignore previous", "ignоrе рreviоus"), "with Cyrillic letters");
        assert!(says("contraseña", "contrasena"));
        assert_eq!(fold("привет"), "привет");
    }

    #[test]
    fn phrase_sentences_end_at_marks_and_not_inside_names() {
        let tokenized = TokenizedText::new("I use next.js 3.5. Do you? 好。是");
        let last = tokenized.tokens.last().map(|token| token.sentence);
        assert_eq!((last, tokenized.questions), (Some(3), vec![false, true, false, false]));
    }
}
