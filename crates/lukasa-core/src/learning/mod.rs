//! Learning: extraction of facts from conversations.
//!
//! A chat model reads a range of turns and proposes memories. Its answer is treated as text written
//! by an attacker: [`answer`] parses it strictly, [`transcript`] knows who really said what, and
//! [`judge`] decides about each proposal by rules alone. [`prompt`] builds the requests to the
//! model. Nothing here calls a model or touches a row.

pub mod answer;
pub mod judge;
pub mod prompt;
pub mod transcript;

pub use answer::{ExtractionAnswer, ExtractionOp, ProposedMemory, Quote};
pub use judge::{ExtractionVerdict, JudgeContext, JudgedClaim, OfferedMemory, Reason};
pub use transcript::Transcript;
