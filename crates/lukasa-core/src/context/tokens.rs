//! How many tokens a text takes in a prompt, counted with a real tokenizer. Models differ by a tenth
//! or so from the one that counts here, which a budget must bear.

use std::sync::LazyLock;

use tiktoken_rs::CoreBPE;

/// Built once, at the first count: it takes a noticeable fraction of a second.
static COUNTER: LazyLock<Option<CoreBPE>> = LazyLock::new(|| tiktoken_rs::o200k_base().ok());

/// The tokens of a text.
pub fn count(text: &str) -> usize {
    match COUNTER.as_ref() {
        Some(counter) => pieces(text).map(|piece| counter.encode_ordinary(piece).len()).sum(),
        // The usual estimate, should the vocabulary that is built in ever fail to read.
        None => text.len().div_ceil(4),
    }
}

/// The text in pieces that the tokenizer takes in linear time. Its expressions backtrack over runs of
/// white space and its merging of long words grows faster than they do, so a long text is cut, before
/// a space where there is one: there the tokenizer cuts, too.
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

/// Has the counter built before the first request needs it.
pub fn warm() {
    LazyLock::force(&COUNTER);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_counted_in_pieces_without_a_difference() {
        let sentence = "Prefers window seats on long flights, and tea over coffee. ";
        let text = sentence.repeat(300);
        let whole = COUNTER.as_ref().unwrap().encode_ordinary(&text).len();
        assert!(pieces(&text).count() > 3 && pieces(&text).collect::<String>() == text);
        assert_eq!(count(&text), whole);
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
        assert!(count("<|endoftext|>") > 1, "a marker in a memory is only text");
    }
}
