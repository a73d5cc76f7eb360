//! Review: everything the user may be asked about, in one list. Nothing is decided here.

mod contradiction;

use futures_util::try_join;
use jiff::SignedDuration;
use lukasa_core::fade::STALE_AFTER;
use lukasa_core::{Caller, Domain, State, Timestamp, Version};
use lukasa_store::domain_question::{self, AskedDomain};
use lukasa_store::{Scope, directory, review};

use crate::directory::domains;
use crate::error::Result;
use crate::memory::{Memory, as_memory};
use crate::policy::Policies;
use crate::transaction::Transactions;

pub use contradiction::{Contradiction, ContradictionChoice};
use contradiction::{MAX_CONTRADICTIONS, list_contradictions};

/// Maximum number of entries per list.
const MAX_PER_LIST: i64 = 50;
/// Memories learned within this time are listed as recently learned.
const RECENT_PERIOD: SignedDuration = SignedDuration::from_hours(24 * 30);
/// How long after an answer the user is invited to the next review.
const REVIEW_PERIOD: SignedDuration = SignedDuration::from_hours(24 * 30);

/// A memory that may no longer be true.
#[derive(Debug, Clone, PartialEq)]
pub struct OutdatedMemory {
    pub memory: Memory,
    /// Whether its use showed it to be wrong; otherwise it is only old.
    pub refuted: bool,
}

/// A domain that the user mentioned, or whose consent the preset asks for, and has not opened.
#[derive(Debug, Clone, PartialEq)]
pub struct MentionedDomain {
    pub domain: Domain,
    pub asked_at: Timestamp,
    /// Whether the question is the consent that the preset asks for: to open the domain, and to use
    /// what is inferred about it.
    pub consent: bool,
}

/// How many questions of each kind there are. The lists of a review have the first of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReviewCounts {
    pub proposals: usize,
    pub contradictions: usize,
    pub outdated: usize,
    pub candidates: usize,
    pub learned: usize,
}

/// Whether it is time to go through what is remembered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PeriodicReview {
    /// When the user last answered a question of the review.
    pub last: Option<Timestamp>,
    /// Whether that, or the creation of the user, is thirty days ago, and something was learned since.
    pub due: bool,
    /// How many memories were learned since.
    pub learned_since: usize,
}

/// What the user may be asked about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Review {
    pub counts: ReviewCounts,
    pub proposals: Vec<Memory>,
    pub contradictions: Vec<Contradiction>,
    pub outdated: Vec<OutdatedMemory>,
    pub candidates: Vec<Memory>,
    pub learned: Vec<Memory>,
    pub domains: Vec<MentionedDomain>,
    pub periodic: PeriodicReview,
}

/// What waits for an answer of the user.
#[derive(Clone)]
pub struct Reviews {
    transactions: Transactions,
    policies: Policies,
}

impl Reviews {
    pub(crate) fn new(transactions: Transactions, policies: Policies) -> Self {
        Self { transactions, policies }
    }

    /// Proposals, contradictions, outdated memories, candidates, recently learned memories, and domains
    /// that the user mentioned and has not opened.
    pub async fn list(&self, caller: &Caller, now: Timestamp) -> Result<Review> {
        let scope = self.transactions.read(caller, now).await?;
        let contradictions = list_contradictions(&scope, now).await?;
        let (mut asked, all_domains, (policy, _)) = try_join!(
            async { Ok(domain_question::unanswered(&scope, MAX_PER_LIST).await?) },
            domains(&scope),
            self.policies.load(&scope)
        )?;
        let (stale, recent) = (now - STALE_AFTER, now - RECENT_PERIOD);
        let consents = policy.missing_consents();
        for name in &consents {
            let is_asked = asked.iter().any(|asked| asked.domain == *name);
            if !is_asked && !domain_question::is_answered(&scope, name).await? {
                asked.push(AskedDomain { domain: (*name).to_owned(), asked_at: now });
            }
        }
        let (waiting, outdated, learned, periodic) = try_join!(
            review::waiting(&scope, now, MAX_PER_LIST),
            review::outdated(&scope, stale, now, MAX_PER_LIST),
            review::learned_since(&scope, recent, now, MAX_PER_LIST),
            periodic_review(&scope, now),
        )?;
        // Counted only if the list has not all of them.
        let is_full = |len: usize| i64::try_from(len).is_ok_and(|len| len >= MAX_PER_LIST);
        let has_more =
            i64::try_from(contradictions.len()).is_ok_and(|len| len >= MAX_CONTRADICTIONS);
        let (counted_pairs, counted_waiting, counted_outdated, counted_learned) = try_join!(
            count_if(has_more, review::count_contradictions(&scope, now)),
            count_if(is_full(waiting.len()), review::count_waiting(&scope, now)),
            count_if(is_full(outdated.len()), review::count_outdated(&scope, stale, now)),
            count_if(is_full(learned.len()), review::count_learned(&scope, recent, now)),
        )?;
        let show = |version: &Version| as_memory(version, std::slice::from_ref(version), now);
        let (proposed, candidates): (Vec<_>, Vec<_>) =
            waiting.iter().partition(|version| version.state == State::Proposed);
        let (proposals, counted_candidates) = counted_waiting.unzip();
        let count = |counted: Option<i64>, listed: usize| {
            counted.map_or(listed, |counted| usize::try_from(counted).unwrap_or(listed))
        };
        let counts = ReviewCounts {
            proposals: count(proposals, proposed.len()),
            contradictions: count(counted_pairs, contradictions.len()),
            outdated: count(counted_outdated, outdated.len()),
            candidates: count(counted_candidates, candidates.len()),
            learned: count(counted_learned, learned.len()),
        };
        Ok(Review {
            counts,
            proposals: proposed.into_iter().map(show).collect(),
            candidates: candidates.into_iter().map(show).collect(),
            outdated: outdated
                .iter()
                .map(|(version, refuted)| OutdatedMemory {
                    memory: show(version),
                    refuted: *refuted,
                })
                .collect(),
            learned: learned.iter().map(show).collect(),
            contradictions,
            periodic,
            domains: asked
                .into_iter()
                .filter_map(|asked| {
                    let found = all_domains.iter().find(|(d, _)| d.name == asked.domain);
                    let (domain, _) = found.filter(|(d, opened)| d.requires_opt_in && !opened)?;
                    let consent = consents.contains(&domain.name.as_str());
                    let (domain, asked_at) = (domain.clone(), asked.asked_at);
                    Some(MentionedDomain { domain, asked_at, consent })
                })
                .collect(),
        })
    }
}

async fn periodic_review(scope: &Scope, now: Timestamp) -> lukasa_store::Result<PeriodicReview> {
    let (last, user) = try_join!(review::last_answer(scope), directory::me(scope))?;
    let Some(since) = last.or(user.map(|user| user.created_at)) else {
        return Ok(PeriodicReview::default());
    };
    let learned_since = review::count_learned(scope, since, now).await?;
    let learned_since = usize::try_from(learned_since).unwrap_or_default();
    let due = learned_since > 0 && now.duration_since(since) >= REVIEW_PERIOD;
    Ok(PeriodicReview { last, due, learned_since })
}

/// The count, or `None` if it is not wanted.
async fn count_if<T>(
    wanted: bool,
    count: impl Future<Output = lukasa_store::Result<T>>,
) -> lukasa_store::Result<Option<T>> {
    if wanted { count.await.map(Some) } else { Ok(None) }
}
