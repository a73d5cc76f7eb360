//! The REST API as its documentation promises it, one file per chapter.

mod admission;
mod beacon;
mod context;
mod conventions;
mod directory;
mod erasure;
mod jobs;
mod learning;
mod life;
mod limits;
mod logs;
mod memory;
mod policy;
mod portraits;
mod proposals;
mod record;
mod review;
mod search;
mod sessions;
mod sign_in;
mod sources;
mod usage;
mod vault;
