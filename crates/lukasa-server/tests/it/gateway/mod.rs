//! The gateway as its clients meet it: a real server over a real PostgreSQL, and behind it a service
//! that answers as a test tells it to.

mod captured;
mod guide;
mod open;
mod passing;
mod remembered;
pub mod stage;
mod tools;
