//! Models behind an HTTP endpoint: any service that speaks OpenAI's `/v1/embeddings` or
//! `/v1/chat/completions`, and the `/rerank` that several servers share.
//!
//! A response is untrusted. It is bounded in size, every number in it is checked before it is used,
//! and it is never quoted in an error, because it may repeat what a user wrote or the API key.

mod breaker;
mod chat;
mod embeddings;
mod endpoint;
mod rerank;
mod setting;
pub(crate) mod sse;

pub use chat::{ChatConfig, RemoteChat};
pub use embeddings::{EmbeddingsConfig, RemoteEmbedder};
pub use endpoint::ApiKey;
pub use rerank::{RemoteReranker, RerankConfig, RerankField};
