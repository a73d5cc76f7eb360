//! Summary of a user's memory: row counts, and hashes to compare it by.

use futures_util::try_join;
use lukasa_core::{StateHash, state_hash};
use lukasa_store::{Scope, everything, observation};

use crate::error::Result;

/// Observations that are hashed at a time.
const OBSERVATION_PAGE_SIZE: i64 = 1_000;

/// Counts and hashes of a user's whole memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySummary {
    pub memories: usize,
    pub links: usize,
    pub episodes: usize,
    pub sessions: usize,
    pub turns: usize,
    pub observations: usize,
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
    let observations = hash_observations(scope).await?;
    let mut facts: Vec<_> = versions.iter().map(|version| version.fact).collect();
    facts.dedup();
    Ok(MemorySummary {
        memories: facts.len(),
        links: links.len(),
        episodes: episodes.len(),
        sessions: sessions.len(),
        turns: turns.len(),
        observations: observations.len(),
        hash: StateHash {
            memories: state_hash::of_memories(&versions, &links),
            episodes: state_hash::of_episodes(&episodes),
            sessions: state_hash::of_sessions(&sessions, &turns),
            observations: state_hash::of_observations(observations),
        },
    })
}

/// The hash of each observation, read page by page.
async fn hash_observations(scope: &Scope) -> Result<Vec<String>> {
    let (mut hashes, mut last) = (Vec::new(), None);
    loop {
        let page = observation::after(scope, last, OBSERVATION_PAGE_SIZE).await?;
        let Some(end) = page.last() else { return Ok(hashes) };
        last = Some(end.id);
        hashes.extend(page.iter().map(state_hash::of_observation));
    }
}
