//! Counts the tokens of a text with a real tokenizer. Other models' counts differ by about a tenth,
//! which budgets must allow for.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::{LazyLock, Mutex, PoisonError};

use tiktoken_rs::CoreBPE;

/// Built once, on first use: that takes a noticeable fraction of a second.
static COUNTER: LazyLock<Option<CoreBPE>> = LazyLock::new(|| tiktoken_rs::o200k_base().ok());

/// Counts the tokens of a text. The counts of recent words are kept: looking one up takes far less
/// time than the tokenizer, and most texts have the words of others.
pub fn count(text: &str) -> usize {
    let count = |word: &str| match word.len() {
        0..=RecentCounts::WORD_BYTES => RECENT.count(word),
        _ => count_now(word),
    };
    words(text).map(count).sum()
}

/// Splits a text before each single space inside a line, where the tokenizer splits it too: no token
/// has a space after another character, except in a run of white space.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let is_cut = |three: &[u8]| {
            three[1] == b' ' && three[0].is_ascii_graphic() && three[2].is_ascii_graphic()
        };
        let end = rest.as_bytes().windows(3).position(is_cut).map_or(rest.len(), |at| at + 1);
        let (word, more) = rest.split_at(end);
        rest = more;
        Some(word)
    })
}

/// The counts of recent words, by a keyed hash of the text.
struct RecentCounts {
    key: RandomState,
    shards: [Mutex<HashMap<u64, u32>>; Self::SHARDS],
}

static RECENT: LazyLock<RecentCounts> = LazyLock::new(|| RecentCounts {
    key: RandomState::new(),
    shards: std::array::from_fn(|_| Mutex::default()),
});

impl RecentCounts {
    const SHARDS: usize = 16;
    /// A full shard is emptied. All of them together have about two megabytes.
    const SHARD_WORDS: usize = 4_096;
    /// Longer texts are not words.
    const WORD_BYTES: usize = 256;

    fn count(&self, word: &str) -> usize {
        let hash = self.key.hash_one(word);
        let shard = &self.shards[hash as usize % Self::SHARDS];
        let known = shard.lock().unwrap_or_else(PoisonError::into_inner).get(&hash).copied();
        if let Some(count) = known {
            return count as usize;
        }
        let count = count_now(word);
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if shard.len() >= Self::SHARD_WORDS {
            shard.clear();
        }
        shard.insert(hash, u32::try_from(count).unwrap_or(u32::MAX));
        count
    }
}

fn count_now(text: &str) -> usize {
    match COUNTER.as_ref() {
        Some(counter) => pieces(text).map(|piece| counter.encode_ordinary(piece).len()).sum(),
        // The usual estimate, in case the built-in vocabulary cannot be loaded.
        None => text.len().div_ceil(4),
    }
}

/// Splits a text into pieces that the tokenizer handles in linear time. Its regular expressions
/// backtrack over runs of white space and its merging is superlinear in the word length, so a long
/// text is cut, before a space if there is one: the tokenizer splits there, too.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    const PIECE_BYTES: usize = 4_096;
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if rest.len() <= PIECE_BYTES {
            return Some(std::mem::take(&mut rest));
        }
        let end = rest.floor_char_boundary(PIECE_BYTES);
        let space = rest[..end].rfind(' ').filter(|at| *at > PIECE_BYTES / 2);
        let (piece, more) = rest.split_at(space.unwrap_or(end));
        rest = more;
        Some(piece)
    })
}

/// Builds the counter before the first request needs it.
pub fn warm() {
    LazyLock::force(&COUNTER);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_count_in_pieces_equals_count_of_whole_text() {
        let sentence = "Prefers window seats on long flights, and tea over coffee. ";
        let text = sentence.repeat(300);
        let whole = COUNTER.as_ref().unwrap().encode_ordinary(&text).len();
        assert!(pieces(&text).count() > 3 && pieces(&text).collect::<String>() == text);
        assert_eq!(count(&text), whole);
    }

    #[test]
    fn token_count_by_words_equals_count_of_whole_text() {
        let parts = [
            " ",
            "  ",
            "\n",
            " \n",
            "\t",
            "\u{a0}",
            "\u{3000}",
            "a",
            "tea",
            "Tea",
            "TEA",
            "don't",
            "'s",
            "it'S",
            "2025-03-04",
            "1234567",
            "-",
            "- [m12]",
            "(stated)",
            "/",
            "://",
            ".",
            "...",
            "\u{e9}",
            "\u{df}traße",
            "\u{8336}",
            "\u{1f375}",
            "\u{301}",
            "<memory>",
            "\"",
            "x86_64",
            "zugomi",
        ];
        let mut state = 7_u64;
        let mut next = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % limit
        };
        for _ in 0..3_000 {
            let mut text = String::new();
            for _ in 0..1 + next(30) {
                text.push_str(parts[next(parts.len())]);
                text.push_str([" ", " ", "", "\n"][next(4)]);
            }
            assert_eq!(words(&text).collect::<String>(), text);
            // Twice: the second count is made of those that were kept.
            let whole = COUNTER.as_ref().unwrap().encode_ordinary(&text).len();
            assert_eq!((count(&text), count(&text)), (whole, whole), "{text:?}");
        }
    }

    #[test]
    fn repeated_token_counts_are_equal() {
        // More words than are kept, and then the first ones again.
        let most = RecentCounts::SHARDS * RecentCounts::SHARD_WORDS;
        for n in (0..most + most / 8).chain(0..2_000) {
            let text = format!("word{n}");
            let counted = count(&text);
            assert!(n % 200 > 0 || counted == count_now(&text), "{text}");
        }
    }

    #[test]
    fn long_white_space_and_long_words_are_counted() {
        for text in [" ", "\n", "a", "\u{3000}", "é", "ab1"] {
            assert!(count(&text.repeat(1_200_000 / text.len())) > 0, "{text:?}");
        }
    }

    #[test]
    fn tokens_are_counted_not_guessed() {
        assert_eq!(count(""), 0);
        assert_eq!(count("hello world"), 2);
        assert!(count("Prefers window seats on long flights") < 10);
        assert!(count("<|endoftext|>") > 1, "a special token in a memory is plain text");
    }
}
