//! Proofs about learning from conversations: a model that obeys whoever attacks, Lukasa's own words
//! coming back, what the screens let through, and how well a real model does.

pub(crate) mod attack;
mod carriers;
pub(crate) mod data;
mod filling;
mod judged;
pub(crate) mod room;
mod tally;
mod utility;

pub mod extraction;
pub mod hostile;
pub mod relearn;
pub mod screens;
