//! The memories that requests have read recently, by user: most prompts of a user have the same ones.
//!
//! A version changes only if its memory changes, which raises the revision of the user's facts. A
//! request uses only versions that were read at the revision that it has read itself, so nothing that
//! was changed or removed is served.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use lukasa_core::{FactId, UserId, Version, VersionId};
use lukasa_store::passage::RecallState;
use lukasa_store::recallable;
use moka::sync::Cache;

use super::conversation::version_bytes;
use super::{OpenedIndex, Recall};
use crate::error::Result;

/// How long the versions of an inactive user are kept.
const IDLE_TTL: Duration = Duration::from_mins(5);
/// Maximum size over all users, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// Maximum number of versions of one user.
const MAX_VERSIONS: usize = 200;

/// Versions of one user, and the state of the record at which they were read.
#[derive(Debug, Clone, Default)]
struct UserVersions {
    state: RecallState,
    by_id: HashMap<VersionId, Arc<Version>>,
}

impl UserVersions {
    fn bytes(&self) -> u32 {
        let bytes = self.by_id.values().map(|version| version_bytes(version)).sum::<usize>();
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }
}

/// The versions of recently active users.
#[derive(Clone)]
pub(super) struct VersionCache(Cache<UserId, Arc<UserVersions>>);

impl Default for VersionCache {
    fn default() -> Self {
        let weigh = |_: &UserId, versions: &Arc<UserVersions>| versions.bytes();
        let cache = Cache::builder().max_capacity(MAX_BYTES).weigher(weigh);
        Self(cache.time_to_idle(IDLE_TTL).build())
    }
}

impl VersionCache {
    /// The versions of a user that were read at a state with the same facts.
    fn of(&self, user: UserId, state: RecallState) -> Arc<UserVersions> {
        let kept = self.0.get(&user).filter(|kept| state.has_facts_of(kept.state));
        kept.unwrap_or_else(|| Arc::new(UserVersions { state, by_id: HashMap::new() }))
    }

    /// Keeps more versions of a user, if there is room for them. Those of the baseline are read by the
    /// first request, and later ones mostly by a single message.
    fn add(&self, user: UserId, known: &UserVersions, read: &HashMap<VersionId, Arc<Version>>) {
        if known.by_id.len() + read.len() > MAX_VERSIONS {
            return;
        }
        let mut all = known.clone();
        all.by_id.extend(read.iter().map(|(id, version)| (*id, Arc::clone(version))));
        self.0.insert(user, Arc::new(all));
    }
}

impl Recall {
    /// The versions with these ids, in this order.
    pub(crate) async fn versions(
        &self,
        opened: &OpenedIndex,
        ids: &[(FactId, VersionId)],
    ) -> Result<Vec<Version>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let user = opened.scope.user();
        let known = self.caches.versions.of(user, opened.ctx.state);
        let is_missing = |(_, id): &&(FactId, VersionId)| !known.by_id.contains_key(id);
        let missing: Vec<(FactId, VersionId)> = ids.iter().filter(is_missing).copied().collect();
        let mut read = HashMap::new();
        if !missing.is_empty() {
            let versions = recallable::versions(&opened.scope, &missing).await?;
            read.extend(versions.into_iter().map(|version| (version.id, Arc::new(version))));
            self.caches.versions.add(user, &known, &read);
        }
        let of = |(_, id): &(FactId, VersionId)| {
            let version = read.get(id).or_else(|| known.by_id.get(id));
            version.map(|version| Version::clone(version))
        };
        Ok(ids.iter().filter_map(of).collect())
    }
}
