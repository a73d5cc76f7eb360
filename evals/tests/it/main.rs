//! The short forms of the evals, as CI runs them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod consolidation;
mod histories;
