//! Integration tests of the engine with a real PostgreSQL, mostly about one user's memory.
#![allow(clippy::unwrap_used, clippy::panic)]

mod archive;
mod consolidation;
mod erasure;
mod erasure_batches;
mod fact_removal;
mod fading;
mod insights;
mod keys;
mod known_time;
mod learning;
mod links;
mod masking;
mod portraits;
mod process_state;
mod proposals;
mod recall;
mod save;
mod sessions;
mod source_removal;
mod story;
mod times;
mod undo;
mod vault;
mod vault_trust;
