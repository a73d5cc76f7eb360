//! Whether somebody speaks of themselves.

use super::phrase::Heard;

/// Whether the text speaks in the first person.
pub fn speaks_of_self(text: &str) -> bool {
    const WORDS: &[&str] = &["i", "my", "me", "we", "our", "ich", "je", "yo", "我", "私"];
    Heard::new(text).tokens.iter().any(|token| WORDS.contains(&token.text.as_str()))
}
