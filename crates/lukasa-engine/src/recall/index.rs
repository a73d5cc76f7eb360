//! Cache of users' indexes, kept in memory between requests and brought up to date at the start of
//! each.
//!
//! The record has a revision (`RecallState`); an index reads what was added since its own revision:
//! new turns, new embeddings, and the list of active memories if one of them changed. Removed rows
//! are never served: a removal makes the index be loaded again from scratch, and so does a user who
//! was erased and created again (another epoch). Every request reads the state of the record first,
//! so a removal on another server is seen by the next request here.
//!
//! A full load runs in a separate task and continues if the request that began it times out; only a
//! few run at a time. Its rows may come from a standby (see `rows`): the index is that of the state that
//! was read from the primary either way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use futures_util::{future::OptionFuture, try_join};
use lukasa_core::model::EmbeddingModel;
use lukasa_core::recall::index::Index;
use lukasa_core::{AsOf, ProjectScope, UserId};
use lukasa_store::passage::RecallState;
use lukasa_store::{Scope, Store, recallable};
use moka::sync::Cache;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::rows::{
    ActiveFacts, NewRows, SmallRecord, WholeIndex, existed, load_first_rows, load_floor,
    load_new_rows, read_facts, read_in_blocks, read_small, read_whole, to_new_passage,
};
use crate::cpu::{CpuPool, interrupted};
use crate::error::{Error, Result};

/// Default size limit of the cache over all users.
const DEFAULT_CACHE_BYTES: u64 = 512 * 1024 * 1024;
/// Default limit of indexed passages per user.
const DEFAULT_MAX_PASSAGES: usize = 250_000;
/// How long an unused index stays cached.
const IDLE_TTL: Duration = Duration::from_secs(15 * 60);
/// Maximum number of concurrent loads of large indexes: each holds its rows and its index in memory at
/// once.
const MAX_CONCURRENT_LOADS: usize = 4;
/// Maximum number of concurrent loads of small indexes: each holds at most `SMALL_LOAD_ROWS` passages.
const MAX_CONCURRENT_SMALL_LOADS: usize = 32;
/// A record with at most this many passages is read at once.
const SMALL_LOAD_ROWS: usize = 1_000;
/// An index with at least this many units is ranked, and one with at least this many new passages
/// is built, on a blocking thread.
const LARGE_INDEX_UNITS: usize = 2_000;
/// A record with at least this many revisions is taken to be large without looking. A large one is
/// read in blocks, and the index is built while the rows arrive, so that they are not all in memory
/// beside it.
const LARGE_RECORD_REVISIONS: i64 = 1_000;

/// Cache of the indexes of recently active users.
pub(crate) struct IndexCache {
    cache: Cache<UserId, Arc<UserIndex>>,
    passages: usize,
    loads: Arc<Semaphore>,
    small_loads: Arc<Semaphore>,
}

impl Default for IndexCache {
    fn default() -> Self {
        Self::within(DEFAULT_CACHE_BYTES, DEFAULT_MAX_PASSAGES)
    }
}

impl IndexCache {
    /// Caches at most `bytes`, and at most `passages` passages per user; with zero bytes, every
    /// request loads all it needs.
    pub(crate) fn within(bytes: u64, passages: usize) -> Self {
        let weigh = |_: &UserId, user_index: &Arc<UserIndex>| {
            u32::try_from(user_index.progress().bytes).unwrap_or(u32::MAX)
        };
        let cache = Cache::builder().max_capacity(bytes).weigher(weigh).time_to_idle(IDLE_TTL);
        Self {
            cache: cache.build(),
            passages,
            loads: Arc::new(Semaphore::new(MAX_CONCURRENT_LOADS)),
            small_loads: Arc::new(Semaphore::new(MAX_CONCURRENT_SMALL_LOADS)),
        }
    }

    /// Bytes and number of the cached indexes, as of the cache's last maintenance.
    pub(crate) fn size(&self) -> (u64, u64) {
        self.cache.run_pending_tasks();
        (self.cache.weighted_size(), self.cache.entry_count())
    }
}

/// Permit for a full load of one user's index.
pub(crate) struct LoadPermit {
    _permit: Option<OwnedSemaphorePermit>,
}

/// One user's index, as far as it has been loaded.
pub(crate) struct UserIndex {
    epoch: i64,
    removed: i64,
    model: Option<EmbeddingModel>,
    progress: Mutex<Progress>,
    index: RwLock<Index>,
    /// Held while new rows are read, so that concurrent requests read them only once.
    reading: Arc<tokio::sync::Mutex<()>>,
    /// Whether the record was found to be too large to be read at once.
    is_large: AtomicBool,
}

/// How much of the record an index contains. It is separate from the index, so that reading it does
/// not wait for a ranking.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    revision: i64,
    facts: i64,
    units: usize,
    passages: usize,
    bytes: usize,
    /// Turns up to this revision are not indexed, because there are too many.
    floor: Option<i64>,
}

impl UserIndex {
    fn empty(ctx: &RecallContext) -> Self {
        let dimension = ctx.model.as_ref().map_or(0, |model| model.dimension);
        Self {
            epoch: ctx.state.epoch,
            removed: ctx.state.removed,
            model: ctx.model.clone(),
            progress: Mutex::default(),
            index: RwLock::new(Index::new(dimension)),
            reading: Arc::default(),
            is_large: AtomicBool::new(false),
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it matches the current record: the same epoch, nothing removed since, and the model
    /// in use.
    fn is_current(&self, ctx: &RecallContext) -> bool {
        let state = ctx.state;
        (self.epoch, self.removed) == (state.epoch, state.removed) && self.model == ctx.model
    }

    fn is_loaded(&self) -> bool {
        self.progress().revision > 0
    }

    /// Whether turns were left out because the user has more than are indexed.
    pub(crate) fn is_truncated(&self) -> bool {
        self.progress().floor.is_some()
    }

    fn read<T>(&self, work: impl FnOnce(&Index) -> T) -> T {
        work(&self.index.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Runs `work` on the index, on a blocking thread if the index is large. The index cannot
    /// change meanwhile.
    pub(crate) async fn with<T, W>(self: &Arc<Self>, cpu: &CpuPool, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: FnOnce(&Index) -> T + Send + 'static,
    {
        let (user_index, large) = (Arc::clone(self), self.progress().units >= LARGE_INDEX_UNITS);
        cpu.run_if(large, move || user_index.read(work)).await
    }
}

/// State of a user that a request reads besides the index.
#[derive(Debug, Clone)]
pub(crate) struct RecallContext {
    pub(crate) state: RecallState,
    pub(crate) model: Option<EmbeddingModel>,
    /// Closed domains, whose memories must not be used.
    pub(crate) closed_domains: Vec<String>,
    /// The projects whose memories and turns may be used.
    pub(crate) projects: ProjectScope,
    /// Whether the user has any session, and so possibly turns.
    pub(crate) has_sessions: bool,
    /// Names the stored portraits and when each was compiled; `None` without any.
    pub(crate) portraits: Option<String>,
}

impl IndexCache {
    /// Waits for a permit for the load of a large index.
    pub(crate) async fn permit(&self) -> LoadPermit {
        // The semaphore is never closed, so acquiring a permit cannot fail.
        LoadPermit { _permit: Arc::clone(&self.loads).acquire_owned().await.ok() }
    }

    /// A permit to load the user's index at once, unless it is known to be large or very many others
    /// are being loaded.
    pub(crate) fn small_load_permit(
        &self,
        scope: &Scope,
        ctx: &RecallContext,
    ) -> Option<LoadPermit> {
        let known = self.cache.get(&scope.user()).filter(|user_index| user_index.is_current(ctx));
        let is_large = known.is_some_and(|known| known.is_large.load(Ordering::Relaxed));
        if is_large || ctx.state.revision >= LARGE_RECORD_REVISIONS {
            return None;
        }
        let permit = Arc::clone(&self.small_loads).try_acquire_owned().ok()?;
        Some(LoadPermit { _permit: Some(permit) })
    }

    /// A permit for the load of a large index, if one is free.
    pub(crate) fn try_permit(&self) -> Option<LoadPermit> {
        let permit = Arc::clone(&self.loads).try_acquire_owned().ok()?;
        Some(LoadPermit { _permit: Some(permit) })
    }

    /// Prefetches what the user's index lacks, before it is known whether it lacks anything. In an
    /// ongoing session there usually is something new, and this saves a round trip.
    pub(crate) async fn prefetch(&self, scope: &Scope) -> Result<Option<NewRows>> {
        let Some(user_index) = self.cache.get(&scope.user()) else { return Ok(None) };
        let Progress { revision, .. } = *user_index.progress();
        if revision == 0 {
            return Ok(None);
        }
        Ok(Some(load_new_rows(scope, user_index.model.clone(), revision, None).await?))
    }

    /// The user's index as of this scope, if it is cached and needs no full load.
    pub(crate) async fn current(
        &self,
        scope: &Scope,
        ctx: &RecallContext,
        prefetched: Option<NewRows>,
        cpu: &CpuPool,
    ) -> Result<Option<Arc<UserIndex>>> {
        let Some(user_index) = self.cache.get(&scope.user()) else { return Ok(None) };
        if !user_index.is_current(ctx) {
            self.cache.invalidate(&scope.user());
            return Ok(None);
        }
        if !user_index.is_loaded() && ctx.state.revision > 0 {
            return Ok(None);
        }
        self.catch_up(scope, ctx, &user_index, prefetched, cpu).await?;
        Ok(Some(user_index))
    }

    /// The user's cached index, or an empty one that is cached before it is loaded, so that concurrent
    /// requests wait for this load. If a request with an older state was faster, it is not cached.
    fn to_load(&self, scope: &Scope, ctx: &RecallContext) -> Arc<UserIndex> {
        let user = scope.user();
        if self.cache.get(&user).is_some_and(|user_index| !user_index.is_current(ctx)) {
            self.cache.invalidate(&user);
        }
        let user_index = self.cache.get_with(user, || Arc::new(UserIndex::empty(ctx)));
        if user_index.is_current(ctx) { user_index } else { Arc::new(UserIndex::empty(ctx)) }
    }

    /// The user's index, loaded at once if it is not loaded; `None` if the record is too large for
    /// that. Meant to run in a separate task.
    pub(crate) async fn load_small(
        &self,
        store: &Store,
        scope: &Scope,
        ctx: &RecallContext,
        cpu: &CpuPool,
    ) -> Result<Option<Arc<UserIndex>>> {
        let user_index = self.to_load(scope, ctx);
        let guard = Arc::clone(&user_index.reading).lock_owned().await;
        let loaded = user_index.progress().revision;
        if loaded > 0 || ctx.state.revision == 0 {
            drop(guard);
            self.catch_up(scope, ctx, &user_index, None, cpu).await?;
            return Ok(Some(user_index));
        }
        // Fewer passages than the limit of indexed ones need no count of them.
        let limit = SMALL_LOAD_ROWS.min(self.passages);
        let SmallRecord { rows, facts } = read_small(store, scope, ctx, limit).await?;
        let Some(rows) = rows else {
            user_index.is_large.store(true, Ordering::Relaxed);
            return Ok(None);
        };
        user_index.add(IndexUpdate { rows, facts: Some(facts) }, ctx.state, None);
        // Insert it again so that the cache updates its size.
        self.cache.insert(scope.user(), Arc::clone(&user_index));
        Ok(Some(user_index))
    }

    /// The user's index, fully loaded if necessary, in blocks. Meant to run in a separate task.
    pub(crate) async fn load(
        &self,
        store: &Store,
        scope: &Scope,
        ctx: &RecallContext,
        cpu: &CpuPool,
    ) -> Result<Arc<UserIndex>> {
        let user_index = self.to_load(scope, ctx);
        let guard = user_index.reading.lock().await;
        if user_index.is_loaded() || ctx.state.revision == 0 {
            drop(guard);
            self.catch_up(scope, ctx, &user_index, None, cpu).await?;
            return Ok(user_index);
        }
        let whole = read_whole(store, scope, ctx, self.passages, cpu).await?;
        let (built, state) = (Arc::clone(&user_index), ctx.state);
        cpu.run(move || built.install(whole, state)).await?;
        self.cache.insert(scope.user(), Arc::clone(&user_index));
        drop(guard);
        Ok(user_index)
    }

    /// Reads new rows into an index that is loaded.
    async fn catch_up(
        &self,
        scope: &Scope,
        ctx: &RecallContext,
        user_index: &Arc<UserIndex>,
        prefetched: Option<NewRows>,
        cpu: &CpuPool,
    ) -> Result<()> {
        if user_index.progress().revision >= ctx.state.revision {
            return Ok(());
        }
        let _guard = user_index.reading.lock().await;
        let loaded = *user_index.progress();
        if loaded.revision >= ctx.state.revision {
            return Ok(());
        }
        let floor = loaded.floor;
        let update = read_update(scope, ctx, loaded, floor, prefetched).await?;
        let large =
            update.rows.passages.len() >= LARGE_INDEX_UNITS || loaded.units >= LARGE_INDEX_UNITS;
        let (grown, state) = (Arc::clone(user_index), ctx.state);
        cpu.run_if(large, move || grown.add(update, state, floor)).await?;
        if user_index.progress().passages > self.passages.saturating_add(self.passages / 8) {
            // Load it fully next time, without the oldest turns.
            self.cache.invalidate(&scope.user());
        } else {
            // Insert it again so that the cache updates its size.
            self.cache.insert(scope.user(), Arc::clone(user_index));
        }
        Ok(())
    }
}

impl UserIndex {
    /// Replaces the empty index by one that contains the whole record.
    fn install(&self, whole: WholeIndex, state: RecallState) {
        let WholeIndex { mut index, facts: active, floor } = whole;
        active.set_in(&mut index);
        let RecallState { revision, facts, .. } = state;
        let (units, passages, bytes) = (index.len(), index.passages(), index.bytes());
        *self.index.write().unwrap_or_else(PoisonError::into_inner) = index;
        *self.progress() = Progress { revision, facts, units, passages, bytes, floor };
    }

    fn add(&self, update: IndexUpdate, state: RecallState, floor: Option<i64>) {
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        let loaded = *self.progress();
        let NewRows { passages, vectors, .. } = update.rows;
        index.add(passages.into_iter().map(to_new_passage).collect());
        index.embed(vectors.into_iter().map(|v| ((v.source, v.part), v.values)));
        if let Some(active) = update.facts
            && loaded.facts < state.facts
        {
            active.set_in(&mut index);
        }
        *self.progress() = Progress {
            revision: loaded.revision.max(state.revision),
            facts: loaded.facts.max(state.facts),
            units: index.len(),
            passages: index.passages(),
            bytes: index.bytes(),
            floor,
        };
    }
}

struct IndexUpdate {
    rows: NewRows,
    /// The active memories, if one of them changed.
    facts: Option<ActiveFacts>,
}

async fn read_update(
    scope: &Scope,
    ctx: &RecallContext,
    loaded: Progress,
    floor: Option<i64>,
    prefetched: Option<NewRows>,
) -> Result<IndexUpdate> {
    // Another request may have updated the index meanwhile; then the prefetched rows do not fit.
    let prefetched = prefetched.filter(|a| a.since == loaded.revision && a.model == ctx.model);
    let changed = loaded.facts < ctx.state.facts;
    let facts: OptionFuture<_> = changed.then(|| read_facts(scope, ctx)).into();
    let (rows, facts) = try_join!(
        async {
            match prefetched {
                Some(prefetched) => Ok(prefetched),
                None => load_new_rows(scope, ctx.model.clone(), loaded.revision, floor).await,
            }
        },
        async { facts.await.transpose() }
    )?;
    Ok(IndexUpdate { rows, facts })
}

impl IndexCache {
    /// Builds the index as of another point on the time axes, for one question.
    pub(crate) async fn at(
        &self,
        scope: &Scope,
        ctx: &RecallContext,
        point: AsOf,
        cpu: &CpuPool,
    ) -> Result<Arc<UserIndex>> {
        let limit = SMALL_LOAD_ROWS.min(self.passages);
        let is_small = ctx.state.revision < LARGE_RECORD_REVISIONS;
        let rows: OptionFuture<_> =
            is_small.then(|| load_first_rows(scope, ctx.model.clone(), limit)).into();
        let (rows, facts, links, outdated) = try_join!(
            async { Ok::<_, Error>(rows.await.transpose()?.flatten()) },
            async { Ok(recallable::at(scope, point).await?) },
            async { Ok(recallable::links(scope, Some(point.known)).await?) },
            async { Ok(recallable::outdated_turns(scope, Some(point.known)).await?) }
        )?;
        let active = ActiveFacts { facts, links, outdated };
        let mut user_index = UserIndex::empty(ctx);
        let large = rows.is_none();
        let mut floor = None;
        let index = match rows {
            Some(NewRows { passages, vectors, .. }) => {
                let mut index = Index::new(ctx.model.as_ref().map_or(0, |model| model.dimension));
                let passages = passages.into_iter().filter(|stored| existed(stored, point));
                index.add(passages.map(to_new_passage).collect());
                index.embed(vectors.into_iter().map(|v| ((v.source, v.part), v.values)));
                index
            }
            None => {
                floor = load_floor(scope, self.passages).await?;
                read_in_blocks(scope, ctx, floor, Some(point), cpu).await?
            }
        };
        let build = move || {
            let own = user_index.index.get_mut().unwrap_or_else(PoisonError::into_inner);
            *own = index;
            active.set_in(own);
            let units = own.len();
            *user_index.progress() = Progress { units, floor, ..Progress::default() };
            user_index
        };
        Ok(Arc::new(cpu.run_if(large, build).await?))
    }
}

/// Runs `work` as a detached task, which finishes even if the caller is cancelled.
pub(crate) async fn detached<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T> {
    tokio::spawn(work).await.map_err(interrupted)
}
