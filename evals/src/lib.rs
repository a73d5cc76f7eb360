//! Long-running evals of Lukasa, as commands: random histories against a reference model, kills
//! under load, the cost of a request compared with the same SQL, and retrieval quality.
//!
//! Each has a short form that CI runs. An eval may read the store directly and use SQL of its own:
//! it is not part of the product.
#![allow(clippy::print_stdout, clippy::print_stderr)]

pub mod archive;
pub mod cells;
pub mod consolidation;
pub mod crashes;
pub mod encoder;
pub mod erasure;
pub mod freeze;
pub mod gateway;
pub mod growth;
pub mod histories;
pub mod http_connection;
pub mod kills;
pub mod learning;
pub mod load;
pub mod long_history;
pub mod mutation;
pub mod nodes;
pub mod overload;
pub mod parsers;
pub mod processes;
pub mod recall;
#[path = "../../crates/lukasa-core/tests/required_data/mod.rs"]
pub mod required_data;
pub mod retrieval;
pub mod reversible;
pub mod vault;
pub mod writes;
