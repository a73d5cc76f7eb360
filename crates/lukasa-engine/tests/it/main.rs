//! Integration tests of the engine with a real PostgreSQL, mostly about one user's memory.
#![allow(clippy::unwrap_used, clippy::panic)]

mod cascade;
mod consolidate;
mod erasure;
mod erasure_batches;
mod fading;
mod insights;
mod keys;
mod known_time;
mod learn;
mod leave;
mod links;
mod masking;
mod moving;
mod portraits;
mod process_state;
mod proposals;
mod recall;
mod save;
mod story;
mod times;
mod undo;
mod vault;
mod vault_trust;
