//! The store against a real PostgreSQL: the scope, the second belt, and the access paths.
#![allow(clippy::unwrap_used, clippy::panic)]

mod plans;
mod pools;
mod queue;
mod scope;
mod tables;
