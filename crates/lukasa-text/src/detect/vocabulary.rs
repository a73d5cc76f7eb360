//! Words that indicate a built-in domain, in English, German, French and Spanish. Only the lists; the weights
//! are in the parent module.
//!
//! A word belongs here when a message with it is mostly about the domain. Words that fit any
//! message ("new", "good", "today") do not. A word may be in several domains; it then counts
//! less in each. Forms that differ only in an English ending ("bill", "bills", "billed") need one
//! entry; other languages list their forms. A word of theirs that is an English word of another
//! meaning ("chef", "lied") is only in a phrase.

use crate::lexicon::{Lexicon, lexicon};

pub(super) const BUILTIN: [(&str, Lexicon); 11] = [
    ("communication", lexicon!("detect/communication", en de fr es)),
    ("finance", lexicon!("detect/finance", en de fr es)),
    ("food", lexicon!("detect/food", en de fr es)),
    ("health", lexicon!("detect/health", en de fr es)),
    ("personal", lexicon!("detect/personal", en de fr es)),
    ("relationships", lexicon!("detect/relationships", en de fr es)),
    ("religion", lexicon!("detect/religion", en de fr es)),
    ("schedule", lexicon!("detect/schedule", en de fr es)),
    ("shopping", lexicon!("detect/shopping", en de fr es)),
    ("travel", lexicon!("detect/travel", en de fr es)),
    ("work", lexicon!("detect/work", en de fr es)),
];

/// Phrases in which a word above means something else. They match and count for no domain.
pub(super) const NEUTRAL: Lexicon = lexicon!("detect/neutral", en de fr es);
