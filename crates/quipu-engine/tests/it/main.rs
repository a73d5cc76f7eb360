//! Stories about one user's memory, told to the engine over a real PostgreSQL.
#![allow(clippy::unwrap_used, clippy::panic)]

mod cascade;
mod consolidate;
mod erasure;
mod fading;
mod insights;
mod keys;
mod learn;
mod leave;
mod links;
mod moving;
mod portraits;
mod proposals;
mod recall;
mod save;
mod story;
mod times;
mod undo;
mod vault;
mod vault_trust;
