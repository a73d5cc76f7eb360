//! The conversations of a vault: the sessions that are not in the trash, with the words that a
//! transcript shows.

use lukasa_core::domain::hidden_text;
use lukasa_core::vault::{ConversationFiles, File};
use lukasa_core::{Caller, Timestamp, Turn};

use super::Vault;
use crate::error::{Error, Result};
use crate::sessions::{SessionFilter, TurnList};

/// Maximum number of conversations in an export.
const MAX_CONVERSATIONS: usize = 2_000;
/// Maximum number of bytes of all conversations in an export.
const MAX_BYTES: usize = 16 * 1024 * 1024;
const SESSIONS_PER_PAGE: usize = 100;
const TURNS_PER_PAGE: usize = 50;

impl Vault {
    /// The latest conversations as files, as far as they fit, and a file that says what was left out.
    pub async fn export_conversations(&self, caller: &Caller, now: Timestamp) -> Result<Vec<File>> {
        self.audit.record_export(caller, "vault conversations", now).await?;
        let mut files = ConversationFiles::up_to(MAX_CONVERSATIONS, MAX_BYTES);
        let mut before = None;
        loop {
            let which = SessionFilter::default();
            let (page, next) =
                self.sessions.list(caller, which, before, SESSIONS_PER_PAGE, now).await?;
            let hidden = self.sessions.hidden_words_of(caller, &page, now).await?;
            for (mut session, hidden) in page.into_iter().zip(hidden) {
                if hidden.title.is_some() {
                    session.title = None;
                }
                let most = files.bytes_left();
                let turns = self.shown_turns(caller, &session.id, most, now).await?;
                if !files.add(&session, &turns) {
                    return Ok(files.finish());
                }
            }
            if next.is_none() {
                return Ok(files.finish());
            }
            before = next;
        }
    }

    /// The turns of a session with the words that may be shown. With more than `max_bytes` of words the
    /// rest is not read.
    async fn shown_turns(
        &self,
        caller: &Caller,
        session: &str,
        max_bytes: usize,
        now: Timestamp,
    ) -> Result<Vec<Turn>> {
        let (mut shown, mut bytes, mut after) = (Vec::new(), 0, 0);
        loop {
            let page = self.sessions.turns(caller, session, after, TURNS_PER_PAGE, now).await;
            let (mut turns, next) = match page {
                // It was removed meanwhile.
                Err(Error::SessionNotFound) => return Ok(Vec::new()),
                page => page?,
            };
            let list = TurnList::Page(&turns);
            let hidden = self.sessions.closed_domains_of(caller, list, now).await?;
            for (turn, domain) in turns.iter_mut().zip(hidden) {
                if let Some(domain) = domain {
                    turn.content = hidden_text(&domain);
                }
                bytes += turn.content.len();
            }
            shown.append(&mut turns);
            match next {
                Some(last) if bytes <= max_bytes => after = last,
                _ => return Ok(shown),
            }
        }
    }
}
