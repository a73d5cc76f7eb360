//! Turns of a session as learning reads them, without the words that the user took back.

use std::collections::BTreeSet;

use lukasa_core::learning::Transcript;
use lukasa_core::{Role, Turn, TurnId};
use lukasa_store::{Scope, session};
use lukasa_text::statement;

use crate::cpu::{LARGE_TEXT_CHARS, interrupted};
use crate::error::Result;

/// Turns of one session in order, with the next turns of the user after them, which may take back what
/// was said in them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TurnsToRead {
    pub(crate) turns: Vec<Turn>,
    following: Vec<Turn>,
}

impl TurnsToRead {
    /// These turns of one session, with the turns that follow them.
    pub(crate) async fn load(scope: &Scope, turns: Vec<Turn>) -> Result<Self> {
        let numbers: Vec<i32> = turns.iter().map(|turn| turn.number).collect();
        let following = match turns.first() {
            Some(first) => session::following_turns(scope, &first.session, &numbers).await?,
            None => Vec::new(),
        };
        Ok(Self { turns, following })
    }

    /// Attributes the text of the turns; that of long ones off the async threads.
    pub(crate) async fn transcript(&self) -> Result<Transcript> {
        let all = self.turns.iter().chain(&self.following);
        if all.map(|turn| turn.content.len()).sum::<usize>() <= LARGE_TEXT_CHARS {
            return Ok(Transcript::of(&self.turns, &self.following));
        }
        let (turns, following) = (self.turns.clone(), self.following.clone());
        let read = move || Transcript::of(&turns, &following);
        tokio::task::spawn_blocking(read).await.map_err(interrupted)
    }

    /// Whether the user has taken back some of the words since they were read.
    pub(crate) async fn were_retracted_since(&self, scope: &Scope) -> Result<bool> {
        let now = Self::load(scope, self.turns.clone()).await?;
        if now.following == self.following {
            return Ok(false);
        }
        Ok(now.transcript().await? != self.transcript().await?)
    }
}

/// Those of these turns, of any sessions, whose words the user took back. `following` has the next
/// turn of the user after each of them.
pub(crate) async fn find_retracted(turns: Vec<Turn>, following: Vec<Turn>) -> BTreeSet<TurnId> {
    let all: BTreeSet<TurnId> = turns.iter().map(|turn| turn.id).collect();
    let find = move || {
        let takes_back =
            |turn: &Turn| turn.role == Role::User && statement::retracts(&turn.content);
        if !turns.iter().chain(&following).any(takes_back) {
            return BTreeSet::new();
        }
        let sessions: BTreeSet<&str> = turns.iter().map(|turn| turn.session.as_str()).collect();
        let mut retracted = BTreeSet::new();
        for session in sessions {
            let own = |turns: &[Turn]| -> Vec<Turn> {
                turns.iter().filter(|turn| turn.session == session).cloned().collect()
            };
            let read = Transcript::of(&own(&turns), &own(&following)).turns;
            let empty = read.iter().filter(|turn| turn.pieces.is_empty());
            retracted.extend(empty.map(|turn| turn.turn));
        }
        retracted
    };
    // If it failed, none of them may be shown.
    tokio::task::spawn_blocking(find).await.unwrap_or(all)
}
