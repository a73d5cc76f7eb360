//! Learning from conversations: plan, ask, keep the answer, apply it once.
//!
//! A pass reads the turns past the session's watermark and asks a model about them; the answer is
//! kept before anything is done with it. Applying it is one short transaction: what is learned, the
//! episode, the watermark and the end of the job stand or fall together. A crash anywhere is followed
//! by the same steps again, which find what was done.

mod apply;
pub(crate) mod episodes;
mod plan;
mod retell;
mod small;

pub use lukasa_store::learning::{EpisodePlace as EpisodeCursor, Pass as PassRecord};
pub(crate) use plan::passes;
