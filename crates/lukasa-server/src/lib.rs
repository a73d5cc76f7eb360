//! The edges of Lukasa: HTTP and the command line.
//!
//! A door turns a request into a call on the engine and the answer into bytes. It contains no `if`
//! about memory and no SQL. It is also the one place that reads the clock and draws randomness, in
//! [`clock`].

pub mod archive;
pub mod cli;
pub mod clock;
pub mod gateway;
pub mod http;
pub mod listen;
pub mod models;
pub mod postgres;
pub mod tools;
pub mod webhook;
pub mod workers;
