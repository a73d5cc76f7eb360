//! The short forms of the long proofs, as CI runs them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod histories;
mod nights;
