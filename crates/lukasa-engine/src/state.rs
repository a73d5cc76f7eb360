//! The state of a user's memory in one line: how much there is, and hashes to compare it by.

use futures_util::try_join;
use lukasa_core::{Caller, StateHash, Timestamp, state_hash};
use lukasa_store::{Scope, everything};

use crate::Engine;
use crate::error::Result;

/// What a memory holds, counted and hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whole {
    pub memories: usize,
    pub links: usize,
    pub episodes: usize,
    pub sessions: usize,
    pub turns: usize,
    pub hash: StateHash,
}

impl Engine {
    /// Reads all of a user's memory and says how much it is, and what it hashes to.
    pub async fn whole(&self, caller: &Caller, now: Timestamp) -> Result<Whole> {
        let scope = self.reading(caller, now).await?;
        whole(&scope).await
    }
}

pub(crate) async fn whole(scope: &Scope) -> Result<Whole> {
    let (versions, links, episodes, sessions, turns) = try_join!(
        everything::versions(scope),
        everything::links(scope),
        everything::episodes(scope),
        everything::sessions(scope),
        everything::turns(scope),
    )?;
    let mut facts: Vec<_> = versions.iter().map(|version| version.fact).collect();
    facts.dedup();
    Ok(Whole {
        memories: facts.len(),
        links: links.len(),
        episodes: episodes.len(),
        sessions: sessions.len(),
        turns: turns.len(),
        hash: StateHash {
            memories: state_hash::of_memories(&versions, &links),
            episodes: state_hash::of_episodes(&episodes),
            sessions: state_hash::of_sessions(&sessions, &turns),
        },
    })
}
