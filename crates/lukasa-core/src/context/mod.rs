//! Prompt context: which memories are injected, in which words, within which budget.
//!
//! The context has two parts. The *baseline* is the same for a whole session: rules that must be
//! respected, then the most important memories. The *dynamic* part follows it, per message. The
//! baseline is filled first and never shrinks in favour of the dynamic part.

pub mod block;
mod compiled;
mod conflict;
mod line;
mod section;
pub mod selective;

use crate::fact::{Category, Force, Tier, Version};
use crate::fade::{ConfidenceInputs, INJECT_CONFIDENCE, importance_at};
use crate::origin::Origin;
use crate::recall::Facets;
use crate::time::Timestamp;

pub use conflict::RuleConflict;
pub use line::{EarlierClaim, EarlierClaims, claim_line, listed_line};
pub use section::Section;

/// Token budget of a context and its shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub total: usize,
    /// Tokens reserved for the dynamic part, even if the baseline could fill everything.
    pub dynamic: usize,
}

impl Budget {
    pub const COMPACT: usize = 1_500;
    pub const STANDARD: usize = 4_000;
    pub const DEEP: usize = 16_000;
    /// Upper bound, whatever the caller asks for.
    const MAX: usize = 1_000_000;
    /// Memory never takes more than this percentage of a model's context window.
    const WINDOW_PERCENT: usize = 15;

    /// A budget of this many tokens, or as many as the context window allows.
    pub fn of(tokens: usize, window: Option<usize>) -> Self {
        let max_tokens = window
            .map_or(Self::MAX, |window| window.min(Self::MAX * 100) * Self::WINDOW_PERCENT / 100);
        let total = tokens.min(max_tokens).min(Self::MAX);
        Self { total, dynamic: total / 4 }
    }

    /// The tokens that rules may take in the baseline, apart from those that safety depends on.
    pub fn rules(&self) -> usize {
        self.total * RULES_PERCENT / 100
    }

    /// The tokens that lines from assistants may take in the baseline.
    pub fn assistant_share(&self) -> usize {
        self.total * ASSISTANT_PERCENT / 100
    }

    /// The tokens that lines of a category may take in the baseline: 300, 500, 200 and 500 of
    /// 1,500. A smaller budget takes nothing from these shares: the categories are filled in their
    /// order, so that the last ones are dropped first.
    pub fn category(&self, category: Category) -> usize {
        let share = match category {
            Category::Profile => 300,
            Category::Context => 500,
            Category::Style => 200,
            Category::Fact => 500,
        };
        self.total.max(Self::COMPACT) * share / Self::COMPACT
    }
}

/// Whether a memory may be injected at a given time. Memories from tools, documents and imports are
/// found by recall, but not injected until the user agrees to them. Strong patterns in observations
/// are, as tentative.
pub fn may_inject(facets: &Facets, at: Timestamp) -> bool {
    let sure = facets.firm || ConfidenceInputs::from(facets).at(at) >= INJECT_CONFIDENCE;
    facets.tier != Tier::Candidate && facets.own && sure
}

/// The same as [`may_inject`], for a version loaded from the database.
pub fn is_sure_enough(version: &Version, at: Timestamp) -> bool {
    let sure = version.is_firm() || ConfidenceInputs::from(version).at(at) >= INJECT_CONFIDENCE;
    version.tier != Tier::Candidate && is_own(version) && sure
}

/// Whether the memory was said by the user or the user's assistant, or the user agreed to it, or it is
/// a strong pattern in observations.
pub fn is_own(version: &Version) -> bool {
    let least = if version.extracted { Origin::UserTurn } else { Origin::Assistant };
    version.consented_at.is_some()
        || version.origin >= least
        || (is_unconfirmed_pattern(version)
            && version.tier == Tier::Strong
            && version.claim.domain.is_none())
}

/// Whether the memory is a pattern in observations that the user has not agreed to. Patterns have no
/// domain unless they are of a sensitive one.
pub fn is_unconfirmed_pattern(version: &Version) -> bool {
    version.extracted && version.origin == Origin::Observed && version.consented_at.is_none()
}

/// The percentage of the baseline that rules take at most.
const RULES_PERCENT: usize = 40;
/// The percentage of the baseline that lines from assistants take at most.
const ASSISTANT_PERCENT: usize = 30;

/// Order of the baseline: rules, then memories from the user, then memories from assistants; within
/// each by importance at a given time and tier, then freshness.
pub fn precedence(a: &Facets, b: &Facets, at: Timestamp) -> std::cmp::Ordering {
    let hard = |facets: &Facets| facets.force == Force::Hard && !facets.from_assistant;
    let weight = |facets: &Facets| importance_at(facets, at) * facets.tier_weight();
    hard(b)
        .cmp(&hard(a))
        .then(a.from_assistant.cmp(&b.from_assistant))
        .then(weight(b).total_cmp(&weight(a)))
        .then(b.fresh_at.cmp(&a.fresh_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degraded_and_left_out_words_of_the_api_are_stable() {
        use crate::context::block::LeftOutReason;
        use crate::recall::Degraded;
        let words: Vec<&str> = Degraded::ALL.iter().map(|part| part.as_str()).collect();
        assert_eq!(words, ["embedder", "reranker", "older_turns", "database"]);
        let words: Vec<&str> = LeftOutReason::ALL.iter().map(|reason| reason.as_str()).collect();
        let expected = [
            "over the budget",
            "over the category's budget",
            "in the baseline already",
            "not sure enough",
            "imported, not approved",
            "not approved",
            "not relevant enough",
            "only a question",
            "changed since",
            "included by a memory or a turn",
            "an instruction of another member",
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn tentative_memory_comes_after_a_strong_one_of_the_same_importance() {
        let strong = Facets { firm: false, importance: 0.6, ..crate::recall::tests::facets() };
        let tentative = Facets { tier: Tier::Tentative, ..strong.clone() };
        let at = strong.fresh_at;
        assert_eq!(precedence(&strong, &tentative, at), std::cmp::Ordering::Less);
        assert_eq!(precedence(&tentative, &strong, at), std::cmp::Ordering::Greater);
        let agreed = Facets { firm: true, ..tentative.clone() };
        assert_eq!(precedence(&agreed, &strong, at), std::cmp::Ordering::Equal);
        let important = Facets { importance: 0.9, ..tentative };
        assert_eq!(precedence(&important, &strong, at), std::cmp::Ordering::Less);
    }

    #[test]
    fn strong_pattern_is_injected_unless_it_is_sensitive() {
        use crate::fact::tests::version;
        use crate::origin::Voice;
        let mut pattern = version(Voice::extracted(Origin::Observed));
        (pattern.tier, pattern.confidence) = (Tier::Strong, Some(0.9));
        let at = pattern.known.from;
        assert!(is_sure_enough(&pattern, at));
        pattern.tier = Tier::Tentative;
        assert!(!is_sure_enough(&pattern, at), "five times on three days are not enough");
        pattern.tier = Tier::Strong;
        pattern.claim.domain = Some("finance".into());
        assert!(!is_sure_enough(&pattern, at), "only with the user's consent");
        pattern.consented_at = Some(at);
        assert!(is_sure_enough(&pattern, at));
        let mut imported = version(Voice::extracted(Origin::Import));
        (imported.tier, imported.confidence) = (Tier::Strong, Some(0.9));
        assert!(!is_sure_enough(&imported, at));
    }

    #[test]
    fn unconfirmed_memories_of_others_are_not_injected() {
        use crate::context::block::LeftOutReason;
        use crate::fact::tests::version;
        use crate::origin::Voice;
        for (voice, fine) in [
            (Voice::stated(Origin::UserSaid), true),
            (Voice::stated(Origin::Assistant), true),
            (Voice::stated(Origin::Tool), false),
            (Voice::stated(Origin::Import), false),
            (Voice::extracted(Origin::UserTurn), true),
            (Voice::extracted(Origin::Assistant), false),
            (Voice::extracted(Origin::Document), false),
        ] {
            let mut said = version(voice);
            assert_eq!(is_sure_enough(&said, said.known.from), fine, "{voice:?}");
            let reason = match voice.origin {
                Origin::Import | Origin::Document => LeftOutReason::ImportNotApproved,
                _ if fine => LeftOutReason::NotSure,
                _ => LeftOutReason::NotApproved,
            };
            assert_eq!(LeftOutReason::of_unused(&said), reason, "{voice:?}");
            said.consented_at = Some(said.known.from);
            assert_eq!(LeftOutReason::of_unused(&said), LeftOutReason::NotSure, "{voice:?}");
            assert!(is_sure_enough(&said, said.known.from), "{voice:?}");
        }
    }

    #[test]
    fn memory_budget_is_limited_by_the_context_window() {
        assert_eq!(Budget::of(Budget::COMPACT, None).total, 1_500);
        assert_eq!(Budget::of(Budget::DEEP, Some(32_000)).total, 4_800);
        assert_eq!(Budget::of(Budget::COMPACT, Some(1_000)).total, 150);
        assert_eq!(Budget::of(Budget::COMPACT, Some(usize::MAX)).total, 1_500);
        assert_eq!(Budget::of(usize::MAX, Some(usize::MAX)).category(Category::Fact), 333_333);
        let compact = Budget::of(Budget::COMPACT, None);
        let categories: usize = Category::ALL.iter().map(|c| compact.category(*c)).sum();
        assert_eq!(categories, 1_500);
        assert_eq!(Budget::of(Budget::STANDARD, None).category(Category::Profile), 800);
    }
}
