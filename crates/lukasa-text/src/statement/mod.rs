//! Statements that the user makes outright: what to remember, what to forget, a correction, a
//! change, a rule for the assistant, a name.
//!
//! The rules read the words of a typed text, sentence by sentence, and prefer missing a statement to
//! finding one that was not made: questions, quotations, code, reported speech, hypothetical
//! sentences, pasted dialogues and texts to work on state nothing. They do not decide what may be
//! stored; admission does. The word lists are in `lexicon/statement`.

mod claim;
mod correction;
mod english;
mod own;
mod pasted;
mod request;
mod sentence;
mod signs;

use std::ops::Range;

use crate::slot::Slot;
use pasted::MessageContext;
use sentence::Sentence;

pub use own::{MAX_OWN_SENTENCES, OwnSentence, own_sentences};
pub use signs::{opens_introduction, retracts, signals_change};

/// What the user asks of the memory, or tells it, outright.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StatementKind {
    Remember,
    Forget,
    Correct,
    Change,
    Rule,
    CallMe,
}

/// A statement found in a typed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub kind: StatementKind,
    /// The claim to store or, for `Forget`, what is to be forgotten. English: in the third person
    /// about the user ("User prefers trains."), or the user's words if the conversion is unsure;
    /// other languages: the clause in the user's words, without the request around it. A rule keeps
    /// the imperative in every language ("Always answer in Portuguese.").
    pub content: String,
    /// `Correct` and `Change`: the claim that is no longer or never was true, if the sentence says it.
    pub replaces: Option<String>,
    /// The attribute with one value that the claim is about, if known: used to find the memory that
    /// it replaces.
    pub slot: Option<Slot>,
    /// Byte range of the sentence in the text.
    pub at: Range<usize>,
}

/// Maximum number of statements that are returned.
pub const MAX_STATEMENTS: usize = 8;

/// Maximum number of characters that are read.
const MAX_CHARS: usize = 8_000;

/// The statements in a text that the user typed, in order. Linear in the text.
pub fn find(text: &str) -> Vec<Statement> {
    let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(at, _)| at);
    let is_cut = end < text.len();
    let text = &text[..end];
    if pasted::is_dialogue(text) {
        return Vec::new();
    }
    let sentences = sentence::split(text, is_cut);
    let mut context = MessageContext::default();
    let mut found = Vec::new();
    let mut at = 0;
    while at < sentences.len() && found.len() < MAX_STATEMENTS {
        let (statement, used) = read(&sentences[at], sentences.get(at + 1));
        found.extend(statement.filter(|found| context.allows(found.kind)));
        context.add(&sentences[at]);
        at += used;
    }
    found
}

/// Whether a text asks to forget something. Linear in the text.
pub fn asks_to_forget(text: &str) -> bool {
    let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(at, _)| at);
    let sentences = sentence::split(&text[..end], false);
    sentences.iter().any(|own| !own.is_too_long() && request::forget(own).is_some())
}

/// The statement of a sentence, and the number of sentences that it takes: a correction can be in
/// two.
fn read(sentence: &Sentence, next: Option<&Sentence>) -> (Option<Statement>, usize) {
    if sentence.is_quoted() || sentence.is_too_long() {
        return (None, 1);
    }
    if let Some(found) = request::remember(sentence).or_else(|| request::forget(sentence)) {
        return (Some(found), 1);
    }
    if sentence.asks {
        return (None, 1);
    }
    let single = || {
        request::call_me(sentence)
            .or_else(|| request::rule(sentence))
            .or_else(|| correction::correct(sentence))
            .or_else(|| correction::change(sentence))
    };
    match correction::contrast(sentence, next) {
        Some((found, used)) => (Some(found), used),
        None => (single(), 1),
    }
}

#[cfg(test)]
mod tests;
