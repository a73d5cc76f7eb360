//! Models behind an HTTP endpoint: any service that speaks OpenAI's `/v1/embeddings` or
//! `/v1/chat/completions`, and the `/rerank` that several servers share.
//!
//! An answer is outside text. It is bounded in size, checked in every number before it counts,
//! and never quoted in an error, because it may repeat what a user wrote or the key we sent.

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
