//! Inputs of a question: its embedding, a transaction, and the user's index as of that transaction.

use std::sync::Arc;
use std::time::Duration;

use futures_util::try_join;
use lukasa_core::model::{Embedder, EmbeddingModel, ModelError};
use lukasa_core::{Caller, ProjectScope, TenantId, Timestamp};
use lukasa_store::{Scope, directory, domain, model, passage, session};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Recall;
use super::index::{LoadPermit, NewRows, RecallContext, UserIndex, detached};
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
        let (scope, permit) = self.begin_reading(caller, ask.point).await?;
        let ctx = self.load_recall_context(&scope, ask, now).await?;
        self.open_index(caller, scope, permit, ctx, None, ask.point, now).await
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

    /// Opens the index for a scope in which the user's state was read. If the index needs a full
    /// load, the result is based on a later scope.
    #[expect(clippy::too_many_arguments, reason = "the parts of one question")]
    pub(crate) async fn open_index(
        &self,
        caller: &Caller,
        scope: Scope,
        permit: Option<OwnedSemaphorePermit>,
        ctx: RecallContext,
        prefetched: Option<NewRows>,
        point: Point,
        now: Timestamp,
    ) -> Result<OpenedIndex> {
        let ctx = Arc::new(ctx);
        if !point.is_now() {
            let user_index =
                self.caches.indexes.at(&scope, &ctx, point.resolve(now), &self.parts.cpu).await?;
            return Ok(OpenedIndex { scope, ctx, user_index, _permit: permit });
        }
        if let Some(user_index) =
            self.caches.indexes.current(&scope, &ctx, prefetched, &self.parts.cpu).await?
        {
            return Ok(OpenedIndex { scope, ctx, user_index, _permit: permit });
        }
        // It is not cached, or something was removed since it was loaded. A request that waits for
        // a permit must not hold a connection.
        drop(scope);
        let permit = self.caches.indexes.permit().await;
        self.load(caller, permit, &ctx.projects, now).await
    }

    /// Loads the user's index fully, in a task that continues if the request is cancelled: the next
    /// request finds the index ready.
    async fn load(
        &self,
        caller: &Caller,
        permit: LoadPermit,
        projects: &ProjectScope,
        now: Timestamp,
    ) -> Result<OpenedIndex> {
        let (recall, tenant, user) = (self.clone(), caller.tenant, caller.user);
        let ask = RecallQuery { projects: Some(projects.clone()), ..RecallQuery::about("") };
        detached(async move {
            let _permit = permit;
            let scope = recall.parts.store.read(tenant, user).await?;
            let ctx = Arc::new(recall.load_recall_context(&scope, &ask, now).await?);
            let user_index = recall.caches.indexes.load(&scope, &ctx, &recall.parts.cpu).await?;
            Ok(OpenedIndex { scope, ctx, user_index, _permit: None })
        })
        .await?
    }

    /// Loads what must be known first, in one round trip: whether the user exists, the state of the
    /// record, the model in use, the closed domains, and the project of the session.
    pub(crate) async fn load_recall_context(
        &self,
        scope: &Scope,
        ask: &RecallQuery,
        now: Timestamp,
    ) -> Result<RecallContext> {
        let projects = async {
            match (&ask.projects, ask.session_in_scope()) {
                (Some(projects), _) => Ok(projects.clone()),
                (None, Some(session)) => {
                    Ok(ProjectScope::of(session::project_of(scope, session).await?.as_ref()))
                }
                (None, None) => Ok(ProjectScope::NoProject),
            }
        };
        let (user, state, model, shut, projects) = try_join!(
            directory::me(scope),
            passage::state(scope),
            model::in_use(scope),
            domain::closed_domains(scope),
            projects
        )?;
        if user.is_some_and(|user| user.is_gone(now)) {
            return Err(Error::UserGone);
        }
        self.embeddings.cache_model(model.as_ref(), now);
        Ok(RecallContext { state, model, shut, projects })
    }
}
