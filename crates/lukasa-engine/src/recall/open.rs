//! Inputs of a question: its embedding, a transaction, and the user's index as of that transaction.

use std::sync::Arc;
use std::time::Duration;

use lukasa_core::model::{Embedder, EmbeddingModel, ModelError};
use lukasa_core::{Caller, ProjectScope, TenantId, Timestamp};
use lukasa_store::Scope;
use lukasa_store::recall_opening::{self, AskedSessions};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Recall;
use super::index::{LoadPermit, RecallContext, UserIndex, detached};
use super::rows::NewRows;
use super::search::RecallQuery;
use crate::error::{Error, Result};
use crate::memory::Point;
use crate::telemetry::stage_span;

/// How long a question waits for its embedding.
const EMBED_TIMEOUT: Duration = Duration::from_millis(400);
/// How many indexes of points in the past are built at a time, and how long a question waits for a
/// permit.
const MAX_CONCURRENT_POINTS: usize = 2;
const POINT_TIMEOUT: Duration = Duration::from_secs(5);

/// Limits how many indexes of points in the past are built at a time.
#[derive(Clone)]
pub(crate) struct PointGate(Arc<Semaphore>);

impl Default for PointGate {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_CONCURRENT_POINTS)))
    }
}

impl PointGate {
    async fn enter(&self) -> Result<OwnedSemaphorePermit> {
        let entered =
            tokio::time::timeout(POINT_TIMEOUT, Arc::clone(&self.0).acquire_owned()).await;
        let busy = || "too many concurrent queries about past points in time; try again".into();
        let entered = entered.ok().and_then(std::result::Result::ok);
        entered.ok_or_else(|| lukasa_store::Error::Unavailable(busy()).into())
    }
}

/// A transaction, the user's state read in it, and the user's index as of that state.
pub(crate) struct OpenedIndex {
    pub(crate) scope: Scope,
    pub(crate) ctx: Arc<RecallContext>,
    pub(crate) user_index: Arc<UserIndex>,
    /// Held while the index of a point in the past is in use.
    _permit: Option<OwnedSemaphorePermit>,
}

/// Embedding of a question, made before any transaction is open.
#[derive(Default)]
pub(crate) struct QuestionVector {
    pub(crate) vector: Option<EmbeddedQuestion>,
    /// Whether there is anything to embed.
    pub(crate) wanted: bool,
    /// Whether the embedder failed or was late.
    pub(crate) failed: bool,
    /// In microseconds.
    pub(crate) took: u64,
}

pub(crate) struct EmbeddedQuestion {
    pub(crate) embedder: Arc<dyn Embedder>,
    pub(crate) values: Arc<[f32]>,
}

impl Recall {
    /// The model in use as far as this process knows. The transaction confirms it later.
    pub(crate) async fn expected_model(&self) -> Option<EmbeddingModel> {
        if let Some(model) = self.embeddings.last_known() {
            return model;
        }
        let models = self.parts.store.models().await.ok()?;
        models.into_iter().find(|record| record.in_use).map(|record| record.model)
    }

    /// Embeds a question, if a model is in use and answers in time.
    pub(crate) async fn embed_question(
        &self,
        tenant: TenantId,
        model: Option<&EmbeddingModel>,
        ask: &RecallQuery,
    ) -> QuestionVector {
        let asks = ask.memories + ask.turns + ask.sessions + ask.episodes > 0;
        if !asks || ask.text.trim().is_empty() {
            return QuestionVector::default();
        }
        let nothing = QuestionVector { wanted: true, ..QuestionVector::default() };
        let Some(model) = model else { return nothing };
        let (started, _span) = ((self.parts.ticks)(), stage_span("embed"));
        let embedded =
            tokio::time::timeout(EMBED_TIMEOUT, self.embed_text(tenant, model, &ask.text));
        match embedded.await {
            Ok(Ok(vector)) => {
                let took = (self.parts.ticks)() - started;
                return QuestionVector { vector: Some(vector), took, ..nothing };
            }
            Ok(Err(error)) => tracing::warn!(%error, "recall without vectors"),
            Err(_) => tracing::warn!("recall without vectors: the embedder is slow"),
        }
        QuestionVector { failed: true, ..nothing }
    }

    async fn embed_text(
        &self,
        tenant: TenantId,
        model: &EmbeddingModel,
        text: &str,
    ) -> Result<EmbeddedQuestion, ModelError> {
        let embedder = self.embeddings.open_model(model).await?;
        // Keyed by tenant: timing must not reveal to one tenant what another has asked.
        let key = (tenant, model.name.clone(), text.to_owned());
        if let Some(values) = self.caches.questions.get(&key) {
            return Ok(EmbeddedQuestion { embedder, values });
        }
        let mut vectors = embedder.embed(&[text]).await?;
        let values = vectors.pop().filter(|values| values.len() == model.dimension);
        let values = values.ok_or_else(|| {
            let what = "expected one vector of the model's dimension".to_owned();
            ModelError::Malformed(what)
        })?;
        let values: Arc<[f32]> = values.into();
        self.caches.questions.insert(key, Arc::clone(&values));
        Ok(EmbeddedQuestion { embedder, values })
    }

    /// Opens the user's index for a question, as of now or of another point on the time axes.
    pub(crate) async fn open(
        &self,
        caller: &Caller,
        ask: &RecallQuery,
        now: Timestamp,
    ) -> Result<OpenedIndex> {
        let mut load = None;
        loop {
            let (scope, permit) = self.begin_reading(caller, ask.point).await?;
            let context = self.load_recall_context(&scope, ask, now).await?.ctx;
            let permits = (permit, load.take());
            let opened = self.open_index(scope, permits, context, None, ask.point, now).await?;
            match opened {
                Some(opened) => return Ok(opened),
                None => load = Some(self.load_permit().await),
            }
        }
    }

    /// Opens a scope for a question, with a permit if an index has to be built for it.
    pub(crate) async fn begin_reading(
        &self,
        caller: &Caller,
        point: Point,
    ) -> Result<(Scope, Option<OwnedSemaphorePermit>)> {
        let permit = match point.is_now() {
            true => None,
            false => Some(self.caches.points.enter().await?),
        };
        Ok((self.transactions.read_at(caller, point).await?, permit))
    }

    /// The new rows for the user's index, if it is cached.
    pub(crate) async fn prefetch(&self, scope: &Scope) -> Result<Option<NewRows>> {
        self.caches.indexes.prefetch(scope).await
    }

    /// Waits for a permit to load a large index. No scope may be open meanwhile: it holds a
    /// connection.
    pub(crate) async fn load_permit(&self) -> LoadPermit {
        self.caches.indexes.permit().await
    }

    /// Opens the index for a scope in which the user's state was read. `None` if a large index must
    /// be loaded and others are being loaded: the caller waits for a permit, and then reads
    /// everything again in a new scope, because something may have been removed meanwhile.
    pub(crate) async fn open_index(
        &self,
        scope: Scope,
        (permit, load): (Option<OwnedSemaphorePermit>, Option<LoadPermit>),
        ctx: RecallContext,
        prefetched: Option<NewRows>,
        point: Point,
        now: Timestamp,
    ) -> Result<Option<OpenedIndex>> {
        let (ctx, indexes, cpu) = (Arc::new(ctx), &self.caches.indexes, &self.parts.cpu);
        if !point.is_now() {
            let user_index = indexes.at(&scope, &ctx, point.resolve(now), cpu).await?;
            return Ok(Some(OpenedIndex { scope, ctx, user_index, _permit: permit }));
        }
        if let Some(user_index) = indexes.current(&scope, &ctx, prefetched, cpu).await? {
            return Ok(Some(OpenedIndex { scope, ctx, user_index, _permit: permit }));
        }
        // It is not cached, or something was removed since it was loaded.
        let (scope, ctx) = match indexes.small_load_permit(&scope, &ctx) {
            Some(permit) => match self.load_small(scope, ctx, permit).await? {
                SmallLoad::Done(opened) => return Ok(Some(opened)),
                SmallLoad::TooLarge(scope, ctx) => (scope, ctx),
            },
            None => (scope, ctx),
        };
        match load.or_else(|| indexes.try_permit()) {
            Some(permit) => self.load(scope, ctx, permit).await.map(Some),
            None => Ok(None),
        }
    }

    /// Loads the user's index fully if it is small, in a task that continues if the request is
    /// cancelled: the next request finds the index ready.
    async fn load_small(
        &self,
        scope: Scope,
        ctx: Arc<RecallContext>,
        permit: LoadPermit,
    ) -> Result<SmallLoad> {
        let recall = self.clone();
        detached(async move {
            let (_permit, cpu, store) = (permit, &recall.parts.cpu, &recall.parts.store);
            Ok(match recall.caches.indexes.load_small(store, &scope, &ctx, cpu).await? {
                Some(user_index) => {
                    SmallLoad::Done(OpenedIndex { scope, ctx, user_index, _permit: None })
                }
                None => SmallLoad::TooLarge(scope, ctx),
            })
        })
        .await?
    }

    /// Loads the user's index fully, in a task that continues if the request is cancelled.
    async fn load(
        &self,
        scope: Scope,
        ctx: Arc<RecallContext>,
        permit: LoadPermit,
    ) -> Result<OpenedIndex> {
        let recall = self.clone();
        detached(async move {
            let (_permit, cpu, store) = (permit, &recall.parts.cpu, &recall.parts.store);
            let user_index = recall.caches.indexes.load(store, &scope, &ctx, cpu).await?;
            Ok(OpenedIndex { scope, ctx, user_index, _permit: None })
        })
        .await?
    }

    /// Loads what must be known first, in one statement: whether the user exists, the state of the
    /// record, the model in use, the domains, whether memory is paused, and the project of the
    /// session.
    pub(crate) async fn load_recall_context(
        &self,
        scope: &Scope,
        ask: &RecallQuery,
        now: Timestamp,
    ) -> Result<OpenedContext> {
        let asked_in = ask.session.as_deref();
        let sessions = AskedSessions { in_scope: ask.session_in_scope(), asked_in };
        let opening = recall_opening::read(scope, sessions).await?;
        if opening.is_gone(now) {
            return Err(Error::UserGone);
        }
        self.embeddings.cache_model(opening.model.as_ref(), now);
        let of_session = || ProjectScope::of(opening.project.as_ref());
        let projects = ask.projects.clone().unwrap_or_else(of_session);
        Ok(OpenedContext {
            ctx: RecallContext {
                state: opening.state,
                model: opening.model,
                closed_domains: opening.closed_domains,
                projects,
                has_sessions: opening.has_sessions,
                portraits: opening.portraits,
            },
            is_paused: opening.is_paused,
            is_incognito: opening.is_incognito,
            own_domains: opening.own_domains,
        })
    }
}

/// What the opening statement of a question has read.
pub(crate) struct OpenedContext {
    pub(crate) ctx: RecallContext,
    /// Whether memory is paused.
    pub(crate) is_paused: bool,
    /// Whether the question is asked in an incognito session.
    pub(crate) is_incognito: bool,
    /// The names and the displayed names of the tenant's own domains.
    pub(crate) own_domains: Vec<(String, String)>,
}

/// Result of loading an index that may be too large for it.
enum SmallLoad {
    Done(OpenedIndex),
    TooLarge(Scope, Arc<RecallContext>),
}
