//! Tokens and passwords in the values of HTTP `Authorization` headers.

use super::named_values::{SplitText, VALUE_BYTES, has_inner_capital};
use super::{FoundSecret, SecretKind, head, is_placeholder};

/// Tokens after "Bearer", and names with passwords after "Basic".
pub(super) fn find(split_text: &SplitText<'_>) -> Vec<FoundSecret> {
    let mut found = Vec::new();
    let mut next = 0;
    for (word, scheme) in split_text.words.iter().zip(&split_text.folded) {
        let behind = &split_text.text[word.end..];
        let bearer = scheme == "bearer";
        if !(bearer || scheme == "basic") || !behind.starts_with([' ', '\t', '+', '=', ':', '%']) {
            continue;
        }
        let token = behind[1..].trim_start_matches([' ', '\t', '"', '\'']);
        let start = split_text.text.len() - token.len();
        let run = split_text.run_at(start).text;
        let judged = head(run, VALUE_BYTES);
        let judged = &judged[..judged.bytes().take_while(|b| is_token68(*b)).count()];
        let secret = if bearer { is_bearer(judged) } else { is_basic(judged) };
        if start >= next && secret && !is_placeholder(judged) {
            next = start + run.bytes().take_while(|b| is_token68(*b)).count();
            found.push(FoundSecret { range: start..next, kind: SecretKind::LOGIN });
        }
    }
    found
}

/// A byte of a token as HTTP's authentication schemes allow it.
fn is_token68(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"-._~+/=%".contains(&b)
}

fn is_bearer(token: &str) -> bool {
    let digits = token.bytes().any(|b| b.is_ascii_digit());
    token.len() >= 16 && (digits || (has_inner_capital(token) && token.len() >= 24))
}

/// Whether the base64 text decodes to a name, a colon and a password.
fn is_basic(token: &str) -> bool {
    if token.len() < 8 || !token.len().is_multiple_of(4) {
        return false;
    }
    let (mut bits, mut count, mut plain) = (0_u32, 0, Vec::new());
    for b in token.trim_end_matches('=').bytes() {
        let six = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return false,
        };
        bits = (bits << 6) | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            plain.push((bits >> count) as u8);
        }
    }
    plain.contains(&b':') && plain.iter().all(|b| b.is_ascii_graphic() || *b == b' ')
}
