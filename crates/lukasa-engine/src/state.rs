//! Summary of a user's memory: row counts, and hashes to compare it by.

use futures_util::try_join;
use lukasa_core::{StateHash, state_hash};
use lukasa_store::{Scope, everything};

use crate::error::Result;

/// Counts and hashes of a user's whole memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySummary {
    pub memories: usize,
    pub links: usize,
    pub episodes: usize,
    pub sessions: usize,
    pub turns: usize,
    pub hash: StateHash,
}

/// Reads all of a user's memory, and counts and hashes it.
pub(crate) async fn summarize(scope: &Scope) -> Result<MemorySummary> {
    let (versions, links, episodes, sessions, turns) = try_join!(
        everything::versions(scope),
        everything::links(scope),
        everything::episodes(scope),
        everything::sessions(scope),
        everything::turns(scope),
    )?;
    let mut facts: Vec<_> = versions.iter().map(|version| version.fact).collect();
    facts.dedup();
    Ok(MemorySummary {
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
