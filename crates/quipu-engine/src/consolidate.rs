//! Consolidation: what a night makes of what was learned. The rules are in the core; here they are
//! read, applied and written as one operation, which undo reverses as a whole. No words change and
//! no fact goes: whatever would break that is refused before anything is written.

use quipu_core::consolidate::{Move, Step, only_restands, step};
use quipu_core::{Changes, FactId, OperationId, State, Tier, Verb, Version, record};
use quipu_store::consolidation;

use crate::error::{Error, Result};
use crate::facts::{Begun, CONTRADICTS, Effect, Outcome};
use crate::{Engine, Request};

/// How many facts one night looks at; the rest waits for the next.
const AT_ONCE: i64 = 2_000;

/// How a fact stands: its state and tier, importance and confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stands {
    pub state: State,
    pub tier: Tier,
    pub importance: f32,
    pub confidence: f32,
}

/// What became of one fact, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Restood {
    pub fact: FactId,
    pub content: String,
    pub what: Move,
    pub reason: String,
    pub before: Stands,
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
        if !only_restands(&before, &changes.opens) {
            let what = "consolidation would have changed more than how facts stand".to_owned();
            return Err(Error::Internal(quipu_store::Error::Corrupt {
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

fn restood(version: &Version, step: Step) -> Restood {
    let before = Stands {
        state: version.state,
        tier: version.tier,
        importance: version.claim.importance,
        confidence: version.confidence.unwrap_or(0.5),
    };
    let after = Stands {
        state: step.state,
        tier: step.tier,
        importance: step.importance,
        confidence: step.confidence,
    };
    let (fact, content) = (version.fact, version.claim.content.clone());
    Restood { fact, content, what: step.what, reason: step.reason, before, after }
}
