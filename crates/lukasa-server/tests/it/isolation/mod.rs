//! Proof by enumeration that no caller reaches another user's memory.
//!
//! [`table`] has one row per operation of the API; [`document`] fails when the OpenAPI document and
//! the table disagree. [`matrix`] sends every row as every principal that must not get through,
//! with every id replaced by another user's, and expects the same response that an id gets which
//! never existed, byte for byte ([`compare`]). [`protocols`] does the same with MCP, mem0 and the
//! gateway. [`members`] tests what members of a space can do to each other. [`planted`] shows that
//! leaks are detected. [`shared_identifiers`] and [`database`] test what is below the API: stored
//! responses, cursors, row-level security.

mod compare;
mod database;
mod document;
mod harmless;
mod learned;
mod matrix;
mod members;
mod planted;
mod principals;
mod protocols;
mod request;
mod shared_identifiers;
mod table;
mod things;
