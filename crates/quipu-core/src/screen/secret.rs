//! What must never be kept, nor shown to a model: keys, passwords, card numbers.

use std::borrow::Cow;

/// The text with `[secret]` in the place of every secret.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut hit = false;
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        let known = ["sk-", "ghp_", "AKIA", "qp_live_", "qp_user_"];
        if known.iter().any(|start| word.starts_with(start)) && word.len() > 16 {
            hit = true;
            out.push_str("[secret]");
            out.push_str(&piece[word.len()..]);
        } else {
            out.push_str(piece);
        }
    }
    if hit { Cow::Owned(out) } else { Cow::Borrowed(text) }
}

pub fn has_secret(text: &str) -> bool {
    matches!(redact(text), Cow::Owned(_))
}
