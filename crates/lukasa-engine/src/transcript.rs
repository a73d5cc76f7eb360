//! Turns of a session as learning reads them, without the words that the user took back.

use lukasa_core::Turn;
use lukasa_core::learning::Transcript;
use lukasa_store::{Scope, session};

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

    pub(crate) fn transcript(&self) -> Transcript {
        Transcript::of(&self.turns, &self.following)
    }

    /// Whether the user has taken back some of the words since they were read.
    pub(crate) async fn were_retracted_since(&self, scope: &Scope) -> Result<bool> {
        let now = Self::load(scope, self.turns.clone()).await?;
        Ok(now.following != self.following && now.transcript() != self.transcript())
    }
}
