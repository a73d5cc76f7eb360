//! Memories close in meaning to a text: possible duplicates of a new memory.

use lukasa_core::{Caller, ProjectScope, Timestamp};

use super::Recall;
use super::RecallQuery;
use crate::error::Result;
use crate::memory::Memory;

/// Number of memories a text is compared with.
const MAX_COMPARED: usize = 5;

impl Recall {
    /// Possible duplicates of a text among the memories of these projects, each with the cosine
    /// similarity of its vector to the text's. Without an embedder every similarity is zero.
    pub async fn near(
        &self,
        caller: &Caller,
        text: &str,
        projects: ProjectScope,
        now: Timestamp,
    ) -> Result<Vec<(Memory, f32)>> {
        let mut ask = RecallQuery::about(text);
        ask.memories = MAX_COMPARED;
        ask.projects = Some(projects);
        let found = self.search(caller, &ask, now).await?;
        let found: Vec<Memory> = found.memories.into_iter().map(|found| found.memory).collect();
        let Ok(Some(embedder)) = self.embeddings.embedder(now).await else {
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
