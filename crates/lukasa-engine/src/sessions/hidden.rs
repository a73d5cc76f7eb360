//! Which titles and summaries of sessions are not shown: those about a domain that the user has not
//! opened. What may not be shown of an episode may not be repeated by its session either.

use std::collections::BTreeMap;

use lukasa_core::{Caller, Session, Timestamp};
use lukasa_store::{Scope, domain, episode};

use super::Sessions;
use crate::closed_domains::closed_in_texts;
use crate::episodes::{hidden_domains, load_support};
use crate::error::Result;

/// Maximum number of episodes that are read per request. With more of them all words made from episodes
/// are hidden.
const MAX_EPISODES: i64 = 5_000;
/// Maximum amount of text that is screened per request. Texts beyond count as hidden.
const MAX_BYTES: usize = 4_000_000;

/// The closed domain because of which the title and the summary of a session are not shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HiddenWords {
    pub title: Option<String>,
    pub summary: Option<String>,
}

impl HiddenWords {
    /// The first of the domains.
    pub fn domain(&self) -> Option<&String> {
        self.title.as_ref().or(self.summary.as_ref())
    }
}

impl Sessions {
    /// Which words of each of these sessions are not shown: those that mention a closed domain, and
    /// those that were made from an episode that is not shown.
    pub async fn hidden_words_of(
        &self,
        caller: &Caller,
        sessions: &[Session],
        now: Timestamp,
    ) -> Result<Vec<HiddenWords>> {
        let mut hidden = vec![HiddenWords::default(); sessions.len()];
        if sessions.iter().all(|session| session.title.is_none() && session.summary.is_none()) {
            return Ok(hidden);
        }
        let scope = self.transactions.read(caller, now).await?;
        let closed = domain::closed_domains(&scope).await?;
        if closed.is_empty() {
            return Ok(hidden);
        }
        let derived = derived_from_hidden(scope, sessions, &closed, now).await?;
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let texts =
            sessions.iter().flat_map(|session| [text(&session.title), text(&session.summary)]);
        let texts: Vec<String> = texts.collect();
        let mentioned = closed_in_texts(texts, &closed, MAX_BYTES).await;
        let found = hidden.iter_mut().zip(sessions).zip(mentioned.chunks(2)).zip(derived);
        for (((hidden, session), mentioned), derived) in found {
            let [title, summary] = mentioned else { continue };
            if session.title.is_some() {
                hidden.title = title.clone().or(derived.title);
            }
            if session.summary.is_some() {
                hidden.summary = summary.clone().or(derived.summary);
            }
        }
        Ok(hidden)
    }
}

/// Which words of each of these sessions were made from an episode that is not shown.
async fn derived_from_hidden(
    scope: Scope,
    sessions: &[Session],
    closed: &[String],
    now: Timestamp,
) -> Result<Vec<HiddenWords>> {
    let ids: Vec<String> = sessions.iter().map(|session| session.id.clone()).collect();
    let episodes = episode::of_sessions(&scope, &ids, MAX_EPISODES).await?;
    let is_cut = i64::try_from(episodes.len()).is_ok_and(|count| count >= MAX_EPISODES);
    let support = load_support(&scope, &episodes, now).await?;
    drop(scope);
    let hidden = hidden_domains(&episodes, &support, closed, MAX_BYTES).await;
    let mut by_session: BTreeMap<&str, Vec<(i32, &String)>> = BTreeMap::new();
    for (episode, domain) in episodes.iter().zip(&hidden) {
        let own = by_session.entry(&episode.session).or_default();
        own.extend(domain.as_ref().map(|domain| (episode.first_turn, domain)));
    }
    let unread = closed.first().filter(|_| is_cut);
    let of_session = |session: &Session| {
        let own = by_session.get(session.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        // A title that the user or a client gave was made from no episode.
        let title = session.named_from.and_then(|last| {
            let made_from = own.iter().find(|(first, _)| *first <= last);
            made_from.map(|(_, domain)| *domain).or(unread)
        });
        let summary = own.first().map(|(_, domain)| *domain).or(unread);
        HiddenWords { title: title.cloned(), summary: summary.cloned() }
    };
    Ok(sessions.iter().map(of_session).collect())
}
