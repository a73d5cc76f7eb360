//! The server over HTTP: the real router on a real port over a real PostgreSQL.
#![allow(clippy::unwrap_used, clippy::panic)]

mod api;
mod app;
mod archive;
mod binary;
mod cancel;
mod cli;
mod console;
mod documents;
mod edge;
mod erase;
mod gateway;
mod isolation;
mod live;
mod local;
mod masking;
mod mcp;
mod mem0;
mod model_faults;
mod models;
mod oauth;
mod openapi;
#[path = "../../../lukasa-core/tests/required_data/mod.rs"]
mod required_data;
mod requirements;
mod strict_service;
mod tidy;
mod vault;
