//! What is near in meaning to a text: what a new memory may be repeating.

use lukasa_core::{Caller, Timestamp};

use super::Recall;
use crate::Engine;
use crate::error::Result;
use crate::facts::Memory;

/// How many memories a text is compared with.
const COMPARED: usize = 5;

impl Engine {
    /// The memories that may say the same as a text, with the cosine of their vectors and its. Without
    /// an embedder all are at zero: nothing can be said about their meaning.
    pub async fn near(
        &self,
        caller: &Caller,
        text: &str,
        now: Timestamp,
    ) -> Result<Vec<(Memory, f32)>> {
        let mut ask = Recall::about(text);
        ask.memories = COMPARED;
        let found = self.recall(caller, &ask, now).await?;
        let found: Vec<Memory> = found.memories.into_iter().map(|found| found.memory).collect();
        let Ok(Some(embedder)) = self.embedder(now).await else {
            return Ok(found.into_iter().map(|memory| (memory, 0.0)).collect());
        };
        let contents = found.iter().map(|memory| memory.version.claim.content.as_str());
        let texts: Vec<&str> = std::iter::once(text).chain(contents).collect();
        let vectors = embedder.embed(&texts).await.unwrap_or_default();
        let score = |place: usize| match (vectors.first(), vectors.get(place + 1)) {
            (Some(new), Some(old)) => new.iter().zip(old).map(|(a, b)| a * b).sum(),
            _ => 0.0,
        };
        let scored = found.into_iter().enumerate().map(|(place, memory)| (memory, score(place)));
        let mut scored: Vec<(Memory, f32)> = scored.collect();
        scored.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        Ok(scored)
    }
}
