//! Learning from conversations: plan, ask, store the answer, apply it once.
//!
//! A pass reads the turns past the session's watermark and asks a model about them; the answer is
//! stored before it is used. Applying it is one short transaction: the learned facts, the episode,
//! the watermark and the end of the job are committed together. After a crash at any point the same
//! steps run again and find what was already done.

mod apply;
pub(crate) mod episodes;
mod plan;
mod retell;
mod small;

pub use lukasa_store::learning::{EpisodePlace as EpisodeCursor, Pass as PassRecord};
pub(crate) use plan::passes;
