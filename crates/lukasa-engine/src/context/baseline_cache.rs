//! The baselines that requests have rendered recently, by user and budget.
//!
//! A rendered baseline depends on the versions that are chosen for it, in their order, on what these
//! said before they changed, and on the sentences of the portraits. The versions are chosen for each
//! request, which decides what has expired, faded or been closed; the rest changes only with the state
//! of the record and of the portraits, which each request has read itself. So nothing that was changed
//! or removed is served.

use std::sync::Arc;
use std::time::Duration;

use lukasa_core::context::Budget;
use lukasa_core::{FactId, UserId, VersionId};
use lukasa_store::passage::RecallState;
use moka::sync::Cache;

use super::retrieve::ContextPart;
use crate::recall::RecallContext;

/// How long the baselines of an inactive user are kept.
const IDLE_TTL: Duration = Duration::from_mins(5);
/// Maximum size over all users, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// A rendered baseline, and the domains it quotes.
#[derive(Debug, Clone)]
pub(super) struct RenderedBaseline {
    pub(super) part: Arc<ContextPart>,
    pub(super) domains: Arc<[String]>,
}

/// A rendered baseline, and what it was rendered from.
struct CachedBaseline {
    state: RecallState,
    portraits: Option<String>,
    versions: Vec<(FactId, VersionId)>,
    rendered: RenderedBaseline,
}

/// The rendered baselines of recently active users.
#[derive(Clone)]
pub(crate) struct BaselineCache(Cache<(UserId, usize, usize), Arc<CachedBaseline>>);

impl Default for BaselineCache {
    fn default() -> Self {
        let weigh = |_: &(UserId, usize, usize), cached: &Arc<CachedBaseline>| {
            u32::try_from(cached.bytes()).unwrap_or(u32::MAX)
        };
        let cache = Cache::builder().max_capacity(MAX_BYTES).weigher(weigh);
        Self(cache.time_to_idle(IDLE_TTL).build())
    }
}

impl CachedBaseline {
    /// The approximate size in bytes.
    fn bytes(&self) -> usize {
        const EACH: usize = 256;
        let part = &self.rendered.part;
        let lines = part.items.iter().map(|item| item.line.len() + EACH).sum::<usize>();
        let rest = part.left_out.len() + self.versions.len();
        part.content.len() + lines + EACH + rest * 64
    }
}

impl BaselineCache {
    /// The baseline of these versions, if it was rendered at the same state of the record.
    pub(super) fn find(
        &self,
        user: UserId,
        budget: Budget,
        ctx: &RecallContext,
        versions: &[(FactId, VersionId)],
    ) -> Option<RenderedBaseline> {
        let cached = self.0.get(&(user, budget.total, budget.dynamic))?;
        let is_same = ctx.state.has_facts_of(cached.state)
            && ctx.portraits == cached.portraits
            && versions == cached.versions;
        is_same.then(|| cached.rendered.clone())
    }

    pub(super) fn keep(
        &self,
        user: UserId,
        budget: Budget,
        ctx: &RecallContext,
        versions: Vec<(FactId, VersionId)>,
        rendered: RenderedBaseline,
    ) {
        let (state, portraits) = (ctx.state, ctx.portraits.clone());
        let cached = CachedBaseline { state, portraits, versions, rendered };
        self.0.insert((user, budget.total, budget.dynamic), Arc::new(cached));
    }
}
