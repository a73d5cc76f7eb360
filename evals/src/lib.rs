//! Long proofs about Lukasa, as commands anyone can run: random histories against a reference model,
//! kills under load, what a request costs beside the same SQL, and how much of what was said is
//! found again.
//!
//! Each has a short form that CI runs. An eval may look behind the store's back and may write SQL of
//! its own: it is a witness, not a part of the product.
#![allow(clippy::print_stdout, clippy::print_stderr)]

pub mod archive;
pub mod crashes;
pub mod door;
pub mod erasure;
pub mod freeze;
pub mod gateway;
pub mod histories;
pub mod kills;
pub mod learning;
pub mod living;
pub mod load;
pub mod mutation;
pub mod nodes;
pub mod overload;
pub mod recall;
#[path = "../../crates/lukasa-core/tests/required_data/mod.rs"]
pub mod required_data;
pub mod retrieval;
pub mod reversible;
pub mod stand;
pub mod vault;
pub mod writes;
