//! Review: everything the user may be asked about, in one list. Nothing is decided here.

mod contradiction;

use futures_util::try_join;
use jiff::SignedDuration;
use lukasa_core::fade::STALE_AFTER;
use lukasa_core::{Caller, Domain, State, Timestamp, Version};
use lukasa_store::{domain_question, review};

use crate::directory::domains;
use crate::error::Result;
use crate::memory::{Memory, as_memory};
use crate::transaction::Transactions;

pub use contradiction::{Contradiction, ContradictionChoice};

/// Maximum number of entries per list.
const MAX_PER_LIST: i64 = 50;
/// Memories learned within this time are listed as recently learned.
const RECENT_PERIOD: SignedDuration = SignedDuration::from_hours(24 * 30);

/// A memory that may no longer be true.
#[derive(Debug, Clone, PartialEq)]
pub struct DoubtfulMemory {
    pub memory: Memory,
    /// Whether its use showed it to be wrong; otherwise it is only old.
    pub refuted: bool,
}

/// A domain that the user mentioned and has not opened.
#[derive(Debug, Clone, PartialEq)]
pub struct MentionedDomain {
    pub domain: Domain,
    pub asked_at: Timestamp,
}

/// What the user may be asked about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Review {
    pub proposals: Vec<Memory>,
    pub contradictions: Vec<Contradiction>,
    pub doubts: Vec<DoubtfulMemory>,
    pub guesses: Vec<Memory>,
    pub learned: Vec<Memory>,
    pub domains: Vec<MentionedDomain>,
}

/// What waits for an answer of the user.
#[derive(Clone)]
pub struct Reviews {
    transactions: Transactions,
}

impl Reviews {
    pub(crate) fn new(transactions: Transactions) -> Self {
        Self { transactions }
    }

    /// Proposals, contradictions, doubtful memories, guesses, recently learned memories, and domains
    /// that the user mentioned and has not opened.
    pub async fn list(&self, caller: &Caller, now: Timestamp) -> Result<Review> {
        let contradictions = self.contradictions(caller, now).await?;
        let scope = self.transactions.read(caller, now).await?;
        let (asked, all_domains) = try_join!(
            async { Ok(domain_question::unanswered(&scope, MAX_PER_LIST).await?) },
            domains(&scope)
        )?;
        let (waiting, doubtful, learned) = try_join!(
            review::waiting(&scope, MAX_PER_LIST),
            review::doubtful(&scope, now - STALE_AFTER, now, MAX_PER_LIST),
            review::learned_since(&scope, now - RECENT_PERIOD, now, MAX_PER_LIST),
        )?;
        let show = |version: &Version| as_memory(version, std::slice::from_ref(version), now);
        // The waiting side of a contradiction is listed there, and not a second time by itself.
        let against = |version: &Version| {
            contradictions.iter().any(|pair| pair.against.version.fact == version.fact)
        };
        let alone = waiting.iter().filter(|version| !against(version));
        let (proposed, guessed): (Vec<_>, Vec<_>) =
            alone.partition(|version| version.state == State::Proposed);
        Ok(Review {
            proposals: proposed.into_iter().map(show).collect(),
            guesses: guessed.into_iter().map(show).collect(),
            doubts: doubtful
                .iter()
                .map(|(version, refuted)| DoubtfulMemory {
                    memory: show(version),
                    refuted: *refuted,
                })
                .collect(),
            learned: learned.iter().map(show).collect(),
            contradictions,
            domains: asked
                .into_iter()
                .filter_map(|asked| {
                    let found = all_domains.iter().find(|(d, _)| d.name == asked.domain);
                    let (domain, _) = found.filter(|(d, opened)| d.requires_opt_in && !opened)?;
                    Some(MentionedDomain { domain: domain.clone(), asked_at: asked.asked_at })
                })
                .collect(),
        })
    }
}
