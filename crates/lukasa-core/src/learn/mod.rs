//! Learning: what a conversation may leave behind.
//!
//! A chat model reads a stretch of turns and proposes memories. Its answer is taken for text that an
//! attacker wrote: [`answer`] reads it strictly, [`transcript`] knows who really said what, and
//! [`judge`] decides by rules alone what becomes of each proposal. [`prompt`] is what the model is
//! asked. Nothing here calls a model or touches a row.

pub mod answer;
pub mod judge;
pub mod prompt;
pub mod transcript;

pub use answer::{Answer, Item, Op, Quote};
pub use judge::{Kept, Offered, Reason, Scene, Verdict};
pub use transcript::Transcript;
