//! Claims about the user that cannot both be true, judged by their words alone.
//!
//! Two claims exclude each other if one denies the other, or if both give a value to an attribute
//! that has only one (home, name, language of answers, diet) and the values differ. A finding is a
//! question to the user, and a needless question costs more than a missed one: claims about the
//! past or the future, additional values, parts of a place, and names for different purposes are
//! not compared. A claim about another person has no attribute of the user.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::lexicon::lexicon;
use crate::screen::ground::{self, UnsharedWord};
use crate::screen::phrase::{Phrases, TokenizedText};
use crate::slot::{Slot, slot_of};
use crate::word::{is_east_asian, words};

/// Why two claims exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conflict {
    /// One denies what the other says.
    Negation,
    /// Both give a value to this attribute, which has only one.
    Attribute(Slot),
}

/// A claim with more than this many words of its own says more than a value.
const MAX_VALUE_WORDS: usize = 3;
/// A common word of at least this length shows that two claims are in one language.
const MIN_COMMON_CHARS: usize = 3;

/// Words that make a value past, future, additional or partial.
static QUALIFIED: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("conflict/qualified", en de fr es it pt nl pl ru zh ja ko))])
});
/// Names of countries: a claim that names one may be about the same place as one that names a city.
static COUNTRIES: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("conflict/countries", en de fr es it pt nl).words());
/// Forms of address, beside which another name may be the user's full one.
static ADDRESS: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("conflict/address", en de fr es it pt nl))]));

/// A diet that excludes the other ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Diet {
    Vegan,
    Vegetarian,
    Pescatarian,
    Meat,
}

static DIETS: LazyLock<Phrases<Diet>> = LazyLock::new(|| {
    Phrases::new([
        (Diet::Vegan, lexicon!("conflict/vegan", mul)),
        (Diet::Vegetarian, lexicon!("conflict/vegetarian", mul)),
        (Diet::Pescatarian, lexicon!("conflict/pescatarian", mul)),
        (Diet::Meat, lexicon!("conflict/meat", mul)),
    ])
});

/// Why two claims about the user exclude each other; `None` if they may both be true.
pub fn conflict(claim: &str, other: &str) -> Option<Conflict> {
    if ground::opposes(claim, other) {
        return Some(Conflict::Negation);
    }
    let slot = slot_of(claim)?;
    let differ = match slot {
        Slot::Residence | Slot::Name | Slot::LanguageOfAnswers => values_differ,
        Slot::Diet => diets_differ,
        // Someone may have two jobs, employers or partners, or use two words for one.
        Slot::Job | Slot::Employer | Slot::Partner => return None,
    };
    let comparable = slot_of(other) == Some(slot)
        && [claim, other].iter().all(|text| !ground::is_negated(text) && !is_qualified(text))
        && is_address(claim) == is_address(other);
    (comparable && differ(claim, other)).then_some(Conflict::Attribute(slot))
}

fn is_qualified(claim: &str) -> bool {
    QUALIFIED.find(&TokenizedText::new(claim)).next().is_some()
}

fn is_address(claim: &str) -> bool {
    ADDRESS.find(&TokenizedText::new(claim)).next().is_some()
}

fn diets_differ(claim: &str, other: &str) -> bool {
    let diet = |text: &str| DIETS.find(&TokenizedText::new(text)).next().map(|found| found.means);
    diet(claim).zip(diet(other)).is_some_and(|(own, other)| own != other)
}

/// Whether both claims name a value that the other does not name.
fn values_differ(claim: &str, other: &str) -> bool {
    if claim.chars().any(is_east_asian) || other.chars().any(is_east_asian) {
        return dense_values_differ(claim, other);
    }
    let (own, others) =
        (ground::unshared_words(claim, other), ground::unshared_words(other, claim));
    let is_value = |words: &[UnsharedWord]| {
        words.len() <= MAX_VALUE_WORDS && words.iter().any(|word| word.may_be_name)
    };
    let names_country =
        |words: &[UnsharedWord]| words.iter().any(|word| COUNTRIES.contains(&word.text));
    is_value(&own)
        && is_value(&others)
        && names_country(&own) == names_country(&others)
        && have_common_word(claim, other)
}

/// Whether the claims have a word in common, so that they are not the same in two languages.
fn have_common_word(claim: &str, other: &str) -> bool {
    let others = words(other);
    let is_long = |text: &str| text.chars().count() >= MIN_COMMON_CHARS;
    let korean = |c: char| matches!(c, '\u{ac00}'..='\u{d7a3}');
    let both_korean = claim.chars().any(korean) && other.chars().any(korean);
    both_korean
        || words(claim)
            .iter()
            .any(|word| is_long(&word.text) && others.iter().any(|other| other.text == word.text))
}

/// The same for writing without spaces: what is left between the common beginning and end differs,
/// and has no two characters in a row in common.
fn dense_values_differ(claim: &str, other: &str) -> bool {
    let letters =
        |text: &str| -> Vec<char> { text.chars().filter(|c| c.is_alphanumeric()).collect() };
    let (own, others) = (letters(claim), letters(other));
    let start = own.iter().zip(&others).take_while(|(a, b)| a == b).count();
    let (own, others) = (&own[start..], &others[start..]);
    let end = own.iter().rev().zip(others.iter().rev()).take_while(|(a, b)| a == b).count();
    let (own, others) = (&own[..own.len() - end], &others[..others.len() - end]);
    let common = own.windows(2).any(|pair| others.windows(2).any(|other| pair == other));
    start + end > 0 && !own.is_empty() && !others.is_empty() && !common
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: Option<Conflict> = Some(Conflict::Attribute(Slot::Residence));
    const NAME: Option<Conflict> = Some(Conflict::Attribute(Slot::Name));
    const DIET: Option<Conflict> = Some(Conflict::Attribute(Slot::Diet));
    const LANGUAGE: Option<Conflict> = Some(Conflict::Attribute(Slot::LanguageOfAnswers));

    #[track_caller]
    fn check(pairs: &[(&str, &str, Option<Conflict>)]) {
        let found = |a: &str, b: &str| (conflict(a, b), conflict(b, a));
        let wrong = pairs.iter().filter(|(a, b, expected)| found(a, b) != (*expected, *expected));
        let wrong: Vec<_> = wrong.map(|(a, b, expected)| (a, b, expected, found(a, b))).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn two_values_of_one_attribute_conflict() {
        check(&[
            ("User lives in Porto.", "User lives in Lyon.", HOME),
            ("User lives in Porto.", "User moved to Lyon.", HOME),
            ("User lives in Norway.", "User lives in Spain.", HOME),
            ("Der Nutzer wohnt in Wien.", "Der Nutzer wohnt in Graz.", HOME),
            ("El usuario vive en Madrid.", "El usuario vive en Sevilla.", HOME),
            ("J'habite à Lyon", "J'habite à Nantes", HOME),
            ("我住在北京", "我住在上海", HOME),
            ("私は東京に住んでいます", "私は大阪に住んでいます", HOME),
            ("User's name is Ana.", "User's name is Eva.", NAME),
            ("User wants answers in German.", "User wants answers in English.", LANGUAGE),
            ("User is vegan.", "User eats meat.", DIET),
            ("User is vegetarian.", "User is vegan.", DIET),
        ]);
    }

    #[test]
    fn compatible_values_of_one_attribute_do_not_conflict() {
        for (claim, other) in [
            ("User lives in Porto.", "User lives in Porto, Portugal."),
            ("User lives in Porto.", "User lives in Portugal."),
            ("User lives in Munich.", "Der Nutzer wohnt in München."),
            ("User lives in Porto.", "User used to live in Lyon."),
            ("User lives in Porto.", "User lived in Lyon until 2019."),
            ("User lives in Porto.", "User moved from Lyon."),
            ("User lives in Porto.", "User no longer lives in Lyon."),
            ("User lives in Porto.", "User is moving to Lyon in May."),
            ("User lives in Porto.", "User also lives in Lyon in summer."),
            ("User lives in Lisbon.", "User lives in the Alfama district."),
            ("User lives in Porto.", "User's sister lives in Lyon."),
            ("User lives in Porto.", "User works in Lyon."),
            ("Der Nutzer wohnt in Wien.", "Der Nutzer wohnt in einer Altbauwohnung."),
            ("我住在北京", "我现在住在北京"),
            ("User's name is Ana.", "User's name is Ana Silva."),
            ("User's name is Anastasia.", "User wants to be called Ana."),
            ("User's name is Ana.", "User's brother is called Paul."),
            ("User is vegan.", "User doesn't eat meat."),
            ("User is vegetarian.", "User eats gluten-free."),
            ("User wants answers in German.", "User wants short answers."),
            ("User works as a nurse.", "User works as a teacher."),
            ("User likes Porto.", "User likes Lyon."),
        ] {
            assert_eq!(conflict(claim, other), None, "{claim} / {other}");
            assert_eq!(conflict(other, claim), None, "{other} / {claim}");
        }
    }

    #[test]
    fn denied_claims_conflict() {
        let denied = Some(Conflict::Negation);
        check(&[
            ("User likes olives.", "User does not like olives.", denied),
            ("User lives in Porto.", "User no longer lives in Porto.", denied),
            ("User's sister likes olives.", "User does not like olives.", None),
        ]);
    }
}
