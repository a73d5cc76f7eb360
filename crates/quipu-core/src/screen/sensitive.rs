//! Which statements are of a kind that needs a person's consent before they are kept.

use std::sync::LazyLock;

use super::phrase::{Heard, Phrases};

/// What a statement reveals about a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sensitive {
    Health,
    MentalHealth,
    Finance,
    Relationships,
    Religion,
    Politics,
    Sexuality,
    Biometrics,
    Ethnicity,
    CriminalRecord,
    UnionMembership,
    Immigration,
}

impl Sensitive {
    /// The built-in domain that such statements belong to, if there is one.
    pub fn domain(self) -> Option<&'static str> {
        match self {
            Self::Health | Self::MentalHealth => Some("health"),
            Self::Finance => Some("finance"),
            Self::Relationships => Some("relationships"),
            Self::Religion => Some("religion"),
            _ => None,
        }
    }
}

static WORDS: LazyLock<Phrases<Sensitive>> = LazyLock::new(|| {
    Phrases::new([
        (Sensitive::Health, ["diabet*", "insulin"].as_slice()),
        (Sensitive::Finance, ["salary", "mortgage"].as_slice()),
    ])
});

/// The kind of the most telling words, if any are.
pub fn category(text: &str) -> Option<Sensitive> {
    WORDS.find(&Heard::new(text)).next().map(|found| found.means)
}
