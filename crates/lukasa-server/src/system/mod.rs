//! What differs between Unix and Windows, one file per concern. Only this folder, `postgres/launch.rs`
//! and the engine's `folder.rs` name either of them (a tidy test); other code calls these functions.
//!
//! On Windows nothing here reads or sets owners and modes. Files are protected by the access control
//! lists that they inherit: those of the user's profile admit the user, SYSTEM and administrators.

pub mod account;
pub mod disk;
pub mod files;
pub mod folders;
pub mod process;
pub mod signals;
