//! Web and mail addresses. The speaker's own address is a statement; any other is an instruction to
//! use it.

use std::sync::LazyLock;

use crate::lexicon::lexicon;
use crate::screen::phrase::{Phrases, TokenizedText};

/// Phrases that mark an address as the speaker's own.
static OWNED: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("directive/own_address", en de fr es it pt nl zh ja))])
});
/// Words that direct the reader to an address, so that even a bare one is an instruction.
static SENT: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("directive/sending", en de mul))]));

/// Whether the text contains an address that is not marked as the speaker's own.
pub(super) fn has_foreign_address(text: &str, tokenized: &TokenizedText) -> bool {
    let lower = text.to_lowercase();
    let sends = || SENT.any(tokenized);
    let whole =
        lower.contains("://") || lower.contains("www.") || lower.split_whitespace().any(is_mail);
    if whole {
        return sends() || !OWNED.any(tokenized);
    }
    lower.split_whitespace().any(is_domain) && sends() && !OWNED.any(tokenized)
}

fn is_mail(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
}

/// `name.tld`, with or without a path.
fn is_domain(word: &str) -> bool {
    const ENDS: &[&str] = &[
        "com", "net", "org", "xyz", "info", "biz", "app", "dev", "ai", "co", "site", "online",
        "shop", "top", "club", "test", "example", "ru", "cn", "de", "fr", "es", "it", "pt", "nl",
        "uk", "eu", "us", "me", "tv", "io", "internal",
    ];
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let host = word.split(['/', ':', '?']).next().unwrap_or(word);
    host.rsplit_once('.').is_some_and(|(name, end)| {
        name.len() > 1
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '.'))
            && ENDS.contains(&end)
    })
}
