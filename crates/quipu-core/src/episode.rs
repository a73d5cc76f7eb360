//! Episodes: the layer between what was said and what is known. What happened in a stretch of turns,
//! in a sentence or two.

use serde::{Deserialize, Serialize};

use crate::id::{EpisodeId, PassId};
use crate::origin::Origin;
use crate::time::Timestamp;

/// What happened in a stretch of turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Episode {
    pub id: EpisodeId,
    pub session: String,
    pub first_turn: i32,
    pub last_turn: i32,
    pub title: Option<String>,
    pub summary: String,
    pub origin: Origin,
    pub started_at: Timestamp,
    pub ended_at: Timestamp,
    pub pass: PassId,
    pub prompt: String,
    pub recorded_at: Timestamp,
}
