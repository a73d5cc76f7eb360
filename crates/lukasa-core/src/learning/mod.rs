//! Learning: extraction of facts from conversations.
//!
//! A chat model reads a range of turns and proposes memories. Its answer is treated as text written
//! by an attacker: [`answer`] parses it strictly, [`transcript`] knows who really said what, and
//! [`judge`] decides about each proposal by rules alone. [`prompt`] builds the requests to the
//! model. [`own`] finds the sentences of users about themselves, [`explicit`] what they say outright,
//! without a model. [`summary`] decides which sentences of a summary are stored. [`left_out`] is the place
//! of what was left out, [`progress`] how far learning from a session is. Nothing here calls a model or
//! touches a row.

pub mod answer;
mod classify;
pub mod explicit;
pub mod judge;
pub mod left_out;
pub mod own;
pub mod progress;
pub mod prompt;
pub mod quotations;
pub mod summary;
pub mod transcript;

pub use answer::{ExtractionAnswer, ExtractionOp, ProposedMemory, Quote, SentenceKind};
pub use judge::{
    ExtractionVerdict, JudgeContext, JudgedClaim, LeftProposal, OfferedMemory, Reason,
};
pub use left_out::SentencePlace;
pub use progress::{LearningAbility, LearningProgress, LearningState};
pub use transcript::Transcript;
