//! Whether a text is against a rule such as `exclude_ingredients: shellfish, peanuts`,
//! `no_meetings_after: 16:00` or `max_price: 50 EUR`.
//!
//! The key says what kind of limit the value is. A rule whose key says no such thing has no
//! condition: nothing is compared with it. Times and amounts count only as written in figures.

use crate::terms::{Language, Term, is_stop_word, words};

/// The languages in which rules and texts are compared, besides that of the text: a short text can
/// rarely be detected.
const COMPARED: [&str; 4] = ["en", "de", "fr", "es"];

/// Maximum number of characters of a text that are read.
const MAX_CHARS: usize = 4_000;
/// Maximum number of words before a mention that can deny it: "no shellfish", "without any nuts".
const DENIAL_WORDS: usize = 3;

const EXCLUDES: &[&str] = &[
    "exclude",
    "excludes",
    "excluded",
    "avoid",
    "avoids",
    "never",
    "no",
    "not",
    "without",
    "forbid",
    "forbidden",
    "ban",
    "banned",
    "allergy",
    "allergies",
    "allergic",
    "intolerance",
    "dislike",
    "dislikes",
    "ausschließen",
    "ausgeschlossen",
    "vermeiden",
    "nie",
    "ohne",
    "kein",
    "keine",
    "verboten",
    "allergie",
    "exclure",
    "exclus",
    "éviter",
    "jamais",
    "sans",
    "interdit",
    "allergies",
    "excluir",
    "excluidos",
    "evitar",
    "nunca",
    "sin",
    "prohibido",
    "alergia",
    "alergias",
];
const UPPER: &[&str] = &[
    "after",
    "latest",
    "until",
    "past",
    "nach",
    "spätestens",
    "bis",
    "après",
    "jusqu",
    "después",
    "hasta",
];
const LOWER: &[&str] = &[
    "before",
    "earliest",
    "from",
    "since",
    "vor",
    "frühestens",
    "ab",
    "avant",
    "dès",
    "antes",
    "desde",
];
const AT_MOST: &[&str] = &[
    "max",
    "maximum",
    "limit",
    "budget",
    "under",
    "most",
    "höchstens",
    "höchstpreis",
    "maximal",
    "limite",
    "máximo",
    "límite",
    "presupuesto",
];
/// Words of a key that are also words of English names and terms, as in `preferred_sans_font`, with
/// their language. They are read as limits only beside a word of their language, or at the beginning
/// of a key that is not English.
const AMBIGUOUS: [(&str, &str); 6] =
    [("sans", "fr"), ("sin", "es"), ("ab", "de"), ("bis", "de"), ("vor", "de"), ("nie", "de")];
const DENIALS: [&str; 18] = [
    "no", "not", "without", "never", "avoid", "free", "don't", "ohne", "kein", "keine", "keinen",
    "nicht", "sin", "sans", "pas", "sem", "senza", "geen",
];
/// Words of a key that do not say what it is about.
const GENERAL: [&str; 8] = ["time", "price", "amount", "cost", "hour", "start", "end", "total"];

/// What a rule forbids.
#[derive(Debug, Clone, PartialEq)]
pub enum RuleCondition {
    /// None of these may occur.
    Excludes(Vec<String>),
    /// Nothing of the subject before or after a time of the day, in minutes.
    Times { subject: String, from: Option<u32>, until: Option<u32> },
    /// No higher amount, in this currency if it has one.
    AtMost { amount: f64, currency: Option<&'static str> },
}

impl RuleCondition {
    /// The condition of a key and the text of its value, if the key says what the value limits.
    pub fn parse(key: &str, value: &str) -> Option<Self> {
        let key: Vec<String> = key
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let limits: Vec<&str> = limiting_words(&key);
        let has = |list: &[&str]| limits.iter().any(|word| list.contains(word));
        let time = times(value).first().map(|(minutes, _)| *minutes);
        if let Some(minutes) = time.filter(|_| has(UPPER) || has(LOWER)) {
            let is_about = |word: &&String| {
                let lists: [&[&str]; 4] = [UPPER, LOWER, EXCLUDES, &GENERAL];
                lists.iter().all(|list| !list.contains(&word.as_str()))
            };
            let subject: Vec<&str> = key.iter().filter(is_about).map(String::as_str).collect();
            let subject = subject.join(" ");
            let until = has(UPPER).then_some(minutes);
            let from = if until.is_none() { Some(minutes) } else { None };
            return Some(Self::Times { subject, from, until });
        }
        if has(AT_MOST) {
            let found = amounts(value).into_iter().next();
            let bare = || Some((first_number(value)?, None, String::new()));
            let (amount, currency, _) = found.or_else(bare)?;
            return Some(Self::AtMost { amount, currency });
        }
        if !has(EXCLUDES) {
            return None;
        }
        let names = value.split([',', ';']).map(str::trim);
        let names = names.filter(|name| !terms(name, Language::ENGLISH).is_empty());
        let named: Vec<String> = names.map(str::to_owned).collect();
        (!named.is_empty()).then_some(Self::Excludes(named))
    }
}

/// The words of a key that may say what kind of limit its value is.
fn limiting_words(key: &[String]) -> Vec<&str> {
    let is_limit = |(at, word): (usize, &String)| {
        let ambiguous = AMBIGUOUS.iter().find(|(name, _)| name == word);
        let Some((_, language)) = ambiguous else { return true };
        let mut others = key.iter().enumerate().filter(|(other, _)| *other != at);
        let begins_a_test = key.get(at + 1).is_some_and(|next| next.starts_with("test"));
        others.clone().any(|(_, text)| is_word_of(text, Language::parse(language)))
            || (at == 0 && !begins_a_test && !others.any(|(_, text)| is_english(text)))
    };
    key.iter().enumerate().filter(|one| is_limit(*one)).map(|(_, word)| word.as_str()).collect()
}

/// Whether a word of a key is of this language and not of English.
fn is_word_of(word: &str, language: Language) -> bool {
    !is_english(word) && (!word.is_ascii() || is_stop_word(language, word))
}

fn is_english(word: &str) -> bool {
    GENERAL.contains(&word) || is_stop_word(Language::ENGLISH, word)
}

/// A text prepared for comparison with many rules.
#[derive(Debug)]
pub struct ComparedText {
    /// The words, in lower case.
    words: Vec<String>,
    /// The term of each word by the rules of each language.
    readings: Vec<(Language, Vec<Option<Term>>)>,
    times: Vec<(u32, String)>,
    amounts: Vec<(f64, Option<&'static str>, String)>,
}

impl ComparedText {
    pub fn new(text: &str) -> Self {
        let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(at, _)| at);
        let text = &text[..end];
        let is_word = |c: char| c.is_alphanumeric() || c == '\'';
        let split = text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty());
        let words: Vec<String> = split.map(str::to_lowercase).collect();
        let mut languages: Vec<Language> = COMPARED.into_iter().map(Language::parse).collect();
        languages.push(Language::of(text));
        languages.sort_unstable();
        languages.dedup();
        let term = |word: &String, language| terms(word, language).first().copied();
        let reading = |language: Language| {
            (language, words.iter().map(|word| term(word, language)).collect::<Vec<_>>())
        };
        let readings = languages.into_iter().map(reading).collect();
        Self { words, readings, times: times(text), amounts: amounts(text) }
    }

    /// What of the text is against the rule, in the words of the rule or the text.
    pub fn breaks(&self, rule: &RuleCondition) -> Option<String> {
        match rule {
            RuleCondition::Excludes(named) => {
                named.iter().find(|name| self.mentions(name)).cloned()
            }
            RuleCondition::Times { subject, from, until } => {
                let shares = |(language, own): &(Language, Vec<Option<Term>>)| {
                    terms(subject, *language).into_iter().any(|term| own.contains(&Some(term)))
                };
                let is_about = subject.is_empty() || self.readings.iter().any(shares);
                let breaks = |minutes: u32| {
                    from.is_some_and(|from| minutes < from)
                        || until.is_some_and(|until| minutes > until)
                };
                let mut found = self.times.iter().filter(|(minutes, _)| breaks(*minutes));
                found.next().filter(|_| is_about).map(|(_, written)| written.clone())
            }
            RuleCondition::AtMost { amount, currency } => {
                let comparable = |other: Option<&str>| {
                    currency.is_none() || other.is_none() || other == *currency
                };
                let mut found = self.amounts.iter();
                let found = found.find(|(own, other, _)| own > amount && comparable(*other));
                found.map(|(_, _, written)| written.clone())
            }
        }
    }

    /// Whether the words of a name occur next to each other by the rules of one of the languages, and
    /// the words before them do not deny them.
    fn mentions(&self, name: &str) -> bool {
        self.readings.iter().any(|(language, own)| {
            let terms = terms(name, *language);
            let own = own.iter().enumerate();
            let own: Vec<(usize, Term)> =
                own.filter_map(|(at, term)| Some((at, (*term)?))).collect();
            !terms.is_empty()
                && own.windows(terms.len()).any(|window| self.is_named(window, &terms))
        })
    }

    fn is_named(&self, window: &[(usize, Term)], terms: &[Term]) -> bool {
        let same = window.iter().map(|(_, term)| term).eq(terms);
        let (first, last) = (window[0].0, window[window.len() - 1].0);
        let before = &self.words[first.saturating_sub(DENIAL_WORDS)..first];
        let after = self.words.get(last + 1).into_iter();
        let mut around = before.iter().chain(after.filter(|word| *word == "free"));
        same && !around.any(|word| DENIALS.contains(&word.as_str()))
    }
}

fn terms(text: &str, language: Language) -> Vec<Term> {
    words(text, language).into_iter().map(|word| word.term).collect()
}

/// The runs of digits of a text: start, end, and the number before and after a separator.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, c) in text.char_indices() {
        match found.last_mut() {
            Some((_, end)) if c.is_ascii_digit() && *end == at => *end = at + 1,
            _ if c.is_ascii_digit() => found.push((at, at + 1)),
            _ => {}
        }
    }
    found
}

/// The times of the day in a text, in minutes, as written: "17:00", "5 pm", "5:30pm", "17h".
fn times(text: &str) -> Vec<(u32, String)> {
    let lower = text.to_ascii_lowercase();
    let runs = numbers(&lower);
    let mut found = Vec::new();
    let mut at = 0;
    while at < runs.len() {
        let (start, mut end) = runs[at];
        let Ok(hour) = lower[start..end].parse::<u32>() else {
            at += 1;
            continue;
        };
        let mut minute = None;
        if let Some(&(next, next_end)) = runs.get(at + 1)
            && next == end + 1
            && next_end - next == 2
            && matches!(&lower[end..next], ":" | "h")
        {
            minute = lower[next..next_end].parse::<u32>().ok();
            end = next_end;
            at += 1;
        }
        at += 1;
        let rest = &lower[end..];
        let behind = rest.trim_start();
        let half = ["am", "pm"].into_iter().find(|half| {
            behind.strip_prefix(half).is_some_and(|more| !more.starts_with(char::is_alphanumeric))
        });
        let by_h =
            rest.strip_prefix('h').is_some_and(|more| !more.starts_with(char::is_alphanumeric));
        let (hour, end) = match half {
            Some(half) => {
                let hour = hour % 12 + if half == "pm" { 12 } else { 0 };
                (hour, end + (rest.len() - behind.len()) + half.len())
            }
            None if minute.is_some() || by_h => (hour, end),
            None => continue,
        };
        if hour < 24 && minute.unwrap_or(0) < 60 {
            found.push((hour * 60 + minute.unwrap_or(0), text[start..end].to_owned()));
        }
    }
    found
}

/// The currencies that are known, by their code, signs and words.
const CURRENCIES: [(&str, [&str; 5]); 4] = [
    ("EUR", ["€", "eur", "euro", "euros", "eur."]),
    ("USD", ["$", "usd", "dollar", "dollars", "us$"]),
    ("GBP", ["£", "gbp", "pound", "pounds", "quid"]),
    ("CHF", ["chf", "franken", "francs", "franc", "fr."]),
];

/// How many characters after an amount are compared with the words for currencies.
const MAX_CURRENCY_CHARS: usize = 16;

/// The amounts of money in a text, as written.
fn amounts(text: &str) -> Vec<(f64, Option<&'static str>, String)> {
    let lower = text.to_lowercase();
    // Positions are those of the lower-case text, which is as long for the signs and words here.
    let shown = if lower.len() == text.len() { text } else { lower.as_str() };
    let mut found = Vec::new();
    let mut runs = numbers(&lower).into_iter().peekable();
    while let Some((start, mut end)) = runs.next() {
        while let Some(&(next, next_end)) = runs.peek() {
            if next != end + 1 || !matches!(&lower[end..next], "." | ",") {
                break;
            }
            end = next_end;
            runs.next();
        }
        let Some(amount) = number(&lower[start..end]) else { continue };
        let behind = lower[end..].trim_start();
        let word = behind.chars().take(MAX_CURRENCY_CHARS);
        let word: String = word.take_while(|c| !c.is_whitespace() && *c != ',').collect();
        let before = lower[..start].trim_end();
        let currency = CURRENCIES.iter().find(|(_, names)| {
            names.contains(&word.trim_end_matches(['?', '!', '.', ')']))
                || names.iter().any(|name| {
                    let rest = before.strip_suffix(name);
                    rest.is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
                })
        });
        if let Some((code, _)) = currency {
            found.push((amount, Some(*code), format!("{} {code}", &shown[start..end])));
        }
    }
    found
}

/// A number with separators of thousands or decimals: "1,200", "49.90", "49,90".
fn number(text: &str) -> Option<f64> {
    let decimals = text.rfind([',', '.']).filter(|at| text.len() - at - 1 != 3);
    let digits: String = text
        .char_indices()
        .filter_map(|(at, c)| match c {
            ',' | '.' => (Some(at) == decimals).then_some('.'),
            digit => Some(digit),
        })
        .collect();
    digits.parse().ok()
}

fn first_number(text: &str) -> Option<f64> {
    let (start, _) = numbers(text).into_iter().next()?;
    let run: String = text[start..]
        .chars()
        .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
        .collect();
    number(run.trim_end_matches(['.', ',']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaks(key: &str, value: &str, text: &str) -> Option<String> {
        let rule = RuleCondition::parse(key, value)?;
        ComparedText::new(text).breaks(&rule)
    }

    #[test]
    fn text_against_an_exclusion_is_found() {
        let (key, value) = ("exclude_ingredients", "shellfish, peanuts, goat cheese");
        for (text, about) in [
            ("Find me a recipe with peanut butter", Some("peanuts")),
            ("order the Shellfish platter", Some("shellfish")),
            ("salad with goat cheese please", Some("goat cheese")),
            ("a recipe without peanuts", None),
            ("peanut-free cookies", None),
            ("cheese from the goat farm", None),
            ("what is for dinner?", None),
        ] {
            assert_eq!(breaks(key, value, text).as_deref(), about, "{text}");
        }
    }

    #[test]
    fn text_of_another_language_against_an_exclusion_is_found() {
        for (key, value, text, about) in [
            ("exclude_ingredients", "Pilze, Erdnüsse", "Etwas mit Erdnuss?", Some("Erdnüsse")),
            ("exclude_ingredients", "Erdnüsse", "Kuchen ohne Erdnüsse", None),
            ("keine_zutaten", "Pilze", "Ein Risotto mit Pilzen bitte", Some("Pilze")),
            (
                "exclude_ingredients",
                "crevettes, noix",
                "Une salade avec une crevette",
                Some("crevettes"),
            ),
            ("exclude_ingredients", "crevettes", "Une salade sans crevettes", None),
            ("evitar_ingredientes", "mariscos, nueces", "Una paella de marisco", Some("mariscos")),
            ("evitar_ingredientes", "mariscos", "Una paella sin mariscos", None),
            ("exclude_ingredients", "champignons", "Une recette végétarienne", None),
        ] {
            assert_eq!(breaks(key, value, text).as_deref(), about, "{text}");
        }
        let late = breaks("keine_meetings_nach", "16:00", "Lege die Meetings auf 17:00");
        assert_eq!(late.as_deref(), Some("17:00"));
        assert_eq!(
            breaks("höchstpreis", "50 EUR", "Eine Lampe für 80 Euro").as_deref(),
            Some("80 EUR")
        );
    }

    #[test]
    fn time_against_a_rule_is_found() {
        for (key, value, text, about) in [
            ("no_meetings_after", "16:00", "Book a meeting with Ana at 17:00", Some("17:00")),
            ("no_meetings_after", "16:00", "set up the meetings for 5 pm today", Some("5 pm")),
            ("no_meetings_after", "16:00", "Book a meeting at 15:30", None),
            ("no_meetings_after", "16:00", "dinner at 19:00", None),
            ("earliest_meeting", "10:00", "meeting at 8:30am?", Some("8:30am")),
            ("earliest_meeting", "10am", "meeting at 12am", Some("12am")),
            ("latest_call", "18h", "a call at 19h", Some("19")),
            ("no_meetings_after", "16:00", "the meeting has 17 people", None),
        ] {
            assert_eq!(breaks(key, value, text).as_deref(), about, "{text}");
        }
    }

    #[test]
    fn amount_against_a_limit_is_found() {
        for (value, text, about) in [
            ("amount 50, currency EUR", "buy the lamp for 80 euros", Some("80 EUR")),
            ("50 EUR", "a lamp for €1,200 please", Some("1,200 EUR")),
            ("50", "a lamp for $ 60", Some("60 USD")),
            ("50 EUR", "a lamp for 60 dollars", None),
            ("50 EUR", "a lamp for 49,90 €", None),
            ("50 EUR", "a lamp with 80 watts", None),
        ] {
            assert_eq!(breaks("max_price", value, text).as_deref(), about, "{value} {text}");
        }
    }

    #[test]
    fn foreign_words_in_english_keys_are_no_limits() {
        for (key, value) in [
            ("preferred_sans_font", "Inter"),
            ("ab_test_time", "10:00"),
            ("ab_tests", "10:00"),
            ("original_sin_podcast", "Inter"),
            ("favourite_vor_game", "9:00"),
        ] {
            assert_eq!(RuleCondition::parse(key, value), None, "{key}");
        }
        for (key, value) in [
            ("sans_gluten", "pain"),
            ("sin_gluten", "pan"),
            ("plats_sans_les_noix", "noix"),
            ("nie_anrufen", "Anna"),
            ("ab_uhrzeit", "9:00"),
            ("keine_anrufe_vor", "9:00"),
            ("anrufe_nur_bis", "18:00"),
        ] {
            assert!(RuleCondition::parse(key, value).is_some(), "{key}");
        }
    }

    #[test]
    fn rule_without_a_limiting_key_has_no_condition() {
        assert_eq!(RuleCondition::parse("seat", "aisle"), None);
        assert_eq!(RuleCondition::parse("tone", "formal"), None);
        assert_eq!(RuleCondition::parse("no_meetings_after", ""), None);
    }

    #[test]
    fn comparison_is_linear_in_the_text() {
        let text = "17:00 80 € shellfish ".repeat(100_000);
        let compared = ComparedText::new(&text);
        assert!(compared.words.len() <= MAX_CHARS);
    }
}
