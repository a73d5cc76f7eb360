//! What is stored about a domain that is not open. Turns and episodes are, because the user said them, but
//! they are excluded from prompts and search results, and the transcript shows them masked. Memories are
//! from a time when the domain was open, and only the user sees them.

use std::collections::BTreeSet;

use lukasa_core::{Caller, CallerKind, FactId, Turn, Version};
use lukasa_store::{Scope, domain, fact};
use lukasa_text::screen::sensitive;

use crate::error::{Error, Result};

/// Maximum amount of text screened per request. Turns beyond it count as closed, because they were
/// not screened.
pub(crate) const MAX_SCREENED_BYTES: usize = 400_000;

/// The domains whose memories a caller does not see: none for the user, the closed ones for applications
/// and assistants.
#[derive(Debug, Clone, Default)]
pub(crate) struct HiddenDomains(Vec<String>);

impl HiddenDomains {
    pub(crate) async fn load(scope: &Scope, caller: &Caller) -> Result<Self> {
        match caller.kind {
            CallerKind::Human => Ok(Self::default()),
            _ => Ok(Self(domain::closed_domains(scope).await?)),
        }
    }

    pub(crate) fn into_names(self) -> Vec<String> {
        self.0
    }

    pub(crate) fn hides(&self, version: &Version) -> bool {
        version.claim.domain.as_ref().is_some_and(|domain| self.0.contains(domain))
    }

    /// Refuses a memory that is hidden as if it did not exist.
    pub(crate) fn check(&self, version: &Version) -> Result<()> {
        if self.hides(version) { Err(Error::MemoryNotFound) } else { Ok(()) }
    }

    /// Whether a text about these memories is hidden: because of one of them, or of its own words.
    pub(crate) async fn hide_texts(
        &self,
        scope: &Scope,
        texts: Vec<(String, Vec<FactId>)>,
    ) -> Result<Vec<bool>> {
        if self.0.is_empty() {
            return Ok(vec![false; texts.len()]);
        }
        let all: BTreeSet<FactId> = texts.iter().flat_map(|(_, facts)| facts).copied().collect();
        let all: Vec<FactId> = all.into_iter().collect();
        let known = fact::known_now_of_all(scope, &all).await?;
        let hidden: BTreeSet<FactId> =
            known.iter().filter(|version| self.hides(version)).map(|v| v.fact).collect();
        let (words, facts): (Vec<String>, Vec<Vec<FactId>>) = texts.into_iter().unzip();
        let words = closed_in_texts(words, &self.0, MAX_SCREENED_BYTES).await;
        let is_hidden = |(facts, words): (Vec<FactId>, Option<String>)| {
            words.is_some() || facts.iter().any(|fact| hidden.contains(fact))
        };
        Ok(facts.into_iter().zip(words).map(is_hidden).collect())
    }
}

/// The first closed domain that each turn mentions, in the order of the turns.
pub(crate) async fn closed_domains(turns: &[Turn], closed: &[String]) -> Vec<Option<String>> {
    if closed.is_empty() {
        return vec![None; turns.len()];
    }
    let texts = turns.iter().map(|turn| turn.content.clone()).collect();
    closed_in_texts(texts, closed, MAX_SCREENED_BYTES).await
}

/// The same for the turns of a session's window. The latest are screened first, and more of them, because
/// a model is to continue with them.
pub(crate) async fn closed_domains_in_window(
    turns: &[Turn],
    closed: &[String],
) -> Vec<Option<String>> {
    /// About a million tokens.
    const MAX_WINDOW_BYTES: usize = 4_000_000;
    let texts = turns.iter().rev().map(|turn| turn.content.clone()).collect();
    let mut found = closed_in_texts(texts, closed, MAX_WINDOW_BYTES).await;
    found.reverse();
    found
}

/// The first closed domain that each text mentions, in their order. Texts beyond `max_bytes` in all count
/// as closed, because they are not screened.
pub(crate) async fn closed_in_texts(
    texts: Vec<String>,
    closed: &[String],
    max_bytes: usize,
) -> Vec<Option<String>> {
    if texts.is_empty() || closed.is_empty() {
        return vec![None; texts.len()];
    }
    let closed = closed.to_vec();
    let unscreened = closed.first().cloned();
    let count = texts.len();
    let screen_turns = move || {
        let mut left = max_bytes;
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
    tokio::task::spawn_blocking(screen_turns).await.unwrap_or(vec![unscreened; count])
}
