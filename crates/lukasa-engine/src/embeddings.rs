//! Embeddings of passages, made after the write that needs them is committed, never inside it.
//!
//! A local model embeds while the request waits, so that what was just saved is found by its
//! meaning. A remote model embeds in the background. Either way a passage without its embedding is
//! found by its words, and the next recall that meets it has the missing ones made; so nothing
//! needs to be kept in sync, and a crash between the write and its embedding loses nothing.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use jiff::SignedDuration;
use lukasa_core::job::{Task, next_upkeep};
use lukasa_core::model::{Embedder, EmbeddingModel, ModelError};
use lukasa_core::recall::passage::{self as core_passage, Passage, PassageKind};
use lukasa_core::{EpisodeId, FactId, Ids, TenantId, Timestamp, UserId, VersionId};
use lukasa_store::model::ModelRecord;
use lukasa_store::passage::{self, Change, NewEmbedding, UnembeddedPassage};
use lukasa_store::{Batch, Scope, directory, episode, job, packed, recallable, session, vector};
use lukasa_text::tokens;
use uuid::Uuid;

use crate::cpu::LARGE_TEXT_CHARS;
use crate::error::{Error, Result};
use crate::parts::Parts;
use crate::request::Request;

/// Passages embedded per batch. Each batch is committed, so an interruption loses at most one.
const BATCH_SIZE: i64 = 128;

/// How long the vectors of a model are kept after another one took its place.
const KEPT_AFTER_SWITCH: SignedDuration = SignedDuration::from_hours(24);

/// Vectors removed per transaction, which other writes of the user wait for.
const REMOVED_AT_ONCE: i64 = 5_000;

/// How long the name of the model in use is cached.
const MODEL_CACHE_TTL: SignedDuration = SignedDuration::from_secs(1);

/// State shared by requests: the model in use, open embedders, and running backfills.
#[derive(Default)]
pub(crate) struct EmbeddingState {
    /// The model in use, if any, and when it was read.
    in_use: Mutex<Option<(Timestamp, Option<EmbeddingModel>)>>,
    /// Users whose missing embeddings are being made now.
    filling: Mutex<HashSet<UserId>>,
    /// Embedders that have been opened.
    opened: Mutex<HashMap<String, Arc<dyn Embedder>>>,
}

impl EmbeddingState {
    fn cached_model(&self, now: Timestamp) -> Option<Option<EmbeddingModel>> {
        let cached = self.in_use.lock().ok()?;
        let (at, model) = cached.as_ref()?;
        (now.duration_since(*at).abs() < MODEL_CACHE_TTL).then(|| model.clone())
    }

    /// The model in use when it was last read, however long ago.
    fn last_known(&self) -> Option<Option<EmbeddingModel>> {
        self.in_use.lock().ok()?.as_ref().map(|(_, model)| model.clone())
    }

    fn cache_model(&self, model: Option<&EmbeddingModel>, now: Timestamp) {
        if let Ok(mut cached) = self.in_use.lock() {
            *cached = Some((now, model.cloned()));
        }
    }

    fn opened(&self, name: &str) -> Option<Arc<dyn Embedder>> {
        self.opened.lock().ok()?.get(name).cloned()
    }

    fn keep_open(&self, name: &str, embedder: &Arc<dyn Embedder>) {
        if let Ok(mut opened) = self.opened.lock() {
            opened.insert(name.to_owned(), Arc::clone(embedder));
        }
    }

    fn begin_filling(&self, user: UserId) -> bool {
        self.filling.lock().is_ok_and(|mut filling| filling.insert(user))
    }

    fn end_filling(&self, user: UserId) {
        if let Ok(mut filling) = self.filling.lock() {
            filling.remove(&user);
        }
    }
}

/// The text of a passage, to be embedded.
struct PassageText {
    source: Uuid,
    part: i16,
    hash: Vec<u8>,
    text: String,
}

impl PassageText {
    /// The text of a passage, unless it is found by words alone.
    fn of(passage: Passage) -> Option<Self> {
        let hash = passage.hash();
        Some(Self { source: passage.source, part: passage.part, hash, text: passage.text? })
    }
}

/// The embedding models, and the embeddings of passages.
#[derive(Clone)]
pub struct Embeddings {
    parts: Arc<Parts>,
    state: Arc<EmbeddingState>,
}

impl Embeddings {
    pub(crate) fn new(parts: Arc<Parts>, state: Arc<EmbeddingState>) -> Self {
        Self { parts, state }
    }

    /// The embedding model that was chosen last, if this process has seen it.
    pub(crate) fn last_known(&self) -> Option<Option<EmbeddingModel>> {
        self.state.last_known()
    }

    /// Remembers the chosen embedding model.
    pub(crate) fn cache_model(&self, model: Option<&EmbeddingModel>, now: Timestamp) {
        self.state.cache_model(model, now);
    }

    /// Embeds what was just written, if a model is in use. A failure does not fail the write:
    /// missing embeddings are made later.
    pub(crate) async fn embed(
        &self,
        tenant: TenantId,
        user: UserId,
        passages: Vec<Passage>,
        now: Timestamp,
    ) {
        let texts: Vec<_> = passages.into_iter().filter_map(PassageText::of).collect();
        if texts.is_empty() {
            return;
        }
        let embedder = match self.embedder(now).await {
            Ok(Some(embedder)) => embedder,
            Ok(None) => return,
            Err(error) => return tracing::debug!(%error, "could not open the embedder"),
        };
        let (embeddings, local) = (self.clone(), embedder.is_local());
        let work = async move {
            if let Err(error) =
                embeddings.embed_passages(tenant, user, embedder.as_ref(), texts).await
            {
                tracing::warn!(%error, "embedding failed; it is retried on the next recall");
            }
        };
        if local {
            work.await;
        } else {
            tokio::spawn(work);
        }
    }

    /// The embedder in use, if one was ever chosen.
    pub(crate) async fn embedder(
        &self,
        now: Timestamp,
    ) -> Result<Option<Arc<dyn Embedder>>, ModelError> {
        let model = match self.state.cached_model(now) {
            Some(model) => model,
            None => {
                let models = self.parts.store.models().await;
                let models = models.map_err(|e| ModelError::Unavailable(e.to_string()))?;
                let chosen = models.into_iter().find(|record| record.in_use);
                let chosen = chosen.map(|record| record.model);
                self.state.cache_model(chosen.as_ref(), now);
                chosen
            }
        };
        match model {
            Some(model) => self.open_model(&model).await.map(Some),
            None => Ok(None),
        }
    }

    /// The name of the embedder in use, if there is one and it can be opened.
    pub async fn embedder_name(&self, now: Timestamp) -> Option<String> {
        let embedder = self.embedder(now).await.ok()??;
        Some(embedder.model().name.clone())
    }

    /// A vector for each of these texts from the embedder in use, with its name; `None` if there is
    /// no embedder.
    pub async fn embed_texts(
        &self,
        texts: &[&str],
        now: Timestamp,
    ) -> Result<Option<(String, Vec<Vec<f32>>)>> {
        let Some(embedder) = self.embedder(now).await.map_err(Error::Model)? else {
            return Ok(None);
        };
        let vectors = embedder.embed(texts).await.map_err(Error::Model)?;
        Ok(Some((embedder.model().name.clone(), vectors)))
    }

    /// How many tokens these texts take in a prompt.
    pub async fn count_tokens(&self, texts: Vec<String>) -> Result<usize> {
        let large = texts.iter().map(String::len).sum::<usize>() > LARGE_TEXT_CHARS;
        let count = move || texts.iter().map(|text| tokens::count(text)).sum();
        self.parts.cpu.run_if(large, count).await
    }

    /// Opens the embedder of a model that embeddings were made with. If its dimension has changed
    /// it is another model: its vectors cannot be compared with the stored ones.
    pub(crate) async fn open_model(
        &self,
        model: &EmbeddingModel,
    ) -> Result<Arc<dyn Embedder>, ModelError> {
        let embedder = match self.state.opened(&model.name) {
            Some(embedder) => embedder,
            // Opening reads and hashes files, which must not block other requests.
            None => {
                let (models, name) = (Arc::clone(&self.parts.models), model.name.clone());
                let opened = tokio::task::spawn_blocking(move || models.embedder(&name)).await;
                let opened = opened.map_err(|e| ModelError::Unavailable(e.to_string()))??;
                self.state.keep_open(&model.name, &opened);
                opened
            }
        };
        let (had, has) = (model.dimension, embedder.model().dimension);
        if had != has {
            let what = format!("{} now has dimension {has}, before {had}", model.name);
            return Err(ModelError::Malformed(what));
        }
        Ok(embedder)
    }

    async fn embed_passages(
        &self,
        tenant: TenantId,
        user: UserId,
        embedder: &dyn Embedder,
        words: Vec<PassageText>,
    ) -> Result<()> {
        let made = vectors(embedder, words).await?;
        let scope = self.parts.store.write(tenant, user).await?;
        passage::relax_durability(&scope).await?;
        let mut batch = Batch::default();
        passage::bump(&mut batch, &scope, Change::Added);
        passage::embed(&mut batch, &scope, embedder.model(), made);
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }

    /// Makes a user's missing embeddings in the background. Concurrent requests that find some
    /// missing start it only once.
    pub(crate) fn fill_later(
        &self,
        tenant: TenantId,
        user: UserId,
        embedder: Arc<dyn Embedder>,
        now: Timestamp,
    ) {
        if !self.state.begin_filling(user) {
            return;
        }
        let embeddings = self.clone();
        tokio::spawn(async move {
            let filled = embeddings.fill(tenant, user, embedder.as_ref(), now, |_| ()).await;
            embeddings.state.end_filling(user);
            if let Err(error) = filled {
                tracing::warn!(%error, "embedding failed; it is retried on the next recall");
            }
        });
    }

    /// Makes a user's missing embeddings in batches; returns how many. If there were any, upkeep is
    /// queued, which packs the sessions.
    async fn fill(
        &self,
        tenant: TenantId,
        user: UserId,
        embedder: &dyn Embedder,
        now: Timestamp,
        each: impl FnMut(usize),
    ) -> Result<usize> {
        let unpacked = self.unpack_other_models(tenant, user, embedder).await?;
        let filled = self.fill_rows(tenant, user, embedder, each).await?;
        if unpacked || filled > 0 {
            self.queue_upkeep(tenant, user, now).await?;
        }
        Ok(filled)
    }

    /// Moves the passages of sessions that were packed with another model back into rows; returns
    /// whether there were any.
    async fn unpack_other_models(
        &self,
        tenant: TenantId,
        user: UserId,
        embedder: &dyn Embedder,
    ) -> Result<bool> {
        let name = &embedder.model().name;
        let scope = self.parts.store.read(tenant, user).await?;
        let is_packed = packed::has_other_model(&scope, name).await?;
        drop(scope);
        if is_packed {
            let scope = self.parts.store.write(tenant, user).await?;
            passage::relax_durability(&scope).await?;
            let mut batch = Batch::default();
            packed::unpack_other_models(&mut batch, &scope, name);
            scope.run(&batch).await?;
            scope.commit().await?;
        }
        Ok(is_packed)
    }

    /// Queues the upkeep of a user for whom none is queued.
    async fn queue_upkeep(&self, tenant: TenantId, user: UserId, now: Timestamp) -> Result<()> {
        let scope = self.parts.store.write(tenant, user).await?;
        if directory::set_looked_after(&scope, true).await? {
            let id = Ids::new(now, *user.uuid().as_bytes()).job();
            let mut batch = Batch::default();
            job::queue_sole(&mut batch, &scope, id, &Task::Upkeep, next_upkeep(user, now), now);
            scope.run(&batch).await?;
            scope.commit().await?;
        }
        Ok(())
    }

    async fn fill_rows(
        &self,
        tenant: TenantId,
        user: UserId,
        embedder: &dyn Embedder,
        mut each: impl FnMut(usize),
    ) -> Result<usize> {
        let name = &embedder.model().name;
        let mut filled = 0;
        loop {
            let scope = self.parts.store.read(tenant, user).await?;
            let lacking = passage::unembedded(&scope, name, BATCH_SIZE).await?;
            if lacking.is_empty() {
                return Ok(filled);
            }
            let words = load_texts(&scope, &lacking).await?;
            drop(scope);
            let count = words.len();
            if count == 0 {
                // Passages without a source row cannot be embedded; stop here, or this would loop
                // forever.
                return Ok(filled);
            }
            self.embed_passages(tenant, user, embedder, words).await?;
            filled += count;
            each(count);
        }
    }

    /// The models that embeddings were made with.
    pub async fn models(&self) -> Result<Vec<ModelRecord>> {
        Ok(self.parts.store.models().await?)
    }

    /// Puts the configured model in use if none is yet. Returns the model in use, or why there is
    /// none.
    pub async fn settle_model(
        &self,
        now: Timestamp,
    ) -> Result<Result<Option<EmbeddingModel>, ModelError>> {
        let chosen = self.parts.store.models().await?.into_iter().find(|record| record.in_use);
        if let Some(record) = chosen {
            let opened = self.open_model(&record.model).await;
            return Ok(opened.map(|_| Some(record.model)));
        }
        let Some(name) = self.parts.models.preferred() else { return Ok(Ok(None)) };
        match self.parts.models.embedder(&name) {
            Ok(embedder) => {
                self.parts.store.register_model(embedder.model(), now).await?;
                self.state.cache_model(Some(embedder.model()), now);
                Ok(Ok(Some(embedder.model().clone())))
            }
            Err(error) => Ok(Err(error)),
        }
    }

    /// Makes embeddings with this model for every user, beside the existing ones. It can be stopped
    /// and called again: finished batches are kept. `each` is called with the size of every batch.
    pub async fn reembed(
        &self,
        name: &str,
        now: Timestamp,
        mut each: impl FnMut(usize) + Send,
    ) -> Result<usize> {
        let embedder = self.parts.models.embedder(name).map_err(Error::Model)?;
        self.parts.store.register_model(embedder.model(), now).await?;
        let known = self.parts.store.models().await?;
        if let Some(known) = known.iter().find(|r| r.model.name == embedder.model().name) {
            self.open_model(&known.model).await.map_err(Error::Model)?;
        }
        let (mut total, mut after) = (0, None);
        loop {
            let users = self.parts.store.list_user_ids(after, 500).await?;
            let Some((_, last)) = users.last() else { break };
            after = Some(*last);
            for (tenant, user) in users {
                total += self.fill(tenant, user, embedder.as_ref(), now, &mut each).await?;
            }
        }
        self.parts.store.mark_filled(&embedder.model().name, now).await?;
        Ok(total)
    }

    /// The number of passages over all users, and how many of them lack an embedding by this model.
    pub async fn count_missing(&self, name: &str) -> Result<(usize, usize)> {
        let (mut all, mut lacking, mut after) = (0, 0, None);
        loop {
            let users = self.parts.store.list_user_ids(after, 500).await?;
            let Some((_, last)) = users.last() else { return Ok((all, lacking)) };
            after = Some(*last);
            for (tenant, user) in users {
                let scope = self.parts.store.read(tenant, user).await?;
                let (total, without) = passage::count(&scope, name).await?;
                all += usize::try_from(total).unwrap_or(0);
                lacking += usize::try_from(without).unwrap_or(0);
            }
        }
    }

    /// Puts a model in use. Every server follows within a second; the old embeddings stay for a day,
    /// in which the switch can be reversed with the same call.
    pub async fn switch_model(&self, name: &str, now: Timestamp) -> Result<()> {
        let known = self.parts.store.models().await?.into_iter().find(|r| r.model.name == name);
        let known = known.ok_or_else(|| Error::ModelNotFound(name.to_owned()))?;
        self.parts.store.switch_model(name, now).await?;
        self.state.cache_model(Some(&known.model), now);
        Ok(())
    }

    /// Removes the user's vectors of models that were replaced long enough ago.
    pub(crate) async fn remove_replaced(&self, request: &Request) -> Result<()> {
        let (tenant, user) = (request.caller.tenant, request.caller.user);
        let replaced_before = request.moment.now - KEPT_AFTER_SWITCH;
        let is_due =
            |record: &ModelRecord| record.replaced_at.is_some_and(|at| at < replaced_before);
        let models = self.parts.store.models().await?.into_iter().filter(is_due);
        let models: Vec<String> = models.map(|record| record.model.name).collect();
        if models.is_empty() {
            return Ok(());
        }
        loop {
            let scope = self.parts.store.write(tenant, user).await?;
            passage::relax_durability(&scope).await?;
            let removed = vector::remove(&scope, &models, REMOVED_AT_ONCE).await?;
            let mut batch = Batch::default();
            packed::remove_vectors(&mut batch, &scope, &models);
            scope.run(&batch).await?;
            scope.commit().await?;
            if removed == 0 {
                return Ok(());
            }
        }
    }

    /// Whether the user has vectors of a model that is not in use.
    pub(crate) async fn has_unused(&self, tenant: TenantId, user: UserId) -> Result<bool> {
        let unused = self.parts.store.models().await?.into_iter().filter(|record| !record.in_use);
        let unused: Vec<String> = unused.map(|record| record.model.name).collect();
        if unused.is_empty() {
            return Ok(false);
        }
        let scope = self.parts.store.read(tenant, user).await?;
        Ok(vector::has_any(&scope, &unused).await?)
    }
}

async fn vectors(embedder: &dyn Embedder, words: Vec<PassageText>) -> Result<Vec<NewEmbedding>> {
    let texts: Vec<&str> = words.iter().map(|words| words.text.as_str()).collect();
    let vectors = embedder.embed(&texts).await.map_err(Error::Model)?;
    let dimension = embedder.model().dimension;
    if vectors.len() != words.len() || vectors.iter().any(|v| v.len() != dimension) {
        let what = format!("expected {} vectors of dimension {dimension}", words.len());
        return Err(Error::Model(ModelError::Malformed(what)));
    }
    let embedded = |(words, values): (PassageText, Vec<f32>)| NewEmbedding {
        source: words.source,
        part: words.part,
        hash: words.hash,
        values,
    };
    Ok(words.into_iter().zip(vectors).map(embedded).collect())
}

/// The texts of passages, rebuilt from the stored facts, turns and episodes.
async fn load_texts(scope: &Scope, lacking: &[UnembeddedPassage]) -> Result<Vec<PassageText>> {
    let of = |kind: PassageKind| lacking.iter().filter(move |l| l.kind == kind);
    let versions: Vec<_> = of(PassageKind::Fact)
        .map(|l| (FactId::from_uuid(l.subject), VersionId::from_uuid(l.source)))
        .collect();
    let turns: Vec<Uuid> = of(PassageKind::Turn).map(|l| l.source).collect();
    let mut made = Vec::new();
    if !versions.is_empty() {
        for version in recallable::versions(scope, &versions).await? {
            made.extend(core_passage::of_version(&version));
        }
    }
    if !turns.is_empty() {
        for turn in session::turns_by_id(scope, &turns).await? {
            made.extend(core_passage::of_turn(&turn));
        }
    }
    let episodes: Vec<EpisodeId> =
        of(PassageKind::Episode).map(|l| EpisodeId::from_uuid(l.source)).collect();
    if !episodes.is_empty() {
        for episode in episode::by_id(scope, &episodes).await? {
            made.extend(core_passage::of_episode(&episode));
        }
    }
    let wanted: HashSet<(Uuid, i16)> = lacking.iter().map(|l| (l.source, l.part)).collect();
    made.retain(|passage| wanted.contains(&(passage.source, passage.part)));
    Ok(made.into_iter().filter_map(PassageText::of).collect())
}
