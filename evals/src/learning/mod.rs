//! Evals of learning from conversations: a model that obeys attackers, Lukasa's own blocks in
//! conversations, the screens, the quality of what is learned, and the story of one user.

pub(crate) mod attack;
mod carriers;
pub(crate) mod data;
pub(crate) mod dialogue;
mod filling;
pub(crate) mod fixture;
mod judged;
pub(crate) mod oracle;
mod tally;
mod utility;

pub mod extraction;
pub mod hostile;
pub mod relearn;
pub mod screens;
pub mod story;
