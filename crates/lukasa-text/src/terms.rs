//! Text analysis: turns text into the terms that keyword search compares.
//!
//! A text is split into words, stop words are dropped and the rest is stemmed by the rules of the
//! text's language. Writing without spaces (Chinese, Japanese, Korean, Thai) is split into
//! character bigrams. Stored texts and queries use the same rules; every change to them must raise
//! [`ANALYZER`], so that stored texts are analysed again.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

use crate::term_bytes;

/// Version of these rules.
pub const ANALYZER: i16 = 2;

/// Maximum number of words of a passage. Longer text covers several subjects, and its embedding
/// represents none of them well.
pub const PASSAGE_WORDS: usize = 160;

/// Maximum number of distinct terms of a passage; pairs of words are dropped first. They take at most
/// five bytes each and have to fit into an index row (2,704 bytes).
pub const PASSAGE_TERMS: usize = 400;

/// Characters of a word that are used. Anything longer is not a natural word, and stemming it takes
/// more than linear time.
const WORD_CHARS: usize = 64;

/// English stop words. Question words are included: they are in every question and in no answer.
const ENGLISH: &[&str] = &[
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been",
    "being", "but", "by", "can", "could", "d", "did", "do", "does", "doing", "don", "for", "from",
    "had", "has", "have", "having", "he", "her", "hers", "him", "his", "how", "i", "if", "in",
    "into", "is", "it", "its", "just", "ll", "m", "me", "my", "no", "not", "of", "on", "or", "our",
    "ours", "re", "s", "she", "should", "so", "some", "such", "t", "than", "that", "the", "their",
    "theirs", "them", "then", "there", "these", "they", "this", "those", "to", "too", "ve", "very",
    "was", "we", "were", "what", "when", "where", "which", "who", "whom", "whose", "why", "will",
    "with", "would", "you", "your", "yours",
];

/// A supported language, by its two-letter code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Language(&'static str);

impl Language {
    pub const ENGLISH: Self = Self("en");

    pub fn code(self) -> &'static str {
        self.0
    }

    /// The language with this code; English for unknown codes.
    pub fn parse(code: &str) -> Self {
        LANGUAGES.iter().find(|(known, ..)| *known == code).map_or(Self::ENGLISH, |l| Self(l.0))
    }

    /// The detected language of a text, or English. Short texts can rarely be detected, which does
    /// little harm: a query is analysed by the rules of every stored language.
    pub fn of(text: &str) -> Self {
        let info = whatlang::detect(text).filter(whatlang::Info::is_reliable);
        let found = info.and_then(|info| LANGUAGES.iter().find(|l| l.1 == info.lang()));
        found.map_or(Self::ENGLISH, |l| Self(l.0))
    }

    fn algorithm(self) -> Algorithm {
        LANGUAGES.iter().find(|l| l.0 == self.0).map_or(Algorithm::English, |l| l.2)
    }
}

const LANGUAGES: &[(&str, whatlang::Lang, Algorithm)] = {
    use whatlang::Lang;
    &[
        ("en", Lang::Eng, Algorithm::English),
        ("ar", Lang::Ara, Algorithm::Arabic),
        ("da", Lang::Dan, Algorithm::Danish),
        ("de", Lang::Deu, Algorithm::German),
        ("el", Lang::Ell, Algorithm::Greek),
        ("es", Lang::Spa, Algorithm::Spanish),
        ("fi", Lang::Fin, Algorithm::Finnish),
        ("fr", Lang::Fra, Algorithm::French),
        ("hu", Lang::Hun, Algorithm::Hungarian),
        ("it", Lang::Ita, Algorithm::Italian),
        ("nb", Lang::Nob, Algorithm::Norwegian),
        ("nl", Lang::Nld, Algorithm::Dutch),
        ("pt", Lang::Por, Algorithm::Portuguese),
        ("ro", Lang::Ron, Algorithm::Romanian),
        ("ru", Lang::Rus, Algorithm::Russian),
        ("sv", Lang::Swe, Algorithm::Swedish),
        ("ta", Lang::Tam, Algorithm::Tamil),
        ("tr", Lang::Tur, Algorithm::Turkish),
    ]
};

pub(crate) fn is_stop_word(language: Language, word: &str) -> bool {
    match language {
        Language::ENGLISH => ENGLISH.binary_search(&word).is_ok(),
        other => stop_words::lookup(other.0).is_some_and(|words| words.contains(&word)),
    }
}

/// The kind of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TermKind {
    /// A word of the text.
    Word = 0,
    /// A part of the speaker's name.
    Speaker = 1,
    /// The day, the month or the year of the turn.
    Date = 2,
    /// Two words that follow each other.
    Pair = 3,
}

/// A term as it is stored and compared: a hash of a stem, with its sort in the last two bits. Two
/// stems of one user's vocabulary collide about once in a thousand million pairs, and then two
/// words count as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(pub u32);

impl Term {
    pub fn of(stem: &str) -> Self {
        Self::digest(stem.bytes(), TermKind::Word)
    }

    /// The term of two words that follow each other.
    pub fn pair(first: Term, second: Term) -> Self {
        Self::digest([first.0, second.0].into_iter().flat_map(u32::to_le_bytes), TermKind::Pair)
    }

    fn digest(bytes: impl Iterator<Item = u8>, sort: TermKind) -> Self {
        // FNV-1a, folded: it must be the same on every machine and in every release.
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self((hash ^ (hash >> 32)) as u32).as_sort(sort)
    }

    /// The same stem as a term of another sort.
    #[must_use]
    pub fn as_sort(self, sort: TermKind) -> Self {
        Self((self.0 & !3) | sort as u32)
    }

    pub fn is_word(self) -> bool {
        self.0 & 3 == TermKind::Word as u32
    }

    pub fn is_pair(self) -> bool {
        self.0 & 3 == TermKind::Pair as u32
    }
}

/// A word of a text, and the term of its stem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub written: String,
    pub term: Term,
}

/// The words of a text in order, without stop words.
pub fn words(text: &str, language: Language) -> Vec<Word> {
    let stemmer = Stemmer::create(language.algorithm());
    let mut found = Vec::new();
    for_each_word(text, |written, dense| {
        if dense {
            found.push(Word { term: Term::of(written), written: written.to_owned() });
        } else if !is_stop_word(language, written) {
            found
                .push(Word { term: Term::of(&stemmer.stem(written)), written: written.to_owned() });
        }
    });
    found
}

/// Calls `each` with every word in lower case, and whether it is from writing without spaces.
fn for_each_word(text: &str, mut each: impl FnMut(&str, bool)) {
    let mut word = String::new();
    let mut chars = 0;
    let mut dense = String::new();
    for c in text.nfkc().flat_map(char::to_lowercase).chain([' ']) {
        if is_dense(c) {
            dense.push(c);
        } else if !dense.is_empty() {
            pairs(&dense, &mut each);
            dense.clear();
        }
        if c.is_alphanumeric() && !is_dense(c) {
            if chars < WORD_CHARS {
                word.push(c);
            }
            chars += 1;
        } else if !word.is_empty() {
            each(&word, false);
            word.clear();
            chars = 0;
        }
    }
}

/// Character bigrams; a single character is a word itself.
fn pairs(run: &str, each: &mut impl FnMut(&str, bool)) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    if starts.len() == 2 {
        return each(run, true);
    }
    for three in starts.windows(3) {
        each(&run[three[0]..three[2]], true);
    }
}

/// Whether a character is of a script written without spaces, or, as Korean, with compound words
/// whose parts must be found.
fn is_dense(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}'          // Thai, Lao
        | '\u{1000}'..='\u{109F}'        // Burmese
        | '\u{1100}'..='\u{11FF}'        // Hangul parts
        | '\u{1780}'..='\u{17FF}'        // Khmer
        | '\u{3041}'..='\u{30FF}'        // Hiragana, Katakana
        | '\u{3131}'..='\u{318E}'
        | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}'        // Han
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}'        // Hangul
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}')
        && c.is_alphanumeric()
}

/// Every two words that follow each other.
pub fn pairs_of(words: &[Word]) -> impl Iterator<Item = Term> + '_ {
    words.windows(2).map(|two| Term::pair(two[0].term, two[1].term))
}

/// A passage's terms with their counts, and its number of words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// Sorted by term.
    pub counts: Vec<(Term, u8)>,
    pub words: u32,
}

impl Terms {
    /// The terms of the words and their pairs, and `besides`, other terms to find the text by.
    pub fn of(words: &[Word], besides: impl IntoIterator<Item = Term>) -> Self {
        Self::counted(words, pairs_of(words).chain(besides))
    }

    /// The terms of the words, and `besides`.
    pub fn without_pairs(words: &[Word], besides: impl IntoIterator<Item = Term>) -> Self {
        Self::counted(words, besides)
    }

    fn counted(words: &[Word], others: impl IntoIterator<Item = Term>) -> Self {
        let mut counts: HashMap<Term, u8> = HashMap::new();
        for term in words.iter().map(|word| word.term).chain(others) {
            let count = counts.entry(term).or_default();
            *count = count.saturating_add(1);
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_unstable();
        let words = u32::try_from(words.len()).unwrap_or(u32::MAX);
        Self { counts, words }.at_most(PASSAGE_TERMS)
    }

    /// The same with at most `limit` distinct terms: words are kept before pairs and other terms.
    #[must_use]
    pub fn at_most(mut self, limit: usize) -> Self {
        if self.counts.len() > limit {
            self.counts.sort_unstable_by_key(|(term, _)| (!term.is_word(), *term));
            self.counts.truncate(limit);
            self.counts.sort_unstable();
        }
        self
    }

    /// The terms as they are stored, without the number of words.
    pub fn to_bytes(&self) -> Vec<u8> {
        term_bytes::encode(self.counts.iter().map(|(term, count)| (term.0, *count)))
    }

    /// Reads what [`Terms::to_bytes`] wrote; what is cut off is left out.
    pub fn from_bytes(bytes: &[u8], words: u32) -> Self {
        Self { counts: term_bytes::decode(bytes, Term), words }
    }

    pub fn count_of(&self, term: Term) -> u8 {
        self.counts.binary_search_by_key(&term, |(t, _)| *t).map_or(0, |at| self.counts[at].1)
    }
}

/// Splits a text into passages of at most [`PASSAGE_WORDS`] words, at the ends of sentences where
/// possible. A short text is one passage.
pub fn passages(text: &str) -> Vec<&str> {
    let mut cuts = Vec::new();
    let (mut start, mut good, mut words, mut since_good) = (0, None, 0, 0);
    let mut in_word = false;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        // Counted as `words` will split it: one character may normalise to several words.
        let mut counts = 0;
        for c in std::iter::once(c).nfkc() {
            let starts = is_dense(c) || (c.is_alphanumeric() && !in_word);
            counts += usize::from(starts);
            in_word = c.is_alphanumeric() && !is_dense(c);
        }
        words += counts;
        since_good += counts;
        if words > PASSAGE_WORDS {
            // Back to the last end of a sentence, or here if there is none.
            let cut = good.filter(|good| *good > start).unwrap_or(at);
            cuts.push(&text[start..cut]);
            words = if cut == at { counts } else { since_good };
            (start, good) = (cut, None);
        }
        let ends = c == '\n'
            || matches!(c, '。' | '！' | '？')
            || (matches!(c, '.' | '!' | '?')
                && chars.peek().is_none_or(|(_, n)| n.is_whitespace()));
        if ends {
            good = Some(end);
            since_good = 0;
        }
    }
    cuts.push(&text[start..]);
    cuts.retain(|cut| !cut.trim().is_empty());
    if cuts.is_empty() { vec![text] } else { cuts }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str, language: Language) -> Vec<Term> {
        words(text, language).into_iter().map(|word| word.term).collect()
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(ENGLISH.is_sorted());
    }

    #[test]
    fn inflections_and_case_share_one_term() {
        let one = stems("Running shoes", Language::ENGLISH);
        assert_eq!(one, stems("RUN shoe", Language::ENGLISH));
        assert_eq!(stems("did you with the", Language::ENGLISH), []);
    }

    #[test]
    fn stemming_follows_the_language() {
        let german = Language::parse("de");
        assert_eq!(stems("Häuser", german), stems("Häusern", german));
        let spanish = Language::parse("es");
        assert_eq!(stems("los caballos", spanish), stems("caballo", spanish));
        assert_eq!(Language::parse("xx"), Language::ENGLISH);
    }

    #[test]
    fn language_of_a_sentence_is_detected() {
        let german =
            "Ich wohne seit letztem Sommer mit meiner Familie in einem kleinen Haus am See.";
        assert_eq!(Language::of(german), Language::parse("de"));
        assert_eq!(Language::of("ok"), Language::ENGLISH);
    }

    #[test]
    fn writing_without_spaces_is_split_into_bigrams() {
        let written = |text| -> Vec<String> {
            words(text, Language::ENGLISH).into_iter().map(|word| word.written).collect()
        };
        assert_eq!(written("我住在北京"), ["我住", "住在", "在北", "北京"]);
        assert_eq!(written("東京タワー"), ["東京", "京タ", "タワ", "ワー"]);
        assert_eq!(written("서울에서"), ["서울", "울에", "에서"]);
        assert_eq!(written("茶 and GPT4模型"), ["茶", "gpt4", "模型"]);
    }

    #[test]
    fn full_width_and_accents_written_apart_are_the_same_text() {
        assert_eq!(stems("ＡＢＣ", Language::ENGLISH), stems("abc", Language::ENGLISH));
        assert_eq!(stems("cafe\u{301}", Language::ENGLISH), stems("café", Language::ENGLISH));
    }

    #[test]
    fn terms_round_trip_through_bytes() {
        let terms = Terms::of(&words("tea, more tea and a biscuit", Language::ENGLISH), []);
        assert_eq!(terms.words, 4);
        let pair = Term::pair(Term::of("tea"), Term::of("biscuit"));
        assert_eq!(terms.count_of(pair), 1);
        assert!(!pair.is_word() && Term::of("tea").is_word());
        assert_ne!(Term::of("tea").as_sort(TermKind::Speaker), Term::of("tea"));
        assert_eq!(terms.count_of(Term::of("tea")), 2);
        assert_eq!(Terms::from_bytes(&terms.to_bytes(), terms.words), terms);
        assert_eq!(Terms::from_bytes(&[1, 2, 3], 0), Terms::default());
    }

    #[test]
    fn text_that_normalises_to_many_words_fits_into_passages() {
        let halves: String = (1..900).map(|n| format!("{n}½")).collect();
        let cut = passages(&halves);
        assert_eq!(cut.concat(), halves);
        for passage in cut {
            let words = words(passage, Language::ENGLISH);
            assert!(words.len() <= PASSAGE_WORDS + 1, "{}", words.len());
            assert!(Terms::of(&words, []).counts.len() <= PASSAGE_TERMS);
        }
    }

    #[test]
    fn passage_keeps_words_before_pairs_of_words() {
        let text: String = (0..399).map(|n| format!("w{n} ")).collect();
        let words = words(&text, Language::ENGLISH);
        let terms = Terms::of(&words, []);
        assert_eq!(terms.counts.len(), PASSAGE_TERMS);
        assert!(words.iter().all(|word| terms.count_of(word.term) == 1));
    }

    #[test]
    fn word_is_cut_to_the_maximum_length() {
        let long = words(&"ay".repeat(50_000), Language::ENGLISH);
        assert_eq!((long.len(), long[0].written.chars().count()), (1, WORD_CHARS));
    }

    #[test]
    fn long_text_is_split_at_sentence_ends_without_loss() {
        let sentence = "one two three four five six seven eight nine ten. ";
        let text = sentence.repeat(50);
        let cut = passages(&text);
        assert_eq!(cut.concat(), text);
        assert!(cut.len() >= 3);
        for passage in &cut {
            assert!(passage.split_whitespace().count() <= PASSAGE_WORDS);
            assert!(passage.trim_end().ends_with('.'));
        }
        let endless = "word ".repeat(1_000);
        let cut = passages(&endless);
        assert_eq!(cut.concat(), endless);
        assert!(cut.iter().all(|p| p.split_whitespace().count() <= PASSAGE_WORDS));
        assert_eq!(passages("tea"), ["tea"]);
        assert_eq!(passages(" "), [" "]);
        let dense = "北".repeat(500);
        assert_eq!(passages(&dense).concat(), dense);
    }
}
