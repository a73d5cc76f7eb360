//! The edges of Lukasa: HTTP and the command line.
//!
//! Each interface turns a request into a call on the engine and the result into bytes. It contains
//! no rule about memory and no SQL. This crate is also the one place that reads the clock and draws
//! randomness, in [`clock`].

pub mod api;
pub mod archive;
pub mod cli;
pub mod clock;
pub mod gateway;
pub mod http;
pub mod listen;
pub mod models;
pub mod oidc;
pub mod postgres;
mod system;
pub mod telemetry;
pub mod tools;
pub mod traces;
mod url;
pub mod version;
pub mod webhook;
pub mod workers;
