//! A user's index, kept in memory between requests and brought up to date at the start of each.
//!
//! The record says how far it has come (`RecallState`); what the index lacks is read since its own
//! revision: new turns, new embeddings, and the list of standing memories if one of them changed.
//! Nothing is ever served that the record has removed: a removal makes the index be read again, and so
//! does a user who was erased and came back (another epoch). Every request reads the state of the
//! record first, so a removal on another server is seen by the next request here.
//!
//! A whole read runs in a task of its own and goes on if the request that began it times out; a few of
//! them run at a time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use futures_util::{future::OptionFuture, try_join};
use lukasa_core::model::EmbeddingModel;
use lukasa_core::recall::index::{Index, NewPassage};
use lukasa_core::{AsOf, UserId};
use lukasa_store::Scope;
use lukasa_store::passage::{self, RecallState, Stored, Vector};
use lukasa_store::recallable::{self, Recallable};
use moka::sync::Cache;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

use crate::cpu::{CpuPool, interrupted};
use crate::error::Result;

/// How many bytes of indexes are kept over all users, unless the operator says otherwise.
const KEPT_BYTES: u64 = 512 * 1024 * 1024;
/// How many passages of one user are indexed, unless the operator says otherwise.
const MAX_PASSAGES: usize = 100_000;
/// How long an index is kept that nobody asks for.
const IDLE: Duration = Duration::from_secs(15 * 60);
/// How many indexes are read whole at a time: each holds its rows and its index at once.
const LOADS_AT_ONCE: usize = 4;
/// From how many units on an index is ranked, and from how many new passages on it is built, on a
/// thread of its own.
const LARGE_INDEX: usize = 2_000;

/// The indexes of users who were here lately.
pub(crate) struct Minds {
    cache: Cache<UserId, Arc<Mind>>,
    passages: usize,
    loads: Arc<Semaphore>,
}

impl Default for Minds {
    fn default() -> Self {
        Self::within(KEPT_BYTES, MAX_PASSAGES)
    }
}

impl Minds {
    /// Keeps at most so many bytes, and at most so many passages of one user; with no bytes, every
    /// request reads all it needs.
    pub(crate) fn within(bytes: u64, passages: usize) -> Self {
        let weigh =
            |_: &UserId, mind: &Arc<Mind>| u32::try_from(mind.progress().bytes).unwrap_or(u32::MAX);
        let cache = Cache::builder().max_capacity(bytes).weigher(weigh).time_to_idle(IDLE);
        Self { cache: cache.build(), passages, loads: Arc::new(Semaphore::new(LOADS_AT_ONCE)) }
    }
}

/// A permit to read one user's index whole.
pub(crate) struct LoadPermit {
    _place: Option<OwnedSemaphorePermit>,
}

/// One user's index, as far as it has been read.
pub(crate) struct Mind {
    epoch: i64,
    removed: i64,
    model: Option<EmbeddingModel>,
    progress: Mutex<Progress>,
    index: RwLock<Index>,
    /// Whoever reads what is new holds this, so that many who come at once read it once.
    reading: Arc<tokio::sync::Mutex<()>>,
}

/// How far an index has come. It is apart from the index so that asking waits for no ranking.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    revision: i64,
    facts: i64,
    units: usize,
    passages: usize,
    bytes: usize,
    /// Turns up to this revision were left out, because there are too many.
    floor: Option<i64>,
}

impl Mind {
    fn empty(around: &Surroundings) -> Self {
        let dimension = around.model.as_ref().map_or(0, |model| model.dimension);
        Self {
            epoch: around.state.epoch,
            removed: around.state.removed,
            model: around.model.clone(),
            progress: Mutex::default(),
            index: RwLock::new(Index::new(dimension)),
            reading: Arc::default(),
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it was read from the record as it stands: the same epoch, nothing removed since, and
    /// the model in use.
    fn fits(&self, around: &Surroundings) -> bool {
        let state = around.state;
        (self.epoch, self.removed) == (state.epoch, state.removed) && self.model == around.model
    }

    fn is_read(&self) -> bool {
        self.progress().revision > 0
    }

    /// Whether turns were left out because the user has more than are indexed.
    pub(crate) fn is_cut(&self) -> bool {
        self.progress().floor.is_some()
    }

    fn read<T>(&self, work: impl FnOnce(&Index) -> T) -> T {
        work(&self.index.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Works with the index, on a thread of its own if it is large. Nothing can change it meanwhile.
    pub(crate) async fn with<T, W>(self: &Arc<Self>, cpu: &CpuPool, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: FnOnce(&Index) -> T + Send + 'static,
    {
        let (mind, large) = (Arc::clone(self), self.progress().units >= LARGE_INDEX);
        cpu.run_if(large, move || mind.read(work)).await
    }
}

/// What a request knows about a user besides the index.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    pub(crate) state: RecallState,
    pub(crate) model: Option<EmbeddingModel>,
    /// Domains of which nothing may be used.
    pub(crate) shut: Vec<String>,
}

impl Minds {
    /// A permit to read an index whole.
    pub(crate) async fn permit(&self) -> LoadPermit {
        // Never closed, so a place is always to be had.
        LoadPermit { _place: Arc::clone(&self.loads).acquire_owned().await.ok() }
    }

    /// What the user's index lacks, read before it is known whether it lacks anything. A chat that goes
    /// on has said something since, so this is seldom in vain, and it spares a round trip.
    pub(crate) async fn ahead(&self, scope: &Scope) -> Result<Option<Fresh>> {
        let Some(mind) = self.cache.get(&scope.user()) else { return Ok(None) };
        let Progress { revision, .. } = *mind.progress();
        if revision == 0 {
            return Ok(None);
        }
        Ok(Some(fresh(scope, mind.model.clone(), revision, None).await?))
    }

    /// The user's index as the record stands in this scope, if it is kept here and lacks little.
    pub(crate) async fn current(
        &self,
        scope: &Scope,
        around: &Surroundings,
        ahead: Option<Fresh>,
        cpu: &CpuPool,
    ) -> Result<Option<Arc<Mind>>> {
        let Some(mind) = self.cache.get(&scope.user()) else { return Ok(None) };
        if !mind.fits(around) {
            self.cache.invalidate(&scope.user());
            return Ok(None);
        }
        if !mind.is_read() && around.state.revision > 0 {
            return Ok(None);
        }
        self.catch_up(scope, around, &mind, ahead, cpu).await?;
        Ok(Some(mind))
    }

    /// The user's index, read whole if need be. Meant to run in a task of its own.
    pub(crate) async fn load(
        &self,
        scope: &Scope,
        around: &Surroundings,
        cpu: &CpuPool,
    ) -> Result<Arc<Mind>> {
        let user = scope.user();
        if self.cache.get(&user).is_some_and(|mind| !mind.fits(around)) {
            self.cache.invalidate(&user);
        }
        // Put in before it is read, so that those who come meanwhile wait for this one. Somebody who
        // saw an older state may have been quicker; then this one is read apart.
        let mind = self.cache.get_with(user, || Arc::new(Mind::empty(around)));
        let mind = if mind.fits(around) { mind } else { Arc::new(Mind::empty(around)) };
        self.catch_up(scope, around, &mind, None, cpu).await?;
        Ok(mind)
    }

    /// Reads into an index what it lacks.
    async fn catch_up(
        &self,
        scope: &Scope,
        around: &Surroundings,
        mind: &Arc<Mind>,
        ahead: Option<Fresh>,
        cpu: &CpuPool,
    ) -> Result<()> {
        if mind.progress().revision >= around.state.revision {
            return Ok(());
        }
        let _turn = mind.reading.lock().await;
        let held = *mind.progress();
        if held.revision >= around.state.revision {
            return Ok(());
        }
        let floor = match held.revision {
            0 => floor(scope, self.passages).await?,
            _ => held.floor,
        };
        let news = read(scope, around, held, floor, ahead).await?;
        let large = news.fresh.passages.len() >= LARGE_INDEX || held.units >= LARGE_INDEX;
        let (grown, state) = (Arc::clone(mind), around.state);
        cpu.run_if(large, move || grown.add(news, state, floor)).await?;
        if mind.progress().passages > self.passages.saturating_add(self.passages / 8) {
            // Read whole again next time, without the oldest turns.
            self.cache.invalidate(&scope.user());
        } else {
            // Put in again so that its size is weighed again.
            self.cache.insert(scope.user(), Arc::clone(mind));
        }
        Ok(())
    }
}

impl Mind {
    fn add(&self, news: News, state: RecallState, floor: Option<i64>) {
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        let held = *self.progress();
        let Fresh { passages, vectors, .. } = news.fresh;
        index.add(passages.into_iter().map(as_new).collect());
        index.embed(vectors.into_iter().map(|v| ((v.source, v.part), v.values)));
        if let Some(Standing { facts, links }) = news.facts
            && held.facts < state.facts
        {
            index.set_facts(facts.into_iter().map(|f| (f.version.uuid(), f.facets)), links);
        }
        *self.progress() = Progress {
            revision: held.revision.max(state.revision),
            facts: held.facts.max(state.facts),
            units: index.len(),
            passages: index.passages(),
            bytes: index.bytes(),
            floor,
        };
    }
}

async fn floor(scope: &Scope, limit: usize) -> Result<Option<i64>> {
    Ok(passage::turn_floor(scope, i64::try_from(limit).unwrap_or(i64::MAX - 1)).await?)
}

/// The passages and vectors that came since a revision.
pub(crate) struct Fresh {
    since: i64,
    model: Option<EmbeddingModel>,
    passages: Vec<Stored>,
    vectors: Vec<Vector>,
}

struct News {
    fresh: Fresh,
    /// The standing memories, if one of them changed.
    facts: Option<Standing>,
}

struct Standing {
    facts: Vec<Recallable>,
    links: Vec<(Uuid, Uuid)>,
}

async fn fresh(
    scope: &Scope,
    model: Option<EmbeddingModel>,
    since: i64,
    floor: Option<i64>,
) -> Result<Fresh> {
    let vectors: OptionFuture<_> =
        model.as_ref().map(|model| passage::vectors_since(scope, model, since, floor)).into();
    let (passages, vectors) =
        try_join!(passage::since(scope, since, floor), async { vectors.await.transpose() })?;
    Ok(Fresh { since, model, passages, vectors: vectors.unwrap_or_default() })
}

async fn read(
    scope: &Scope,
    around: &Surroundings,
    held: Progress,
    floor: Option<i64>,
    ahead: Option<Fresh>,
) -> Result<News> {
    // Somebody else may have brought the index further meanwhile; then it does not fit any more.
    let ahead = ahead.filter(|a| a.since == held.revision && a.model == around.model);
    let changed = held.facts < around.state.facts;
    let facts: OptionFuture<_> = changed.then(|| recallable::now(scope)).into();
    let links: OptionFuture<_> = changed.then(|| recallable::links(scope, None)).into();
    let (fresh, facts, links) = try_join!(
        async {
            match ahead {
                Some(ahead) => Ok(ahead),
                None => fresh(scope, around.model.clone(), held.revision, floor).await,
            }
        },
        async { Ok(facts.await.transpose()?) },
        async { Ok(links.await.transpose()?) }
    )?;
    let links = links.unwrap_or_default();
    let links = links.into_iter().map(|(from, to)| (from.uuid(), to.uuid())).collect();
    Ok(News { fresh, facts: facts.map(|facts| Standing { facts, links }) })
}

fn as_new(stored: Stored) -> NewPassage {
    NewPassage {
        source: stored.source,
        part: stored.part,
        subject: stored.subject,
        kind: stored.kind,
        language: stored.language,
        terms: stored.terms,
        place: stored.place,
    }
}

impl Minds {
    /// The index as it would have been at another point on the axes, made for one question.
    pub(crate) async fn at(
        &self,
        scope: &Scope,
        around: &Surroundings,
        point: AsOf,
        cpu: &CpuPool,
    ) -> Result<Arc<Mind>> {
        let floor = floor(scope, self.passages).await?;
        let (Fresh { passages, vectors, .. }, facts, links) = try_join!(
            fresh(scope, around.model.clone(), 0, floor),
            async { Ok(recallable::at(scope, point).await?) },
            async { Ok(recallable::links(scope, Some(point.known)).await?) }
        )?;
        let (large, mut mind) = (passages.len() >= LARGE_INDEX, Mind::empty(around));
        let build = move || {
            let index = mind.index.get_mut().unwrap_or_else(PoisonError::into_inner);
            // Only what was there: later words must not change how rare a word was.
            let there = |stored: &Stored| {
                let place = stored.place.as_ref();
                place.is_none_or(|p| p.recorded_at <= point.known && p.said_at <= point.valid)
            };
            index.add(passages.into_iter().filter(there).map(as_new).collect());
            index.embed(vectors.into_iter().map(|v| ((v.source, v.part), v.values)));
            let links = links.into_iter().map(|(from, to)| (from.uuid(), to.uuid()));
            index.set_facts(facts.into_iter().map(|f| (f.version.uuid(), f.facets)), links);
            let units = index.len();
            *mind.progress() = Progress { units, floor, ..Progress::default() };
            mind
        };
        Ok(Arc::new(cpu.run_if(large, build).await?))
    }
}

/// The value of a detached task. The task finishes even if every waiter has gone.
pub(crate) async fn detached<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T> {
    tokio::spawn(work).await.map_err(interrupted)
}
