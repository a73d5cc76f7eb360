//! What goes into a prompt: which memories, in which words, within which budget.
//!
//! The context has two parts. The *baseline* is the same for a whole session: rules that must be
//! respected, then what is most important to know. The *dynamic* part follows it, turn by turn. The
//! baseline is filled first and never shrinks for the sake of the other.

pub mod block;
pub mod line;
pub mod selective;
pub mod tokens;

use crate::fact::{Category, Force, Tier, Version};
use crate::fade::Belief;
use crate::origin::Origin;
use crate::recall::Facets;
use crate::time::Timestamp;

/// Below this, what was extracted is found by recall but not put into a prompt unasked (R178).
pub const INJECT_CONFIDENCE: f32 = 0.7;

/// How many tokens may be spent, and on what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub total: usize,
    /// What the baseline leaves to the dynamic part, even if it could fill everything itself.
    pub dynamic: usize,
}

impl Budget {
    pub const COMPACT: usize = 1_500;
    pub const STANDARD: usize = 4_000;
    pub const DEEP: usize = 16_000;
    /// No budget is larger, whatever a caller asks for.
    const MAX: usize = 1_000_000;
    /// Memory never takes more of a model's window than this many hundredths.
    const SHARE_OF_WINDOW: usize = 15;

    /// So many tokens, or as many as the window allows.
    pub fn of(tokens: usize, window: Option<usize>) -> Self {
        let most = window
            .map_or(Self::MAX, |window| window.min(Self::MAX * 100) * Self::SHARE_OF_WINDOW / 100);
        let total = tokens.min(most).min(Self::MAX);
        Self { total, dynamic: total / 4 }
    }

    /// What lines told by assistants may take in the baseline.
    pub fn told(&self) -> usize {
        self.total * TOLD_SHARE / 100
    }

    /// What lines of a category may take in the baseline: 300, 500, 200 and 500 of 1,500.
    pub fn category(&self, category: Category) -> usize {
        let share = match category {
            Category::Profile => 300,
            Category::Context => 500,
            Category::Style => 200,
            Category::Fact => 500,
        };
        self.total * share / Self::COMPACT
    }
}

/// Whether a memory may be put into a prompt unasked at a time. What a tool, a document or an import says is
/// found by recall, and is in no prompt that nobody asked for until its person agrees to it.
pub fn may_inject(facets: &Facets, at: Timestamp) -> bool {
    let sure = facets.firm || Belief::from(facets).at(at) >= INJECT_CONFIDENCE;
    facets.tier != Tier::Candidate && facets.own && sure
}

/// The same of a version as it was fetched.
pub fn is_sure_enough(version: &Version, at: Timestamp) -> bool {
    let sure = version.is_firm() || Belief::from(version).at(at) >= INJECT_CONFIDENCE;
    version.tier != Tier::Candidate && is_own(version) && sure
}

/// Whether its person, or their own assistant, said it or agreed to it.
pub fn is_own(version: &Version) -> bool {
    let least = if version.extracted { Origin::UserTurn } else { Origin::Assistant };
    version.consented_at.is_some() || version.origin >= least
}

/// The share of the baseline, in hundredths, that lines told by assistants take at most.
const TOLD_SHARE: usize = 30;

/// What comes first in the baseline: rules, then what the user said, then what assistants told; within
/// each by importance, then freshness.
pub fn precedence(a: &Facets, b: &Facets) -> std::cmp::Ordering {
    let hard = |facets: &Facets| facets.force == Force::Hard && !facets.told;
    hard(b)
        .cmp(&hard(a))
        .then(a.told.cmp(&b.told))
        .then(b.importance.total_cmp(&a.importance))
        .then(b.fresh_at.cmp(&a.fresh_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_is_in_no_prompt_until_its_person_agrees() {
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
            said.consented_at = Some(said.known.from);
            assert!(is_sure_enough(&said, said.known.from), "{voice:?}");
        }
    }

    #[test]
    fn memory_takes_at_most_its_share_of_the_window() {
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
