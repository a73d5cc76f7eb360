//! Recovery phrases of wallets: twelve to twenty-four words (BIP-39).

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use bip39::Language;

use super::named_values::SplitText;
use super::{FoundSecret, SecretKind};

/// Minimum number of words of a phrase.
const MIN_WORDS: usize = 12;

/// Minimum number of distinct words: one repeated word is not a phrase.
const MIN_DISTINCT_WORDS: usize = 6;

/// Maximum number of words read as one phrase, including numbers.
const MAX_WORDS: usize = 60;

/// Languages of the word lists.
const LANGUAGES: [Language; 4] =
    [Language::English, Language::Spanish, Language::French, Language::Italian];

/// Words of the lists, each with one bit per language that has it.
static LISTED: LazyLock<HashMap<&str, u8>> = LazyLock::new(|| {
    let mut listed = HashMap::new();
    for (bit, language) in LANGUAGES.into_iter().enumerate() {
        for word in language.word_list() {
            *listed.entry(*word).or_default() |= 1 << bit;
        }
    }
    listed
});

pub(super) fn find(split_text: &SplitText<'_>) -> Vec<FoundSecret> {
    let mut found: Vec<_> =
        (0..split_text.words.len()).filter_map(|at| named_phrase(split_text, at)).collect();
    let listed: Vec<u8> = split_text
        .words
        .iter()
        .map(|word| match word.text.len() {
            3..=12 => LISTED.get(word.text.as_str()).copied().unwrap_or_default(),
            _ => 0,
        })
        .collect();
    found
        .extend((0..LANGUAGES.len()).flat_map(|bit| listed_phrases(split_text, &listed, 1 << bit)));
    found
}

/// Twelve or more words in a row that are all in one word list.
fn listed_phrases(split_text: &SplitText<'_>, listed: &[u8], language: u8) -> Vec<FoundSecret> {
    let mut found = Vec::new();
    let (mut first, mut last, mut count) = (0, 0, 0);
    let mut close = |first: usize, last: usize, count: usize| {
        let different = || {
            let words = split_text.words[first..=last].iter().map(|word| word.text.as_str());
            words.collect::<HashSet<_>>().len()
        };
        if count >= MIN_WORDS && different() >= MIN_DISTINCT_WORDS {
            found.push(phrase(split_text, first, last));
        }
    };
    for (at, word) in split_text.words.iter().enumerate() {
        let numeral = !word.text.is_empty() && word.text.bytes().all(|b| b.is_ascii_digit());
        if listed[at] & language != 0 {
            first = if count == 0 { at } else { first };
            (last, count) = (at, count + 1);
        } else if !(numeral && word.text.len() <= 2) {
            close(first, last, count);
            count = 0;
        }
    }
    close(first, last, count);
    found
}

fn phrase(split_text: &SplitText<'_>, first: usize, last: usize) -> FoundSecret {
    let range = split_text.words[first].start..split_text.words[last].end;
    FoundSecret { range, kind: SecretKind::RECOVERY_PHRASE }
}

const KINDS: &[&str] = &[
    "seed",
    "recovery",
    "mnemonic",
    "backup",
    "wallet",
    "wiederherstellungs",
    "recuperacion",
    "recuperation",
];
const NOUNS: &[&str] = &[
    "phrase", "phrases", "words", "seed", "mnemonic", "frase", "worter", "mots", "wort",
    "palabras", "key",
];
/// Words of ordinary sentences about a recovery phrase.
const ORDINARY: &[&str] = &[
    "the", "and", "with", "for", "phrase", "words", "seed", "recovery", "from", "are", "was", "is",
    "wallet", "has", "have", "you", "not", "but", "lost", "mnemonic", "backup",
];

/// Twelve or more short words in a row after "seed phrase" and the like.
fn named_phrase(split_text: &SplitText<'_>, at: usize) -> Option<FoundSecret> {
    let SplitText { text, words, folded, .. } = split_text;
    let word = folded[at].as_str();
    let next = folded.get(at + 1).map_or("", String::as_str);
    let behind = words.get(at + 1).map_or(text.len(), |next| next.start);
    let given = || {
        text[words[at].end..behind].contains([':', '=', '"'])
            || ["is", "are", "ist", "es", "est"].contains(&next)
    };
    let named = KINDS.contains(&word)
        && (NOUNS.contains(&next) || (["mnemonic", "seed"].contains(&word) && given()));
    let of_kind = || folded[at..].iter().take(4).any(|w| KINDS.contains(&w.as_str()));
    if !(named || ["frase", "phrase"].contains(&word) && of_kind()) {
        return None;
    }
    let is_number = |own: &str| own.bytes().all(|b| b.is_ascii_digit());
    let fits = |n: usize| {
        let own = &text[words[n].start..words[n].end];
        let short = own.len() <= 40 && (3..=10).contains(&own.chars().count());
        let plain = is_number(own) || (short && own.chars().all(char::is_alphabetic));
        plain && !ORDINARY.contains(&folded[n].as_str())
    };
    (at + 1..(at + 8).min(words.len())).find_map(|first| {
        let length = (first..words.len()).take(MAX_WORDS).take_while(|n| fits(*n)).count();
        let spelled = (first..first + length).filter(|n| !is_number(&folded[*n])).count();
        (spelled >= MIN_WORDS).then(|| phrase(split_text, first, first + length - 1))
    })
}
