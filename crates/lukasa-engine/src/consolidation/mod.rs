//! Consolidation of learned facts. The rules are in the core; this module loads the facts, applies
//! the rules and writes the result as one operation, which undo reverses as a whole. No content
//! changes, no fact is removed, and the only additions are memories of what the user talks about
//! recently: a result that would break this is refused before anything is written.
//!
//! Before the write, `comparison` compares changed memories with others, partly with a chat model;
//! `plan` decides what follows from the results.

mod comparison;
mod plan;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::SignedDuration;
use lukasa_core::consolidation::focus::{self, SessionTopics};
use lukasa_core::consolidation::{Move, RatingUpdate, only_adds_and_ends, step};
use lukasa_core::link::CONTRADICTS;
use lukasa_core::record::Provenance;
use lukasa_core::{
    Changes, Claim, FactId, MemoryType, OperationId, Origin, Period, State, Tier, Timestamp, Verb,
    Version, Voice, record,
};
use lukasa_store::{Scope, consolidation, domain, session};

use crate::chat::ChatModels;
use crate::embeddings::Embeddings;
use crate::error::{Error, Result};
use crate::observations::Observations;
use crate::parts::Parts;
use crate::policy::Policies;
use crate::request::Request;
use crate::transaction::{Effect, Outcome, Transactions, WriteStart};
use crate::transcript::TurnsToRead;

/// Maximum number of facts per run; the rest waits for the next run.
const MAX_FACTS: i64 = 2_000;
/// How far back a session counts as recent, and how many of its turns are read.
const RECENT_PERIOD: SignedDuration = SignedDuration::from_hours(24 * 30);
const MAX_TURNS: i64 = 200;

/// Rating of a fact: its state, tier and type, importance and confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rating {
    pub state: State,
    pub tier: Tier,
    pub memory_type: MemoryType,
    pub importance: f32,
    pub confidence: f32,
}

impl Rating {
    fn of(version: &Version) -> Self {
        Self {
            state: version.state,
            tier: version.tier,
            memory_type: version.claim.memory_type,
            importance: version.claim.importance,
            confidence: version.confidence.unwrap_or(0.5),
        }
    }
}

/// Change of one fact's rating, and the reason.
#[derive(Debug, Clone, PartialEq)]
pub struct RatingChange {
    pub fact: FactId,
    pub content: String,
    pub what: Move,
    pub reason: String,
    /// `None` if this run added the fact.
    pub before: Option<Rating>,
    pub after: Rating,
    /// The fact it was merged into or contradicts.
    pub other: Option<FactId>,
}

/// Report of a consolidation run or dry run.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsolidationReport {
    /// The operation to undo; `None` if nothing was written.
    pub operation: Option<OperationId>,
    pub looked_at: usize,
    pub steps: Vec<RatingChange>,
    /// How many memories were made of observations that repeat, or promoted because they do.
    pub observed: usize,
    /// The operation that did, to be undone separately.
    pub observed_operation: Option<OperationId>,
}

impl ConsolidationReport {
    fn new(operation: Option<OperationId>, looked_at: usize, steps: Vec<RatingChange>) -> Self {
        Self { operation, looked_at, steps, observed: 0, observed_operation: None }
    }
}

/// Consolidation of one user's memory.
#[derive(Clone)]
pub struct Consolidator {
    parts: Arc<Parts>,
    transactions: Transactions,
    policies: Policies,
    chat: ChatModels,
    embeddings: Embeddings,
    observations: Observations,
}

impl Consolidator {
    pub(crate) fn new(
        parts: Arc<Parts>,
        transactions: Transactions,
        policies: Policies,
        chat: ChatModels,
        embeddings: Embeddings,
        observations: Observations,
    ) -> Self {
        Self { parts, transactions, policies, chat, embeddings, observations }
    }

    /// Consolidates on request what the daily job does: makes memories of the patterns in
    /// observations, and then consolidates. A dry run only reports the changes.
    pub async fn run_now(&self, request: &Request, dry_run: bool) -> Result<ConsolidationReport> {
        // A pattern is noted once, so repeating this part needs no key; the other one has it.
        let counting = Request { idempotency: None, ..request.clone() };
        let (noted, observed) = self.observations.count_patterns(&counting, dry_run).await?;
        let report = self.consolidate(request, dry_run).await?;
        Ok(ConsolidationReport { observed, observed_operation: noted.operation, ..report })
    }

    /// Updates the ratings of the facts learned about a user, merges repeated ones, and lists
    /// contradictions for review. A dry run only reports the changes; what a model says about pairs
    /// of memories is stored for the next run.
    pub async fn consolidate(
        &self,
        request: &Request,
        dry_run: bool,
    ) -> Result<ConsolidationReport> {
        self.compare(request).await?;
        let mut writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            // A repeated request: the changes are recorded in the first one's operation.
            WriteStart::Repeated(outcome) => {
                let operation = outcome.operation;
                return Ok(ConsolidationReport::new(operation, 0, Vec::new()));
            }
        };
        let learned = consolidation::learned(&writing.scope, CONTRADICTS, MAX_FACTS).await?;
        let now = writing.stamp.at;
        let plan = plan::load(&writing.scope, now).await?;
        let merged: BTreeSet<FactId> =
            plan.merges.iter().flat_map(|(kept, merged)| [kept.fact, merged.fact]).collect();
        let (mut steps, mut before, mut changes) = (Vec::new(), Vec::new(), Changes::default());
        // A merged fact is rated by the next run, with all of its evidence.
        for fact in learned.iter().filter(|fact| !merged.contains(&fact.version.fact)) {
            let Some(step) = step(fact, writing.stamp.at) else { continue };
            let changed = record::update_rating(&fact.version, &step, &mut writing.stamp);
            steps.push(rating_change(&fact.version, step));
            before.push(fact.version.clone());
            changes.closes.extend(changed.closes);
            changes.opens.extend(changed.opens);
        }
        for (kept, merged) in &plan.merges {
            let changed = record::merge(kept, merged, &mut writing.stamp);
            steps.push(plan::merge_step(kept, merged));
            before.extend([kept.clone(), merged.clone()]);
            changes.closes.extend(changed.closes);
            changes.opens.extend(changed.opens);
        }
        for (claim, confidence) in recent_topics(&writing.scope, now).await? {
            let valid = Period { from: now, until: Some(focus::topic_expires_at(now)) };
            let provenance = Provenance {
                confidence: Some(confidence),
                tier: Tier::Tentative,
                // Only what the user typed themselves was counted.
                ..Provenance::stated(Voice::extracted(Origin::UserTurn))
            };
            let added = record::save(claim, State::Active, valid, provenance, &mut writing.stamp);
            steps.extend(added.opens.iter().map(added_topic));
            changes.opens.extend(added.opens);
        }
        if !only_adds_and_ends(&before, &changes.opens) {
            let what =
                "consolidation tried to change more than ratings and recent topics".to_owned();
            return Err(Error::Internal(lukasa_store::Error::Corrupt {
                table: "fact_version",
                what,
            }));
        }
        let looked_at = learned.len();
        steps.extend(plan.contests.iter().map(|(older, newer)| plan::contest_step(older, newer)));
        if dry_run {
            return Ok(ConsolidationReport::new(None, looked_at, steps));
        }
        let with = plan.applied(&writing.scope, now);
        if steps.is_empty() {
            writing.close(with).await?;
            return Ok(ConsolidationReport::new(None, looked_at, steps));
        }
        let opens_links = plan.links(&mut writing.stamp);
        let effect = Effect { changes, opens_links, with, ..Effect::default() };
        let message = format!("Consolidated: {}", steps.len());
        let outcome = writing
            .finish(Verb::Consolidate, effect, Outcome::of(Verb::Consolidate, message))
            .await?;
        Ok(ConsolidationReport::new(outcome.operation, looked_at, steps))
    }
}

/// New claims about what the user has talked about recently, each with its confidence.
async fn recent_topics(scope: &Scope, now: Timestamp) -> Result<Vec<(Claim, f32)>> {
    let looked_at = i64::try_from(focus::MAX_RECENT_SESSIONS).unwrap_or(i64::MAX);
    let chats = consolidation::recent_sessions(scope, now - RECENT_PERIOD, looked_at).await?;
    let chats: Vec<SessionTopics> = chats
        .iter()
        .map(|(session, gist)| {
            SessionTopics::of(session, &gist.iter().map(String::as_str).collect::<Vec<_>>())
        })
        .collect();
    // Load the turns only if the summaries contain a recurring topic.
    if focus::topics(&chats).is_empty() {
        return Ok(Vec::new());
    }
    let mut typed = Vec::new();
    for chat in &chats {
        let turns = session::turns(scope, &chat.session, 0, MAX_TURNS).await?;
        let transcript = TurnsToRead::load(scope, turns).await?.transcript().await?;
        typed.push(chat.typed(&transcript.typed().collect::<Vec<_>>()));
    }
    let domains = domain::of_tenant(scope).await?;
    let mut claims = Vec::new();
    for topic in focus::topics(&typed) {
        let Some((claim, confidence)) = focus::topic_claim(&topic, &domains) else { continue };
        if !consolidation::is_known(scope, &claim, now).await? {
            claims.push((claim, confidence));
        }
    }
    Ok(claims)
}

fn added_topic(version: &Version) -> RatingChange {
    RatingChange {
        fact: version.fact,
        content: version.claim.content.clone(),
        what: Move::Topic,
        reason: version.claim.reasoning.clone().unwrap_or_default(),
        before: None,
        after: Rating::of(version),
        other: None,
    }
}

fn rating_change(version: &Version, step: RatingUpdate) -> RatingChange {
    let after = Rating {
        state: step.state,
        tier: step.tier,
        memory_type: step.memory_type,
        importance: step.importance,
        confidence: step.confidence,
    };
    let (fact, content) = (version.fact, version.claim.content.clone());
    let before = Some(Rating::of(version));
    let (what, reason, other) = (step.what, step.reason, None);
    RatingChange { fact, content, what, reason, before, after, other }
}
