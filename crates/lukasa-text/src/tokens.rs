//! Counts the tokens of a text with a real tokenizer. Other models' counts differ by about a tenth,
//! which budgets must allow for.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::{LazyLock, Mutex, PoisonError};

use tiktoken_rs::CoreBPE;

/// Built once, on first use: that takes a noticeable fraction of a second.
static COUNTER: LazyLock<Option<CoreBPE>> = LazyLock::new(|| tiktoken_rs::o200k_base().ok());

/// Counts the tokens of a text. The counts of recent lines are kept, because a prompt mostly has the
/// lines of the prompt before it.
pub fn count(text: &str) -> usize {
    if text.len() > RecentCounts::LINE_BYTES { count_now(text) } else { RECENT.count(text) }
}

/// The counts of recent lines, by a keyed hash of the text.
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
    const SHARD_LINES: usize = 4_096;
    /// Longer texts are not lines of a prompt.
    const LINE_BYTES: usize = 2_048;

    fn count(&self, text: &str) -> usize {
        let hash = self.key.hash_one(text);
        let shard = &self.shards[hash as usize % Self::SHARDS];
        let known = shard.lock().unwrap_or_else(PoisonError::into_inner).get(&hash).copied();
        if let Some(count) = known {
            return count as usize;
        }
        let count = count_now(text);
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if shard.len() >= Self::SHARD_LINES {
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
    fn repeated_token_counts_are_equal() {
        for n in 0..3 * RecentCounts::SHARD_LINES {
            let text = format!("line {} of a prompt", n % 5_000);
            assert_eq!(count(&text), count_now(&text), "{text}");
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
