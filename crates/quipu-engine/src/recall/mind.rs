//! A user's index, kept in memory between requests and brought up to date at the start of each.
//!
//! The record says how far it has come (`RecallState`); what the index lacks is read since its own
//! revision: new turns, new embeddings, and the list of standing memories if one of them changed.
//! Nothing is ever served that the record has removed: a removal makes the index be read anew.

use std::sync::{Arc, RwLock};
use std::time::Duration;

use futures_util::{future::OptionFuture, try_join};
use moka::sync::Cache;
use quipu_core::model::EmbeddingModel;
use quipu_core::recall::index::{Index, NewPassage};
use quipu_core::{AsOf, UserId};
use quipu_store::Scope;
use quipu_store::passage::{self, RecallState, Stored, Vector};
use quipu_store::recallable::{self, Recallable};
use uuid::Uuid;

use crate::error::Result;

/// How many bytes of indexes are kept over all users, unless the operator says otherwise.
const KEPT_BYTES: u64 = 512 * 1024 * 1024;
/// How long an index is kept that nobody asks for.
const IDLE: Duration = Duration::from_secs(15 * 60);

/// The indexes of users who were here lately.
pub(crate) struct Minds(Cache<UserId, Arc<Mind>>);

impl Default for Minds {
    fn default() -> Self {
        Self::within(KEPT_BYTES)
    }
}

impl Minds {
    /// Keeps at most so many bytes; with none, every request reads all it needs.
    pub(crate) fn within(bytes: u64) -> Self {
        let weigh = |_: &UserId, mind: &Arc<Mind>| {
            let bytes = mind.held.read().map_or(0, |held| held.index.bytes());
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        let cache = Cache::builder().max_capacity(bytes).weigher(weigh).time_to_idle(IDLE);
        Self(cache.build())
    }
}

/// One user's index, as far as it has been read.
pub(crate) struct Mind {
    held: RwLock<Held>,
    /// Whoever reads what is new holds this, so that many who come at once read it once.
    reading: tokio::sync::Mutex<()>,
}

struct Held {
    state: RecallState,
    model: Option<EmbeddingModel>,
    index: Index,
}

impl Mind {
    fn new(held: Held) -> Self {
        Self { held: RwLock::new(held), reading: tokio::sync::Mutex::new(()) }
    }

    fn state(&self) -> RecallState {
        self.held.read().unwrap_or_else(std::sync::PoisonError::into_inner).state
    }

    /// Works with the index. Nothing can change it meanwhile.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Index) -> T) -> T {
        let held = self.held.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        work(&held.index)
    }
}

/// What a request knows about a user besides the index.
pub(crate) struct Surroundings {
    pub(crate) state: RecallState,
    pub(crate) model: Option<EmbeddingModel>,
    /// Domains of which nothing may be used.
    pub(crate) shut: Vec<String>,
}

impl Minds {
    /// What the user's index lacks, read before it is known whether it lacks anything. A chat that goes
    /// on has said something since, so this is seldom in vain, and it spares a round trip.
    pub(crate) async fn ahead(&self, scope: &Scope) -> Result<Option<Fresh>> {
        let Some(mind) = self.0.get(&scope.user()) else { return Ok(None) };
        let (since, model) = {
            let held = mind.held.read().unwrap_or_else(std::sync::PoisonError::into_inner);
            (held.state.revision, held.model.clone())
        };
        Ok(Some(fresh(scope, model, since).await?))
    }

    /// The user's index as the record stands in this scope.
    pub(crate) async fn of(
        &self,
        scope: &Scope,
        around: &Surroundings,
        ahead: Option<Fresh>,
    ) -> Result<Arc<Mind>> {
        let user = scope.user();
        let fits = |mind: &Arc<Mind>| {
            let held = mind.held.read().unwrap_or_else(std::sync::PoisonError::into_inner);
            held.model == around.model && held.state.removed == around.state.removed
        };
        let empty = || {
            Arc::new(Mind::new(Held {
                state: RecallState { removed: around.state.removed, ..RecallState::default() },
                model: around.model.clone(),
                index: Index::new(around.model.as_ref().map_or(0, |model| model.dimension)),
            }))
        };
        if self.0.get(&user).is_some_and(|mind| !fits(&mind)) {
            self.0.invalidate(&user);
        }
        // Put in before it is read, so that those who come meanwhile wait for this one. Somebody who
        // saw an older state may have been quicker; then this request reads for itself.
        let mind = self.0.get_with(user, empty);
        let mind = if fits(&mind) { mind } else { empty() };
        if mind.state().revision < around.state.revision {
            let turn = mind.reading.lock().await;
            let held = mind.state();
            if held.revision < around.state.revision {
                let news = read(scope, around, held, ahead).await?;
                let mut now = mind.held.write().unwrap_or_else(std::sync::PoisonError::into_inner);
                news.add_to(&mut now, around.state);
                drop(now);
                // Put in again so that its size is weighed again.
                self.0.insert(scope.user(), Arc::clone(&mind));
            }
            drop(turn);
        }
        Ok(mind)
    }
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

async fn fresh(scope: &Scope, model: Option<EmbeddingModel>, since: i64) -> Result<Fresh> {
    let vectors: OptionFuture<_> =
        model.as_ref().map(|model| passage::vectors_since(scope, model, since)).into();
    let (passages, vectors) =
        try_join!(passage::since(scope, since), async { vectors.await.transpose() })?;
    Ok(Fresh { since, model, passages, vectors: vectors.unwrap_or_default() })
}

async fn read(
    scope: &Scope,
    around: &Surroundings,
    held: RecallState,
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
                None => fresh(scope, around.model.clone(), held.revision).await,
            }
        },
        async { Ok(facts.await.transpose()?) },
        async { Ok(links.await.transpose()?) }
    )?;
    let links = links.unwrap_or_default();
    let links = links.into_iter().map(|(from, to)| (from.uuid(), to.uuid())).collect();
    Ok(News { fresh, facts: facts.map(|facts| Standing { facts, links }) })
}

impl News {
    fn add_to(self, held: &mut Held, state: RecallState) {
        let Fresh { passages, vectors, .. } = self.fresh;
        held.index.add(passages.into_iter().map(as_new).collect());
        held.index.embed(vectors.into_iter().map(|v| ((v.source, v.part), v.values)));
        if let Some(Standing { facts, links }) = self.facts
            && held.state.facts < state.facts
        {
            held.index.set_facts(facts.into_iter().map(|f| (f.version.uuid(), f.facets)), links);
        }
        held.state.revision = held.state.revision.max(state.revision);
        held.state.facts = held.state.facts.max(state.facts);
    }
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

/// The index as it would have been at another point on the axes, made for one question.
pub(crate) async fn at(scope: &Scope, around: &Surroundings, point: AsOf) -> Result<Mind> {
    let (Fresh { passages, vectors, .. }, facts, links) = try_join!(
        fresh(scope, around.model.clone(), 0),
        async { Ok(recallable::at(scope, point).await?) },
        async { Ok(recallable::links(scope, Some(point.known)).await?) }
    )?;
    let mut index = Index::new(around.model.as_ref().map_or(0, |model| model.dimension));
    // Only what was there: later words must not change how rare a word was.
    let there = |stored: &Stored| {
        let place = stored.place.as_ref();
        place.is_none_or(|p| p.recorded_at <= point.known && p.said_at <= point.valid)
    };
    index.add(passages.into_iter().filter(there).map(as_new).collect());
    index.embed(vectors.into_iter().map(|v| ((v.source, v.part), v.values)));
    let links = links.into_iter().map(|(from, to)| (from.uuid(), to.uuid()));
    index.set_facts(facts.into_iter().map(|f| (f.version.uuid(), f.facets)), links);
    let state = around.state;
    Ok(Mind::new(Held { state, model: around.model.clone(), index }))
}
