//! Evals of learning from conversations: a model that obeys attackers, Lukasa's own blocks in
//! conversations, the screens, and the quality of a real model.

pub(crate) mod attack;
mod carriers;
pub(crate) mod data;
mod filling;
pub(crate) mod fixture;
mod judged;
mod tally;
mod utility;

pub mod extraction;
pub mod hostile;
pub mod relearn;
pub mod screens;
