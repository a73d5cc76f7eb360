//! Recall: ranked memories and turns relevant to a message, with explanations.
//!
//! No chat model is asked. If the embedder does not answer in time, only the vector arm is skipped;
//! if the reranker does not, only the reordering. What was skipped is listed in `degraded`.

mod look;
mod mind;
mod near;
mod open;
mod search;

pub(crate) use look::is_usable;
pub(crate) use mind::{IndexCache, RecallContext};
pub(crate) use open::{OpenedIndex, PointGate, QuestionVector};
pub use search::{
    Filter, RecallQuery, RecallResult, RecallTimings, RecalledFact, RecalledSession, RecalledTurn,
    ResultExplanation,
};

use std::sync::Arc;

use lukasa_core::TenantId;
use lukasa_store::passage::RecallState;
use moka::sync::Cache;

/// Cached embeddings of recent questions, by tenant, model and text (R161).
pub(crate) type QuestionCache = Cache<(TenantId, String, String), Arc<[f32]>>;

/// Cached recall results per question in a session, with the state of the record. They are reused
/// for five minutes, unless the user's memory has changed (R158, R159).
pub(crate) type RecallCache = Cache<RecallKey, Arc<(RecallState, RecallResult)>>;

/// A user, and a digest of the whole question.
pub(crate) type RecallKey = (lukasa_core::UserId, [u8; 32]);

pub(crate) fn new_recall_cache() -> RecallCache {
    let ttl = std::time::Duration::from_secs(5 * 60);
    Cache::builder().max_capacity(10_000).time_to_live(ttl).build()
}

pub(crate) fn new_question_cache() -> QuestionCache {
    Cache::new(10_000)
}
