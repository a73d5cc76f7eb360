//! How many tokens a text takes in a prompt, counted with a real tokenizer. Models differ by a tenth
//! or so from the one that counts here, which a budget must bear.

use std::sync::LazyLock;

use tiktoken_rs::CoreBPE;

/// Built once, at the first count: it takes a noticeable fraction of a second.
static COUNTER: LazyLock<Option<CoreBPE>> = LazyLock::new(|| tiktoken_rs::o200k_base().ok());

/// The tokens of a text.
pub fn count(text: &str) -> usize {
    match COUNTER.as_ref() {
        Some(counter) => counter.encode_ordinary(text).len(),
        // The usual estimate, should the vocabulary that is built in ever fail to read.
        None => text.len().div_ceil(4),
    }
}

/// Has the counter built before the first request needs it.
pub fn warm() {
    LazyLock::force(&COUNTER);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_not_guessed() {
        assert_eq!(count(""), 0);
        assert_eq!(count("hello world"), 2);
        assert!(count("Prefers window seats on long flights") < 10);
        assert!(count("<|endoftext|>") > 1, "a marker in a memory is only text");
    }
}
