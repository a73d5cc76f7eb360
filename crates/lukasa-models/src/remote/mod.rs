//! Models behind an HTTP endpoint: any service that speaks OpenAI's `/v1/embeddings` or
//! `/v1/chat/completions`, Anthropic's `/v1/messages`, and the `/rerank` that several servers share.
//!
//! A response is untrusted. It is bounded in size, and every number in it is checked before it is
//! used. Of a response only a service's error message is shown, without the words that were sent
//! and without the API key (`refusal.rs`).

mod breaker;
mod chat;
mod embeddings;
mod endpoint;
mod refusal;
mod rerank;
mod setting;

pub use chat::{ChatConfig, MAX_CHAT_TIMEOUT, RemoteChat};
pub use embeddings::{EmbeddingsConfig, RemoteEmbedder};
pub use endpoint::ApiKey;
pub use rerank::{RemoteReranker, RerankConfig, RerankField};
