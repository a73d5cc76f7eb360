//! Consolidation: what a night makes of what was learned. The rules are in the core; here they are
//! read, applied and written as one operation, which undo reverses as a whole. No words change, no
//! fact goes, and all that is added are notes of what somebody talks about lately: whatever would
//! break that is refused before anything is written.

use jiff::SignedDuration;
use lukasa_core::consolidate::focus::{self, Chat};
use lukasa_core::consolidate::{Move, Step, only_adds_and_ends, step};
use lukasa_core::learn::Transcript;
use lukasa_core::record::Provenance;
use lukasa_core::{
    Changes, Claim, FactId, MemoryType, OperationId, Origin, Period, State, Tier, Timestamp, Verb,
    Version, Voice, record,
};
use lukasa_store::{Scope, consolidation, domain, session};

use crate::error::{Error, Result};
use crate::facts::{Begun, CONTRADICTS, Effect, Outcome};
use crate::{Engine, Request};

/// How many facts one night looks at; the rest waits for the next.
const AT_ONCE: i64 = 2_000;
/// How far back a chat is lately, and how many of its turns are read.
const LATELY: SignedDuration = SignedDuration::from_hours(24 * 30);
const TURNS: i64 = 200;

/// How a fact stands: its state, tier and type, importance and confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stands {
    pub state: State,
    pub tier: Tier,
    pub memory_type: MemoryType,
    pub importance: f32,
    pub confidence: f32,
}

impl Stands {
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

/// What became of one fact, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Restood {
    pub fact: FactId,
    pub content: String,
    pub what: Move,
    pub reason: String,
    /// Nothing if the night has added it.
    pub before: Option<Stands>,
    pub after: Stands,
}

/// What a night did, or would do.
#[derive(Debug, Clone, PartialEq)]
pub struct Night {
    /// The operation to undo it by; nothing if nothing was done.
    pub operation: Option<OperationId>,
    pub looked_at: usize,
    pub steps: Vec<Restood>,
}

impl Engine {
    /// Weighs again what was learned about a user. A dry run says what would become of it.
    pub async fn consolidate(&self, request: &Request, dry_run: bool) -> Result<Night> {
        let mut writing = match self.begin(request).await? {
            Begun::New(writing) => writing,
            // The same request was carried out before; what it did is in its operation.
            Begun::Again(outcome) => {
                let operation = outcome.operation;
                return Ok(Night { operation, looked_at: 0, steps: Vec::new() });
            }
        };
        let learned = consolidation::learned(&writing.scope, CONTRADICTS, AT_ONCE).await?;
        let (mut steps, mut before, mut changes) = (Vec::new(), Vec::new(), Changes::default());
        for standing in &learned {
            let Some(step) = step(standing, writing.stamp.at) else { continue };
            let changed = record::restand(&standing.version, &step, &mut writing.stamp);
            steps.push(restood(&standing.version, step));
            before.push(standing.version.clone());
            changes.closes.extend(changed.closes);
            changes.opens.extend(changed.opens);
        }
        let now = writing.stamp.at;
        for (claim, sure) in lately(&writing.scope, now).await? {
            let valid = Period { from: now, until: Some(focus::until(now)) };
            let provenance = Provenance {
                confidence: Some(sure),
                tier: Tier::Tentative,
                // Only what the person typed themselves was counted.
                ..Provenance::stated(Voice::extracted(Origin::UserTurn))
            };
            let added = record::save(claim, State::Active, valid, provenance, &mut writing.stamp);
            steps.extend(added.opens.iter().map(noted));
            changes.opens.extend(added.opens);
        }
        if !only_adds_and_ends(&before, &changes.opens) {
            let what = "consolidation would have done more than it may".to_owned();
            return Err(Error::Internal(lukasa_store::Error::Corrupt {
                table: "fact_version",
                what,
            }));
        }
        let looked_at = learned.len();
        if dry_run || steps.is_empty() {
            return Ok(Night { operation: None, looked_at, steps });
        }
        let effect = Effect { changes, ..Effect::default() };
        let message = format!("Weighed again: {}", steps.len());
        let outcome = writing
            .finish(Verb::Consolidate, effect, Outcome::of(Verb::Consolidate, message))
            .await?;
        Ok(Night { operation: outcome.operation, looked_at, steps })
    }
}

/// Notes of what the person talks about lately that are not there yet, and how sure each is.
async fn lately(scope: &Scope, now: Timestamp) -> Result<Vec<(Claim, f32)>> {
    let looked_at = i64::try_from(focus::LOOKED_AT).unwrap_or(i64::MAX);
    let chats = consolidation::lately(scope, now - LATELY, looked_at).await?;
    let chats: Vec<Chat> = chats
        .iter()
        .map(|(session, gist)| {
            Chat::of(session, &gist.iter().map(String::as_str).collect::<Vec<_>>())
        })
        .collect();
    // What was said is read only if there is something to be found in it.
    if focus::topics(&chats).is_empty() {
        return Ok(Vec::new());
    }
    let mut typed = Vec::new();
    for chat in &chats {
        let turns = session::turns(scope, &chat.session, 0, TURNS).await?;
        typed.push(chat.typed(&Transcript::of(&turns).typed().collect::<Vec<_>>()));
    }
    let domains = domain::of_tenant(scope).await?;
    let mut notes = Vec::new();
    for topic in focus::topics(&typed) {
        let Some((claim, sure)) = focus::note(&topic, &domains) else { continue };
        if !consolidation::is_noted(scope, &claim, now).await? {
            notes.push((claim, sure));
        }
    }
    Ok(notes)
}

fn noted(version: &Version) -> Restood {
    Restood {
        fact: version.fact,
        content: version.claim.content.clone(),
        what: Move::Note,
        reason: version.claim.reasoning.clone().unwrap_or_default(),
        before: None,
        after: Stands::of(version),
    }
}

fn restood(version: &Version, step: Step) -> Restood {
    let after = Stands {
        state: step.state,
        tier: step.tier,
        memory_type: step.memory_type,
        importance: step.importance,
        confidence: step.confidence,
    };
    let (fact, content) = (version.fact, version.claim.content.clone());
    let before = Some(Stands::of(version));
    Restood { fact, content, what: step.what, reason: step.reason, before, after }
}
