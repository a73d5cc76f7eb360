//! REST API tests, one file per topic.

mod admission;
mod audit;
mod beacon;
mod context;
mod context_limits;
mod conventions;
mod directory;
mod erasure;
mod jobs;
mod learning;
mod left_out;
mod logs;
mod memory;
mod operations;
mod policy;
mod portraits;
mod projects;
mod proposals;
mod review;
mod search;
mod session_lifecycle;
mod sessions;
mod sign_in;
mod sources;
mod usage;
mod vault;
