//! Detects statements of kinds that need the user's consent before they are stored.
//!
//! Twelve kinds, detected by words and phrases, direct and indirect ones: an insulin pump reveals
//! as much as diabetes. A missed statement is stored without consent, so a word is listed if it
//! usually reveals the kind. Figures of speech with it are listed too, and excluded first; so are
//! such words next to a thing they describe. The check does not distinguish statements about the
//! user from those about people close to them.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::phrase::{Found, Phrases, TokenizedText, WordRanges, fold};
use crate::lexicon::{Lexicon, lexicon};

/// A kind of sensitive information.
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
        (Sensitive::Health, lexicon!("sensitive/health", en de fr es it pt nl ru zh ja ko)),
        (
            Sensitive::MentalHealth,
            lexicon!("sensitive/mental_health", en de fr es it pt nl ru zh ja ko),
        ),
        (Sensitive::Sexuality, lexicon!("sensitive/sexuality", en de fr es it pt nl ru zh ja ko)),
        (
            Sensitive::Biometrics,
            lexicon!("sensitive/biometrics", en de fr es it pt nl ru zh ja ko mul),
        ),
        (
            Sensitive::Relationships,
            lexicon!("sensitive/relationships", en de fr es it pt nl ru zh ja ko),
        ),
        (Sensitive::Religion, lexicon!("sensitive/religion", en de fr es it pt nl ru zh ja ko)),
        (Sensitive::Politics, lexicon!("sensitive/politics", en de fr es it pt nl ru zh ja ko)),
        (Sensitive::Ethnicity, lexicon!("sensitive/ethnicity", en de fr es it pt nl ru zh ja ko)),
        (
            Sensitive::UnionMembership,
            lexicon!("sensitive/union_membership", en de fr es it pt nl ru zh ja ko),
        ),
        (Sensitive::Finance, lexicon!("sensitive/finance", en de fr es it pt nl ru zh ja ko)),
        (Sensitive::Finance, lexicon!("sensitive/finance_twice", en)),
        (
            Sensitive::CriminalRecord,
            lexicon!("sensitive/criminal_record", en de fr es it pt nl ru zh ja ko),
        ),
        (
            Sensitive::Immigration,
            lexicon!("sensitive/immigration", en de fr es it pt nl ru zh ja ko),
        ),
    ])
});
/// Figures of speech, professions and current topics that use a listed word without revealing
/// anything. A phrase here excludes matches that are entirely inside it; a longer match still
/// counts.
static FIGURES: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("sensitive/figures", en de fr es it pt nl ru zh ja mul))])
});
/// Words that are used of things as well as of people. A word that is hardly ever a figure of speech
/// is not listed.
const FIGURATIVE: Lexicon = lexicon!("sensitive/figurative_words", en de fr es);
/// The things. If one is close to a figurative word, the thing is meant: "divorce the view from the
/// controller".
const THINGS: [Lexicon; 3] = [
    lexicon!("sensitive/technical_things", en de fr es mul),
    lexicon!("sensitive/fictional_things", en de fr es),
    lexicon!("sensitive/objects", en),
];
/// Works that tell a story. A figurative word that is in one is about no real person: "the therapist
/// in the film".
const STORIES: Lexicon = lexicon!("sensitive/story_things", en de fr es);
/// A figurative word within a few words of a thing, in either order, or directly before a story.
static OF_THINGS: LazyLock<Phrases<()>> = LazyLock::new(|| {
    const IN: &str = "in|of|from|on|im|aus|des|vom|du|dans|de|del|en";
    const THE: &str =
        "the|a|an|this|that|my|our|his|her|dem|der|einem|einer|diesem|dieser|le|la|les|un|
        une|ce|cette|el|una|este|esta|l|the-new|the-old";
    let word = FIGURATIVE.entries().join("|");
    let the = THE.replace([' ', '\n'], "");
    let story = STORIES.entries().join("|");
    let of_stories = ["", "the|my|his|her|a|our|their "].into_iter().flat_map(|before| {
        [
            format!("{before}{word} {IN} {the} {story}"),
            format!("{before}{word} {IN} {the} _ {story}"),
            format!("{before}{word} {IN} {story}"),
        ]
    });
    let both = |things: Lexicon| {
        let thing = things.entries().join("|");
        [format!("{word} ~ {thing}"), format!("{thing} ~ {word}")]
    };
    Phrases::new([((), THINGS.into_iter().flat_map(both).chain(of_stories).collect::<Vec<_>>())])
});
/// The figurative words one by one.
static FIGURATIVE_WORDS: LazyLock<HashSet<String>> =
    LazyLock::new(|| FIGURATIVE.into_iter().map(|word| fold(&word)).collect());
/// Words that join a figurative word to others and reveal nothing themselves. Spelled as folded text
/// is.
const LINKS: &[&str] = &[
    "the", "a", "an", "of", "in", "on", "at", "this", "that", "for", "to", "from", "der", "die",
    "das", "ein", "eine", "im", "am", "le", "la", "l", "les", "un", "une", "du", "de", "des", "el",
    "los", "las", "una", "del", "en", "il", "lo", "o", "os", "het", "een",
];
/// Words for people whom a statement can be about.
static PERSONS: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("sensitive/persons", en de fr es it pt nl ru zh ja ko))])
});
/// Phrases that are about the speaker or someone close to them, even next to a thing: "I was
/// diagnosed while I wrote that code".
static OF_PEOPLE: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("sensitive/about_people", en de fr es))]));
/// Words that announce a figure of speech.
static SPOKEN_FIGURES: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("sensitive/figure_marks", en de fr es it nl ru zh ja))])
});

/// The kind that most phrases of the text indicate; the narrower one of several; `None` if there is
/// no such phrase.
pub fn category(text: &str) -> Option<Sensitive> {
    category_of(&TokenizedText::new(text))
}

/// The distinct built-in domains of the text's sentences. A long text has several subjects, so it
/// is checked sentence by sentence.
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

pub(super) fn category_of(tokenized: &TokenizedText) -> Option<Sensitive> {
    /// Order of preference between equally likely kinds: the one that is more often overlooked
    /// first.
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
    if SPOKEN_FIGURES.any(tokenized) {
        return None;
    }
    let mut figures: Vec<_> = FIGURES.find(tokenized).map(|found| found.start..found.end).collect();
    let people = WordRanges::new(OF_PEOPLE.find(tokenized).map(|found| found.start..found.end));
    let things = OF_THINGS.find(tokenized).map(|found| found.start..found.end);
    figures.extend(things.filter(|thing| !people.overlap(thing)));
    let figures = WordRanges::new(figures);
    // If no person is mentioned, a word that is used of things as well reveals nothing.
    let mentions_person = PERSONS.any(tokenized);
    let idle = |found: &Found<Sensitive>| {
        let mut own =
            tokenized.tokens[found.start..found.end].iter().map(|token| token.text.as_str());
        !mentions_person
            && own.clone().any(|word| FIGURATIVE_WORDS.contains(word))
            && own.all(|word| FIGURATIVE_WORDS.contains(word) || LINKS.contains(&word))
    };
    let mut counts = [0_usize; NARROW_FIRST.len()];
    for found in WORDS.find(tokenized).filter(|found| !idle(found)) {
        // A figure of speech excludes its own words, but not a longer phrase that reveals a kind.
        let figure = figures.cover(&(found.start..found.end));
        if !figure && let Some(at) = NARROW_FIRST.iter().position(|kind| *kind == found.means) {
            counts[at] += found.end - found.start;
        }
    }
    let most = counts.iter().copied().max().filter(|most| *most > 0)?;
    counts.iter().position(|count| *count == most).map(|at| NARROW_FIRST[at])
}

#[cfg(test)]
mod tests;
