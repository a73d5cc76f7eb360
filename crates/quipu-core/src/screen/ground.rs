//! Whether what is claimed was said.

use super::phrase::Heard;

/// Whether what the claim says is said in the evidence.
pub fn grounded(claim: &str, evidence: &[&str]) -> bool {
    let said: Vec<_> = evidence.iter().flat_map(|text| Heard::new(text).tokens).collect();
    let claimed = Heard::new(claim).tokens;
    let found = claimed.iter().filter(|token| said.iter().any(|s| s.text == token.text)).count();
    !claimed.is_empty() && found * 3 >= claimed.len() * 2
}
