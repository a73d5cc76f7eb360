//! Embeddings of passages: made after the write that needs them is committed, never inside it.
//!
//! A local model embeds while the request waits, so that what was just saved is found by its meaning.
//! A remote one is not waited for. Either way a passage without its embedding is found by its words,
//! and whoever recalls it next has the missing ones made; so nothing needs to be kept in step, and a
//! crash between the write and its embedding loses nothing.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use jiff::SignedDuration;
use lukasa_core::context::tokens;
use lukasa_core::model::{Embedder, EmbeddingModel, ModelError};
use lukasa_core::recall::passage::{self as core_passage, Kind, Passage};
use lukasa_core::{FactId, TenantId, Timestamp, UserId, VersionId};
use lukasa_store::model::ModelRecord;
use lukasa_store::passage::{self, Change, Embedded, Lacking};
use lukasa_store::{Batch, Scope, recallable, session};
use uuid::Uuid;

use crate::Engine;
use crate::cpu::LARGE_TEXT_CHARS;
use crate::error::{Error, Result};

/// How many passages are embedded at a time. What is done is kept, so a stop loses one such batch.
const AT_ONCE: i64 = 128;

/// How long the name of the model in use is believed before it is asked for again.
const BELIEVED: SignedDuration = SignedDuration::from_secs(1);

/// What is remembered between requests about embeddings.
#[derive(Default)]
pub(crate) struct Embedding {
    /// The model in use and when that was asked; there may be none.
    in_use: Mutex<Option<(Timestamp, Option<EmbeddingModel>)>>,
    /// Users whose missing embeddings are being made at this moment.
    filling: Mutex<HashSet<UserId>>,
    /// Embedders that have been opened.
    opened: Mutex<HashMap<String, Arc<dyn Embedder>>>,
}

impl Embedding {
    fn believed(&self, now: Timestamp) -> Option<Option<EmbeddingModel>> {
        let held = self.in_use.lock().ok()?;
        let (at, model) = held.as_ref()?;
        (now.duration_since(*at).abs() < BELIEVED).then(|| model.clone())
    }

    /// The model that was in use when it was last asked for, however long ago that was.
    pub(crate) fn last_known(&self) -> Option<Option<EmbeddingModel>> {
        self.in_use.lock().ok()?.as_ref().map(|(_, model)| model.clone())
    }

    pub(crate) fn believe(&self, model: Option<&EmbeddingModel>, now: Timestamp) {
        if let Ok(mut held) = self.in_use.lock() {
            *held = Some((now, model.cloned()));
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

/// A passage's words, to be embedded.
struct Words {
    source: Uuid,
    part: i16,
    hash: Vec<u8>,
    text: String,
}

impl From<Passage> for Words {
    fn from(passage: Passage) -> Self {
        let hash = passage.hash();
        Self { source: passage.source, part: passage.part, hash, text: passage.text }
    }
}

impl Engine {
    /// Makes the embeddings of what was just written, if there is a model for it. A failure is no
    /// failure of the write: the missing ones are made later.
    pub(crate) async fn embed(
        &self,
        tenant: TenantId,
        user: UserId,
        passages: Vec<Passage>,
        now: Timestamp,
    ) {
        if passages.is_empty() {
            return;
        }
        let embedder = match self.embedder(now).await {
            Ok(Some(embedder)) => embedder,
            Ok(None) => return,
            Err(error) => return tracing::debug!(%error, "no embedder"),
        };
        let (engine, words) = (self.clone(), passages.into_iter().map(Words::from).collect());
        let local = embedder.is_local();
        let work = async move {
            if let Err(error) = engine.embed_words(tenant, user, embedder.as_ref(), words).await {
                tracing::warn!(%error, "embedding was put off");
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
        let model = match self.embedding.believed(now) {
            Some(model) => model,
            None => {
                let models = self.store.models().await;
                let models = models.map_err(|e| ModelError::Unavailable(e.to_string()))?;
                let chosen = models.into_iter().find(|record| record.in_use);
                let chosen = chosen.map(|record| record.model);
                self.embedding.believe(chosen.as_ref(), now);
                chosen
            }
        };
        match model {
            Some(model) => self.open_model(&model).await.map(Some),
            None => Ok(None),
        }
    }

    /// The name of the embedder in use, if there is one and it can be had.
    pub async fn embedder_name(&self, now: Timestamp) -> Option<String> {
        let embedder = self.embedder(now).await.ok()??;
        Some(embedder.model().name.clone())
    }

    /// A vector for each of these texts by the embedder in use, and its name; nothing if there is none.
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
        self.cpu.run_if(large, count).await
    }

    /// The embedder of a model that embeddings were made with. One that has come back in another size
    /// is another model: its vectors could not be compared with those there are.
    pub(crate) async fn open_model(
        &self,
        model: &EmbeddingModel,
    ) -> Result<Arc<dyn Embedder>, ModelError> {
        let embedder = match self.embedding.opened(&model.name) {
            Some(embedder) => embedder,
            // It reads and hashes its files, for which no other request should wait.
            None => {
                let (models, name) = (Arc::clone(&self.models), model.name.clone());
                let opened = tokio::task::spawn_blocking(move || models.embedder(&name)).await;
                let opened = opened.map_err(|e| ModelError::Unavailable(e.to_string()))??;
                self.embedding.keep_open(&model.name, &opened);
                opened
            }
        };
        let (had, has) = (model.dimension, embedder.model().dimension);
        if had != has {
            let what = format!("{} has {has} numbers and had {had}", model.name);
            return Err(ModelError::Malformed(what));
        }
        Ok(embedder)
    }

    async fn embed_words(
        &self,
        tenant: TenantId,
        user: UserId,
        embedder: &dyn Embedder,
        words: Vec<Words>,
    ) -> Result<()> {
        let made = vectors(embedder, words).await?;
        let scope = self.store.write(tenant, user).await?;
        passage::can_be_made_again(&scope).await?;
        let mut batch = Batch::default();
        passage::bump(&mut batch, &scope, Change::Added);
        passage::embed(&mut batch, &scope, embedder.model(), made);
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }

    /// Has a user's missing embeddings made, without waiting for it. Asked by whoever finds that
    /// some are missing; several who find it at once start it once.
    pub(crate) fn fill_later(&self, tenant: TenantId, user: UserId, embedder: Arc<dyn Embedder>) {
        if !self.embedding.begin_filling(user) {
            return;
        }
        let engine = self.clone();
        tokio::spawn(async move {
            let filled = engine.fill(tenant, user, embedder.as_ref(), |_| ()).await;
            engine.embedding.end_filling(user);
            if let Err(error) = filled {
                tracing::warn!(%error, "embedding was put off");
            }
        });
    }

    /// Makes the embeddings that a user's passages lack, a batch at a time; says how many.
    async fn fill(
        &self,
        tenant: TenantId,
        user: UserId,
        embedder: &dyn Embedder,
        mut each: impl FnMut(usize),
    ) -> Result<usize> {
        let mut filled = 0;
        loop {
            let scope = self.store.read(tenant, user).await?;
            let lacking = passage::lacking(&scope, &embedder.model().name, AT_ONCE).await?;
            if lacking.is_empty() {
                return Ok(filled);
            }
            let words = words_of(&scope, &lacking).await?;
            drop(scope);
            let count = words.len();
            if count == 0 {
                // Passages without a record behind them cannot be embedded, and must not be asked
                // for again and again.
                return Ok(filled);
            }
            self.embed_words(tenant, user, embedder, words).await?;
            filled += count;
            each(count);
        }
    }

    /// The models that embeddings were made with.
    pub async fn models(&self) -> Result<Vec<ModelRecord>> {
        Ok(self.store.models().await?)
    }

    /// Makes sure some model is in use, if the settings name one. Says which, or why there is none.
    pub async fn settle_model(
        &self,
        now: Timestamp,
    ) -> Result<Result<Option<EmbeddingModel>, ModelError>> {
        let chosen = self.store.models().await?.into_iter().find(|record| record.in_use);
        if let Some(record) = chosen {
            let opened = self.open_model(&record.model).await;
            return Ok(opened.map(|_| Some(record.model)));
        }
        let Some(name) = self.models.preferred() else { return Ok(Ok(None)) };
        match self.models.embedder(&name) {
            Ok(embedder) => {
                self.store.introduce(embedder.model(), now).await?;
                self.embedding.believe(Some(embedder.model()), now);
                Ok(Ok(Some(embedder.model().clone())))
            }
            Err(error) => Ok(Err(error)),
        }
    }

    /// Makes the embeddings of every user with a model, beside those there are. It can be stopped
    /// and called again: what was done stays done. `each` hears how many more were made.
    pub async fn reembed(
        &self,
        name: &str,
        now: Timestamp,
        mut each: impl FnMut(usize) + Send,
    ) -> Result<usize> {
        let embedder = self.models.embedder(name).map_err(Error::Model)?;
        self.store.introduce(embedder.model(), now).await?;
        let known = self.store.models().await?;
        if let Some(known) = known.iter().find(|r| r.model.name == embedder.model().name) {
            self.open_model(&known.model).await.map_err(Error::Model)?;
        }
        let (mut total, mut after) = (0, None);
        loop {
            let users = self.store.everybody(after, 500).await?;
            let Some((_, last)) = users.last() else { break };
            after = Some(*last);
            for (tenant, user) in users {
                total += self.fill(tenant, user, embedder.as_ref(), &mut each).await?;
            }
        }
        self.store.mark_filled(&embedder.model().name, now).await?;
        Ok(total)
    }

    /// How many passages there are and how many of them the model lacks, over all users.
    pub async fn lacking(&self, name: &str) -> Result<(usize, usize)> {
        let (mut all, mut lacking, mut after) = (0, 0, None);
        loop {
            let users = self.store.everybody(after, 500).await?;
            let Some((_, last)) = users.last() else { return Ok((all, lacking)) };
            after = Some(*last);
            for (tenant, user) in users {
                let scope = self.store.read(tenant, user).await?;
                let (total, without) = passage::count(&scope, name).await?;
                all += usize::try_from(total).unwrap_or(0);
                lacking += usize::try_from(without).unwrap_or(0);
            }
        }
    }

    /// Puts a model in use. Every server follows within a second; the old embeddings stay, so the
    /// way back is the same call.
    pub async fn switch_model(&self, name: &str, now: Timestamp) -> Result<()> {
        let known = self.store.models().await?.into_iter().find(|r| r.model.name == name);
        let known = known.ok_or_else(|| Error::ModelNotFound(name.to_owned()))?;
        self.store.switch_model(name, now).await?;
        self.embedding.believe(Some(&known.model), now);
        Ok(())
    }
}

async fn vectors(embedder: &dyn Embedder, words: Vec<Words>) -> Result<Vec<Embedded>> {
    let texts: Vec<&str> = words.iter().map(|words| words.text.as_str()).collect();
    let vectors = embedder.embed(&texts).await.map_err(Error::Model)?;
    let dimension = embedder.model().dimension;
    if vectors.len() != words.len() || vectors.iter().any(|v| v.len() != dimension) {
        let what = format!("not {} vectors of {dimension} numbers", words.len());
        return Err(Error::Model(ModelError::Malformed(what)));
    }
    let embedded = |(words, values): (Words, Vec<f32>)| Embedded {
        source: words.source,
        part: words.part,
        hash: words.hash,
        values,
    };
    Ok(words.into_iter().zip(vectors).map(embedded).collect())
}

/// The words of passages, made again from the record.
async fn words_of(scope: &Scope, lacking: &[Lacking]) -> Result<Vec<Words>> {
    let of = |kind: Kind| lacking.iter().filter(move |l| l.kind == kind);
    let versions: Vec<_> = of(Kind::Fact)
        .map(|l| (FactId::from_uuid(l.subject), VersionId::from_uuid(l.source)))
        .collect();
    let turns: Vec<Uuid> = of(Kind::Turn).map(|l| l.source).collect();
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
    let wanted: HashSet<(Uuid, i16)> = lacking.iter().map(|l| (l.source, l.part)).collect();
    made.retain(|passage| wanted.contains(&(passage.source, passage.part)));
    Ok(made.into_iter().map(Words::from).collect())
}
