//! Consolidation of learned facts. The rules are in the core; this module loads the facts, applies
//! the rules and writes the result as one operation, which undo reverses as a whole. No content
//! changes, no fact is removed, and the only additions are notes of what the user talks about
//! lately: a result that would break this is refused before anything is written.

use jiff::SignedDuration;
use lukasa_core::consolidation::focus::{self, SessionTopics};
use lukasa_core::consolidation::{Move, RatingUpdate, only_adds_and_ends, step};
use lukasa_core::learning::Transcript;
use lukasa_core::link::CONTRADICTS;
use lukasa_core::record::Provenance;
use lukasa_core::{
    Changes, Claim, FactId, MemoryType, OperationId, Origin, Period, State, Tier, Timestamp, Verb,
    Version, Voice, record,
};
use lukasa_store::{Scope, consolidation, domain, session};

use crate::error::{Error, Result};
use crate::request::Request;
use crate::transaction::{Effect, Outcome, Transactions, WriteStart};

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
}

/// Report of a consolidation run or dry run.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsolidationReport {
    /// The operation to undo; `None` if nothing was written.
    pub operation: Option<OperationId>,
    pub looked_at: usize,
    pub steps: Vec<RatingChange>,
}

/// Consolidation of one user's memory.
#[derive(Clone)]
pub struct Consolidator {
    transactions: Transactions,
}

impl Consolidator {
    pub(crate) fn new(transactions: Transactions) -> Self {
        Self { transactions }
    }

    /// Updates the ratings of the facts learned about a user. A dry run only reports the changes.
    pub async fn consolidate(
        &self,
        request: &Request,
        dry_run: bool,
    ) -> Result<ConsolidationReport> {
        let mut writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            // A repeated request: the changes are recorded in the first one's operation.
            WriteStart::Repeated(outcome) => {
                let operation = outcome.operation;
                return Ok(ConsolidationReport { operation, looked_at: 0, steps: Vec::new() });
            }
        };
        let learned = consolidation::learned(&writing.scope, CONTRADICTS, MAX_FACTS).await?;
        let (mut steps, mut before, mut changes) = (Vec::new(), Vec::new(), Changes::default());
        for fact in &learned {
            let Some(step) = step(fact, writing.stamp.at) else { continue };
            let changed = record::update_rating(&fact.version, &step, &mut writing.stamp);
            steps.push(rating_change(&fact.version, step));
            before.push(fact.version.clone());
            changes.closes.extend(changed.closes);
            changes.opens.extend(changed.opens);
        }
        let now = writing.stamp.at;
        for (claim, confidence) in recent_topics(&writing.scope, now).await? {
            let valid = Period { from: now, until: Some(focus::note_expires_at(now)) };
            let provenance = Provenance {
                confidence: Some(confidence),
                tier: Tier::Tentative,
                // Only what the user typed themselves was counted.
                ..Provenance::stated(Voice::extracted(Origin::UserTurn))
            };
            let added = record::save(claim, State::Active, valid, provenance, &mut writing.stamp);
            steps.extend(added.opens.iter().map(added_note));
            changes.opens.extend(added.opens);
        }
        if !only_adds_and_ends(&before, &changes.opens) {
            let what = "consolidation tried to change more than ratings and notes".to_owned();
            return Err(Error::Internal(lukasa_store::Error::Corrupt {
                table: "fact_version",
                what,
            }));
        }
        let looked_at = learned.len();
        if dry_run || steps.is_empty() {
            return Ok(ConsolidationReport { operation: None, looked_at, steps });
        }
        let effect = Effect { changes, ..Effect::default() };
        let message = format!("Ratings updated: {}", steps.len());
        let outcome = writing
            .finish(Verb::Consolidate, effect, Outcome::of(Verb::Consolidate, message))
            .await?;
        Ok(ConsolidationReport { operation: outcome.operation, looked_at, steps })
    }
}

/// New notes of what the user talks about lately, each with its confidence.
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
        typed.push(chat.typed(&Transcript::of(&turns).typed().collect::<Vec<_>>()));
    }
    let domains = domain::of_tenant(scope).await?;
    let mut notes = Vec::new();
    for topic in focus::topics(&typed) {
        let Some((claim, confidence)) = focus::topic_claim(&topic, &domains) else { continue };
        if !consolidation::is_noted(scope, &claim, now).await? {
            notes.push((claim, confidence));
        }
    }
    Ok(notes)
}

fn added_note(version: &Version) -> RatingChange {
    RatingChange {
        fact: version.fact,
        content: version.claim.content.clone(),
        what: Move::Note,
        reason: version.claim.reasoning.clone().unwrap_or_default(),
        before: None,
        after: Rating::of(version),
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
    RatingChange { fact, content, what: step.what, reason: step.reason, before, after }
}
