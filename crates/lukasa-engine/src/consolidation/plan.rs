//! What a consolidation run does with the results of comparisons: which facts it merges, and which
//! contradictions it lists for the user. Read in the run's own transaction, so that a fact that has
//! changed since it was compared is left alone.

use std::collections::{BTreeMap, BTreeSet};

use lukasa_core::consolidation::Move;
use lukasa_core::consolidation::pairs::{
    ComparedPair, MAX_MODEL_CONTRADICTIONS, PairDecision, PairReason, decide,
};
use lukasa_core::link::CONTRADICTS;
use lukasa_core::{FactId, Link, Period, Stamp, State, Timestamp, Version};
use lukasa_store::{Batch, Scope, comparison, link};

use super::{Rating, RatingChange};
use crate::error::Result;

/// Maximum number of results that one run applies.
const MAX_RESULTS: i64 = 100;

/// The merges and contradictions of one run.
#[derive(Default)]
pub(super) struct Plan {
    /// The fact that stays, and the one that is merged into it.
    pub(super) merges: Vec<(Version, Version)>,
    /// The older and the newer fact of each contradiction.
    pub(super) contests: Vec<(Version, Version)>,
    /// The results that are dealt with by this run.
    done: Vec<ComparedPair>,
}

/// Reads the results that are not applied yet, and decides about them.
pub(super) async fn load(scope: &Scope, now: Timestamp) -> Result<Plan> {
    let results = comparison::unapplied(scope, MAX_RESULTS).await?;
    if results.is_empty() {
        return Ok(Plan::default());
    }
    let facts: BTreeSet<FactId> =
        results.iter().flat_map(|pair| [pair.older.fact, pair.newer.fact]).collect();
    let facts: Vec<FactId> = facts.into_iter().collect();
    let limit = i64::try_from(facts.len()).unwrap_or(i64::MAX);
    let versions = comparison::active(scope, &facts, now, limit).await?;
    let versions: BTreeMap<FactId, Version> =
        versions.into_iter().map(|version| (version.fact, version)).collect();
    let mut plan = Plan::default();
    // A fact takes part in one change per run; the others are decided by the next one.
    let mut busy: BTreeSet<FactId> = BTreeSet::new();
    let mut by_model = 0;
    for pair in results {
        let (older, newer) = (versions.get(&pair.older.fact), versions.get(&pair.newer.fact));
        let Some((older, newer)) = older.zip(newer) else {
            plan.done.push(pair);
            continue;
        };
        match decide(&pair, older, newer, now) {
            PairDecision::Merge { kept, .. } => {
                if busy.contains(&older.fact) || busy.contains(&newer.fact) {
                    continue;
                }
                busy.extend([older.fact, newer.fact]);
                let both = if kept == older.fact { (older, newer) } else { (newer, older) };
                plan.merges.push((both.0.clone(), both.1.clone()));
            }
            PairDecision::Contest { .. } => {
                if is_linked(scope, older.fact, newer.fact).await? {
                    plan.done.push(pair);
                    continue;
                }
                let merged = plan.merges.iter().flat_map(|(kept, merged)| [kept.fact, merged.fact]);
                let is_merged = merged.into_iter().any(|f| [older.fact, newer.fact].contains(&f));
                let asked = pair.reason == PairReason::Similar;
                if is_merged || (asked && by_model == MAX_MODEL_CONTRADICTIONS) {
                    continue;
                }
                by_model += usize::from(asked);
                busy.extend([older.fact, newer.fact]);
                plan.contests.push((older.clone(), newer.clone()));
            }
            PairDecision::Nothing => {}
        }
        plan.done.push(pair);
    }
    Ok(plan)
}

/// Whether the two facts are listed as a contradiction already.
async fn is_linked(scope: &Scope, a: FactId, b: FactId) -> Result<bool> {
    Ok(link::find_same(scope, a, b, CONTRADICTS).await?.is_some()
        || link::find_same(scope, b, a, CONTRADICTS).await?.is_some())
}

impl Plan {
    /// The links of the contradictions, from the newer fact to the older one.
    pub(super) fn links(&self, stamp: &mut Stamp) -> Vec<Link> {
        let link = |(older, newer): &(Version, Version)| Link {
            id: stamp.ids.link(),
            from: newer.fact,
            to: older.fact,
            relation: CONTRADICTS.into(),
            known: Period::since(stamp.at),
            opened_by: stamp.operation,
            closed_by: None,
            reopens: None,
        };
        self.contests.iter().map(link).collect()
    }

    /// The statements that mark the results of this run as applied.
    pub(super) fn applied(&self, scope: &Scope, at: Timestamp) -> Batch {
        let mut batch = Batch::default();
        self.done.iter().for_each(|pair| comparison::mark_applied(&mut batch, scope, pair, at));
        batch
    }
}

pub(super) fn merge_step(kept: &Version, merged: &Version) -> RatingChange {
    RatingChange {
        fact: merged.fact,
        content: merged.claim.content.clone(),
        what: Move::Merge,
        reason: "another memory says the same, and keeps its evidence".to_owned(),
        before: Some(Rating::of(merged)),
        after: Rating { state: State::Forgotten, ..Rating::of(merged) },
        other: Some(kept.fact),
    }
}

pub(super) fn contest_step(older: &Version, newer: &Version) -> RatingChange {
    RatingChange {
        fact: newer.fact,
        content: newer.claim.content.clone(),
        what: Move::Contradict,
        reason: format!("cannot be true together with: {}", older.claim.content),
        before: Some(Rating::of(newer)),
        after: Rating::of(newer),
        other: Some(older.fact),
    }
}
