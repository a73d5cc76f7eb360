//! Recall: ranked memories, turns and episodes relevant to a message, with explanations.
//!
//! No chat model is asked. If the embedder does not answer in time, only the vector arm is skipped;
//! if the reranker does not, only the reordering. What was skipped is listed in `degraded`.

mod conversation;
mod episodes;
mod index;
mod key;
mod lookup;
mod near;
mod open;
mod rows;
mod search;
mod versions;
mod zone;

use std::sync::Arc;

use lukasa_core::{TenantId, UserId};
use moka::sync::Cache;

use crate::embeddings::Embeddings;
use crate::parts::Parts;
use crate::transaction::Transactions;

use conversation::ConversationCache;
pub use episodes::RecalledEpisode;
pub(crate) use index::{IndexCache, RecallContext};
pub(crate) use key::{FilterKey, PointKey, json_digest};
pub(crate) use lookup::is_usable;
pub(crate) use open::{OpenedIndex, PointGate, QuestionVector};
pub use search::{
    CacheUse, Filter, RecallQuery, RecallResult, RecallTimings, RecalledFact, RecalledSession,
    RecalledTurn, ResultExplanation,
};
use versions::VersionCache;

/// Cached embeddings of recent questions, by tenant, model and text (R161).
type QuestionCache = Cache<(TenantId, String, String), Arc<[f32]>>;

/// A question in a conversation: a digest of everything its result depends on besides the memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecallKey {
    user: UserId,
    session: String,
    question: [u8; 32],
}

/// The indexes and results that are kept between requests.
#[derive(Clone)]
pub(crate) struct RecallCaches {
    indexes: Arc<IndexCache>,
    questions: QuestionCache,
    conversations: ConversationCache,
    versions: VersionCache,
    /// Limits how many indexes of points in the past are built at a time.
    points: PointGate,
}

impl Default for RecallCaches {
    fn default() -> Self {
        Self {
            indexes: Arc::default(),
            questions: new_question_cache(),
            conversations: ConversationCache::default(),
            versions: VersionCache::default(),
            points: PointGate::default(),
        }
    }
}

impl RecallCaches {
    /// The same caches with other limits for the indexes: at most `bytes` of them, each of at most
    /// `passages` passages.
    pub(crate) fn with_index_limits(self, bytes: u64, passages: usize) -> Self {
        Self { indexes: Arc::new(IndexCache::within(bytes, passages)), ..self }
    }

    /// Bytes and number of the cached indexes.
    pub(crate) fn index_size(&self) -> (u64, u64) {
        self.indexes.size()
    }
}

fn new_question_cache() -> QuestionCache {
    Cache::new(10_000)
}

/// Search in one user's memories and turns.
#[derive(Clone)]
pub struct Recall {
    parts: Arc<Parts>,
    transactions: Transactions,
    embeddings: Embeddings,
    caches: RecallCaches,
}

impl Recall {
    pub(crate) fn new(
        parts: Arc<Parts>,
        transactions: Transactions,
        embeddings: Embeddings,
        caches: RecallCaches,
    ) -> Self {
        Self { parts, transactions, embeddings, caches }
    }
}
