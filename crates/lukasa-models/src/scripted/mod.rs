//! Models that do as they are told, for the tests of whoever asks a model.
//!
//! The embedder and the reranker know words, not meaning: texts that share words are near each
//! other, and nothing else is. The chat model says what a test tells it to, in this process or,
//! with every fault a service can have, behind a port on loopback.

mod chat;
pub mod chat_server;
mod gzip;
pub mod server;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use lukasa_core::model::{Answer, Embedder, EmbeddingModel, ModelError, Reranker};
use sha2::{Digest, Sha256};

pub use self::chat::ScriptedChat;
pub use self::chat_server::ChatServer;
use crate::vector;

/// How a scripted model is today.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mood {
    #[default]
    Well,
    /// Answers rightly, after a while.
    Late(Duration),
    /// Says it is unavailable.
    Failing,
    /// Says the answer it got was unusable.
    Malformed,
    /// Answers, one too few and in the wrong size. A door that checks would not let it through;
    /// whoever asks must not fall over it all the same.
    Short,
}

/// A scripted embedder or reranker. Its mood can be changed while it is in use.
#[derive(Debug)]
pub struct Scripted {
    model: EmbeddingModel,
    local: bool,
    mood: Mutex<Mood>,
    asked: AtomicUsize,
}

impl Scripted {
    /// One that runs in this process, as far as anybody can tell.
    pub fn local(dimension: usize) -> Self {
        Self::new(dimension, true)
    }

    /// One that is somewhere else.
    pub fn remote(dimension: usize) -> Self {
        Self::new(dimension, false)
    }

    fn new(dimension: usize, local: bool) -> Self {
        let model = EmbeddingModel { name: format!("scripted-{dimension}"), dimension };
        Self { model, local, mood: Mutex::default(), asked: AtomicUsize::new(0) }
    }

    /// As if it were another model.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.model.name);
        self
    }

    pub fn set_mood(&self, mood: Mood) {
        *self.mood.lock().unwrap_or_else(PoisonError::into_inner) = mood;
    }

    /// How often it was asked, in whatever mood.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// The mood the call is answered in, after whatever wait that means.
    async fn answering(&self) -> Result<Mood, ModelError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mood = *self.mood.lock().unwrap_or_else(PoisonError::into_inner);
        match mood {
            Mood::Late(wait) => tokio::time::sleep(wait).await,
            Mood::Failing => return Err(ModelError::Unavailable("scripted to fail".to_owned())),
            Mood::Malformed => {
                return Err(ModelError::Malformed("scripted to be unusable".to_owned()));
            }
            Mood::Well | Mood::Short => {}
        }
        Ok(mood)
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
        vector::unit(sum).unwrap_or_else(|| vector::own_direction(text, self.model.dimension))
    }
}

impl Embedder for Scripted {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn is_local(&self) -> bool {
        self.local
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> Answer<'a, Vec<Vec<f32>>> {
        Box::pin(async move {
            let mood = self.answering().await?;
            let mut vectors: Vec<_> = texts.iter().map(|text| self.vector(text)).collect();
            if mood == Mood::Short {
                vectors.pop();
                vectors
                    .iter_mut()
                    .for_each(|vector| vector.truncate(self.model.dimension.saturating_sub(1)));
            }
            Ok(vectors)
        })
    }
}

impl Reranker for Scripted {
    fn rerank<'a>(&'a self, question: &'a str, texts: &'a [&'a str]) -> Answer<'a, Vec<f32>> {
        Box::pin(async move {
            let mood = self.answering().await?;
            let asked: Vec<_> = words(question).collect();
            let share = |text: &&str| {
                let found = words(text).filter(|word| asked.contains(word)).count();
                found as f32 / words(text).count().max(1) as f32
            };
            let mut scores: Vec<f32> = texts.iter().map(share).collect();
            if mood == Mood::Short {
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
