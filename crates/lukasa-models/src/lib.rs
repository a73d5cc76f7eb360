//! Clients for AI models: the only crate that knows a vendor, a model's files or a model's
//! protocol.
//!
//! `local` runs models in this process from files in a folder; `remote` calls a service. Both
//! implement the traits of `lukasa_core::model`. `protocol` reads and edits the requests of a
//! client to its own model, for a proxy between the two. Nothing here knows what a fact is, reads a
//! setting from the environment, or writes a user's text into an error.

pub mod local;
pub mod protocol;
pub mod remote;
#[cfg(feature = "testing")]
pub mod scripted;
pub mod sse;
pub mod tls;
mod vector;
