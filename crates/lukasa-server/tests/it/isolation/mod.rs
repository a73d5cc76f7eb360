//! Nobody reaches anybody else's memory: proven by enumeration.
//!
//! [`table`] has one row per operation of the API; [`document`] fails when the OpenAPI document and
//! the table disagree. [`matrix`] sends every row as everybody who should not get through, with
//! every id replaced by somebody else's, and wants the very answer that an id which never existed
//! gets, byte for byte ([`compare`]). [`protocols`] does the same with MCP, mem0 and the gateway.
//! [`planted`] shows that it would notice. [`belts`] and [`database`] try what lies under the API: kept
//! answers, cursors, row-level security.

mod belts;
mod cast;
mod compare;
mod database;
mod document;
mod learned;
mod matrix;
mod planted;
mod protocols;
mod request;
mod table;
mod things;
