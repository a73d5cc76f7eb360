//! Distinguishes orders, and rules for an assistant, from statements about a user.
//!
//! A memory states a fact. Text that instructs an assistant would be obeyed in every later
//! conversation, so it never becomes a memory automatically, regardless of its author: a page, a
//! tool, or a link that prefilled it for the user. The rules use the structure of sentences and
//! phrases that only orders have. They ignore the speaker and look nothing up.
//!
//! There are two checks. A memory must not be an order of any kind ([`is_directive`]). The sentence
//! it was extracted from may contain one, since people combine statements and requests: "I love
//! spicy food, give me something hot". There, only commands to memory or for later conversations
//! count ([`commands`]).

mod address;
mod markup;
mod verbs;

use std::sync::LazyLock;

use super::phrase::{Phrases, Token, TokenizedText, WordRanges};
use crate::lexicon::lexicon;

/// Phrases that only orders and rules have.
static ORDERS: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([(
        (),
        lexicon!("directive/orders", en de fr es it pt nl tr ru ar hi bn id vi tl gd ga zh ja ko mul),
    )])
});
/// Harmless phrases with the same words.
static INNOCENT: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("directive/harmless", en de fr es it pt nl ru zh ja mul))])
});
/// Phrases that command memory or an assistant's future behaviour: what to store, whom to trust,
/// which role to play, which rules to drop. Ordinary requests about the current task have none of
/// them.
static STANDING: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([(
        (),
        lexicon!("directive/standing", en de fr es it pt nl sv pl tr ru ar hi id zh ja ko),
    )])
});
/// "The user" in the third person. Users themselves write "I".
static OF_A_USER: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([(
        (),
        lexicon!("directive/of_a_user", en de fr es it pt nl sv pl tr ru ar hi id vi zh ja ko mul),
    )])
});
/// Phrases that grant permission to act for the user.
static GRANTS: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("directive/grants", en de fr es it pt nl sv pl tr ru ar zh ja ko))])
});
/// Phrases that only resemble them: refused permissions, and those of people and animals.
static DENIALS: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("directive/denials", en de fr es))]));

/// Whether the text is an order, a rule for an assistant, or only a question, rather than a
/// statement about a user.
pub fn is_directive(text: &str) -> bool {
    orders(text, &TokenizedText::new(text))
}

/// Whether the text commands memory or later conversations: what to store, what to do from now on,
/// whom to trust, which rules to drop, or notes addressed to a machine.
pub fn commands(text: &str) -> bool {
    is_standing_command(text, &TokenizedText::new(text))
}

/// Whether the text only asks or orders, makes no other statement, and commands only the current
/// task.
pub fn only_requests(text: &str) -> bool {
    requests(text, &TokenizedText::new(text))
}

/// Whether every sentence of the text is a question or a greeting. Linear in the text.
pub fn only_asks(text: &str) -> bool {
    count_questions(&TokenizedText::new(text)).is_some()
}

/// Whether the text mentions "the user" in the third person, which users themselves do not write.
pub fn speaks_of_a_user(text: &str) -> bool {
    OF_A_USER.any(&TokenizedText::new(text))
}

/// Whether the text grants permission to act for the user.
pub fn authorises(text: &str) -> bool {
    grants_permission(&TokenizedText::new(text))
}

pub(super) fn orders(text: &str, tokenized: &TokenizedText) -> bool {
    markup::is_marked_up(text)
        || !find_orders(tokenized).is_empty()
        || only_questions(tokenized)
        || address::has_foreign_address(text, tokenized)
        || !find_standing_commands(tokenized).is_empty()
}

pub(super) fn is_standing_command(text: &str, tokenized: &TokenizedText) -> bool {
    markup::is_marked_up(text)
        || address::has_foreign_address(text, tokenized)
        || !find_standing_commands(tokenized).is_empty()
}

pub(super) fn of_a_user(tokenized: &TokenizedText) -> bool {
    OF_A_USER.any(tokenized)
}

pub(super) fn grants_permission(tokenized: &TokenizedText) -> bool {
    let denied = WordRanges::new(DENIALS.find(tokenized).map(|found| found.start..found.end));
    GRANTS.find(tokenized).any(|found| !denied.cover(&(found.start..found.end)))
}

pub(super) fn requests(text: &str, tokenized: &TokenizedText) -> bool {
    if is_standing_command(text, tokenized) {
        return false;
    }
    let ordered = find_orders(tokenized);
    // Sentences beside a request that state nothing belong to the request.
    let asks = !ordered.is_empty() || tokenized.questions.contains(&true);
    asks && tokenized.sentences().all(|(own, asked)| asked || !states(own))
}

/// Whether every sentence is a question. A question grants no permission.
pub(super) fn questions(tokenized: &TokenizedText) -> bool {
    !tokenized.questions.is_empty() && tokenized.questions.iter().all(|asked| *asked)
}

/// Positions of orders, without phrases that only resemble them.
fn find_orders(tokenized: &TokenizedText) -> Vec<usize> {
    let innocent = innocent(tokenized);
    let phrases = ORDERS.find(tokenized).map(|found| found.start..found.end);
    let verbs = (0..tokenized.tokens.len()).filter(|at| verbs::orders(&tokenized.tokens, *at));
    let found = phrases.chain(verbs.map(|at| at..at + 1));
    found.filter(|range| !innocent.cover(range)).map(|range| range.start).collect()
}

fn find_standing_commands(tokenized: &TokenizedText) -> Vec<usize> {
    let innocent = innocent(tokenized);
    let found = STANDING.find(tokenized).map(|found| found.start..found.end);
    found.filter(|range| !innocent.cover(range)).map(|range| range.start).collect()
}

fn innocent(tokenized: &TokenizedText) -> WordRanges {
    WordRanges::new(INNOCENT.find(tokenized).map(|found| found.start..found.end))
}

/// Whether a sentence begins with a statement, perhaps after a greeting.
fn states(own: &[Token]) -> bool {
    let mut opener = own.iter().filter(|token| !verbs::GREETINGS.contains(&token.text));
    opener.next().is_some_and(|token| verbs::STATES.contains(&token.text))
}

/// Whether the text only asks: every sentence is a question or a greeting, and at least one is a
/// question. A text of greetings alone, such as the answer "no", asks and orders nothing.
fn only_questions(tokenized: &TokenizedText) -> bool {
    count_questions(tokenized).is_some_and(|questions| questions > 0)
}

/// Number of questions, if every sentence is a question or a greeting, and none is a statement;
/// `None` for a text without sentences.
fn count_questions(tokenized: &TokenizedText) -> Option<usize> {
    let (mut sentences, mut questions) = (0, 0);
    for (own, asked) in tokenized.sentences() {
        sentences += 1;
        let word = |at: usize| own.get(at).map_or("", |token| token.text.as_str());
        let bare = verbs::ASKS.contains(&word(0)) && verbs::ASKED.contains(&word(1));
        if (asked && !states(own)) || bare {
            questions += 1;
            continue;
        }
        // A greeting before a question is not a statement either.
        let greets =
            own.len() <= 3 && own.iter().all(|token| verbs::GREETINGS.contains(&token.text));
        if !greets {
            return None;
        }
    }
    (sentences > 0).then_some(questions)
}

#[cfg(test)]
mod tests;
