//! The REST API as its documentation promises it, one file per chapter.

mod context;
mod conventions;
mod directory;
mod limits;
mod logs;
mod memory;
mod proposals;
mod record;
mod search;
mod sessions;
mod usage;
