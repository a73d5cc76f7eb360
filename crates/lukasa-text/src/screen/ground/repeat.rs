//! Compares two claims word by word: whether one repeats the other, or denies it.
//!
//! [`super::says_no_more`] ignores the order of words, their endings and function words, which is
//! right for a claim and its evidence. It is too loose for two stored claims, one of which would be
//! removed as a repetition: "works before lunch" and "works after lunch" have the same content
//! words, and so have "prefers tea over coffee" and "prefers coffee over tea". Here the words must
//! be equal and in the same order; "the", case, punctuation and a few spellings may differ.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use super::carry::{Sentiment, sentiment};
use super::{KNOWN, TextWord, read, same, says_nothing};
use crate::lexicon::lexicon;
use crate::line::is_unseen;
use crate::screen::phrase::fold;
use crate::word::{is_east_asian, words};

/// Claims with more words are not compared.
const MAX_WORDS: usize = 80;

/// "The", and adverbs such as "currently", which do not change what a claim says. Articles of other
/// languages are not among them: they tell words and cases apart, or are prepositions elsewhere.
static NEUTRAL: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("repeat/neutral", en de fr es it pt nl).words());
/// Parts of a negation of several words: "longer" of "no longer".
static DENIAL_PARTS: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("repeat/denial_parts", en de fr es it pt nl).words());
/// Words that can replace each other in any claim, by the first of their group.
static EQUAL: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let mut equal = HashMap::new();
    for group in lexicon!("repeat/equal", en de fr es it pt nl) {
        let members: Vec<String> = group.split('|').map(fold).collect();
        let Some(first) = members.first().cloned() else { continue };
        equal.extend(members.into_iter().map(|word| (word, first.clone())));
    }
    equal
});

/// Whether two claims are the same statement: the same words in the same order, apart from "the",
/// case, punctuation, digits for numbers and a few spellings.
pub fn repeats(claim: &str, other: &str) -> bool {
    let (own, others) = (comparable(claim), comparable(other));
    !own.is_empty() && own.len() <= MAX_WORDS && own == others && symbols(claim) == symbols(other)
}

/// Whether one of two claims denies what the other says: the same words, once with a negation and
/// once without, or "likes" against "dislikes".
pub fn opposes(claim: &str, other: &str) -> bool {
    let (own, own_denied) = without_negation(&comparable(claim));
    let (others, other_denied) = without_negation(&comparable(other));
    if own.len() != others.len() || own.len() > MAX_WORDS || own.len() < 2 {
        return false;
    }
    let mut flips = false;
    for (a, b) in own.iter().zip(&others) {
        let opposite = matches!(
            (sentiment(a), sentiment(b)),
            (Some(Sentiment::Like), Some(Sentiment::Dislike))
                | (Some(Sentiment::Dislike), Some(Sentiment::Like))
        );
        if opposite && !flips {
            flips = true;
        } else if a != b && !is_other_person(a, b) {
            return false;
        }
    }
    let says_something = own.iter().any(|word| {
        sentiment(word).is_none() && (word.starts_with(is_east_asian) || !says_nothing(word))
    });
    says_something && (own_denied != other_denied) != flips && symbols(claim) == symbols(other)
}

/// Whether a claim contains a negation.
pub fn is_negated(claim: &str) -> bool {
    without_negation(&comparable(claim)).1
}

/// A content word of one claim that another claim lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsharedWord {
    pub text: String,
    /// Whether it may be a name: it has a capital, or its script has none.
    pub may_be_name: bool,
}

/// The content words of a claim that are not in the other one.
pub fn unshared_words(claim: &str, other: &str) -> Vec<UnsharedWord> {
    let (own, others) = (read(claim), read(other));
    let content = |word: &&TextWord| word.rare || !says_nothing(&word.text);
    let left = own.iter().filter(content).filter(|word| !others.iter().any(|o| same(word, o)));
    left.map(|word| {
        let has_case = word.text.chars().any(|c| c.is_lowercase() || c.is_numeric());
        UnsharedWord { text: word.text.clone(), may_be_name: word.rare || !has_case }
    })
    .collect()
}

/// The words of a claim in the form in which they are compared.
fn comparable(claim: &str) -> Vec<String> {
    let plain: String = claim.nfkc().filter(|c| !is_unseen(*c)).collect();
    let mut found = Vec::new();
    for word in words(&plain) {
        let folded = fold(&word.text);
        // "doesn't" is read as "doesn" and "t".
        let whole = match folded.as_str() {
            "cannot" => {
                found.push("can".to_owned());
                "not".to_owned()
            }
            "t" if found.last().is_some_and(|last: &String| last.ends_with('n')) => {
                if let Some(last) = found.last_mut().filter(|last| last.as_str() != "can") {
                    last.pop();
                }
                "not".to_owned()
            }
            _ if NEUTRAL.contains(&folded) => continue,
            _ => word.text.clone(),
        };
        let whole = EQUAL.get(&fold(&whole)).cloned().unwrap_or(whole);
        found.push(KNOWN.numbers.get(&whole).cloned().unwrap_or(whole));
    }
    found
}

/// The words without negations and auxiliaries, and whether there was a negation.
fn without_negation(all: &[String]) -> (Vec<String>, bool) {
    const DENSE: [&str; 4] = ["不", "没", "無", "无"];
    let denies =
        |word: &String| KNOWN.negations.contains(&fold(word)) || DENSE.contains(&word.as_str());
    let denied = all.iter().any(denies);
    let drops = |word: &&String| {
        let auxiliary = denied && (["do", "does"].contains(&word.as_str()));
        let is_part = denied && DENIAL_PARTS.contains(&fold(word));
        !(denies(word) || auxiliary || is_part)
    };
    (all.iter().filter(drops).cloned().collect(), denied)
}

/// "like" and "likes": the auxiliary of a negation takes the ending of the verb.
fn is_other_person(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    short.len() > 2 && long.strip_prefix(short).is_some_and(|end| end == "s" || end == "es")
}

/// Signs other than letters, digits, spaces and common punctuation, with their counts: "$50" is not
/// "€50", and "-5" not "5".
fn symbols(claim: &str) -> BTreeMap<char, usize> {
    let mut found = BTreeMap::new();
    let chars: Vec<char> = claim.nfkc().filter(|c| !is_unseen(*c)).collect();
    for (at, c) in chars.iter().enumerate() {
        let next_is_digit = chars.get(at + 1).is_some_and(|next| next.is_numeric());
        let alone = at == 0 || chars[at - 1].is_whitespace();
        let is_minus = matches!(c, '-' | '−' | '–') && next_is_digit && alone;
        let common = c.is_alphanumeric()
            || c.is_whitespace()
            || ".,;:!?'\"`´‘’“”«»()[]…-–—−、。，！？：；「」·".contains(*c);
        if is_minus || !common {
            *found.entry(*c).or_default() += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: bool, compare: fn(&str, &str) -> bool, pairs: &[(&str, &str)]) {
        let wrong =
            pairs.iter().filter(|(a, b)| compare(a, b) != expected || compare(b, a) != expected);
        let wrong: Vec<_> = wrong.collect();
        assert!(wrong.is_empty(), "expected {expected}:\n{wrong:#?}");
    }

    #[test]
    fn claims_in_the_same_words_repeat_each_other() {
        check(
            true,
            repeats,
            &[
                ("User drinks green tea.", "user drinks green tea"),
                ("User has two cats.", "The user has 2 cats."),
                ("User currently lives in Porto.", "User lives in Porto."),
                ("User doesn't eat pork.", "User does not eat pork."),
                ("User cannot swim.", "User can't swim."),
                ("Der Nutzer wohnt in Graz.", "Der Nutzer wohnt derzeit in Graz"),
                ("用户喜欢绿茶。", "用户喜欢绿茶"),
            ],
        );
    }

    #[test]
    fn near_misses_do_not_repeat_each_other() {
        check(
            false,
            repeats,
            &[
                ("User works before lunch.", "User works after lunch."),
                ("User prefers tea over coffee.", "User prefers coffee over tea."),
                ("User was a nurse.", "User is a nurse."),
                ("User has a cat.", "User has cats."),
                ("User has two cats.", "User has three cats."),
                ("User pays $50.", "User pays €50."),
                ("User stores it at -5 degrees.", "User stores it at 5 degrees."),
                ("User likes olives.", "User does not like olives."),
                ("User is not without friends.", "User is without friends."),
                ("User wants a dog.", "User has a dog."),
                ("User's son plays chess.", "User plays chess."),
                ("User walked to work.", "User walks to work."),
                ("Der Nutzer wohnte in Graz.", "Der Nutzer wohnt in Graz."),
                ("Der Nutzer fährt in die Stadt.", "Der Nutzer fährt in der Stadt."),
                ("L'utilisateur part à Lyon.", "L'utilisateur part de Lyon."),
                ("用户不喜欢绿茶。", "用户喜欢绿茶。"),
                ("", ""),
            ],
        );
    }

    #[test]
    fn claim_and_its_negation_oppose_each_other() {
        check(
            true,
            opposes,
            &[
                ("User likes olives.", "User does not like olives."),
                ("User likes olives.", "User doesn't like olives."),
                ("User likes olives.", "User dislikes olives."),
                ("User enjoys long drives.", "User hates long drives."),
                ("User eats meat.", "User no longer eats meat."),
                ("User can swim.", "User cannot swim."),
                ("User is allergic to nuts.", "User is not allergic to nuts."),
                ("Der Nutzer mag Oliven.", "Der Nutzer mag keine Oliven."),
                ("L'utilisateur aime les olives.", "L'utilisateur n'aime pas les olives."),
                ("El usuario come carne.", "El usuario no come carne."),
                ("L'utente mangia carne.", "L'utente non mangia carne."),
                ("用户喜欢绿茶。", "用户不喜欢绿茶。"),
            ],
        );
    }

    #[test]
    fn claims_about_other_things_do_not_oppose_each_other() {
        check(
            false,
            opposes,
            &[
                ("User wants a dog.", "User does not have a dog."),
                ("User likes olives.", "User does not like anchovies."),
                ("User likes olives.", "User's sister does not like olives."),
                ("User likes olives.", "User likes olives."),
                ("User dislikes olives.", "User does not like olives."),
                ("User does not like olives.", "User never liked olives."),
                ("User was not in Rome.", "User is in Rome."),
                ("User likes tea.", "User loves tea."),
                ("User likes it.", "User does not like it."),
            ],
        );
    }
}
