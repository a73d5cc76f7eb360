//! Long proofs about Quipu, as commands anyone can run: random histories against a reference model,
//! kills under load, and what a request costs beside the same SQL.
//!
//! Each has a short form that CI runs. An eval may look behind the store's back and may write SQL of
//! its own: it is a witness, not a part of the product.
#![allow(clippy::print_stdout, clippy::print_stderr)]

pub mod histories;
pub mod kills;
pub mod load;
