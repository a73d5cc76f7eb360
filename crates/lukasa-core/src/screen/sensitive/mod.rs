//! Which statements are of a kind that needs a person's consent before they are kept.
//!
//! Twelve kinds, told by words and phrases, plain ones and oblique ones: an insulin pump says as much
//! as diabetes. A kind that is missed is kept without consent, so a word is listed if it mostly gives
//! the kind away, and the figures of speech that use it are listed too, to be taken out first: also
//! words that are said of a thing that stands beside them. It does not ask whether the statement is
//! about the user or about somebody near them.

mod body;
mod figures;
mod life;
mod means;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::phrase::{Found, Heard, Phrases, fold};

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
    pub const ALL: &[Self] = &[
        Self::Health,
        Self::MentalHealth,
        Self::Finance,
        Self::Relationships,
        Self::Religion,
        Self::Politics,
        Self::Sexuality,
        Self::Biometrics,
        Self::Ethnicity,
        Self::CriminalRecord,
        Self::UnionMembership,
        Self::Immigration,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Health => "health",
            Self::MentalHealth => "mental_health",
            Self::Finance => "finance",
            Self::Relationships => "relationships",
            Self::Religion => "religion",
            Self::Politics => "politics",
            Self::Sexuality => "sexuality",
            Self::Biometrics => "biometrics",
            Self::Ethnicity => "ethnicity",
            Self::CriminalRecord => "criminal_record",
            Self::UnionMembership => "union_membership",
            Self::Immigration => "immigration",
        }
    }

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
        (Sensitive::Health, body::HEALTH),
        (Sensitive::MentalHealth, body::MENTAL_HEALTH),
        (Sensitive::Sexuality, body::SEXUALITY),
        (Sensitive::Biometrics, body::BIOMETRICS),
        (Sensitive::Relationships, life::RELATIONSHIPS),
        (Sensitive::Religion, life::RELIGION),
        (Sensitive::Politics, life::POLITICS),
        (Sensitive::Ethnicity, life::ETHNICITY),
        (Sensitive::UnionMembership, life::UNION_MEMBERSHIP),
        (Sensitive::Finance, means::FINANCE),
        (Sensitive::CriminalRecord, means::CRIMINAL_RECORD),
        (Sensitive::Immigration, means::IMMIGRATION),
    ])
});
static FIGURES: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::new([((), figures::FIGURES)]));
/// A figurative word and a thing within a few words, in either order.
static OF_THINGS: LazyLock<Phrases<()>> = LazyLock::new(|| {
    let both =
        |(word, thing): &(&str, &str)| [format!("{word} ~ {thing}"), format!("{thing} ~ {word}")];
    let patterns: Vec<String> = figures::OF_THINGS.iter().flat_map(both).collect();
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    Phrases::new([((), patterns.as_slice())])
});
/// The figurative words one by one.
static LOOSE: LazyLock<HashSet<String>> =
    LazyLock::new(|| figures::FIGURATIVE.split('|').map(fold).collect());
/// Somebody whom a statement can be about.
static PERSONS: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::new([((), figures::PERSONS)]));
/// Whoever says these speaks of themselves or of somebody near, whatever stands beside.
static OF_PEOPLE: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), figures::OF_PEOPLE)]));
static SPOKEN_FIGURES: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), figures::FIGURATIVELY)]));

/// The kind that most phrases of the text speak for; of several the narrower, if any does at all.
pub fn category(text: &str) -> Option<Sensitive> {
    told(&Heard::new(text))
}

/// The built-in domains that any sentence of the text belongs to, each once. A long text says one thing
/// here and another there, so it is read sentence by sentence.
pub fn domains(text: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    let sentences = text.split_inclusive(['.', '!', '?', '\n', '。', '！', '？']);
    for sentence in sentences.chain([text]) {
        if let Some(domain) = category(sentence).and_then(Sensitive::domain)
            && !found.contains(&domain)
        {
            found.push(domain);
        }
    }
    found
}

pub(super) fn told(heard: &Heard) -> Option<Sensitive> {
    /// Where two kinds are as likely, the one that is more often overlooked.
    const NARROW_FIRST: [Sensitive; 12] = [
        Sensitive::Immigration,
        Sensitive::CriminalRecord,
        Sensitive::UnionMembership,
        Sensitive::Biometrics,
        Sensitive::MentalHealth,
        Sensitive::Sexuality,
        Sensitive::Ethnicity,
        Sensitive::Politics,
        Sensitive::Religion,
        Sensitive::Health,
        Sensitive::Finance,
        Sensitive::Relationships,
    ];
    if SPOKEN_FIGURES.any(heard) {
        return None;
    }
    let mut figures: Vec<_> = FIGURES.find(heard).map(|found| found.start..found.end).collect();
    let people: Vec<_> = OF_PEOPLE.find(heard).map(|found| found.start..found.end).collect();
    let apart = |a: &Range<usize>, b: &Range<usize>| a.end <= b.start || b.end <= a.start;
    let things = OF_THINGS.find(heard).map(|found| found.start..found.end);
    figures.extend(things.filter(|thing| people.iter().all(|person| apart(person, thing))));
    // Without anybody it could be true of, a word that is said of things as well tells nothing.
    let somebody = PERSONS.any(heard);
    let idle = |found: &Found<Sensitive>| {
        !somebody && found.end == found.start + 1 && LOOSE.contains(&heard.tokens[found.start].text)
    };
    let mut counts = [0_usize; NARROW_FIRST.len()];
    for found in WORDS.find(heard).filter(|found| !idle(found)) {
        // A figure of speech takes its words with it, not a telling phrase that is longer.
        let figure = figures.iter().any(|f| f.start <= found.start && found.end <= f.end);
        if !figure && let Some(at) = NARROW_FIRST.iter().position(|kind| *kind == found.means) {
            counts[at] += found.end - found.start;
        }
    }
    let most = counts.iter().copied().max().filter(|most| *most > 0)?;
    counts.iter().position(|count| *count == most).map(|at| NARROW_FIRST[at])
}

#[cfg(test)]
mod tests;
