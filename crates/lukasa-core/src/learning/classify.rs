//! Category, type and reasoning of a learned memory, and whether it is staged. They are decided by
//! rules: a model is not asked for them, and what it volunteers counts only for the type and the
//! reasoning.

use lukasa_text::request::is_style;
use lukasa_text::screen::{ground, sensitive};

use super::answer::ProposedMemory;
use super::judge::{ExtractionVerdict, JudgedClaim};
use crate::fact::{Category, Kind, MemoryType, State, Tier};
use crate::fade::INJECT_CONFIDENCE;
use crate::policy::{Admission, Policy};

/// The category of a proposal. A preference or fact about how the user wants to be helped is style.
pub(super) fn category_of(item: &ProposedMemory) -> Category {
    match item.kind {
        Kind::Preference | Kind::Fact if is_style(&item.content) => Category::Style,
        Kind::Fact | Kind::Relationship | Kind::Skill => Category::Profile,
        Kind::Preference | Kind::Habit | Kind::Artifact => Category::Fact,
        Kind::Project | Kind::Context => Category::Context,
    }
}

/// The type of a proposal. A fact about something else than the user is domain knowledge, and how the
/// user wants to be helped is procedural.
pub(super) fn type_of(item: &ProposedMemory, category: Category) -> MemoryType {
    let by_kind = || match item.kind {
        _ if category == Category::Style => MemoryType::Procedural,
        Kind::Project => MemoryType::Task,
        Kind::Context => MemoryType::Episodic,
        Kind::Habit | Kind::Skill => MemoryType::Procedural,
        Kind::Fact | Kind::Artifact if !ground::is_about_user(&item.content) => MemoryType::Domain,
        Kind::Preference | Kind::Fact | Kind::Artifact | Kind::Relationship => MemoryType::Profile,
    };
    item.memory_type.unwrap_or_else(by_kind)
}

/// The reason that the model gives for a proposal, if it may be stored.
pub(super) fn given_reasoning(item: &ProposedMemory) -> Option<String> {
    item.reasoning.clone().filter(|text| sensitive::category(text).is_none())
}

/// The verdict about a proposal with the reasoning of the claim, as the policy and the state that was
/// decided on say.
pub(super) fn complete(
    verdict: ExtractionVerdict,
    item: &ProposedMemory,
    policy: &Policy,
) -> ExtractionVerdict {
    let mut verdict = stage(verdict, policy);
    match &mut verdict {
        // If it cannot be carried out as a change of a stated memory, it is a candidate.
        ExtractionVerdict::Restate { kept, .. } => {
            explain(kept, item, State::Candidate, Tier::Candidate);
        }
        ExtractionVerdict::Keep(kept)
        | ExtractionVerdict::Change { kept, .. }
        | ExtractionVerdict::Contest { kept, .. }
        | ExtractionVerdict::Reinforce { kept, .. } => {
            let (state, tier) = (kept.state, kept.tier);
            explain(kept, item, state, tier);
        }
        ExtractionVerdict::Leave(_) => {}
    }
    verdict
}

/// Sets why a claim is stored as it is, unless the model gave a reason: how certain the words are and
/// what follows.
fn explain(kept: &mut JudgedClaim, item: &ProposedMemory, state: State, tier: Tier) {
    let certainty = match item.confidence {
        sure if sure >= 0.8 => "said plainly",
        hedged if hedged >= 0.5 => "said with reservations",
        _ => "inferred from what was said",
    };
    let follows = match state {
        State::Proposed => "needs consent",
        State::Candidate if tier == Tier::Candidate => "waits for more evidence",
        State::Candidate => "a candidate until the next consolidation",
        _ if kept.confidence >= INJECT_CONFIDENCE => "may be used in answers",
        _ => "found by search only",
    };
    kept.claim.reasoning.get_or_insert_with(|| format!("{certainty}; {follows}"));
}

/// The verdict under a policy that may stage what is learned: a memory that would be active waits as
/// a candidate of its own tier, and one that would change another is a candidate beside it.
fn stage(verdict: ExtractionVerdict, policy: &Policy) -> ExtractionVerdict {
    let waits = |kept: &JudgedClaim| {
        let admission = policy.admission_in(kept.claim.domain.as_deref());
        admission == Admission::Staged && kept.state == State::Active
    };
    match verdict {
        ExtractionVerdict::Keep(kept) if waits(&kept) => {
            ExtractionVerdict::Keep(JudgedClaim { state: State::Candidate, ..kept })
        }
        ExtractionVerdict::Change { fact, kept } if waits(&kept) => {
            let (state, tier) = (State::Candidate, Tier::Candidate);
            ExtractionVerdict::Contest { fact, kept: JudgedClaim { state, tier, ..kept } }
        }
        verdict => verdict,
    }
}
