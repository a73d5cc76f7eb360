//! Doors to AI models: the only crate that knows a vendor, a model's files or a model's protocol.
//!
//! `local` runs models in this process from files in a folder; `remote` asks a service. Both
//! stand behind the traits of `quipu_core::model`. Nothing here knows what a fact is, reads a
//! setting from the environment, or writes a user's text into an error.

pub mod local;
pub mod remote;
#[cfg(feature = "testing")]
pub mod scripted;
pub mod tls;
mod vector;
