//! The gateway: a real server over a real PostgreSQL, with a scripted upstream service behind it.

mod account;
mod capture;
mod context;
mod fail_open;
pub mod fixture;
mod guide;
mod model_setup;
mod passthrough;
mod revocation;
mod slots;
mod tools;
