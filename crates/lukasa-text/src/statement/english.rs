//! Converts an English clause in the first person to the third person: "I prefer my car" becomes
//! "User prefers their car". Returns `None` where the conversion is unsure.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::lexicon::lexicon;

/// Past forms, and other forms of verbs that do not change in the third person.
static UNCHANGED: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("statement/unchanged_verbs", en).words());
/// Words between the subject and its verb.
static ADVERBS: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("statement/adverbs", en).words());
/// Verbs that are conjugated after "and", "but" and "or" as well.
static COORDINATED: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("statement/coordinated_verbs", en).words());

/// A word of a clause without the marks around it.
struct Part<'t> {
    before: &'t str,
    word: &'t str,
    after: &'t str,
}

/// The clause in the third person, without a full stop. `None` if it speaks of "we", or if it is not
/// clear which words change.
pub(super) fn third_person(clause: &str) -> Option<String> {
    let clause = clause.replace(['\u{2019}', '\u{2018}', '\u{02bc}'], "'");
    let parts: Vec<Part> = clause.split_whitespace().map(part).collect();
    let lower: Vec<String> = parts.iter().map(|part| part.word.to_lowercase()).collect();
    let is_plural = |word: &String| {
        let subject = word.split('\'').next().unwrap_or(word);
        ["we", "us", "our", "ours", "ourselves"].contains(&subject)
    };
    if lower.iter().any(is_plural) {
        return None;
    }
    let mut converter = Converter::default();
    let mut out: Vec<String> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| lower[at].as_str());
        let after = lower.get(at + 1).map(String::as_str);
        let word = converter.convert(part.word, &lower[at], before, after)?;
        out.push(format!("{}{word}{}", part.before, part.after));
        converter.end_clause(part.after);
    }
    (converter.expects != Expected::Verb).then(|| out.join(" "))
}

fn part(written: &str) -> Part<'_> {
    let is_word = |c: char| c.is_alphanumeric();
    let start = written.find(is_word).unwrap_or(written.len());
    let end = written
        .rfind(is_word)
        .map_or(start, |at| at + written[at..].chars().next().map_or(0, char::len_utf8));
    Part { before: &written[..start], word: &written[start..end], after: &written[end..] }
}

/// What the next word may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Expected {
    #[default]
    Anything,
    /// The verb of the user as "User", which takes the form of the third person.
    Verb,
    /// The verb of the user as "they".
    PluralVerb,
}

#[derive(Debug, Default)]
struct Converter {
    expects: Expected,
    /// Whether the user was mentioned: then "they" is used.
    is_named: bool,
    /// Whether a verb after "and" belongs to the subject "User".
    coordinates: bool,
}

impl Converter {
    fn convert(
        &mut self,
        word: &str,
        lower: &str,
        before: Option<&str>,
        after: Option<&str>,
    ) -> Option<String> {
        match self.expects {
            Expected::Verb => return self.verb(word, lower),
            Expected::PluralVerb if ADVERBS.contains(lower) => return Some(word.to_owned()),
            Expected::PluralVerb => {
                self.expects = Expected::Anything;
                return Some(match lower {
                    "am" => "are".to_owned(),
                    "was" => "were".to_owned(),
                    "wasn't" => "weren't".to_owned(),
                    _ => word.to_owned(),
                });
            }
            Expected::Anything => {}
        }
        let inverted = ["am", "do", "did", "was", "have", "can", "should", "will", "would"];
        Some(match lower {
            "i" if before.is_some_and(|before| inverted.contains(&before)) => return None,
            "i" if ["and", "or"].contains(&after.unwrap_or("and")) => return None,
            "i" if before == Some("and") && !self.is_named => return None,
            "i" => self.subject(),
            "i'm" | "im" if self.is_named => "they are".to_owned(),
            "i've" | "ive" if self.is_named => "they have".to_owned(),
            "i'd" | "i'll" if self.is_named => format!("they{}", &lower[1..]),
            "i'm" | "im" => self.named("User is"),
            "i've" | "ive" => self.named("User has"),
            "i'd"
                if after
                    .is_some_and(|after| ["rather", "like", "love", "prefer"].contains(&after)) =>
            {
                self.named("User would")
            }
            "i'd" => return None,
            "i'll" => self.named("User will"),
            "my" if self.is_named => "their".to_owned(),
            "my" => self.named("User's"),
            "me" if self.is_named => "them".to_owned(),
            "me" => self.named("User"),
            "mine" if self.is_named => "theirs".to_owned(),
            "mine" => self.named("User's"),
            "myself" => "themselves".to_owned(),
            "and" | "but" | "or" => word.to_owned(),
            "to" => {
                self.coordinates = false;
                word.to_owned()
            }
            _ if self.coordinates
                && before.is_some_and(|before| ["and", "but", "or"].contains(&before))
                && COORDINATED.contains(lower) =>
            {
                singular(word, lower)?
            }
            _ => word.to_owned(),
        })
    }

    fn named(&mut self, subject: &str) -> String {
        self.is_named = true;
        subject.to_owned()
    }

    fn subject(&mut self) -> String {
        if self.is_named {
            self.expects = Expected::PluralVerb;
            return "they".to_owned();
        }
        self.expects = Expected::Verb;
        self.coordinates = true;
        self.named("User")
    }

    fn verb(&mut self, word: &str, lower: &str) -> Option<String> {
        if ADVERBS.contains(lower) {
            return Some(word.to_owned());
        }
        self.expects = Expected::Anything;
        let verb = singular(word, lower)?;
        let helps = [
            "don't", "do", "can", "can't", "cannot", "will", "won't", "would", "could", "should",
            "must", "may", "might", "did", "didn't",
        ];
        self.coordinates &= !helps.contains(&lower);
        Some(verb)
    }

    /// After the marks behind a word, a verb no longer belongs to the subject before them.
    fn end_clause(&mut self, marks: &str) {
        if marks.contains([';', ':', '.', '(', ')']) {
            self.coordinates = false;
        }
    }
}

/// The form of a verb for "User". `None` if the word may be no verb, or its tense is unclear.
fn singular(word: &str, lower: &str) -> Option<String> {
    let irregular = match lower {
        "am" => Some("is"),
        "have" => Some("has"),
        "haven't" => Some("hasn't"),
        "do" => Some("does"),
        "don't" | "dont" => Some("doesn't"),
        "are" | "be" | "read" | "put" | "cut" | "let" | "set" | "hit" | "cost" | "hurt" | "who" => {
            return None;
        }
        _ => None,
    };
    if let Some(form) = irregular {
        return Some(form.to_owned());
    }
    if UNCHANGED.contains(lower) || lower.contains('\'') {
        return Some(word.to_owned());
    }
    if !lower.bytes().all(|b| b.is_ascii_lowercase()) || lower.ends_with("ing") {
        return None;
    }
    let base_in_ed =
        ["need", "feed", "breed", "speed", "succeed", "proceed", "exceed", "bleed", "embed"];
    if lower.ends_with("ed") && !base_in_ed.contains(&lower) {
        return Some(word.to_owned());
    }
    let vowel = |c: char| "aeiou".contains(c);
    let stem = &lower[..lower.len() - 1];
    Some(if ["s", "x", "z", "ch", "sh", "o"].iter().any(|end| lower.ends_with(end)) {
        format!("{lower}es")
    } else if lower.ends_with('y') && !stem.ends_with(vowel) {
        format!("{stem}ies")
    } else {
        format!("{lower}s")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_clauses_are_converted_to_the_third_person() {
        for (clause, expected) in [
            ("I prefer trains", "User prefers trains"),
            ("I'm a nurse", "User is a nurse"),
            ("I’m vegan", "User is vegan"),
            ("I am not a nurse", "User is not a nurse"),
            ("I've switched to oat milk", "User has switched to oat milk"),
            ("I have two cats", "User has two cats"),
            ("I don't eat meat", "User doesn't eat meat"),
            ("I go to the gym on Mondays", "User goes to the gym on Mondays"),
            ("I try to be on time", "User tries to be on time"),
            ("I play chess", "User plays chess"),
            ("I watch football", "User watches football"),
            ("I was born in Lyon", "User was born in Lyon"),
            ("I can't eat nuts", "User can't eat nuts"),
            ("I really need quiet", "User really needs quiet"),
            ("I quit my job", "User quit their job"),
            ("I moved to Lyon", "User moved to Lyon"),
            ("my sister's name is Ana", "User's sister's name is Ana"),
            ("Anna is my boss", "Anna is User's boss"),
            ("I like it when people call me early", "User likes it when people call them early"),
            ("when I travel I prefer trains", "when User travels they prefer trains"),
            ("my wife and I'm not sure", "User's wife and they are not sure"),
            ("I live in Porto and work as a nurse", "User lives in Porto and works as a nurse"),
            ("I like to cook and eat late", "User likes to cook and eat late"),
            ("the office is closed", "the office is closed"),
        ] {
            assert_eq!(third_person(clause).as_deref(), Some(expected), "{clause}");
        }
    }

    #[test]
    fn english_clauses_of_unclear_subject_or_tense_are_not_converted() {
        for clause in
            ["we moved to Lyon", "I read the news", "so do I", "Tom and I ski", "I'd gone"]
        {
            assert_eq!(third_person(clause), None, "{clause}");
        }
    }
}
