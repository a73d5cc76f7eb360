//! Single-valued attributes of the user: which one a claim is about.
//!
//! A new value of such an attribute replaces the old one. The rule reads claims in the third person
//! ("User lives in Porto.") and in the user's own words ("Ich wohne in Porto"). A claim about
//! another person is about none of them. The word lists are in `lexicon/slot`.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::lexicon::lexicon;
use crate::screen::phrase::{Phrases, Token, TokenizedText};

/// An attribute of the user that has one value at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    Residence,
    Job,
    Employer,
    Name,
    LanguageOfAnswers,
    Diet,
    Partner,
}

impl Slot {
    pub const ALL: [Self; 7] = [
        Self::Residence,
        Self::Job,
        Self::Employer,
        Self::Name,
        Self::LanguageOfAnswers,
        Self::Diet,
        Self::Partner,
    ];

    /// Whether a second value always replaces the first. A user can have two jobs, and "vegetarian"
    /// and "eats no nuts" are both about the diet.
    pub fn has_one_value(self) -> bool {
        match self {
            Self::Residence | Self::Name | Self::LanguageOfAnswers => true,
            Self::Job | Self::Employer | Self::Diet | Self::Partner => false,
        }
    }

    /// The name in snake case: `residence`, `language_of_answers`. It is never parsed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Residence => "residence",
            Self::Job => "job",
            Self::Employer => "employer",
            Self::Name => "name",
            Self::LanguageOfAnswers => "language_of_answers",
            Self::Diet => "diet",
            Self::Partner => "partner",
        }
    }
}

/// Maximum number of words of a claim that are read.
const MAX_WORDS: usize = 60;

/// Adverbs are skipped among this many words after the subject.
const MAX_ADVERB_POSITION: usize = 4;

/// "User", "I", "my" and the like, before the words of the attribute.
static SUBJECTS: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("slot/subjects", en de fr es it pt nl pl ru zh ja ko))])
});
/// "Now", "currently" and the like, between the subject and the words of the attribute.
static ADVERBS: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("slot/adverbs", en de fr es it pt nl pl ru zh ja ko).words());
/// Phrases that only resemble those of an attribute.
static OTHER: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("slot/other", en de fr es it pt nl pl ru zh ja ko))])
});
/// "Is a nurse" and the like.
static PROFESSIONS: LazyLock<Phrases<()>> = LazyLock::new(|| {
    let professions = lexicon!("slot/professions", en de fr es it pt nl pl ru zh);
    let professions = professions.entries().join("|");
    let copulas = lexicon!("slot/copulas", en de fr es it pt nl pl zh).entries();
    let patterns = copulas.iter().flat_map(|copula| {
        [format!("{copula} {professions}"), format!("{copula} _ {professions}")]
    });
    // Russian has no copula.
    let alone = lexicon!("slot/professions", ru).entries();
    Phrases::new([((), patterns.chain(alone).collect::<Vec<_>>())])
});
/// Phrases of languages with the verb at the end: other words precede.
static ANYWHERE: LazyLock<Phrases<Slot>> = LazyLock::new(|| {
    Phrases::new([
        (Slot::Name, lexicon!("slot/anywhere_name", ja ko)),
        (Slot::LanguageOfAnswers, lexicon!("slot/anywhere_language_of_answers", ja ko)),
        (Slot::Residence, lexicon!("slot/anywhere_residence", ja ko)),
        (Slot::Job, lexicon!("slot/anywhere_job", ja ko)),
        (Slot::Employer, lexicon!("slot/anywhere_employer", ja ko)),
        (Slot::Diet, lexicon!("slot/anywhere_diet", ja ko)),
        (Slot::Partner, lexicon!("slot/anywhere_partner", ja ko)),
        (Slot::Job, lexicon!("slot/anywhere_professions", ja ko)),
    ])
});
static PHRASES: LazyLock<Phrases<Slot>> = LazyLock::new(|| {
    Phrases::new([
        (Slot::Name, lexicon!("slot/name", en de fr es it pt nl pl ru zh ja ko)),
        (
            Slot::LanguageOfAnswers,
            lexicon!("slot/language_of_answers", en de fr es it pt nl pl ru zh),
        ),
        (Slot::Residence, lexicon!("slot/residence", en de fr es it pt nl pl ru zh)),
        (Slot::Employer, lexicon!("slot/employer", en de fr es it pt nl pl ru zh)),
        (Slot::Job, lexicon!("slot/job", en de fr es it pt nl pl ru zh)),
        (Slot::Diet, lexicon!("slot/diet", en de fr es it pt nl pl ru zh)),
        (Slot::Partner, lexicon!("slot/partner", en de fr es it pt nl pl ru zh)),
    ])
});

/// Nouns for the attributes, in "my address".
static NOUNS: LazyLock<Phrases<Slot>> = LazyLock::new(|| {
    Phrases::new([
        (Slot::Residence, lexicon!("slot/noun_residence", mul)),
        (Slot::Job, lexicon!("slot/noun_job", mul)),
        (Slot::Employer, lexicon!("slot/noun_employer", mul)),
        (Slot::Name, lexicon!("slot/noun_name", mul)),
        (Slot::Partner, lexicon!("slot/noun_partner", mul)),
        (Slot::Diet, lexicon!("slot/noun_diet", mul)),
    ])
});

/// The attribute that a few words name: "my address".
pub fn named_slot(words: &str) -> Option<Slot> {
    const MAX_NAME_WORDS: usize = 5;
    let tokenized = TokenizedText::new(words);
    let last = tokenized.tokens.len();
    let mut found = NOUNS.find(&tokenized).filter(|found| found.end == last);
    found.next().map(|found| found.means).filter(|_| last <= MAX_NAME_WORDS)
}

/// The attribute that a claim is about, if its subject is the user.
pub fn slot_of(claim: &str) -> Option<Slot> {
    let mut tokenized = TokenizedText::new(claim);
    tokenized.tokens.truncate(MAX_WORDS);
    let start = skip_subject(&tokenized);
    let mut rest = tokenized.tokens.split_off(start);
    // "Is now a nurse" is read as "is a nurse". "No" is part of an attribute: "has no partner".
    let mut at = 0;
    rest.retain(|token| {
        at += 1;
        at > MAX_ADVERB_POSITION || token.text == "no" || !ADVERBS.contains(&token.text)
    });
    let rest = TokenizedText { tokens: rest, questions: Vec::new() };
    let other: Vec<_> = OTHER.find(&rest).filter(|found| found.start == 0).collect();
    let found = PHRASES.find(&rest).filter(|found| found.start == 0);
    let mut found = found.filter(|found| other.iter().all(|other| other.end < found.end));
    let has_profession = || {
        let mut found = PROFESSIONS.find(&rest);
        other.is_empty() && found.any(|found| found.start == 0)
    };
    let anywhere = || {
        let found = ANYWHERE.find(&rest).next().filter(|_| other.is_empty())?;
        (!names_other_subject(&rest.tokens[..found.start])).then_some(found.means)
    };
    let found = found.next().map(|found| found.means);
    found.or_else(|| has_profession().then_some(Slot::Job)).or_else(anywhere)
}

/// Whether Japanese or Korean words before a verb, without the user as the subject, name another
/// subject: the particles "は" and "が", and the endings "은", "는", "이" and "가".
fn names_other_subject(before: &[Token]) -> bool {
    before.iter().any(|token| {
        ["は", "が"].contains(&token.text.as_str())
            || (token.text.chars().count() > 1 && token.text.ends_with(['은', '는', '이', '가']))
    })
}

/// Whether a Japanese or Korean clause up to a verb has another subject than the user.
pub(crate) fn is_about_other(clause: &str) -> bool {
    let tokenized = TokenizedText::new(clause);
    names_other_subject(&tokenized.tokens[skip_subject(&tokenized)..])
}

/// The position after the subject and the adverbs that follow it.
pub(crate) fn skip_subject(tokenized: &TokenizedText) -> usize {
    let adverbs = |at: usize| {
        let is_adverb = |token: &&Token| ADVERBS.contains(&token.text);
        tokenized.tokens[at..].iter().take_while(is_adverb).count() + at
    };
    let start = adverbs(0);
    let subjects = SUBJECTS.find(tokenized).filter(|found| found.start == start);
    adverbs(subjects.map(|found| found.end).max().unwrap_or(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cases: &[(&str, Option<Slot>)]) {
        let wrong = cases.iter().filter(|(claim, slot)| slot_of(claim) != *slot);
        let wrong: Vec<_> = wrong.map(|(claim, slot)| (claim, slot, slot_of(claim))).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn slot_of_english_claims() {
        check(&[
            ("User lives in Porto.", Some(Slot::Residence)),
            ("User now lives in Porto.", Some(Slot::Residence)),
            ("I'm living in Porto", Some(Slot::Residence)),
            ("User moved to Lyon.", Some(Slot::Residence)),
            ("User works as a nurse.", Some(Slot::Job)),
            ("User is a nurse.", Some(Slot::Job)),
            ("I'm a pediatric nurse", Some(Slot::Job)),
            ("User is a software engineer.", Some(Slot::Job)),
            ("User works at Siemens.", Some(Slot::Employer)),
            ("User works for the city.", Some(Slot::Employer)),
            ("User's name is Ana.", Some(Slot::Name)),
            ("User wants to be called Ana.", Some(Slot::Name)),
            ("User is vegan.", Some(Slot::Diet)),
            ("User doesn't eat meat.", Some(Slot::Diet)),
            ("Always answer in Portuguese.", Some(Slot::LanguageOfAnswers)),
            ("User wants answers in German.", Some(Slot::LanguageOfAnswers)),
            ("User is married.", Some(Slot::Partner)),
            ("User's wife is called Ana.", Some(Slot::Partner)),
        ]);
    }

    #[test]
    fn slot_of_english_near_misses_is_none() {
        check(&[
            ("User works out at the gym.", None),
            ("User works on a novel.", None),
            ("User lives for music.", None),
            ("User is a fan of nurse shows.", None),
            ("User's sister lives in Porto.", None),
            ("My brother is a carpenter in Braga", None),
            ("User's dog's name is Rex.", None),
            ("Marta is a nurse.", None),
            ("User prefers trains.", None),
            ("User moved the meeting.", None),
            ("", None),
        ]);
    }

    #[test]
    fn slot_of_claims_in_other_languages() {
        check(&[
            ("Ich wohne in Berlin", Some(Slot::Residence)),
            ("Der Nutzer arbeitet als Lehrer.", Some(Slot::Job)),
            ("Ich bin Krankenschwester", Some(Slot::Job)),
            ("J'habite à Lyon", Some(Slot::Residence)),
            ("Je suis végétarienne", Some(Slot::Diet)),
            ("Je m'appelle Ana", Some(Slot::Name)),
            ("Vivo en Madrid", Some(Slot::Residence)),
            ("Soy enfermera", Some(Slot::Job)),
            ("Me llamo Ana", Some(Slot::Name)),
            ("Abito a Milano", Some(Slot::Residence)),
            ("Mi chiamo Luca", Some(Slot::Name)),
            ("Moro em Lisboa", Some(Slot::Residence)),
            ("Trabalho como professora", Some(Slot::Job)),
            ("Ik woon in Utrecht", Some(Slot::Residence)),
            ("Ik werk bij Philips", Some(Slot::Employer)),
            ("Mieszkam w Krakowie", Some(Slot::Residence)),
            ("Jestem nauczycielką", Some(Slot::Job)),
            ("Я живу в Москве", Some(Slot::Residence)),
            ("Я физиотерапевт", Some(Slot::Job)),
            ("我住在北京", Some(Slot::Residence)),
            ("我是护士", Some(Slot::Job)),
            ("私は東京に住んでいます", Some(Slot::Residence)),
            ("私は看護師です", Some(Slot::Job)),
            ("저는 서울에 살아요", Some(Slot::Residence)),
            ("저는 간호사예요", Some(Slot::Job)),
        ]);
    }

    #[test]
    fn slot_of_near_misses_in_other_languages_is_none() {
        check(&[
            ("Meine Schwester wohnt in Berlin", None),
            ("Ich arbeite an einem Buch", None),
            ("Ma sœur habite à Lyon", None),
            ("Je suis fan de musique", None),
            ("Mi hermana vive en Madrid", None),
            ("Vivo para la música", None),
            ("Mia sorella abita a Milano", None),
            ("A minha irmã mora em Lisboa", None),
            ("Mijn zus woont in Utrecht", None),
            ("Moja siostra mieszka w Krakowie", None),
            ("Моя сестра живёт в Москве", None),
            ("我妹妹住在北京", None),
            ("妹は東京に住んでいます", None),
            ("여동생은 서울에 살아요", None),
        ]);
    }
}
