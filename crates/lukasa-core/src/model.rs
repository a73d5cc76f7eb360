//! Provider-independent interfaces to AI models: embedder, reranker and chat.
//!
//! Clients of real models are in `lukasa-models`; tests use scripted ones. A model's answer is
//! untrusted text: the caller checks it.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

crate::words!(
    /// What a chat model is called for.
    CallPurpose {
        /// Learning from new turns.
        Extract = "extract",
        /// Learning again from turns after one of them was removed, or a domain was opened.
        Relearn = "relearn",
        /// The title of a session.
        Title = "title",
        /// The running summary of a long session.
        Compress = "compress",
        /// The summary of an episode after one of its turns was removed.
        Retell = "retell",
        /// The sentences of a portrait.
        Portrait = "portrait",
        /// Whether two memories contradict each other or say the same.
        Compare = "compare",
    }
);

/// The model an embedding was made with. Vectors of different models cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EmbeddingModel {
    /// Names the weights, not the provider: `potion-base-8M`, `all-MiniLM-L6-v2`.
    pub name: String,
    pub dimension: usize,
}

/// Boxed future of a model's response.
pub type ModelFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, ModelError>> + Send + 'a>>;

/// Turns texts into unit vectors.
pub trait Embedder: Send + Sync {
    fn model(&self) -> &EmbeddingModel;

    /// Whether it runs in this process. A local one embeds within the request; a write never waits
    /// for a remote one.
    fn is_local(&self) -> bool;

    /// One vector of length one for each text, in the same order.
    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> ModelFuture<'a, Vec<Vec<f32>>>;
}

/// Scores how well each of a few texts answers a question.
pub trait Reranker: Send + Sync {
    /// One score for each text, in the same order; higher is better.
    fn rerank<'a>(&'a self, question: &'a str, texts: &'a [&'a str]) -> ModelFuture<'a, Vec<f32>>;
}

/// A chat completion model.
pub trait Chat: Send + Sync {
    /// The model's name, as the operator set it.
    fn name(&self) -> &str;

    /// Its price; zero if none is configured.
    fn price(&self) -> Price;

    /// The form of request that its service has accepted, in words for the operator. `None` for a
    /// model without a service.
    fn request_form(&self) -> Option<String> {
        None
    }

    /// One answer. With a `listener` it is streamed, and each piece is passed on as it arrives;
    /// pieces of an answer that then fails must be discarded.
    fn answer<'a>(
        &'a self,
        ask: &'a ChatRequest,
        listener: Option<&'a TextListener<'a>>,
    ) -> ModelFuture<'a, ChatAnswer>;
}

/// Callback for the pieces of a streamed answer. It is called between two reads of the connection,
/// so it must return quickly.
pub type TextListener<'a> = dyn Fn(&str) + Send + Sync + 'a;

/// A request to a chat model. The temperature is 0 where the service accepts one.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    pub messages: Vec<Message>,
    /// Schema of the answer, if a program reads it.
    pub schema: Option<AnswerSchema>,
    /// Maximum number of tokens of the answer.
    pub max_tokens: u32,
    /// Timeout of the whole exchange, from the first byte sent to the last one read.
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

/// A JSON schema and its name. Services promise to follow it and do not always, so the caller
/// checks the answer all the same.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerSchema {
    pub name: &'static str,
    pub schema: serde_json::Value,
}

/// Response of a chat model: untrusted text, even if a schema was requested.
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
    /// The answer is complete.
    Stop,
    /// It was cut off at `max_tokens`, or at the model's own limit.
    Length,
    /// The model or its service refused to answer; the text is at most its explanation.
    Refused,
}

/// Tokens used by an exchange. Estimated at four characters a token where the service does not
/// report them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokensUsed {
    pub input: u32,
    pub output: u32,
}

impl TokensUsed {
    /// Estimates the tokens of an exchange for which the service reported none.
    pub fn estimated(ask: &ChatRequest, text: &str) -> Self {
        let tokens = |chars: usize| u32::try_from(chars.div_ceil(4)).unwrap_or(u32::MAX);
        let asked = ask.messages.iter().map(|message| message.content.chars().count()).sum();
        Self { input: tokens(asked), output: tokens(text.chars().count()) }
    }
}

/// Price of a model, in millionths of a currency unit for a million tokens: 0.15 a million is
/// 150,000. Whole numbers, so that sums of many small costs stay exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Price {
    pub input: u64,
    pub output: u64,
}

impl Price {
    /// Cost of these tokens, in millionths of a currency unit, rounded up.
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

    /// The chat models in order of preference. Empty unless configured: memory works without any.
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
        Err(ModelError::Missing(format!("no embedder is configured, so {name} cannot be opened")))
    }

    fn reranker(&self) -> Option<Arc<dyn Reranker>> {
        None
    }
}

/// Why a model did not answer. The text is for operators and contains no user data; it may quote
/// the service's own message as far as nothing of the request is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelError {
    /// The files are missing, or the settings are wrong; the text says how to fix it.
    Missing(String),
    /// Not reached in time, or temporarily refused: worth retrying.
    Unavailable(String),
    /// Refused until some time from now, as the service asks for.
    Busy { reason: String, retry_after: Duration },
    /// The answer does not have the requested form.
    Malformed(String),
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelError::Missing(what) => write!(f, "the model cannot be used: {what}"),
            ModelError::Unavailable(what) | ModelError::Busy { reason: what, .. } => {
                write!(f, "the model did not answer: {what}")
            }
            ModelError::Malformed(what) => write!(f, "the model's answer is unusable: {what}"),
        }
    }
}

impl std::error::Error for ModelError {}

#[cfg(test)]
mod tests {
    use super::{Price, TokensUsed};

    #[test]
    fn price_of_tokens_is_exact_and_rounded_up() {
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
