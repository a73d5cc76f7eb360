//! What a question stands on: its own embedding, a transaction, and the user's index as of that
//! transaction.

use std::sync::Arc;
use std::time::Duration;

use futures_util::try_join;
use lukasa_core::model::{Embedder, EmbeddingModel, ModelError};
use lukasa_core::{Caller, TenantId, Timestamp};
use lukasa_store::{Scope, directory, domain, model, passage};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::mind::{Fresh, LoadPermit, Mind, Surroundings, detached};
use super::search::Recall;
use crate::Engine;
use crate::error::{Error, Result};
use crate::facts::Point;

/// How long a question waits for its embedding.
const EMBED_WITHIN: Duration = Duration::from_millis(400);
/// How many indexes of points in the past are built at a time, and how long a question waits for its
/// turn.
const POINTS_AT_ONCE: usize = 2;
const POINT_WAIT: Duration = Duration::from_secs(5);

/// Limits how many indexes of points in the past are built at a time.
#[derive(Clone)]
pub(crate) struct PointGate(Arc<Semaphore>);

impl Default for PointGate {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(POINTS_AT_ONCE)))
    }
}

impl PointGate {
    async fn enter(&self) -> Result<OwnedSemaphorePermit> {
        let entered = tokio::time::timeout(POINT_WAIT, Arc::clone(&self.0).acquire_owned()).await;
        let busy = || "too many questions about the past at a time; try again".into();
        let entered = entered.ok().and_then(std::result::Result::ok);
        entered.ok_or_else(|| lukasa_store::Error::Unavailable(busy()).into())
    }
}

/// A transaction, what it says about the user, and the user's index as of the same state.
pub(crate) struct Opened {
    pub(crate) scope: Scope,
    pub(crate) around: Arc<Surroundings>,
    pub(crate) mind: Arc<Mind>,
    /// Held while the index of a point in the past is in use.
    _permit: Option<OwnedSemaphorePermit>,
}

/// A question's embedding, made before any transaction is open.
#[derive(Default)]
pub(crate) struct QuestionVector {
    pub(crate) vector: Option<Embedded>,
    /// Whether there is anything to embed.
    pub(crate) wanted: bool,
    /// Whether the embedder failed or was late.
    pub(crate) failed: bool,
    /// In microseconds.
    pub(crate) took: u64,
}

pub(crate) struct Embedded {
    pub(crate) embedder: Arc<dyn Embedder>,
    pub(crate) values: Arc<[f32]>,
}

impl Engine {
    /// The model in use as far as this process knows. The transaction says for certain, later.
    pub(crate) async fn expected_model(&self) -> Option<EmbeddingModel> {
        if let Some(model) = self.embedding.last_known() {
            return model;
        }
        let models = self.store.models().await.ok()?;
        models.into_iter().find(|record| record.in_use).map(|record| record.model)
    }

    /// Embeds a question, if there is a model for it and it answers in time.
    pub(crate) async fn embed_question(
        &self,
        tenant: TenantId,
        model: Option<&EmbeddingModel>,
        ask: &Recall,
    ) -> QuestionVector {
        let asks = ask.memories + ask.turns + ask.sessions > 0;
        if !asks || ask.text.trim().is_empty() {
            return QuestionVector::default();
        }
        let nothing = QuestionVector { wanted: true, ..QuestionVector::default() };
        let Some(model) = model else { return nothing };
        let started = (self.ticks)();
        let embedded = tokio::time::timeout(EMBED_WITHIN, self.embedded(tenant, model, &ask.text));
        match embedded.await {
            Ok(Ok(vector)) => {
                let took = (self.ticks)() - started;
                return QuestionVector { vector: Some(vector), took, ..nothing };
            }
            Ok(Err(error)) => tracing::warn!(%error, "recall without vectors"),
            Err(_) => tracing::warn!("recall without vectors: the embedder is slow"),
        }
        QuestionVector { failed: true, ..nothing }
    }

    async fn embedded(
        &self,
        tenant: TenantId,
        model: &EmbeddingModel,
        text: &str,
    ) -> Result<Embedded, ModelError> {
        let embedder = self.open_model(model).await?;
        // By tenant: how long a question takes must not tell one tenant what another has asked.
        let key = (tenant, model.name.clone(), text.to_owned());
        if let Some(values) = self.questions.get(&key) {
            return Ok(Embedded { embedder, values });
        }
        let mut vectors = embedder.embed(&[text]).await?;
        let values = vectors.pop().filter(|values| values.len() == model.dimension);
        let values = values.ok_or_else(|| {
            let what = "not one vector of the right length".to_owned();
            ModelError::Malformed(what)
        })?;
        let values: Arc<[f32]> = values.into();
        self.questions.insert(key, Arc::clone(&values));
        Ok(Embedded { embedder, values })
    }

    /// The user's index as of the record's state now, or at another point on the axes.
    pub(crate) async fn open(
        &self,
        caller: &Caller,
        point: Point,
        now: Timestamp,
    ) -> Result<Opened> {
        let (scope, permit) = self.begin_reading(caller, point).await?;
        let around = self.around(&scope, now).await?;
        self.settle(caller, scope, permit, around, None, point, now).await
    }

    /// A scope to ask a question in, with a permit if an index has to be made for it.
    pub(crate) async fn begin_reading(
        &self,
        caller: &Caller,
        point: Point,
    ) -> Result<(Scope, Option<OwnedSemaphorePermit>)> {
        let permit = match point.is_now() {
            true => None,
            false => Some(self.points.enter().await?),
        };
        Ok((self.read_at(caller, point).await?, permit))
    }

    /// Goes on with a scope in which the surroundings were read. If the index has to be read whole, the
    /// answer stands on a later scope.
    #[expect(clippy::too_many_arguments, reason = "the parts of one question")]
    pub(crate) async fn settle(
        &self,
        caller: &Caller,
        scope: Scope,
        permit: Option<OwnedSemaphorePermit>,
        around: Surroundings,
        ahead: Option<Fresh>,
        point: Point,
        now: Timestamp,
    ) -> Result<Opened> {
        let around = Arc::new(around);
        if !point.is_now() {
            let mind = self.minds.at(&scope, &around, point.resolve(now), &self.cpu).await?;
            return Ok(Opened { scope, around, mind, _permit: permit });
        }
        if let Some(mind) = self.minds.current(&scope, &around, ahead, &self.cpu).await? {
            return Ok(Opened { scope, around, mind, _permit: permit });
        }
        // It is not kept here, or something was removed since it was read. A request that waits for a permit
        // holds no connection.
        drop(scope);
        let permit = self.minds.permit().await;
        self.load(caller, permit, now).await
    }

    /// Reads the user's index whole, in a task that goes on if the request gives up: the next one finds
    /// the index ready.
    async fn load(&self, caller: &Caller, permit: LoadPermit, now: Timestamp) -> Result<Opened> {
        let (engine, tenant, user) = (self.clone(), caller.tenant, caller.user);
        detached(async move {
            let _permit = permit;
            let scope = engine.store.read(tenant, user).await?;
            let around = Arc::new(engine.around(&scope, now).await?);
            let mind = engine.minds.load(&scope, &around, &engine.cpu).await?;
            Ok(Opened { scope, around, mind, _permit: None })
        })
        .await?
    }

    /// What must be known before anything is read, in one round trip: is the user still there, how far
    /// has the record come, which model is in use, which domains are shut.
    pub(crate) async fn around(&self, scope: &Scope, now: Timestamp) -> Result<Surroundings> {
        let (user, state, model, shut) = try_join!(
            directory::me(scope),
            passage::state(scope),
            model::in_use(scope),
            domain::shut_ones(scope)
        )?;
        if user.is_some_and(|user| user.is_gone(now)) {
            return Err(Error::UserGone);
        }
        self.embedding.believe(model.as_ref(), now);
        Ok(Surroundings { state, model, shut })
    }
}
