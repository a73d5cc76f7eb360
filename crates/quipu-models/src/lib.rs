//! Doors to AI models: the only crate that will know a vendor.
//!
//! It is empty on purpose. Every explicit verb works without a model; the embedder arrives with
//! recall, the chat client with learning. Until then nothing may be put here that calls no model.
