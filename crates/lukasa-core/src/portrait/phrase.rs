//! What of a model's phrasing may stand in a portrait. Its answer is somebody else's text: it may cite
//! only what it was shown, say only what the cited facts say, and give no order; a sentence that does
//! otherwise is dropped, and the template says its facts instead.

use serde_json::Value;

use super::{Sentence, template};
use crate::context::line::harmless;
use crate::domain::Domain;
use crate::fact::Version;
use crate::learn::answer::{Unreadable, unfenced};
use crate::learn::judge::safe_summary;
use crate::screen::ground;

/// The largest answer that is looked at at all.
const MOST_BYTES: usize = 64 * 1024;
const MOST_SENTENCES: usize = 80;
const MOST_CITED: usize = 6;
const MOST_CHARS: usize = 300;

/// Words that judge a person instead of saying what they said.
const JUDGING: [&str; 8] = [
    "you believe",
    "type of person",
    "kind of person",
    "sort of person",
    "you are the type",
    "you are the kind",
    "the user believes",
    "personality",
];

/// A sentence as a model wrote it, with the numbers it claims to rest on. Numbers begin at one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    pub text: String,
    pub numbers: Vec<usize>,
}

/// An answer as it was read. What has not the asked-for shape counts and says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Phrasing {
    pub offers: Vec<Offer>,
    pub malformed: usize,
}

/// Reads an answer.
pub fn read(text: &str) -> Result<Phrasing, Unreadable> {
    if text.len() > MOST_BYTES {
        return Err(Unreadable("too long"));
    }
    let value: Value =
        serde_json::from_str(unfenced(text)).map_err(|_| Unreadable("not a JSON document"))?;
    let Some(Value::Array(list)) = value.get("sentences") else {
        return Err(Unreadable("no list of sentences"));
    };
    let offers: Vec<Offer> = list.iter().take(MOST_SENTENCES).filter_map(offer).collect();
    Ok(Phrasing { malformed: list.len() - offers.len(), offers })
}

fn offer(value: &Value) -> Option<Offer> {
    let text = value.get("text")?.as_str()?.trim();
    let numbers = value.get("facts")?.as_array()?.iter();
    let numbers: Option<Vec<usize>> =
        numbers.map(|n| n.as_u64().and_then(|n| usize::try_from(n).ok())).collect();
    let numbers = numbers.filter(|numbers| (1..=MOST_CITED).contains(&numbers.len()))?;
    let fits = (1..=MOST_CHARS).contains(&text.chars().count());
    fits.then(|| Offer { text: text.to_owned(), numbers })
}

/// The sentences that may stand, with the facts that they really say. Nothing at all if fewer than
/// half of what was offered may: who gets most of it wrong is not trusted with the rest.
pub fn screened(
    phrasing: &Phrasing,
    inputs: &[Version],
    domains: &[(Domain, bool)],
) -> Vec<Sentence> {
    let offered = phrasing.offers.len() + phrasing.malformed;
    let kept: Vec<Sentence> =
        phrasing.offers.iter().filter_map(|offer| sentence(offer, inputs, domains)).collect();
    if kept.len() * 2 < offered { Vec::new() } else { kept }
}

fn sentence(offer: &Offer, inputs: &[Version], domains: &[(Domain, bool)]) -> Option<Sentence> {
    let text = &offer.text;
    let lower = text.to_lowercase();
    if harmless(text) != *text || JUDGING.iter().any(|words| lower.contains(words)) {
        return None;
    }
    // A number that was never given is a lie about the whole sentence.
    let cited: Option<Vec<&Version>> =
        offer.numbers.iter().map(|number| inputs.get(number.checked_sub(1)?)).collect();
    // A fact that is cited and not said would be lost to its person: it is said by the template.
    let mut said: Vec<&Version> = cited?
        .into_iter()
        .filter(|version| ground::says_no_more(template::words(version), text))
        .collect();
    said.dedup_by_key(|version| version.fact);
    let words: Vec<&str> = said.iter().map(|version| template::words(version)).collect();
    let carried = !said.is_empty() && ground::says_no_more(text, &words.join("\n"));
    let safe = safe_summary(text, domains).is_some_and(|kept| kept == *text);
    (carried && safe).then(|| Sentence {
        text: text.clone(),
        facts: said.into_iter().map(|version| version.fact).collect(),
    })
}
