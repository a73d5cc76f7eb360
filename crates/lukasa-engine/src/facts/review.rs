//! Review: everything its person may be asked about, in one place. Nothing here decides anything.

use futures_util::try_join;
use jiff::SignedDuration;
use lukasa_core::fade::STALE_AFTER;
use lukasa_core::{Caller, State, Timestamp, Version};
use lukasa_store::review;

use super::contradict::Contradiction;
use super::outcome::Memory;
use super::read::as_memory;
use crate::Engine;
use crate::error::Result;

/// How many of each are shown at once.
const MOST: i64 = 50;
/// What was learned in this time is shown as news.
const LATELY: SignedDuration = SignedDuration::from_hours(24 * 30);

/// A memory that may not be true any more.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    pub memory: Memory,
    /// Whether using it showed it to be wrong; otherwise it was only said long ago.
    pub refuted: bool,
}

/// What its person may be asked about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Review {
    pub proposals: Vec<Memory>,
    pub contradictions: Vec<Contradiction>,
    pub doubts: Vec<Doubt>,
    pub guesses: Vec<Memory>,
    pub learned: Vec<Memory>,
}

impl Engine {
    /// What waits for a yes, what contradicts what, what may have become untrue, what is only a
    /// guess, and what was learned lately.
    pub async fn review(&self, caller: &Caller, now: Timestamp) -> Result<Review> {
        let contradictions = self.contradictions(caller, now).await?;
        let scope = self.reading(caller, now).await?;
        let (waiting, doubtful, learned) = try_join!(
            review::waiting(&scope, MOST),
            review::doubtful(&scope, now - STALE_AFTER, now, MOST),
            review::learned_since(&scope, now - LATELY, now, MOST),
        )?;
        let show = |version: &Version| as_memory(version, std::slice::from_ref(version), now);
        // What speaks against something is asked about there, and not a second time by itself.
        let against = |version: &Version| {
            contradictions.iter().any(|pair| pair.against.version.fact == version.fact)
        };
        let alone = waiting.iter().filter(|version| !against(version));
        let (proposed, guessed): (Vec<_>, Vec<_>) =
            alone.partition(|version| version.state == State::Proposed);
        Ok(Review {
            proposals: proposed.into_iter().map(show).collect(),
            guesses: guessed.into_iter().map(show).collect(),
            doubts: doubtful
                .iter()
                .map(|(version, refuted)| Doubt { memory: show(version), refuted: *refuted })
                .collect(),
            learned: learned.iter().map(show).collect(),
            contradictions,
        })
    }
}
