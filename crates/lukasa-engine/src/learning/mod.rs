//! Learning from conversations: plan, ask, store the answer, apply it once.
//!
//! A pass reads the turns past the session's watermark and asks a model about them; the answer is
//! stored before it is used. Applying it is one short transaction: the learned facts, the episode,
//! the watermark and the end of the job are committed together. After a crash at any point the same
//! steps run again and find what was already done.

mod apply;
mod episodes;
mod left_out;
mod notes;
mod plan;
mod progress;
mod relearn;
mod restate;
mod retell;
mod titles;

use std::sync::Arc;

use lukasa_core::learning::prompt;

use crate::chat::ChatModels;
use crate::facts::Facts;
use crate::parts::Parts;
use crate::policy::Policies;
use crate::queue::JobQueue;
use crate::recall::Recall;
use crate::transaction::Transactions;

pub use crate::episodes::AboutEpisode;
pub use left_out::LeftOutItem;
pub use lukasa_store::learning::{EpisodePlace as EpisodeCursor, Pass as PassRecord};
pub(crate) use plan::passes;
pub use progress::SessionLearning;

/// Learning from conversations.
#[derive(Clone)]
pub struct Learning {
    parts: Arc<Parts>,
    transactions: Transactions,
    policies: Policies,
    chat: ChatModels,
    recall: Recall,
    facts: Facts,
    queue: JobQueue,
}

impl Learning {
    pub(crate) fn new(
        parts: Arc<Parts>,
        transactions: Transactions,
        policies: Policies,
        chat: ChatModels,
        recall: Recall,
        facts: Facts,
        queue: JobQueue,
    ) -> Self {
        Self { parts, transactions, policies, chat, recall, facts, queue }
    }
}

/// The prompts that models are asked with, by name and version.
pub fn prompts() -> [prompt::PromptTemplate; 4] {
    [prompt::EXTRACT, prompt::TITLE, prompt::COMPRESS, prompt::PORTRAIT]
}
