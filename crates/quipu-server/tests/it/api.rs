//! The REST API as its documentation promises it, one file per chapter.

mod conventions;
mod directory;
mod logs;
mod memory;
mod proposals;
mod record;
