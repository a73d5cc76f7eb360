//! What the rest of the house needs from an AI model, and nothing about who provides it.
//!
//! The doors to real models are in `lukasa-models`; tests have scripted ones. A model's answer is
//! outside text: whoever calls checks it.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

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

/// Answers a conversation with words.
pub trait Chat: Send + Sync {
    /// The model's name, as the operator set it.
    fn name(&self) -> &str;

    /// What it charges; nothing if nobody said.
    fn price(&self) -> Price;

    /// One answer. With `heard` it is streamed, and each piece is passed on as it comes; what was
    /// heard of an answer that then fails is no answer.
    fn answer<'a>(
        &'a self,
        ask: &'a ChatAsk,
        heard: Option<&'a Heard<'a>>,
    ) -> Answer<'a, ChatAnswer>;
}

/// Hears the pieces of an answer. It is called between two reads of the connection, so it must not
/// take its time.
pub type Heard<'a> = dyn Fn(&str) + Send + Sync + 'a;

/// What a chat model is asked. The temperature is not a question: it is 0 for everything here.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatAsk {
    pub messages: Vec<Message>,
    /// The form the answer must have, if it is to be read by a program.
    pub schema: Option<AnswerSchema>,
    /// The most tokens the answer may have.
    pub max_tokens: u32,
    /// For the whole exchange, from the first byte sent to the last one read.
    pub within: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub role: Speaker,
    pub content: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Speaker {
    System,
    User,
    Assistant,
}

impl Message {
    pub fn system(content: impl Into<String>) -> Self {
        Self { role: Speaker::System, content: content.into() }
    }

    pub fn user(content: impl Into<String>) -> Self {
        Self { role: Speaker::User, content: content.into() }
    }

    pub fn assistant(content: impl Into<String>) -> Self {
        Self { role: Speaker::Assistant, content: content.into() }
    }
}

/// A JSON schema with the name it goes by. Services promise to keep to it and do not always, so
/// whoever asks checks all the same.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerSchema {
    pub name: &'static str,
    pub schema: serde_json::Value,
}

/// What a chat model said: outside text, whatever was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatAnswer {
    /// Empty only if the model was cut off before its first word, or refused without one.
    pub text: String,
    pub tokens: TokensUsed,
    pub finish: Finish,
}

/// Why the answer ends where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Finish {
    /// It was done.
    Stop,
    /// It was cut off at `max_tokens`, or at the model's own limit.
    Length,
    /// The model or its service would not answer; the text is at most an excuse.
    Refused,
}

/// What an exchange used. Estimated at four characters a token where the service does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokensUsed {
    pub input: u32,
    pub output: u32,
}

impl TokensUsed {
    /// What an exchange used that nobody counted.
    pub fn estimated(ask: &ChatAsk, text: &str) -> Self {
        let tokens = |chars: usize| u32::try_from(chars.div_ceil(4)).unwrap_or(u32::MAX);
        let asked = ask.messages.iter().map(|message| message.content.chars().count()).sum();
        Self { input: tokens(asked), output: tokens(text.chars().count()) }
    }
}

/// What a model charges, in millionths of a currency unit for a million tokens: 0.15 a million is
/// 150,000. Whole numbers, so that sums of many small costs stay exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Price {
    pub input: u64,
    pub output: u64,
}

impl Price {
    /// What these tokens cost, in millionths of a currency unit, rounded up.
    pub fn of(self, used: TokensUsed) -> u64 {
        let whole = u128::from(self.input) * u128::from(used.input)
            + u128::from(self.output) * u128::from(used.output);
        u64::try_from(whole.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// The models an installation has.
pub trait Models: Send + Sync {
    /// The embedder that a new installation begins with, if one is set.
    fn preferred(&self) -> Option<String>;

    /// The embedder with these weights, opened if need be.
    fn embedder(&self, name: &str) -> Result<Arc<dyn Embedder>, ModelError>;

    fn reranker(&self) -> Option<Arc<dyn Reranker>>;

    /// The chat models, the one to ask first in front. None unless an installation says otherwise:
    /// memory works without any.
    fn chats(&self) -> Vec<Arc<dyn Chat>> {
        Vec::new()
    }
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

#[cfg(test)]
mod tests {
    use super::{Price, TokensUsed};

    #[test]
    fn a_cost_is_exact_and_rounded_up() {
        let price = Price { input: 150_000, output: 600_000 };
        let cost = |input, output| price.of(TokensUsed { input, output });
        assert_eq!(cost(1_000_000, 0), 150_000);
        assert_eq!(cost(1_000, 100), 150 + 60);
        assert_eq!(cost(1, 0), 1);
        assert_eq!(cost(0, 0), 0);
        assert_eq!(Price::default().of(TokensUsed { input: 9, output: 9 }), 0);
        let all = Price { input: u64::MAX, output: u64::MAX };
        assert_eq!(all.of(TokensUsed { input: u32::MAX, output: u32::MAX }), u64::MAX);
    }
}
