//! Sentences of a typed text, with the places where a statement can begin.

use std::ops::Range;
use std::sync::LazyLock;

use crate::lexicon::lexicon;
use crate::screen::phrase::{Found, Phrases, Token, TokenizedText, ends_sentence, fold};
use crate::word::{Word, words};

/// Longer sentences are not read: they are pasted text more often than statements.
const MAX_WORDS: usize = 60;

/// Words before a statement that are not part of it: greetings, "by the way", "please".
static LEAD: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("statement/lead", en de fr es it pt nl pl ru zh ja ko))])
});
/// Words after which a clause is not asserted by the user: "if", "she said", "imagine".
static FRAMES: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("statement/frames", en de fr es it pt nl pl ru zh ja ko))])
});

#[derive(Debug)]
pub(super) struct Sentence<'t> {
    pub text: &'t str,
    pub at: Range<usize>,
    /// The words, with their byte ranges in the whole text.
    pub words: Vec<Word>,
    /// The same words folded. `opens` is set where a statement can begin.
    pub tokenized: TokenizedText,
    /// Whether it ends in a question mark.
    pub asks: bool,
    /// For each word, whether it is inside a quotation or code.
    pub quoted: Vec<bool>,
    /// Whether it is an item of a list.
    pub is_listed: bool,
}

impl<'t> Sentence<'t> {
    /// Whether it begins inside a quotation or code.
    pub fn is_quoted(&self) -> bool {
        self.quoted.first() == Some(&true)
    }

    pub fn is_too_long(&self) -> bool {
        self.words.len() > MAX_WORDS
    }

    pub fn tokens(&self) -> &[Token] {
        &self.tokenized.tokens
    }

    pub fn token(&self, at: usize) -> &str {
        self.tokens().get(at).map_or("", |token| token.text.as_str())
    }

    /// Whether some clause of it is not asserted.
    pub fn has_frame(&self) -> bool {
        FRAMES.any(&self.tokenized)
    }

    /// Whether it begins with words after which nothing is asserted: "if", "she said".
    pub fn opens_with_frame(&self) -> bool {
        self.matches(&FRAMES).iter().any(|found| found.start <= 1)
    }

    /// The text of a range of words, as written.
    pub fn slice(&self, range: Range<usize>) -> &'t str {
        match (self.words.get(range.start), range.end.checked_sub(1)) {
            (Some(first), Some(last)) if range.start < range.end => {
                let last = &self.words[last.min(self.words.len() - 1)];
                &self.text[first.start..last.end]
            }
            _ => "",
        }
    }

    /// The text between a word and the one before it.
    pub fn gap_before(&self, at: usize) -> &'t str {
        let start = at.checked_sub(1).map_or(self.at.start, |before| self.words[before].end);
        let end = self.words.get(at).map_or(self.at.end, |word| word.start);
        &self.text[start..end.max(start)]
    }

    /// The longest match of each start, in order.
    pub fn matches<T: Copy>(&self, phrases: &Phrases<T>) -> Vec<Found<T>> {
        let mut found: Vec<Found<T>> = Vec::new();
        for next in phrases.find(&self.tokenized) {
            match found.last_mut() {
                Some(last) if last.start == next.start => {
                    if next.end > last.end {
                        *last = next;
                    }
                }
                _ => found.push(next),
            }
        }
        found
    }

    /// The position of the first word after the words that lead to a statement.
    pub fn clause_start(&self) -> usize {
        let mut leads: Vec<_> = LEAD.find(&self.tokenized).collect();
        leads.sort_unstable_by_key(|found| (found.start, found.end));
        let next = |start, found: &Found<()>| if found.start == start { found.end } else { start };
        let start = leads.iter().fold(0, next);
        if start < self.words.len() { start } else { 0 }
    }

    /// The position of the first word at or after `from` that begins a new clause, or the number of
    /// words.
    pub fn clause_end(&self, from: usize) -> usize {
        let new = |at: &usize| opens_clause(self.gap_before(*at));
        (from + 1..self.words.len()).find(new).unwrap_or(self.words.len())
    }
}

/// The sentences of a text. The last one is left out if the text was cut.
pub(super) fn split(text: &str, is_cut: bool) -> Vec<Sentence<'_>> {
    split_some(text, is_cut, |_| true)
}

/// The sentences in the first characters of a text, and those in as many at its end.
pub(super) fn split_ends(text: &str, chars: usize) -> Vec<Sentence<'_>> {
    let head = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let tail = text.char_indices().nth_back(chars).map_or(0, |(at, _)| at);
    split_some(text, false, |own| own.end <= head || own.start >= tail)
}

/// The sentences of a text in a range of bytes that is read.
fn split_some(
    text: &str,
    is_cut: bool,
    is_read: impl Fn(Range<usize>) -> bool,
) -> Vec<Sentence<'_>> {
    let quoted = quoted_ranges(text);
    let mut groups: Vec<Vec<Word>> = Vec::new();
    let mut end = 0;
    for word in words(text) {
        let ends = ends_sentence(&text[end..word.start], groups.is_empty());
        end = word.end;
        match groups.last_mut().filter(|_| !ends) {
            Some(group) => group.push(word),
            None => groups.push(vec![word]),
        }
    }
    if is_cut {
        groups.pop();
    }
    let starts: Vec<usize> = groups.iter().map(|group| group[0].start).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let mut sentences = Vec::new();
    let mut before = 0;
    for (group, next) in groups.into_iter().zip(ends) {
        let behind = group.last().map_or(0, |word| word.end);
        if is_read(group[0].start..behind) {
            sentences.push(build(text, group, before, next, &quoted));
        }
        before = behind;
    }
    sentences
}

fn build<'t>(
    text: &'t str,
    mut own: Vec<Word>,
    before: usize,
    next: usize,
    quoted: &[Range<usize>],
) -> Sentence<'t> {
    let (start, last) = (own[0].start, own[own.len() - 1].end);
    let behind = &text[last..next];
    let marks = behind.find(|c: char| c.is_whitespace()).unwrap_or(behind.len());
    let is_inside = |at: usize| {
        let after = quoted.partition_point(|range| range.start <= at);
        after > 0 && quoted[after - 1].end > at
    };
    let line = text[before..start].rsplit('\n').next().unwrap_or_default().trim();
    let is_first_of_line = before == 0 || text[before..start].contains('\n');
    let numbered = own[0].text.bytes().all(|b| b.is_ascii_digit())
        && text[own[0].end..].starts_with(['.', ')']);
    let is_listed =
        is_first_of_line && (numbered || line.ends_with(['-', '*', '•', '+', '#', '|', '>']));
    let quotes: Vec<bool> = own.iter().map(|word| is_inside(word.start)).collect();
    for word in &mut own {
        word.text = fold(&word.text);
    }
    let mut sentence = Sentence {
        text,
        at: start..last + marks,
        tokenized: TokenizedText::default(),
        asks: behind[..marks].contains(['?', '？', '؟']),
        quoted: quotes,
        is_listed,
        words: own,
    };
    let opens: Vec<bool> = (0..sentence.words.len())
        .map(|at| !sentence.quoted[at] && (at == 0 || opens_clause(sentence.gap_before(at))))
        .collect();
    let tokens = sentence.words.iter().zip(&opens).map(|(word, opens)| Token {
        text: word.text.clone(),
        opens: *opens,
        after_comma: *opens,
        sentence: 0,
    });
    sentence.tokenized = TokenizedText { tokens: tokens.collect(), questions: Vec::new() };
    if !sentence.is_too_long() {
        open_after_leads(&mut sentence.tokenized, &sentence.quoted);
    }
    sentence
}

/// Marks the words after a lead as openings, and removes those that a frame precedes.
fn open_after_leads(tokenized: &mut TokenizedText, quotes: &[bool]) {
    let mut leads: Vec<_> = LEAD.find(tokenized).map(|found| (found.start, found.end)).collect();
    leads.sort_unstable();
    for (start, end) in leads {
        if tokenized.tokens[start].opens
            && let Some(token) = tokenized.tokens.get_mut(end).filter(|_| !quotes[end])
        {
            token.opens = true;
        }
    }
    let frame = FRAMES.find(tokenized).map(|found| found.start).min();
    for token in tokenized.tokens.iter_mut().skip(frame.map_or(usize::MAX, |at| at + 1)) {
        token.opens = false;
    }
}

/// Whether a clause begins after these characters between two words.
fn opens_clause(between: &str) -> bool {
    between.contains([',', ';', ':', '，', '；', '：', '、', '—', '–', '(', '،'])
        || between.contains(" - ")
}

/// Byte ranges of quotations, code and quoted lines, in order. A quotation ends in its paragraph.
fn quoted_ranges(text: &str) -> Vec<Range<usize>> {
    const PAIRS: [(char, char); 8] = [
        ('"', '"'),
        ('“', '”'),
        ('„', '“'),
        ('«', '»'),
        ('「', '」'),
        ('『', '』'),
        ('`', '`'),
        ('”', '”'),
    ];
    let mut ranges = Vec::new();
    let mut open: Option<(usize, char)> = None;
    let mut fence: Option<usize> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            match fence.take() {
                Some(from) => ranges.push(from..start + line.len()),
                None => fence = Some(start),
            }
        } else if trimmed.starts_with('>') && fence.is_none() {
            ranges.push(start..start + line.len());
        } else if trimmed.is_empty() {
            open = None;
        } else if fence.is_none() {
            for (at, c) in line.char_indices() {
                match open {
                    Some((from, close)) if c == close => {
                        ranges.push(from..start + at);
                        open = None;
                    }
                    Some(_) => {}
                    None => {
                        let pair = PAIRS.iter().find(|(opening, _)| *opening == c);
                        open = pair.map(|(_, close)| (start + at, *close));
                    }
                }
            }
        }
        start += line.len();
    }
    ranges.extend(fence.map(|from| from..text.len()));
    ranges.sort_by_key(|range| range.start);
    ranges
}
