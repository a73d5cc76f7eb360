//! English words that indicate a built-in domain. Only the lists; the weights are in the parent
//! module.
//!
//! A word belongs here when a message with it is mostly about the domain. Words that fit any
//! message ("new", "good", "today") do not. A word may be in several domains; it then counts
//! less in each. Forms that differ only in their ending ("bill", "bills", "billed") need one entry.

use crate::lexicon::{Lexicon, lexicon};

pub(super) const BUILTIN: [(&str, Lexicon); 11] = [
    ("communication", lexicon!("detect/communication", en)),
    ("finance", lexicon!("detect/finance", en)),
    ("food", lexicon!("detect/food", en)),
    ("health", lexicon!("detect/health", en)),
    ("personal", lexicon!("detect/personal", en)),
    ("relationships", lexicon!("detect/relationships", en)),
    ("religion", lexicon!("detect/religion", en)),
    ("schedule", lexicon!("detect/schedule", en)),
    ("shopping", lexicon!("detect/shopping", en)),
    ("travel", lexicon!("detect/travel", en)),
    ("work", lexicon!("detect/work", en)),
];

/// Phrases in which a word above means something else. They match and count for no domain.
pub(super) const NEUTRAL: Lexicon = lexicon!("detect/neutral", en);
