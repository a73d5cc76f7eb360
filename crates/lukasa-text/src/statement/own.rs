//! Sentences in which users state something about themselves, in their own words.
//!
//! The rules leave out what is certainly not lasting. Whether another sentence will still matter later
//! can be asked of a model; what it may change is the choice, not the words.

use std::ops::Range;
use std::sync::LazyLock;

use super::claim::{Language, claim};
use super::sentence::{self, Sentence};
use super::{MAX_CHARS, pasted, read};
use crate::lexicon::lexicon;
use crate::screen::phrase::{Phrases, TokenizedText};
use crate::screen::{directive, ground, person};
use crate::word::is_east_asian;

static IRONY: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("statement/irony", en de fr es pt))]));
static MOMENTARY: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("statement/momentary", en de fr es pt))]));
static PLEASE: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("statement/please", mul).entries())]));

/// A sentence about the user, typed by the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnSentence {
    /// The claim that it makes: English in the third person, other languages in the user's words.
    pub content: String,
    /// Byte range of the sentence in the text.
    pub at: Range<usize>,
}

/// Maximum number of sentences that are returned for a text.
pub const MAX_OWN_SENTENCES: usize = 24;

/// Sentences with fewer words say too little.
const MIN_WORDS: usize = 3;

/// The sentences of a typed text in which the user states something about themselves, in order.
/// Questions, requests, suppositions, quotations and what [`super::find`] carries out are left out.
/// Linear in the text.
pub fn own_sentences(text: &str) -> Vec<OwnSentence> {
    let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(at, _)| at);
    let text_start = &text[..end];
    if pasted::is_dialogue(text_start) {
        return Vec::new();
    }
    let sentences = sentence::split(text_start, end < text.len());
    let mut found = Vec::new();
    let mut at = 0;
    while at < sentences.len() && found.len() < MAX_OWN_SENTENCES {
        let (statement, used) = read(&sentences[at], sentences.get(at + 1));
        if statement.is_none() {
            found.extend(own_sentence(&sentences[at]));
        }
        at += used;
    }
    found
}

fn own_sentence(sentence: &Sentence) -> Option<OwnSentence> {
    if sentence.is_quoted() || sentence.asks || sentence.is_too_long() {
        return None;
    }
    let start = statement_start(sentence);
    let end = statement_end(sentence, start);
    let clause = sentence.slice(start..end);
    let is_long_enough = end - start >= MIN_WORDS || clause.chars().any(is_east_asian);
    let states = is_long_enough
        && person::speaks_as_subject(&unquoted(sentence, start..end))
        && !is_ironic(sentence)
        && !is_momentary(clause)
        && !sentence.opens_with_frame()
        && !ground::is_hedged(clause)
        && !directive::only_requests(clause)
        && !directive::commands(clause)
        && !directive::authorises(clause)
        && !directive::speaks_of_a_user(clause);
    let language = match ground::may_be_english(clause) {
        true => Language::English,
        false => Language::Other,
    };
    let content = states.then(|| claim(clause, language)).flatten()?;
    Some(OwnSentence { content, at: sentence.at.clone() })
}

/// Whether the sentence is not meant.
fn is_ironic(sentence: &Sentence) -> bool {
    !sentence.matches(&IRONY).is_empty()
}

/// Whether the clause begins with words about the moment: "I guess", "I'm done".
fn is_momentary(clause: &str) -> bool {
    MOMENTARY.find(&TokenizedText::new(clause)).any(|found| found.start <= 1)
}

/// The words of a range that are the user's own and not quoted.
fn unquoted(sentence: &Sentence, range: Range<usize>) -> String {
    let own = range.filter(|at| !sentence.quoted[*at]);
    own.map(|at| sentence.slice(at..at + 1)).collect::<Vec<_>>().join(" ")
}

/// The beginning of what a sentence states: after greetings, a reaction of one or two words, or a
/// request with "please" that comes first.
fn statement_start(sentence: &Sentence) -> usize {
    const REACTION_WORDS: usize = 2;
    let start = sentence.clause_start();
    let next = sentence.clause_end(start);
    if next >= sentence.words.len() {
        return start;
    }
    let first = sentence.slice(start..next);
    let is_lead = next - start <= REACTION_WORDS || PLEASE.any(&TokenizedText::new(first));
    let rest = sentence.slice(next..sentence.words.len());
    let speaks = person::speaks_as_subject;
    if is_lead && !speaks(first) && speaks(rest) { next } else { start }
}

/// The end of what a sentence states: clauses at its end that only ask for something are cut off.
fn statement_end(sentence: &Sentence, start: usize) -> usize {
    let mut ends = vec![start];
    while let Some(last) = ends.last().copied().filter(|last| *last < sentence.words.len()) {
        ends.push(sentence.clause_end(last));
    }
    while let [.., before, last] = ends[..] {
        if before == start || !directive::only_requests(sentence.slice(before..last)) {
            break;
        }
        ends.pop();
    }
    ends.last().copied().unwrap_or(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(text: &str) -> Vec<String> {
        own_sentences(text).into_iter().map(|own| own.content).collect()
    }

    #[test]
    fn own_sentences_state_something_about_the_user() {
        for (text, expected) in [
            ("I run a bike café with my cousin.", "User runs a bike café with their cousin."),
            ("ok thanks, my son starts school in May", "User's son starts school in May."),
            ("ich baue Möbel aus Palettenholz.", "Ich baue Möbel aus Palettenholz."),
            ("We live in a flat without a lift.", "We live in a flat without a lift."),
            ("Tenemos un galgo adoptado, Lince.", "Tenemos un galgo adoptado, Lince."),
            ("我在上海的一家医院工作。", "我在上海的一家医院工作。"),
            ("I shoot film.", "User shoots film."),
            ("One portion please, I live alone.", "User lives alone."),
            ("fine, I like long rides.", "User likes long rides."),
        ] {
            assert_eq!(contents(text), [expected], "{text}");
        }
    }

    #[test]
    fn questions_requests_and_suppositions_are_no_own_sentences() {
        for text in [
            "Where do I live?",
            "thanks, tell me what a category review is",
            "If I lived in Rome I would eat better.",
            "Maybe I move to Porto next year.",
            "Write a note to my landlord for me.",
            "Remember that I prefer trains.",
            "I agree with all of it.",
            "I'm stuck at step three.",
            "Cheer me up with a fact about otters.",
            "Formulier mir eine Notiz.",
            "A customer wrote: \"I live in Antwerp and I am waiting.\"",
            "I moved to Bergen for the sunshine, obviously.",
            "> I am a duke of this land",
            "The tide is high at noon.",
        ] {
            assert_eq!(contents(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn request_at_the_end_of_an_own_sentence_is_cut_off() {
        let text = "I sell furniture on the market in Plauen, write me a flyer";
        assert_eq!(contents(text), ["User sells furniture on the market in Plauen."]);
    }

    #[test]
    fn own_sentences_of_one_text_are_bounded() {
        let text = "I keep two goats in my yard. ".repeat(100);
        assert_eq!(own_sentences(&text).len(), MAX_OWN_SENTENCES);
    }
}
