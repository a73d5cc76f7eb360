//! Scripted models, for tests of code that calls a model.
//!
//! The embedder and the reranker compare words, not meaning: only texts that share words are near
//! each other. The chat model answers with a test's script, in this process or as a service on
//! loopback that can simulate every known fault.

mod chat;
pub mod chat_server;
pub mod extraction;
mod gzip;
mod models;
pub mod server;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use lukasa_core::model::{Embedder, EmbeddingModel, ModelError, ModelFuture, Reranker};
use sha2::{Digest, Sha256};

pub use self::chat::ScriptedChat;
pub use self::chat_server::ChatServer;
pub use self::models::TestModels;
use crate::vector;

/// The behaviour of a scripted model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScriptedBehavior {
    #[default]
    Normal,
    /// Answers correctly after a delay.
    Slow(Duration),
    /// Fails with `Unavailable`.
    Failing,
    /// Fails with `Malformed`.
    Malformed,
    /// Answers with one item too few and vectors of the wrong size. A client that checks would
    /// refuse this; its caller must handle it all the same.
    Short,
}

/// A scripted embedder or reranker. Its behaviour can be changed while it is in use.
#[derive(Debug)]
pub struct ScriptedModel {
    model: EmbeddingModel,
    local: bool,
    behavior: Mutex<ScriptedBehavior>,
    asked: AtomicUsize,
}

impl ScriptedModel {
    /// One that reports to run in this process.
    pub fn local(dimension: usize) -> Self {
        Self::new(dimension, true)
    }

    /// One that reports to be remote.
    pub fn remote(dimension: usize) -> Self {
        Self::new(dimension, false)
    }

    fn new(dimension: usize, local: bool) -> Self {
        let model = EmbeddingModel { name: format!("scripted-{dimension}"), dimension };
        Self { model, local, behavior: Mutex::default(), asked: AtomicUsize::new(0) }
    }

    /// Sets the model's name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.model.name);
        self
    }

    pub fn set_behavior(&self, behavior: ScriptedBehavior) {
        *self.behavior.lock().unwrap_or_else(PoisonError::into_inner) = behavior;
    }

    /// How often it was called, including failed calls.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// Counts the call and applies the current behaviour: waits or fails.
    async fn answering(&self) -> Result<ScriptedBehavior, ModelError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let behavior = *self.behavior.lock().unwrap_or_else(PoisonError::into_inner);
        match behavior {
            ScriptedBehavior::Slow(wait) => tokio::time::sleep(wait).await,
            ScriptedBehavior::Failing => {
                return Err(ModelError::Unavailable("scripted to fail".to_owned()));
            }
            ScriptedBehavior::Malformed => {
                return Err(ModelError::Malformed("scripted to be unusable".to_owned()));
            }
            ScriptedBehavior::Normal | ScriptedBehavior::Short => {}
        }
        Ok(behavior)
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; self.model.dimension];
        for word in words(text) {
            let hash = Sha256::digest(&word);
            let place = usize::from(u16::from_le_bytes([hash[0], hash[1]]));
            let slots = sum.len().max(1);
            if let Some(x) = sum.get_mut(place % slots) {
                *x += 1.0;
            }
        }
        vector::unit(sum).unwrap_or_else(|| vector::hash_direction(text, self.model.dimension))
    }
}

impl Embedder for ScriptedModel {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn is_local(&self) -> bool {
        self.local
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> ModelFuture<'a, Vec<Vec<f32>>> {
        Box::pin(async move {
            let behavior = self.answering().await?;
            let mut vectors: Vec<_> = texts.iter().map(|text| self.vector(text)).collect();
            if behavior == ScriptedBehavior::Short {
                vectors.pop();
                vectors
                    .iter_mut()
                    .for_each(|vector| vector.truncate(self.model.dimension.saturating_sub(1)));
            }
            Ok(vectors)
        })
    }
}

impl Reranker for ScriptedModel {
    fn rerank<'a>(&'a self, question: &'a str, texts: &'a [&'a str]) -> ModelFuture<'a, Vec<f32>> {
        Box::pin(async move {
            let behavior = self.answering().await?;
            let asked: Vec<_> = words(question).collect();
            let share = |text: &&str| {
                let found = words(text).filter(|word| asked.contains(word)).count();
                found as f32 / words(text).count().max(1) as f32
            };
            let mut scores: Vec<f32> = texts.iter().map(share).collect();
            if behavior == ScriptedBehavior::Short {
                scores.pop();
            }
            Ok(scores)
        })
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}
