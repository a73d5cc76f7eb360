//! Tests of the store with a real PostgreSQL: scopes, row-level security, and query plans.
#![allow(clippy::unwrap_used, clippy::panic)]

mod cells;
mod cells_silent;
mod consistency;
mod migrations;
mod plans;
mod pools;
mod queue;
mod scope;
mod statements;
mod tables;
