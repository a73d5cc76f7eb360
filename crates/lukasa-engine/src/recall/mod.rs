//! Recall: the memories and turns that bear on a message, best first, with the reasons.
//!
//! No chat model is asked. An embedder that does not answer in time costs the vector arm and nothing
//! else; a reranker that does not, the reordering. What was left out is said in `degraded`.

mod look;
mod mind;
mod near;
mod open;
mod search;

pub(crate) use look::is_usable;
pub(crate) use mind::{Minds, Surroundings};
pub(crate) use open::{Opened, PointGate, QuestionVector};
pub use search::{
    Filter, Recall, Recalled, RecalledFact, RecalledSession, RecalledTurn, Took, Why,
};

use std::sync::Arc;

use lukasa_core::TenantId;
use lukasa_store::passage::RecallState;
use moka::sync::Cache;

/// Embeddings of questions that were asked lately, by tenant, model and text (R161).
pub(crate) type Questions = Cache<(TenantId, String, String), Arc<[f32]>>;

/// What was found lately for a question in a session, and at which state of the record. It is given
/// again for five minutes, unless the user's memory has changed (R158, R159).
pub(crate) type Recalls = Cache<RecallKey, Arc<(RecallState, Recalled)>>;

/// A user, and a digest of everything that was asked.
pub(crate) type RecallKey = (lukasa_core::UserId, [u8; 32]);

pub(crate) fn recalls() -> Recalls {
    let kept = std::time::Duration::from_secs(5 * 60);
    Cache::builder().max_capacity(10_000).time_to_live(kept).build()
}

pub(crate) fn questions() -> Questions {
    Cache::new(10_000)
}
