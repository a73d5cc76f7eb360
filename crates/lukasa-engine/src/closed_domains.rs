//! Turns about a domain that the user has not opened. They are stored, because the user said them, but
//! they go into no prompt and no search result, and the transcript shows them masked.

use lukasa_core::Turn;
use lukasa_core::screen::sensitive;

/// How much text is read for one request. What lies beyond counts as closed: it was not looked at.
const READ_BYTES: usize = 400_000;

/// The first closed domain that each turn speaks of, in the order of the turns.
pub(crate) async fn closed_domains(turns: &[Turn], closed: &[String]) -> Vec<Option<String>> {
    if turns.is_empty() || closed.is_empty() {
        return vec![None; turns.len()];
    }
    let texts: Vec<String> = turns.iter().map(|turn| turn.content.clone()).collect();
    let closed = closed.to_vec();
    let unread = closed.first().cloned();
    let count = texts.len();
    let look = move || {
        let mut left = READ_BYTES;
        let mut found = Vec::with_capacity(texts.len());
        for text in &texts {
            if text.len() > left {
                found.push(closed.first().cloned());
                continue;
            }
            left -= text.len();
            let domain = sensitive::domains(text).into_iter().map(str::to_owned);
            found.push(domain.into_iter().find(|name| closed.contains(name)));
        }
        found
    };
    tokio::task::spawn_blocking(look).await.unwrap_or(vec![unread; count])
}
