//! Doors to models, tried with real weights where they are to be had and scripted servers.
#![allow(clippy::unwrap_used, clippy::panic)]

mod chat;
mod embeddings;
mod fetch;
mod files;
mod real;
mod rerank;
mod scripted;
