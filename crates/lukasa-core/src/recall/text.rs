//! From text to terms: what keyword search compares.
//!
//! A text is cut into words, the words that say nothing are dropped and the rest is cut down to
//! their stems, by the rules of the text's language. Writing without spaces (Chinese, Japanese,
//! Korean, Thai) is cut into pairs of neighbouring characters. The same rules serve what is stored
//! and what is asked; whoever changes them raises [`ANALYZER`], so that what was cut by older rules
//! is cut again.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

/// The edition of these rules.
pub const ANALYZER: i16 = 2;

/// How many words a passage has at most. Longer text is about more than one thing, and an embedding
/// of it about none.
pub const PASSAGE_WORDS: usize = 160;

/// How many different terms a passage keeps at most, pairs of words dropped first. With the longest
/// name of a session they still fit into a row of the index (2,704 bytes).
pub const PASSAGE_TERMS: usize = 400;

/// How many characters of a word count. What is longer is no word of a language, and stemming it
/// costs more than its length.
const WORD_CHARS: usize = 64;

/// Words of English that say nothing about what a text is about. Question words are among them:
/// they are in every question and in no answer.
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

/// A language whose rules are known, by its two letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Language(&'static str);

impl Language {
    pub const ENGLISH: Self = Self("en");

    pub fn code(self) -> &'static str {
        self.0
    }

    /// The language of these letters; English for letters that are not known.
    pub fn parse(code: &str) -> Self {
        LANGUAGES.iter().find(|(known, ..)| *known == code).map_or(Self::ENGLISH, |l| Self(l.0))
    }

    /// The language of a text, if it can be told; English otherwise. Short texts can rarely be told,
    /// which does little harm: a question is cut by the rules of every language that was stored.
    pub fn of(text: &str) -> Self {
        let told = whatlang::detect(text).filter(whatlang::Info::is_reliable);
        let found = told.and_then(|told| LANGUAGES.iter().find(|l| l.1 == told.lang()));
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

fn is_stop_word(language: Language, word: &str) -> bool {
    match language {
        Language::ENGLISH => ENGLISH.binary_search(&word).is_ok(),
        other => stop_words::lookup(other.0).is_some_and(|words| words.contains(&word)),
    }
}

/// What a term stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A word of the text.
    Word = 0,
    /// A part of the speaker's name.
    Speaker = 1,
    /// The month, the day or the year it was said.
    Date = 2,
    /// Two words that follow each other.
    Pair = 3,
}

/// A term as it is stored and compared: a digest of a stem, and in its last two bits its sort. Two
/// stems of one user's vocabulary share a digest about once in a thousand million pairs, and then
/// two words count as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term(pub u32);

impl Term {
    pub fn of(stem: &str) -> Self {
        Self::digest(stem.bytes(), Sort::Word)
    }

    /// The term of two words that follow each other.
    pub fn pair(first: Term, second: Term) -> Self {
        Self::digest([first.0, second.0].into_iter().flat_map(u32::to_le_bytes), Sort::Pair)
    }

    fn digest(bytes: impl Iterator<Item = u8>, sort: Sort) -> Self {
        // FNV-1a, folded: it must give the same on every machine and in every edition.
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self((hash ^ (hash >> 32)) as u32).as_sort(sort)
    }

    /// The same stem, standing for something else.
    #[must_use]
    pub fn as_sort(self, sort: Sort) -> Self {
        Self((self.0 & !3) | sort as u32)
    }

    pub fn is_word(self) -> bool {
        self.0 & 3 == Sort::Word as u32
    }
}

/// A word of a text, and what it was cut down to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub written: String,
    pub term: Term,
}

/// The words of a text that say something, in order.
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

/// Calls `each` with every word in lower case, and whether it was cut out of writing without spaces.
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

/// Every two neighbouring characters; a character that stands alone is a word of its own.
fn pairs(run: &str, each: &mut impl FnMut(&str, bool)) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    if starts.len() == 2 {
        return each(run, true);
    }
    for three in starts.windows(3) {
        each(&run[three[0]..three[2]], true);
    }
}

/// Letters of scripts that are written without spaces, or, as Korean, with words so built up that
/// their parts must be found.
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

/// A passage's terms, each with how often it occurs, and how many words there were.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// Sorted by term.
    pub counts: Vec<(Term, u8)>,
    pub words: u32,
}

impl Terms {
    /// The words and their pairs, and besides them what else the text is to be found by.
    pub fn of(words: &[Word], besides: impl IntoIterator<Item = Term>) -> Self {
        let mut counts: HashMap<Term, u8> = HashMap::new();
        let own = words.iter().map(|word| word.term);
        for term in own.chain(pairs_of(words)).chain(besides) {
            let count = counts.entry(term).or_default();
            *count = count.saturating_add(1);
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        if counts.len() > PASSAGE_TERMS {
            counts.sort_unstable_by_key(|(term, _)| (!term.is_word(), *term));
            counts.truncate(PASSAGE_TERMS);
        }
        counts.sort_unstable();
        Self { counts, words: u32::try_from(words.len()).unwrap_or(u32::MAX) }
    }

    /// Five bytes for each term: its digest and its count.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.counts.len() * 5);
        for (term, count) in &self.counts {
            bytes.extend_from_slice(&term.0.to_le_bytes());
            bytes.push(*count);
        }
        bytes
    }

    /// Reads what [`Terms::to_bytes`] wrote; a stray rest is ignored.
    pub fn from_bytes(bytes: &[u8], words: u32) -> Self {
        let read =
            |five: &[u8]| (Term(u32::from_le_bytes([five[0], five[1], five[2], five[3]])), five[4]);
        Self { counts: bytes.chunks_exact(5).map(read).collect(), words }
    }

    pub fn count_of(&self, term: Term) -> u8 {
        self.counts.binary_search_by_key(&term, |(t, _)| *t).map_or(0, |at| self.counts[at].1)
    }
}

/// Cuts a text into stretches of at most [`PASSAGE_WORDS`] words, at the ends of sentences where it
/// can. A short text is one stretch.
pub fn passages(text: &str) -> Vec<&str> {
    let mut cuts = Vec::new();
    let (mut start, mut good, mut words, mut since_good) = (0, None, 0, 0);
    let mut in_word = false;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        // Counted as `words` will cut it: one character may normalise to several words.
        let mut counts = 0;
        for c in std::iter::once(c).nfkc() {
            let starts = is_dense(c) || (c.is_alphanumeric() && !in_word);
            counts += usize::from(starts);
            in_word = c.is_alphanumeric() && !is_dense(c);
        }
        words += counts;
        since_good += counts;
        if words > PASSAGE_WORDS {
            // Back to the last end of a sentence, or right here if the sentence has none.
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
    fn the_stop_list_can_be_searched() {
        assert!(ENGLISH.is_sorted());
    }

    #[test]
    fn inflections_and_case_meet_in_one_term() {
        let one = stems("Running shoes", Language::ENGLISH);
        assert_eq!(one, stems("RUN shoe", Language::ENGLISH));
        assert_eq!(stems("did you with the", Language::ENGLISH), []);
    }

    #[test]
    fn each_language_has_its_own_rules() {
        let german = Language::parse("de");
        assert_eq!(stems("Häuser", german), stems("Häusern", german));
        let spanish = Language::parse("es");
        assert_eq!(stems("los caballos", spanish), stems("caballo", spanish));
        assert_eq!(Language::parse("xx"), Language::ENGLISH);
    }

    #[test]
    fn a_sentence_tells_its_language() {
        let german =
            "Ich wohne seit letztem Sommer mit meiner Familie in einem kleinen Haus am See.";
        assert_eq!(Language::of(german), Language::parse("de"));
        assert_eq!(Language::of("ok"), Language::ENGLISH);
    }

    #[test]
    fn writing_without_spaces_is_cut_into_pairs() {
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
    fn terms_read_back_as_they_were_written() {
        let terms = Terms::of(&words("tea, more tea and a biscuit", Language::ENGLISH), []);
        assert_eq!(terms.words, 4);
        let pair = Term::pair(Term::of("tea"), Term::of("biscuit"));
        assert_eq!(terms.count_of(pair), 1);
        assert!(!pair.is_word() && Term::of("tea").is_word());
        assert_ne!(Term::of("tea").as_sort(Sort::Speaker), Term::of("tea"));
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
    fn a_passage_keeps_its_words_before_pairs_of_words() {
        let text: String = (0..399).map(|n| format!("w{n} ")).collect();
        let words = words(&text, Language::ENGLISH);
        let terms = Terms::of(&words, []);
        assert_eq!(terms.counts.len(), PASSAGE_TERMS);
        assert!(words.iter().all(|word| terms.count_of(word.term) == 1));
    }

    #[test]
    fn a_word_counts_up_to_its_first_characters() {
        let long = words(&"ay".repeat(50_000), Language::ENGLISH);
        assert_eq!((long.len(), long[0].written.chars().count()), (1, WORD_CHARS));
    }

    #[test]
    fn a_long_text_is_cut_at_the_ends_of_sentences_and_nothing_is_lost() {
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
