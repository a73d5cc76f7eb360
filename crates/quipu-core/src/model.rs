//! What the rest of the house needs from an AI model, and nothing about who provides it.
//!
//! The doors to real models are in `quipu-models`; tests have scripted ones. A model's answer is
//! outside text: whoever calls checks it.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// What an embedding was made with. Vectors of different models cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EmbeddingModel {
    /// Names the weights, not the provider: `potion-base-8M`, `all-MiniLM-L6-v2`.
    pub name: String,
    pub dimension: usize,
}

/// An answer that takes its time.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, ModelError>> + Send + 'a>>;

/// Turns texts into unit vectors.
pub trait Embedder: Send + Sync {
    fn model(&self) -> &EmbeddingModel;

    /// Whether it runs in this process. A local one embeds while a request waits; a remote one is
    /// never waited for by a write.
    fn is_local(&self) -> bool;

    /// One vector of length one for each text, in the same order.
    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> Answer<'a, Vec<Vec<f32>>>;
}

/// Says how well each of a few texts answers a question.
pub trait Reranker: Send + Sync {
    /// One score for each text, in the same order; higher is better.
    fn rerank<'a>(&'a self, question: &'a str, texts: &'a [&'a str]) -> Answer<'a, Vec<f32>>;
}

/// The models an installation has.
pub trait Models: Send + Sync {
    /// The embedder that a new installation begins with, if one is set.
    fn preferred(&self) -> Option<String>;

    /// The embedder with these weights, opened if need be.
    fn embedder(&self, name: &str) -> Result<Arc<dyn Embedder>, ModelError>;

    fn reranker(&self) -> Option<Arc<dyn Reranker>>;
}

/// No models at all: keyword recall works without any.
pub struct NoModels;

impl Models for NoModels {
    fn preferred(&self) -> Option<String> {
        None
    }

    fn embedder(&self, name: &str) -> Result<Arc<dyn Embedder>, ModelError> {
        Err(ModelError::Missing(format!("no embedder is set up, so not {name} either")))
    }

    fn reranker(&self) -> Option<Arc<dyn Reranker>> {
        None
    }
}

/// Why a model did not answer. The words are for the operator's log and carry no user's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelError {
    /// The files are not there, or the settings are wrong: says what to do about it.
    Missing(String),
    /// Not reached in time, or refused for now: worth trying again.
    Unavailable(String),
    /// It answered, and not with what was asked for.
    Malformed(String),
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelError::Missing(what) => write!(f, "the model is not there: {what}"),
            ModelError::Unavailable(what) => write!(f, "the model did not answer: {what}"),
            ModelError::Malformed(what) => write!(f, "the model's answer is unusable: {what}"),
        }
    }
}

impl std::error::Error for ModelError {}
