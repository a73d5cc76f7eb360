//! Screens a model's phrasing of a portrait. The answer is untrusted text: a sentence may cite only
//! facts that the model was shown, state only what these facts state, and give no instruction.
//! Other sentences are dropped, and the template states their facts instead.

use lukasa_text::line::harmless;
use lukasa_text::screen::ground;
use serde_json::Value;

use crate::domain::Domain;
use crate::fact::Version;
use crate::learning::answer::{UnreadableAnswer, unfenced};
use crate::learning::summary::safe_summary;
use crate::phrasing;
use crate::sentence::{self, Sentence};

/// Larger answers are rejected unread.
const MAX_BYTES: usize = 64 * 1024;
const MAX_SENTENCES: usize = 80;
const MAX_CITED_FACTS: usize = 6;
const MAX_CHARS: usize = 300;

/// A sentence as a model wrote it, with the numbers of the facts it cites, from one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedSentence {
    pub text: String,
    pub numbers: Vec<usize>,
}

/// A parsed answer: well-formed sentences, and the number of malformed entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PhrasingAnswer {
    pub offers: Vec<OfferedSentence>,
    pub malformed: usize,
}

/// Parses an answer.
pub fn read(text: &str) -> Result<PhrasingAnswer, UnreadableAnswer> {
    if text.len() > MAX_BYTES {
        return Err(UnreadableAnswer("too long"));
    }
    let value: Value = serde_json::from_str(unfenced(text))
        .map_err(|_| UnreadableAnswer("not a JSON document"))?;
    let Some(Value::Array(list)) = value.get("sentences") else {
        return Err(UnreadableAnswer("no list of sentences"));
    };
    let offers: Vec<OfferedSentence> = list.iter().take(MAX_SENTENCES).filter_map(offer).collect();
    Ok(PhrasingAnswer { malformed: list.len() - offers.len(), offers })
}

fn offer(value: &Value) -> Option<OfferedSentence> {
    let text = value.get("text")?.as_str()?.trim();
    let numbers = value.get("facts")?.as_array()?.iter();
    let numbers: Option<Vec<usize>> =
        numbers.map(|n| n.as_u64().and_then(|n| usize::try_from(n).ok())).collect();
    let numbers = numbers.filter(|numbers| (1..=MAX_CITED_FACTS).contains(&numbers.len()))?;
    let fits = (1..=MAX_CHARS).contains(&text.chars().count());
    fits.then(|| OfferedSentence { text: text.to_owned(), numbers })
}

/// The sentences that pass, with the facts that they really state. Empty if fewer than half of the
/// answer passes: a model that gets most of it wrong is not trusted with the rest.
pub fn screened(
    phrasing: &PhrasingAnswer,
    inputs: &[Version],
    domains: &[(Domain, bool)],
) -> Vec<Sentence> {
    let offered = phrasing.offers.len() + phrasing.malformed;
    let kept: Vec<Sentence> =
        phrasing.offers.iter().filter_map(|offer| sentence(offer, inputs, domains)).collect();
    if kept.len() * 2 < offered { Vec::new() } else { kept }
}

fn sentence(
    offer: &OfferedSentence,
    inputs: &[Version],
    domains: &[(Domain, bool)],
) -> Option<Sentence> {
    let text = &offer.text;
    if harmless(text) != *text || phrasing::judges(text) {
        return None;
    }
    // A number that the model was not shown discredits the whole sentence.
    let cited: Option<Vec<&Version>> =
        offer.numbers.iter().map(|number| inputs.get(number.checked_sub(1)?)).collect();
    // A fact that is cited but not stated would be missing: the template states it.
    let mut stated: Vec<&Version> = cited?
        .into_iter()
        .filter(|version| ground::says_no_more(&sentence::words(version), text))
        .collect();
    stated.dedup_by_key(|version| version.fact);
    let words: Vec<_> = stated.iter().map(|version| sentence::words(version)).collect();
    let carried = !stated.is_empty() && ground::says_no_more(text, &words.join("\n"));
    let safe = safe_summary(text, domains).is_some_and(|kept| kept == *text);
    (carried && safe).then(|| Sentence {
        text: text.clone(),
        facts: stated.into_iter().map(|version| version.fact).collect(),
    })
}
