//! Tests of the model clients, with real weights where available and with scripted servers.
#![allow(clippy::unwrap_used, clippy::panic)]

mod chat;
mod chat_forms;
mod embeddings;
mod fetch;
mod files;
mod real;
mod rerank;
mod scripted;
