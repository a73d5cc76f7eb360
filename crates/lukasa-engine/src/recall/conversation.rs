//! The memories that recall found recently in each conversation: at most fifty, for five minutes.
//!
//! The same question is answered again while nothing has changed. For another question the ranking
//! is made again, because it depends on the words, and only the memories that the conversation was
//! given before are taken from here by their ids. Everything is compared with the state of the
//! record that the request itself has read, so nothing that was changed or removed is served.

use std::sync::Arc;

use jiff::SignedDuration;
use lukasa_core::{Timestamp, UserId, Version, VersionId};
use lukasa_store::passage::RecallState;
use moka::sync::Cache;

use super::{RecallKey, RecallResult};

/// How long a result is used after it was fetched (R158).
const TTL: SignedDuration = SignedDuration::from_mins(5);
/// Maximum number of memories of one conversation (R160).
const MAX_MEMORIES: usize = 50;
/// Maximum number of results of one conversation; those without memories count here only.
const MAX_RESULTS: usize = 20;
/// Maximum size of all conversations together, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// A result, and when it was fetched.
#[derive(Debug)]
struct CachedResult {
    question: [u8; 32],
    fetched_at: Timestamp,
    state: RecallState,
    found: RecallResult,
}

impl CachedResult {
    fn is_fresh(&self, now: Timestamp) -> bool {
        now.duration_since(self.fetched_at) < TTL
    }

    fn bytes(&self) -> usize {
        let memories = self.found.memories.iter().map(|found| version_bytes(&found.memory.version));
        let turns = self.found.turns.iter().map(|found| found.turn.content.len() + EACH);
        let episodes = self.found.episodes.iter().map(|f| f.episode.summary.len() + EACH);
        memories.chain(turns).chain(episodes).sum::<usize>() + EACH
    }
}

/// Approximate size of a turn, an episode or a memory without its texts, in bytes.
const EACH: usize = 1_024;

/// Approximate size of a version in bytes.
pub(super) fn version_bytes(version: &Version) -> usize {
    let claim = &version.claim;
    let texts = [&claim.summary, &claim.detail, &claim.reasoning];
    let texts = texts.into_iter().flatten().map(String::len).sum::<usize>();
    claim.content.len() + texts + EACH
}

/// The results of one conversation, the most recently used last.
#[derive(Debug, Clone, Default)]
pub(super) struct ConversationResults(Vec<Arc<CachedResult>>);

impl ConversationResults {
    /// The memories of these results by version id, if they are current.
    pub(super) fn memory(
        &self,
        id: VersionId,
        state: RecallState,
        now: Timestamp,
    ) -> Option<&Version> {
        let current =
            |result: &&Arc<CachedResult>| result.is_fresh(now) && state.has_facts_of(result.state);
        let results = self.0.iter().rev().filter(current);
        let mut versions =
            results.flat_map(|result| &result.found.memories).map(|found| &found.memory.version);
        versions.find(|version| version.id == id)
    }

    /// With one more result as the most recently used, and without the least recently used ones
    /// beyond the limits.
    fn with(&self, new: Arc<CachedResult>) -> Self {
        let now = new.fetched_at;
        let stays = |old: &&Arc<CachedResult>| old.is_fresh(now) && old.question != new.question;
        let mut results: Vec<_> = self.0.iter().filter(stays).cloned().collect();
        results.push(new);
        let mut memories = 0;
        let fits = |result: &&Arc<CachedResult>| {
            memories += result.found.memories.len();
            memories <= MAX_MEMORIES
        };
        let kept = results.iter().rev().take(MAX_RESULTS).take_while(fits).count();
        Self(results.split_off(results.len() - kept))
    }

    fn bytes(&self) -> u32 {
        let bytes = self.0.iter().map(|result| result.bytes()).sum::<usize>();
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }
}

/// The results of all conversations.
#[derive(Clone)]
pub(super) struct ConversationCache(Cache<(UserId, String), ConversationResults>);

impl Default for ConversationCache {
    fn default() -> Self {
        let ttl = std::time::Duration::from_secs(TTL.as_secs().unsigned_abs());
        let weigh = |_: &(UserId, String), results: &ConversationResults| results.bytes();
        Self(Cache::builder().max_capacity(MAX_BYTES).weigher(weigh).time_to_idle(ttl).build())
    }
}

impl ConversationCache {
    /// The results of the conversation that a question is asked in.
    pub(super) fn results(&self, user: UserId, session: Option<&str>) -> ConversationResults {
        let found = session.and_then(|session| self.0.get(&(user, session.to_owned())));
        found.unwrap_or_default()
    }

    /// The result of the same question, if nothing has changed since.
    pub(super) fn find(
        &self,
        key: &RecallKey,
        state: RecallState,
        now: Timestamp,
    ) -> Option<RecallResult> {
        let results = self.results(key.user, Some(&key.session));
        let same = |result: &&Arc<CachedResult>| {
            result.question == key.question && result.state == state && result.is_fresh(now)
        };
        let found = Arc::clone(results.0.iter().find(same)?);
        let recalled = found.found.clone();
        // It is the most recently used one now, with the time at which it was fetched.
        let mut results = results;
        results.0.retain(|result| !Arc::ptr_eq(result, &found));
        results.0.push(found);
        self.0.insert((key.user, key.session.clone()), results);
        Some(recalled)
    }

    /// Keeps a result for its conversation, unless it alone exceeds the limit.
    pub(super) fn keep(
        &self,
        key: RecallKey,
        state: RecallState,
        found: &RecallResult,
        now: Timestamp,
    ) {
        if found.memories.len() > MAX_MEMORIES {
            return;
        }
        let RecallKey { user, session, question } = key;
        let new = CachedResult { question, fetched_at: now, state, found: found.clone() };
        let results = self.results(user, Some(&session)).with(Arc::new(new));
        self.0.insert((user, session), results);
    }
}
